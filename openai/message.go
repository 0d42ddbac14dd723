package openai

import "encoding/json"

// messages reads the conversation, which has at least one turn.
func (s *scanner) messages() []Message {
	if s.null() {
		return nil
	}
	var messages []Message
	s.each("objects", func(int) { messages = append(messages, s.message()) })
	if len(messages) == 0 && s.err == nil {
		s.fail(CodeEmptyArray, "the array is empty; a conversation needs at least one message.")
	}
	return messages
}

// message reads one turn. Members that nothing here knows are left to the chat template, which sees Raw.
func (s *scanner) message() (m Message) {
	s.peek()
	start := s.pos
	var call, reasoning json.RawMessage
	answers := false // a tool_call_id is given, if only an empty one
	s.fields(func(key []byte) {
		switch string(key) {
		case "role":
			m.Role = s.role()
		case "content":
			m.Content = s.content()
		case "name":
			m.Name = s.text()
		case "tool_call_id":
			answers = s.peek() != 'n'
			m.ToolCallID = s.text()
		case "tool_calls":
			m.ToolCalls = s.toolCalls()
		case "function_call":
			call = s.object()
		case "reasoning_content":
			m.ReasoningContent = s.text()
		case "reasoning":
			reasoning = s.value()
		default:
			s.skip()
		}
	})
	if s.err != nil {
		return m
	}
	m.Raw = s.data[start:s.pos:s.pos]
	s.olderNames(&m, call, reasoning)
	if m.Role == "tool" && !answers {
		s.missing("tool_call_id")
	}
	s.checkMessage(&m)
	return m
}

// role reads who speaks. One role, which few models know, is not offered to others.
func (s *scanner) role() string {
	if start := s.pos; s.peek() == '"' {
		if string(s.rawString()) == "root" {
			return "root"
		}
		s.pos = start
	}
	return s.oneOf("system", "developer", "user", "assistant", "tool", "function")
}

// olderNames gives a message the members that function_call and reasoning were renamed to, in Raw as well, unless it
// has them.
func (s *scanner) olderNames(m *Message, call, reasoning json.RawMessage) {
	if m.ReasoningContent == "" && len(reasoning) > 0 && reasoning[0] == '"' {
		t := &scanner{data: reasoning}
		m.ReasoningContent = t.text()
		m.Raw = withMember(m.Raw, `"reasoning_content":`+string(reasoning))
	}
	if m.ToolCalls == nil && call != nil {
		var c ToolCall
		t := &scanner{data: call, path: append(s.path[:len(s.path):len(s.path)], step{name: []byte("function_call")})}
		if t.called(&c); c.Name == "" {
			t.missing("name")
		}
		if t.err != nil {
			s.err = t.err
			return
		}
		m.ToolCalls = []ToolCall{c}
		m.Raw = withMember(m.Raw, `"tool_calls":[{"type":"function","function":`+string(call)+`}]`)
	}
}

// withMember puts one more member at the end of an object that has others.
func withMember(object json.RawMessage, member string) json.RawMessage {
	out := make([]byte, 0, len(object)+len(member)+1)
	out = append(out, object[:len(object)-1]...)
	out = append(out, ',')
	out = append(out, member...)
	return append(out, '}')
}

// checkMessage asks for what the role needs.
func (s *scanner) checkMessage(m *Message) {
	switch m.Role {
	case "":
		s.missing("role")
	case "assistant":
		return
	case "function":
		if m.Name == "" {
			s.missing("name")
		}
	}
	if !m.Content.Set {
		s.missing("content")
	}
}

// content reads a string or a list of parts.
func (s *scanner) content() (c Content) {
	if s.null() {
		return c
	}
	switch s.peek() {
	case '"':
		return Content{Text: string(s.rawString()), Set: true}
	case '[':
		c = Content{Parts: []Part{}, Set: true}
		s.elements(func(int) { c.Parts = append(c.Parts, s.part()) })
		return c
	}
	s.mismatch("a string or an array of content parts")
	return c
}

// part reads one piece of a content. What is neither text nor a refusal cannot be shown to a model of text.
func (s *scanner) part() (p Part) {
	hasText := false
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			p.Type = s.requiredText()
		case "text", "refusal":
			if hasText = !s.null(); hasText {
				p.Text = s.text()
			}
		default:
			s.skip()
		}
	})
	switch p.Type {
	case "":
		s.missing("type")
	case "text", "refusal":
		if !hasText {
			s.missing(p.Type)
		}
	default:
		s.failAt(s.param()+".type", CodeUnsupportedPart, "%q cannot be served; only 'text' parts can.", clip(p.Type))
	}
	return p
}
