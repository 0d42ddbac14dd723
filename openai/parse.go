package openai

// ParseRequest is the body of POST /parse/function_call and of POST /parse/reasoning: generated text, to be taken
// apart by the parser named.
type ParseRequest struct {
	Text            string
	ToolCallParser  string
	ReasoningParser string
	Tools           []Tool

	ignored []string
	text    bool
}

var parseFields = map[string]func(*scanner, *ParseRequest){
	"text":             func(s *scanner, r *ParseRequest) { r.text = s.peek() != 'n'; r.Text = s.text() },
	"tool_call_parser": func(s *scanner, r *ParseRequest) { r.ToolCallParser = s.text() },
	"reasoning_parser": func(s *scanner, r *ParseRequest) { r.ReasoningParser = s.text() },
	"tools":            func(s *scanner, r *ParseRequest) { r.Tools = s.tools() },
}

// DecodeParse reads and checks the body of either endpoint; field is the parser's name that it must have. Its error is
// an *Error with status 400.
func DecodeParse(body []byte, field string) (*ParseRequest, error) {
	r := &ParseRequest{}
	return decode(body, r, parseFields, nil, &r.ignored, func(s *scanner) {
		switch {
		case !r.text:
			s.missing("text")
		case field == "tool_call_parser" && r.ToolCallParser == "", field == "reasoning_parser" && r.ReasoningParser == "":
			s.missing(field)
		}
	})
}

// AppendParsedCalls appends the answer of /parse/function_call. It names no ids: no call is made.
func AppendParsedCalls(dst []byte, remaining string, calls []ToolCall) []byte {
	dst = append(dst, `{"remaining_text":`...)
	dst = AppendString(dst, remaining)
	dst = append(dst, `,"tool_calls":`...)
	dst = appendOneOrAll(dst, calls, true, func(dst []byte, c ToolCall) []byte {
		dst = append(dst, `{"function":{"name":`...)
		dst = AppendString(dst, c.Name)
		dst = append(dst, `,"arguments":`...)
		return append(AppendString(dst, c.Arguments), "}}"...)
	})
	return append(dst, `,"success":true}`...)
}

// AppendParsedReasoning appends the answer of /parse/reasoning.
func AppendParsedReasoning(dst []byte, content, reasoning string) []byte {
	dst = append(dst, `{"normal_text":`...)
	dst = AppendString(dst, content)
	dst = append(dst, `,"reasoning_text":`...)
	dst = AppendString(dst, reasoning)
	return append(dst, `,"success":true}`...)
}

// AppendParseFailure appends how either endpoint says that it could not.
func AppendParseFailure(dst []byte, message string) []byte {
	dst = append(dst, `{"error":`...)
	return append(AppendString(dst, message), `,"success":false}`...)
}
