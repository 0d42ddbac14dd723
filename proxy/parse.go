package proxy

import (
	"net/http"

	"leeway/openai"
	"leeway/openai/reasoning"
	"leeway/openai/toolcall"
)

// parseCalls answers POST /parse/function_call: the calls in a text, and what is left of it.
func (g *Gateway) parseCalls(x *exchange, r *http.Request) error {
	req, err := readParse(r, "tool_call_parser")
	if err != nil {
		return err
	}
	parser, err := toolcall.New(req.ToolCallParser, req.Tools)
	if err != nil {
		writeJSON(x, http.StatusBadRequest, openai.AppendParseFailure(nil, err.Error()))
		return nil
	}
	text := gathered{}
	for _, e := range append(parser.Add(req.Text), parser.Flush()...) {
		if e.Text != "" {
			text.add(&part{kind: partContent, text: []byte(e.Text)})
			continue
		}
		text.add(&part{kind: partCall, call: e.Call})
	}
	writeJSON(x, http.StatusOK, openai.AppendParsedCalls(nil, string(text.content), text.calls))
	return nil
}

// parseThoughts answers POST /parse/reasoning: what a text thinks and what it says.
func (g *Gateway) parseThoughts(x *exchange, r *http.Request) error {
	req, err := readParse(r, "reasoning_parser")
	if err != nil {
		return err
	}
	parser, err := reasoning.New(req.ReasoningParser, reasoning.StartsInside(req.ReasoningParser))
	if err != nil {
		writeJSON(x, http.StatusBadRequest, openai.AppendParseFailure(nil, err.Error()))
		return nil
	}
	thought, content := parser.Add(req.Text)
	restThought, rest := parser.Flush()
	writeJSON(x, http.StatusOK, openai.AppendParsedReasoning(nil, content+rest, thought+restThought))
	return nil
}

func readParse(r *http.Request, field string) (*openai.ParseRequest, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	return openai.DecodeParse(body, field)
}
