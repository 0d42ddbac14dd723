package chattemplate

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"leeway/openai"
)

// nativeRenderer writes the prompts of a model family that is published with code in place of a Jinja template.
type nativeRenderer interface {
	render(req *openai.ChatRequest, now time.Time) (string, error)
	thinking(req *openai.ChatRequest) Thinking
}

// nativeFor chooses a renderer by the architecture in config.json; it is nil when there is none for it.
func nativeFor(files fs.FS) (nativeRenderer, error) {
	data, found, err := readText(files, "config.json")
	if err != nil || !found {
		return nil, err
	}
	var config struct {
		Architectures []string `json:"architectures"`
		ModelType     string   `json:"model_type"`
	}
	if err := json.Unmarshal([]byte(data), &config); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	for _, name := range append(config.Architectures, "") {
		if r, err := deepSeekFor(files, name, config.ModelType); r != nil || err != nil {
			return r, err
		}
		switch {
		case strings.HasPrefix(name, "KimiK3For"), config.ModelType == "kimi_k3":
			return kimiK3{}, nil
		case strings.HasPrefix(name, "GptOssFor"), config.ModelType == "gpt_oss":
			return harmony{}, nil
		}
	}
	return nil, nil
}

// plainTemplate describes how native renderers take their messages: contents as one string, the role developer as it is.
var plainTemplate = &chatTemplate{takesDeveloper: true}

// partsTemplate is for those that join the parts of a content themselves.
var partsTemplate = &chatTemplate{takesDeveloper: true, takesParts: true}

// nativeChat is a chat request as native renderers read it.
type nativeChat struct {
	*conversation
	messages []*Dict
	tools    []Value // the functions alone
}

func newNativeChat(req *openai.ChatRequest, contents *chatTemplate) (*nativeChat, error) {
	c, err := newConversation(req, contents)
	if err != nil {
		return nil, err
	}
	n := &nativeChat{conversation: c}
	for _, m := range c.messages {
		n.messages = append(n.messages, m.(*Dict))
	}
	tools, err := c.tools()
	if err != nil {
		return nil, err
	}
	if list, ok := tools.(*List); ok {
		n.tools = list.items
	}
	return n, nil
}

// effortValue is the effort that the request asks for, "" for none: a name, or whatever chat_template_kwargs has.
func (n *nativeChat) effortValue() Value {
	if v, ok := n.kwargs.Get("reasoning_effort"); ok && !isNone(v) {
		return v
	}
	return Str(n.effort())
}

// thinks tells whether the model is to think. The first of these that says something decides: chat_template_kwargs, the
// effort as the model reads it, the request's other fields, the model's default.
func thinks(req *openai.ChatRequest, byDefault bool, effortSays func(effort string) (on, said bool)) bool {
	n := nativeChat{conversation: &conversation{req: req, kwargs: kwargsOf(req)}}
	said, on := false, false
	for _, name := range []string{"thinking", "enable_thinking"} {
		if v, ok := n.kwargs.Get(name); ok && !isNone(v) {
			said, on = true, on || truth(v)
		}
	}
	if said {
		return on
	}
	effort, _ := text(n.effortValue())
	if on, said := effortSays(effort); said {
		return on
	}
	if on, said := wantsThinking(req); said {
		return on
	}
	return byDefault
}

func textOf(m *Dict, key string) string {
	v, _ := m.Get(key)
	s, _ := text(v)
	return s
}

// contentOf is a message's text, the texts of several parts with a separator between.
func contentOf(m *Dict, separator string) string {
	content, _ := m.Get("content")
	if list, ok := content.(*List); ok {
		return joinParts(list.items, separator)
	}
	return textOf(m, "content")
}

func roleOf(m *Dict) string { return textOf(m, "role") }

// reasoningOf is the thought that an assistant's message carries.
func reasoningOf(m *Dict) string {
	if s := textOf(m, "reasoning_content"); s != "" {
		return s
	}
	return textOf(m, "reasoning")
}

// nativeCall is one call of an assistant's message.
type nativeCall struct {
	id, name  string
	arguments Value // nearly always a *Dict
}

// callsOf reads the calls of a message, which is found at the given place of the request.
func callsOf(m *Dict, at string) ([]nativeCall, error) {
	v, _ := m.Get("tool_calls")
	list, ok := v.(*List)
	if !ok {
		return nil, nil
	}
	calls := make([]nativeCall, len(list.items))
	for i, item := range list.items {
		d := item.(*Dict) // toolCalls made it
		fn, _ := d.Get("function")
		f, ok := fn.(*Dict)
		if !ok {
			return nil, invalid(fmt.Sprintf("%s.tool_calls[%d].function", at, i), "it must be an object.")
		}
		arguments, _ := f.Get("arguments") // toolCalls made it
		calls[i] = nativeCall{id: textOf(d, "id"), name: textOf(f, "name"), arguments: arguments}
	}
	return calls, nil
}

// dumpJSON is json.dumps(v, ensure_ascii=False) of data that came from JSON, which cannot fail.
func dumpJSON(style jsonStyle, v Value) string {
	b, err := style.append(new(render), nil, v, 0)
	if err != nil {
		return "null"
	}
	return string(b)
}
