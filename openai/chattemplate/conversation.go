package chattemplate

import (
	"fmt"
	"slices"
	"strings"

	"leeway/openai"
)

// conversation is a chat request in the form that its template takes.
type conversation struct {
	req      *openai.ChatRequest
	tpl      *chatTemplate
	messages []Value
	kwargs   *Dict // chat_template_kwargs, which win over all else but messages and tools
}

func newConversation(req *openai.ChatRequest, tpl *chatTemplate) (*conversation, error) {
	c := &conversation{req: req, tpl: tpl, kwargs: NewDict(0)}
	if len(req.ChatTemplateKwargs) > 0 {
		v, err := ParseJSON(req.ChatTemplateKwargs)
		if err != nil {
			return nil, invalid("chat_template_kwargs", err.Error())
		}
		d, ok := v.(*Dict)
		if !ok {
			return nil, invalid("chat_template_kwargs", "it must be an object.")
		}
		for _, own := range []string{"messages", "tools"} {
			if _, ok := d.Get(own); ok {
				return nil, invalid("chat_template_kwargs."+own, "it is a field of the request itself; send it there.")
			}
		}
		c.kwargs = d
	}
	for i := range req.Messages {
		m, err := c.message(i)
		if err != nil {
			return nil, err
		}
		c.messages = append(c.messages, m)
	}
	return c, nil
}

func invalid(param, message string) error {
	return openai.Invalid(param, openai.CodeInvalidValue, param+": "+message)
}

// message builds the template's view of a message from the client's own object, members in its order.
func (c *conversation) message(i int) (*Dict, error) {
	at := fmt.Sprintf("messages[%d]", i)
	raw, err := parseMessage(&c.req.Messages[i], at)
	if err != nil {
		return nil, err
	}
	m := NewDict(raw.Len())
	for k, key := range raw.keys {
		name, value := string(key.(Str)), raw.values[k]
		switch {
		case name == "role" && value == Str("developer") && !c.tpl.takesDeveloper:
			value = Str("system")
		case name == "content":
			value = c.content(value, raw)
		case name == "tool_calls":
			if value, err = toolCalls(value, at); err != nil {
				return nil, err
			}
			if value.(*List).items == nil {
				continue
			}
		case isNone(value):
			continue // as if the client had left it out
		}
		m.Set(name, value)
	}
	if _, ok := m.Get("content"); !ok {
		m.Set("content", Str(""))
	}
	return m, nil
}

// parseMessage reads a message's Raw, or makes one of its fields.
func parseMessage(m *openai.Message, at string) (*Dict, error) {
	if len(m.Raw) == 0 {
		d := NewDict(2)
		d.Set("role", Str(m.Role))
		d.Set("content", Str(m.Content.String()))
		return d, nil
	}
	v, err := ParseJSON(m.Raw)
	if err != nil {
		return nil, invalid(at, err.Error())
	}
	d, ok := v.(*Dict)
	if !ok {
		return nil, invalid(at, "it must be an object.")
	}
	return d, nil
}

// content gives a message's content the form that the template takes: strings, or lists of parts.
func (c *conversation) content(v Value, message *Dict) Value {
	role, _ := message.Get("role")
	switch v := v.(type) {
	case Str:
		if c.tpl.wrapsText && role != Str("tool") {
			return newList([]Value{textPart(string(v))})
		}
	case *List:
		parts := plainParts(v.items)
		if c.tpl.takesParts {
			return newList(parts)
		}
		return Str(joinParts(parts, "\n"))
	case None:
		return Str("")
	}
	return v
}

// plainParts turns refusals, which templates do not know, into text.
func plainParts(items []Value) []Value {
	parts := make([]Value, len(items))
	for i, item := range items {
		parts[i] = item
		if d, ok := item.(*Dict); ok {
			if refusal, ok := d.Get("refusal"); ok {
				if s, isText := text(refusal); isText {
					parts[i] = textPart(s)
				}
			}
		}
	}
	return parts
}

func joinParts(parts []Value, separator string) string {
	var texts []string
	for _, part := range parts {
		if d, ok := part.(*Dict); ok {
			if t, ok := d.Get("text"); ok {
				s, _ := text(t)
				texts = append(texts, s)
			}
		}
	}
	return strings.Join(texts, separator)
}

// toolCalls parses the arguments of an assistant's calls, which clients send as JSON text, to objects.
func toolCalls(v Value, at string) (Value, error) {
	list, ok := v.(*List)
	if !ok {
		return newList(nil), nil
	}
	var calls []Value
	for i, item := range list.items {
		call, ok := item.(*Dict)
		if !ok {
			return nil, invalid(fmt.Sprintf("%s.tool_calls[%d]", at, i), "it must be an object.")
		}
		call = call.clone()
		if fn, ok := call.Get("function"); ok {
			if d, ok := fn.(*Dict); ok {
				parsed, err := parseArguments(d, fmt.Sprintf("%s.tool_calls[%d].function.arguments", at, i))
				if err != nil {
					return nil, err
				}
				call.Set("function", parsed)
			}
		}
		calls = append(calls, call)
	}
	return newList(calls), nil
}

func parseArguments(fn *Dict, at string) (*Dict, error) {
	out := fn.clone()
	v, _ := fn.Get("arguments")
	switch v := v.(type) {
	case Str:
		if strings.TrimSpace(string(v)) == "" {
			out.Set("arguments", NewDict(0))
			break
		}
		parsed, err := ParseJSON([]byte(v))
		if err != nil {
			return nil, invalid(at, "the arguments of a tool call must be JSON as text, such as \"{}\": "+err.Error())
		}
		out.Set("arguments", parsed)
	case nil, None:
		out.Set("arguments", NewDict(0))
	}
	return out, nil
}

// render runs the template.
func (c *conversation) render(special Special, o RenderOptions) (string, error) {
	if c.continues() {
		return c.renderContinued(special, o)
	}
	vars, err := c.vars(c.messages, true, special)
	if err != nil {
		return "", err
	}
	return c.tpl.Template.Render(vars, o)
}

// vars are the template's variables, those of the request after those of the model.
func (c *conversation) vars(messages []Value, addGenerationPrompt bool, special Special) (*Dict, error) {
	vars := NewDict(16)
	vars.Set("messages", newList(messages))
	tools, err := c.tools()
	if err != nil {
		return nil, err
	}
	if list, ok := tools.(*List); ok && slices.Contains(c.tpl.Template.names, toolsTypeScript) {
		tools = sortDeep(list)
		if s, err := typeScriptTools(tools.(*List).items); err == nil {
			vars.Set(toolsTypeScript, Str(s))
		}
	}
	vars.Set("tools", tools)
	vars.Set("documents", None{})
	if len(c.req.Documents) > 0 {
		documents, err := ParseJSON(c.req.Documents)
		if err != nil {
			return nil, invalid("documents", err.Error())
		}
		vars.Set("documents", documents)
	}
	vars.Set("add_generation_prompt", Bool(addGenerationPrompt))
	for _, token := range []struct{ name, text string }{{"bos_token", special.BOS}, {"eos_token", special.EOS}, {"unk_token", special.UNK}, {"pad_token", special.PAD}} {
		if token.text != "" {
			vars.Set(token.name, Str(token.text))
		}
	}
	if err := c.options(vars); err != nil {
		return nil, err
	}
	for i, key := range c.kwargs.keys {
		vars.Set(string(key.(Str)), c.kwargs.values[i])
	}
	return vars, nil
}

// tools are what the model is told it can call.
func (c *conversation) tools() (Value, error) {
	if c.req.ToolChoice.Mode == openai.ToolNamed {
		return parseTools(c.req.Tools) // a forced call is a matter of grammar: the prompt, and its cached prefix, stay as they were
	}
	return parseTools(c.req.Callable())
}

// parseTools reads tools as the client wrote them; none is None.
func parseTools(shown []openai.Tool) (Value, error) {
	var tools []Value
	for i, tool := range shown {
		v, err := ParseJSON(tool.Raw)
		if err != nil {
			return nil, invalid(fmt.Sprintf("tools[%d]", i), err.Error())
		}
		tools = append(tools, v)
	}
	if tools == nil {
		return None{}, nil
	}
	return newList(tools), nil
}

// options are what the request says outside its messages: effort, switches of thought, the choice of tools, the format.
func (c *conversation) options(vars *Dict) error {
	if effort := c.effort(); effort != "" {
		vars.Set("reasoning_effort", Str(effort))
	}
	for _, raw := range []struct {
		name string
		json []byte
	}{{"tool_choice", c.req.ToolChoice.Raw}, {"response_format", c.req.ResponseFormat.Raw}} {
		if len(raw.json) == 0 {
			continue
		}
		v, err := ParseJSON(raw.json)
		if err != nil {
			return invalid(raw.name, err.Error())
		}
		vars.Set(raw.name, v)
	}
	if on, said := c.wantsThinking(); said {
		for _, name := range c.tpl.thinkingNames {
			vars.Set(name, Bool(on))
		}
	}
	return nil
}

func (c *conversation) effort() string {
	if c.req.ReasoningEffort != "" {
		return c.req.ReasoningEffort
	}
	return c.req.Thinking.Effort
}
