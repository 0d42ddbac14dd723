package openai

import "strconv"

// ChatAnswer is a whole chat.completion.
type ChatAnswer struct {
	Head    Head
	Choices []ChatChoice
	Usage   Usage
}

// ChatChoice is one finished answer: what the deltas of a stream add up to.
type ChatChoice struct {
	Index       int
	Content     string // "" is written as null
	Reasoning   string // "" is written as null
	ToolCalls   []ToolCall
	Logprobs    []TokenLogprob // nil unless asked for
	Finish      string
	MatchedStop MatchedStop
}

// AppendJSON appends the answer's body.
func (a ChatAnswer) AppendJSON(dst []byte) []byte {
	dst = a.Head.appendJSON(dst, "chat.completion")
	for i := range a.Choices {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = a.Choices[i].appendJSON(dst)
	}
	dst = append(dst, `],"usage":`...)
	dst = a.Usage.AppendJSON(dst)
	return append(dst, `,"service_tier":"default"}`...)
}

func (c *ChatChoice) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(c.Index), 10)
	dst = append(dst, `,"message":{"role":"assistant","content":`...)
	dst = appendStringOrNull(dst, c.Content)
	dst = append(dst, `,"refusal":null,"annotations":[]`...)
	if len(c.ToolCalls) > 0 {
		dst = append(dst, `,"tool_calls":`...)
		dst = AppendToolCalls(dst, c.ToolCalls)
	}
	dst = append(dst, `,"reasoning_content":`...)
	dst = appendStringOrNull(dst, c.Reasoning)
	dst = append(dst, `},"logprobs":`...)
	dst = AppendLogprobs(dst, c.Logprobs)
	dst = append(dst, `,"finish_reason":`...)
	dst = appendStringOrNull(dst, c.Finish)
	dst = c.MatchedStop.appendMember(dst)
	return append(dst, '}')
}

// AppendToolCalls appends finished calls as an array.
func AppendToolCalls(dst []byte, calls []ToolCall) []byte {
	dst = append(dst, '[')
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"id":`...)
		dst = AppendString(dst, c.ID)
		dst = append(dst, `,"type":"function","function":{"name":`...)
		dst = AppendString(dst, c.Name)
		dst = append(dst, `,"arguments":`...)
		dst = AppendString(dst, c.Arguments)
		dst = append(dst, "}}"...)
	}
	return append(dst, ']')
}
