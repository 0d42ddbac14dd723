package openai

import "encoding/json"

// Tool is a function that the model may call. Parameters is a JSON schema object, {} when the client gave none.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
	Strict      bool
	Raw         json.RawMessage // the object as it came
}

// ToolCall is a call that an assistant's message holds or an answer makes; Arguments is JSON text as the model wrote it.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string
}

// ToolChoice is what the client lets the model do with its tools.
type ToolChoice struct {
	Mode    ToolMode
	Name    string          // the function to call, for ToolNamed
	Allowed []string        // the only functions that may be called; nil: all
	Raw     json.RawMessage // as it came, nil when left out
}

// ToolMode is the kind of a ToolChoice. After decoding it is never "".
type ToolMode string

const (
	ToolNone     ToolMode = "none"
	ToolAuto     ToolMode = "auto"
	ToolRequired ToolMode = "required"
	ToolNamed    ToolMode = "function"
)

// Forced reports whether the answer must be a call.
func (c ToolChoice) Forced() bool { return c.Mode == ToolRequired || c.Mode == ToolNamed }

// Callable is the tools that the choice leaves.
func (r *ChatRequest) Callable() []Tool {
	if r.ToolChoice.Mode == ToolNone {
		return nil
	}
	var tools []Tool
	for _, t := range r.Tools {
		if r.ToolChoice.allows(t.Name) {
			tools = append(tools, t)
		}
	}
	return tools
}

// allows reports whether the choice leaves the tool of that name.
func (c ToolChoice) allows(name string) bool {
	if c.Mode == ToolNamed {
		return name == c.Name
	}
	for _, a := range c.Allowed {
		if a == name {
			return true
		}
	}
	return c.Allowed == nil
}

// tools reads what the model may call; only functions are known.
func (s *scanner) tools() (tools []Tool) {
	s.each("objects", func(int) {
		s.peek()
		start := s.pos
		var t Tool
		kind, found := "", false
		s.fields(func(key []byte) {
			switch string(key) {
			case "type":
				kind = s.oneOf("function")
			case "function":
				found = true
				t = s.function()
			default:
				s.skip()
			}
		})
		switch {
		case s.err != nil:
			return
		case kind == "":
			s.missing("type")
		case !found:
			s.missing("function")
		}
		t.Raw = s.data[start:s.pos:s.pos]
		tools = append(tools, t)
	})
	return tools
}

// function reads the inside of a tool.
func (s *scanner) function() (t Tool) {
	s.fields(func(key []byte) {
		switch string(key) {
		case "name":
			t.Name = s.requiredText()
		case "description":
			t.Description = s.text()
		case "parameters":
			t.Parameters = s.object()
		case "strict":
			t.Strict = s.flag(false)
		default:
			s.skip()
		}
	})
	if t.Name == "" {
		s.missing("name")
	}
	if t.Parameters == nil {
		t.Parameters = json.RawMessage("{}")
	}
	return t
}

// functions reads the older name of tools, whose elements are bare functions; tools given as well wins.
func (s *scanner) functions(r *ChatRequest) {
	var tools []Tool
	s.each("objects", func(int) {
		s.peek()
		start := s.pos
		t := s.function()
		if s.err == nil {
			raw := append([]byte(`{"type":"function","function":`), s.data[start:s.pos]...)
			t.Raw = append(raw, '}')
			tools = append(tools, t)
		}
	})
	r.functions = tools
}

// functionCall reads the older name of tool_choice: none, auto or an object with a name.
func (s *scanner) functionCall(r *ChatRequest) {
	if s.peek() != '{' {
		r.functionChoice = ToolChoice{Mode: ToolMode(s.oneOf("none", "auto"))}
		return
	}
	r.functionChoice = ToolChoice{Mode: ToolNamed, Name: s.namedFunction()}
}

// namedFunction reads an object that points to a function by its name.
func (s *scanner) namedFunction() (name string) {
	s.fields(func(key []byte) {
		if string(key) == "name" {
			name = s.requiredText()
		} else {
			s.skip()
		}
	})
	if name == "" {
		s.missing("name")
	}
	return name
}

// toolChoice reads a mode, a named function, or a list of allowed tools.
func (s *scanner) toolChoice() (c ToolChoice) {
	switch s.peek() {
	case 'n':
		s.null()
		return c
	case '"':
		start := s.pos
		c.Mode = ToolMode(s.oneOf("none", "auto", "required"))
		c.Raw = s.data[start:s.pos:s.pos]
		return c
	case '{':
	default:
		s.mismatch("a string or an object")
		return c
	}
	start := s.pos
	kind := ""
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			kind = s.oneOf("function", "allowed_tools")
		case "function":
			c.Name = s.namedFunction()
		case "allowed_tools", "tools", "mode":
			s.allowedTools(string(key), &c)
		default:
			s.skip()
		}
	})
	c.Raw = s.data[start:s.pos:s.pos]
	switch {
	case kind == "":
		s.missing("type")
	case kind == "function" && c.Name == "":
		s.missing("function")
	case kind == "function":
		c.Mode, c.Allowed = ToolNamed, nil
	case c.Mode == "":
		s.missing("mode")
	case c.Allowed == nil:
		s.missing("tools")
	}
	return c
}

// allowedTools reads the members of an allowed_tools choice, which some clients nest in an object of that name and
// others write flat.
func (s *scanner) allowedTools(key string, c *ToolChoice) {
	switch key {
	case "mode":
		c.Mode = ToolMode(s.oneOf("auto", "required"))
	case "tools":
		c.Allowed = []string{}
		s.each("objects", func(int) { c.Allowed = append(c.Allowed, s.allowedTool()) })
	case "allowed_tools":
		s.fields(func(key []byte) {
			if k := string(key); k == "mode" || k == "tools" {
				s.allowedTools(k, c)
			} else {
				s.skip()
			}
		})
	default:
		s.skip()
	}
}

// allowedTool reads the name of a tool, which stands inside an object or by itself.
func (s *scanner) allowedTool() (name string) {
	s.fields(func(key []byte) {
		switch string(key) {
		case "function":
			name = s.namedFunction()
		case "name":
			name = s.requiredText()
		default:
			s.skip()
		}
	})
	if name == "" {
		s.missing("function")
	}
	return name
}

// toolCalls reads the calls in an assistant's message.
func (s *scanner) toolCalls() (calls []ToolCall) {
	s.each("objects", func(int) {
		var c ToolCall
		s.fields(func(key []byte) {
			switch string(key) {
			case "id":
				c.ID = s.text()
			case "type":
				s.oneOf("function")
			case "function":
				s.called(&c)
			default:
				s.skip()
			}
		})
		if c.Name == "" {
			s.missing("function.name")
		}
		calls = append(calls, c)
	})
	return calls
}

// called reads the inside of a call.
func (s *scanner) called(c *ToolCall) {
	s.fields(func(key []byte) {
		switch string(key) {
		case "name":
			c.Name = s.requiredText()
		case "arguments":
			c.Arguments = s.text()
		default:
			s.skip()
		}
	})
}

// settleTools applies the older names, which are without effect beside the newer, and checks the choice against the tools
// in the names that the client used.
func (r *ChatRequest) settleTools(s *scanner) {
	list, choice := "tools", "tool_choice"
	switch {
	case r.Tools != nil && r.functions != nil:
		noteIgnored(&r.Ignored, "functions")
	case r.functions != nil:
		r.Tools, list = r.functions, "functions"
	}
	r.ToolsField = list
	c := &r.ToolChoice
	switch {
	case c.Mode != "" && r.functionChoice.Mode != "":
		noteIgnored(&r.Ignored, "function_call")
	case r.functionChoice.Mode != "":
		*c, choice = r.functionChoice, "function_call"
		if r.Tools == nil {
			list = "functions"
		}
	}
	if c.Mode == "" {
		c.Mode = ToolAuto
	}
	if len(r.Tools) == 0 {
		if c.Forced() || c.Allowed != nil {
			s.failAt(choice, CodeChoiceNeedsTools, "a tool can be required only when '%s' declares one.", list)
		}
		c.Mode = ToolNone
		return
	}
	for _, name := range append(c.Allowed[:len(c.Allowed):len(c.Allowed)], c.Name) {
		if name != "" && !r.declares(name) {
			s.failAt(choice, CodeChoiceNotFound, "no function %q is declared in '%s'.", clip(name), list)
		}
	}
}

// declares reports whether a tool of that name is there.
func (r *ChatRequest) declares(name string) bool {
	for _, t := range r.Tools {
		if t.Name == name {
			return true
		}
	}
	return false
}
