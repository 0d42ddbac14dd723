package toolcall

import "leeway/openai"

// Answer is what a whole text comes to.
type Answer struct {
	Content string
	Calls   []openai.ToolCall
}

// Collect adds events up to an answer.
func (a *Answer) Collect(events []Event) {
	for _, e := range events {
		switch {
		case e.Text != "":
			a.Content += e.Text
		case e.Call.Name != "":
			a.Calls = append(a.Calls, openai.ToolCall{ID: e.Call.ID, Name: e.Call.Name})
		default:
			a.Calls[e.Call.Index].Arguments += e.Call.Arguments
		}
	}
}
