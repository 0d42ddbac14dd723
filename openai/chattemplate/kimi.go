package chattemplate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"leeway/openai"
)

// kimiK3 writes the prompts of Kimi K3: tags in special tokens, with attributes.
type kimiK3 struct{}

func (kimiK3) thinking(req *openai.ChatRequest) Thinking {
	return Thinking{Switchable: true, On: thinks(req, true, noneEffortSays)}
}

// sortedJSON is the form of tool declarations: no spaces, keys in order.
var sortedJSON = jsonStyle{itemSep: ",", keySep: ":", sortKeys: true}

type kimiPrompt struct {
	chat  *nativeChat
	b     strings.Builder
	think bool
	calls []nativeCall // of the last assistant's message
	index int          // of the last result since then
}

func (k kimiK3) render(req *openai.ChatRequest, _ time.Time) (string, error) {
	chat, err := newNativeChat(req, partsTemplate)
	if err != nil {
		return "", err
	}
	tools, err := parseTools(req.Tools) // all: a choice among them is a note of its own
	if err != nil {
		return "", err
	}
	p := &kimiPrompt{chat: chat, think: k.thinking(req).On}
	if list, ok := tools.(*List); ok {
		p.note("tool-declare", "# Tools\nHere are the available tools, described in JSONSchema.\n\n```json\n"+dumpJSON(sortedJSON, list)+"\n```")
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

// effort is how much the model is to think. thinking_effort is the model's own name for it and must be one of its own
// values; other efforts than those say nothing.
func (p *kimiPrompt) effort() (string, error) {
	if v, ok := p.chat.kwargs.Get("thinking_effort"); ok && !isNone(v) {
		switch v {
		case Str("low"), Str("high"), Str("max"):
			return string(v.(Str)), nil
		}
		return "", invalid("chat_template_kwargs.thinking_effort", "the model knows low, high and max.")
	}
	switch effort, _ := text(p.chat.effortValue()); effort {
	case "low", "high":
		return effort, nil
	}
	return "max", nil
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
	for i := 0; i < len(p.chat.messages); i++ {
		m := p.chat.messages[i]
		at := fmt.Sprintf("messages[%d]", i)
		switch roleOf(m) {
		case "user":
			p.plain("user", m)
		case "system", "developer":
			if v, ok := m.Get("tools"); ok && truth(v) {
				p.note("tool-declare", "## New Tools Available\nThe system dynamically extends the toolset via lazy-loading.\n"+
					"You have access to all existing and extended tools.\nHere are the specs for the extended tools.\n\n```json\n"+dumpJSON(sortedJSON, v)+"\n```")
				continue
			}
			p.plain("system", m)
		case "assistant":
			if err := p.assistant(m, at); err != nil {
				return err
			}
		case "tool":
			last := i
			for last+1 < len(p.chat.messages) && roleOf(p.chat.messages[last+1]) == "tool" {
				last++
			}
			if err := p.results(p.chat.messages[i:last+1], i); err != nil {
				return err
			}
			i = last
		default:
			return invalid(at+".role", "the model has no messages with the role "+strconv.Quote(roleOf(m))+".")
		}
	}
	return nil
}

// begin opens a message in a role, with the name that it may carry.
func (p *kimiPrompt) begin(role string, m *Dict) {
	attributes := []string{"role", role}
	if name := textOf(m, "name"); name != "" {
		attributes = append(attributes, "name", name)
	}
	p.open("message", attributes...)
}

func (p *kimiPrompt) plain(role string, m *Dict) {
	p.begin(role, m)
	p.b.WriteString(contentOf(m, ""))
	p.end()
}

func (p *kimiPrompt) assistant(m *Dict, at string) error {
	calls, err := callsOf(m, at)
	if err != nil {
		return err
	}
	p.calls, p.index = calls, 0
	p.begin("assistant", m)
	if p.think {
		p.open("think")
		if thought := reasoningOf(m); strings.TrimFunc(thought, isSpace) != "" {
			p.b.WriteString(thought)
		}
		p.close("think")
	}
	p.open("response")
	p.b.WriteString(contentOf(m, ""))
	p.close("response")
	if len(calls) > 0 {
		p.open("tools")
		for i, call := range calls {
			arguments, ok := call.arguments.(*Dict)
			if !ok {
				return invalid(fmt.Sprintf("%s.tool_calls[%d].function.arguments", at, i), "it must be a JSON object as text.")
			}
			p.call(i+1, call.name, arguments)
		}
		p.close("tools")
	}
	p.end()
	return nil
}

func (p *kimiPrompt) call(index int, name string, arguments *Dict) {
	p.open("call", "tool", name, "index", strconv.Itoa(index))
	for k, key := range arguments.keys {
		value := arguments.values[k]
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
func (p *kimiPrompt) results(run []*Dict, at int) error {
	position := func(m *Dict) int {
		id := textOf(m, "tool_call_id")
		if _, has := m.Get("tool_call_id"); !has {
			id = textOf(m, "id")
		}
		return slices.IndexFunc(p.calls, func(c nativeCall) bool { return c.id != "" && c.id == id })
	}
	matched := !slices.ContainsFunc(run, func(m *Dict) bool { return position(m) < 0 })
	if matched {
		run = slices.Clone(run)
		slices.SortStableFunc(run, func(a, b *Dict) int { return position(a) - position(b) })
	}
	for i, m := range run {
		p.index++
		name := textOf(m, "tool")
		if name == "" {
			name = textOf(m, "name")
		}
		switch {
		case matched:
			name = p.calls[position(m)].name
		case name == "" && p.index <= len(p.calls):
			name = p.calls[p.index-1].name
		case name == "":
			return invalid(fmt.Sprintf("messages[%d]", at+i), "the result of a tool needs a name, or a call of it before.")
		}
		p.open("message", "role", "tool", "tool", name, "index", strconv.Itoa(p.index))
		p.b.WriteString(contentOf(m, ""))
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
