package chattemplate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"leeway/openai"
)

// kimiK3 writes the prompts of Kimi K3: tags in special tokens, with attributes.
type kimiK3 struct{}

func (kimiK3) thinking(req *openai.ChatRequest) Thinking {
	return Thinking{Switchable: true, On: thinks(req, true)}
}

// sortedJSON is the form of tool declarations: no spaces, keys in order.
var sortedJSON = jsonStyle{itemSep: ",", keySep: ":", sortKeys: true}

type kimiPrompt struct {
	chat  *nativeChat
	b     strings.Builder
	think bool
}

func (k kimiK3) render(req *openai.ChatRequest) (string, error) {
	chat, err := newNativeChat(req)
	if err != nil {
		return "", err
	}
	p := &kimiPrompt{chat: chat, think: thinks(req, true)}
	if len(chat.tools) > 0 {
		p.note("tool-declare", "# Tools\nHere are the available tools, described in JSONSchema.\n\n```json\n"+dumpJSON(sortedJSON, newList(chat.tools))+"\n```")
	}
	if p.think {
		effort, err := p.effort()
		if err != nil {
			return "", err
		}
		p.note("thinking-effort", "`thinking_effort` guides on how much to think in your thinking channel (not including the response channel), "+
			"supported values include `low`, `medium`, `high`, and `max`.\nNow the system is invoked with `thinking_effort="+effort+"`.")
	}
	if err := p.conversation(); err != nil {
		return "", err
	}
	p.wishes()
	if req.ContinueFinalMessage {
		return strings.TrimSuffix(p.b.String(), "<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>"), nil
	}
	p.open("message", "role", "assistant")
	if p.think {
		p.open("think")
	} else {
		p.open("response")
	}
	return p.b.String(), nil
}

func (p *kimiPrompt) effort() (string, error) {
	effort := p.chat.conversation.effort()
	for _, name := range []string{"reasoning_effort", "thinking_effort"} {
		if v, ok := p.chat.kwargs.Get(name); ok {
			effort, _ = text(v)
		}
	}
	switch effort {
	case "":
		return "max", nil
	case "low", "high", "max":
		return effort, nil
	}
	return "", invalid("reasoning_effort", "the model knows the efforts low, high and max, not "+strconv.Quote(effort)+".")
}

// open writes an opening tag with attributes, given as names and values.
func (p *kimiPrompt) open(tag string, attributes ...string) {
	p.b.WriteString("<|open|>" + tag)
	for i := 0; i+1 < len(attributes); i += 2 {
		value := strings.ReplaceAll(strings.ReplaceAll(attributes[i+1], "&", "&amp;"), `"`, "&quot;")
		p.b.WriteString(" " + attributes[i] + `="` + value + `"`)
	}
	p.b.WriteString("<|sep|>")
}

func (p *kimiPrompt) close(tag string) { p.b.WriteString("<|close|>" + tag + "<|sep|>") }

func (p *kimiPrompt) end() {
	p.close("message")
	p.b.WriteString("<|end_of_msg|>")
}

// note is a message of the system that no client wrote.
func (p *kimiPrompt) note(kind, body string) {
	p.open("message", "role", "system", "type", kind)
	p.b.WriteString(body)
	p.end()
}

func (p *kimiPrompt) conversation() error {
	var calls []nativeCall
	for i := 0; i < len(p.chat.messages); i++ {
		m := p.chat.messages[i]
		attributes := []string{"role", roleOf(m)}
		if name := textOf(m, "name"); name != "" {
			attributes = append(attributes, "name", name)
		}
		switch roleOf(m) {
		case "user", "system", "developer":
			if roleOf(m) == "developer" {
				attributes[1] = "system"
			}
			p.open("message", attributes...)
			p.b.WriteString(textOf(m, "content"))
			p.end()
		case "assistant":
			calls = callsOf(m)
			p.open("message", attributes...)
			p.assistant(m, calls)
			p.end()
		case "tool":
			last := i
			for last+1 < len(p.chat.messages) && roleOf(p.chat.messages[last+1]) == "tool" {
				last++
			}
			if err := p.results(p.chat.messages[i:last+1], calls, i); err != nil {
				return err
			}
			i = last
		default:
			return invalid(fmt.Sprintf("messages[%d].role", i), "the model has no messages with the role "+roleOf(m)+".")
		}
	}
	return nil
}

func (p *kimiPrompt) assistant(m *Dict, calls []nativeCall) {
	if p.think {
		p.open("think")
		if thought := reasoningOf(m); strings.TrimFunc(thought, isSpace) != "" {
			p.b.WriteString(thought)
		}
		p.close("think")
	}
	p.open("response")
	p.b.WriteString(textOf(m, "content"))
	p.close("response")
	if len(calls) == 0 {
		return
	}
	p.open("tools")
	for i, call := range calls {
		p.open("call", "tool", call.name, "index", strconv.Itoa(i+1))
		for k, key := range call.arguments.keys {
			value := call.arguments.values[k]
			p.open("argument", "key", string(key.(Str)), "type", jsonKind(value))
			if s, ok := text(value); ok {
				p.b.WriteString(s)
			} else {
				p.b.WriteString(dumpJSON(compactJSON, value))
			}
			p.close("argument")
		}
		p.close("call")
	}
	p.close("tools")
}

// jsonKind is the JSON type of a value.
func jsonKind(v Value) string {
	switch v.(type) {
	case Bool:
		return "boolean"
	case None:
		return "null"
	case Str:
		return "string"
	case *Dict:
		return "object"
	case *List:
		return "array"
	}
	return "number"
}

// results writes a run of tool messages in the order of the calls that they answer, if all can be matched.
func (p *kimiPrompt) results(run []*Dict, calls []nativeCall, at int) error {
	position := func(m *Dict) int {
		return slices.IndexFunc(calls, func(c nativeCall) bool { return c.id != "" && c.id == textOf(m, "tool_call_id") })
	}
	matched := !slices.ContainsFunc(run, func(m *Dict) bool { return position(m) < 0 })
	if matched {
		run = slices.Clone(run)
		slices.SortStableFunc(run, func(a, b *Dict) int { return position(a) - position(b) })
	}
	for i, m := range run {
		name := textOf(m, "name")
		switch {
		case matched:
			name = calls[position(m)].name
		case name == "" && i < len(calls):
			name = calls[i].name
		case name == "":
			return invalid(fmt.Sprintf("messages[%d]", at+i), "the result of a tool needs a name, or a call of it before.")
		}
		p.open("message", "role", "tool", "tool", name, "index", strconv.Itoa(i+1))
		p.b.WriteString(textOf(m, "content"))
		p.end()
	}
	return nil
}

// wishes are the notes on the choice of tools and on the format of the answer.
func (p *kimiPrompt) wishes() {
	req := p.chat.req
	switch {
	case req.ToolChoice.Mode == openai.ToolRequired:
		p.note("tool-choice", "The system is invoked with `tool_choice=required`.\nYou MUST call tools in the next message.")
	case req.ToolChoice.Mode == openai.ToolNone && len(req.ToolChoice.Raw) > 0:
		p.note("tool-choice", "The system is invoked with `tool_choice=none`.\nYou MUST NOT call any tools in the next message.")
	}
	const raw = "Your response must be raw JSON data without markdown code blocks (```json) or any additional formatting."
	switch req.ResponseFormat.Type {
	case "json_object":
		p.note("response-format", "The system is invoked with `response_format=json_object`.\n"+raw)
	case "json_schema":
		schema, err := ParseJSON(req.ResponseFormat.Schema)
		if err != nil {
			schema = None{}
		}
		p.note("response-format", "The system is invoked with `response_format=json_schema`.\n"+raw+
			"\nThe JSON data must match the following schema:\n```json\n"+dumpJSON(sortedJSON, schema)+"\n```")
	}
}
