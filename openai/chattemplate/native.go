package chattemplate

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"leeway/openai"
)

// nativeRenderer writes the prompts of a model family that is published with code in place of a Jinja template.
type nativeRenderer interface {
	render(req *openai.ChatRequest) (string, error)
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
	}
	if err := json.Unmarshal([]byte(data), &config); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	for _, name := range config.Architectures {
		switch {
		case strings.HasPrefix(name, "DeepseekV32For"):
			return deepSeek{dialect: deepSeekV32}, nil
		case strings.HasPrefix(name, "DeepseekV4For"):
			return deepSeek{dialect: deepSeekV4}, nil
		case strings.HasPrefix(name, "KimiK3For"):
			return kimiK3{}, nil
		}
	}
	return nil, nil
}

// plainTemplate describes how native renderers take their messages: contents as one string, the role developer as it is.
var plainTemplate = &chatTemplate{takesDeveloper: true}

// nativeChat is a chat request as native renderers read it.
type nativeChat struct {
	*conversation
	messages []*Dict
	tools    []Value // the functions alone
}

func newNativeChat(req *openai.ChatRequest) (*nativeChat, error) {
	c, err := newConversation(req, plainTemplate)
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

// thinks tells whether the request, or else the model's default, lets the model think.
func thinks(req *openai.ChatRequest, byDefault bool) bool {
	kwargs := kwargsOf(req)
	said, on := false, false
	for _, name := range []string{"thinking", "enable_thinking"} {
		if v, ok := kwargs.Get(name); ok {
			said, on = true, on || truth(v)
		}
	}
	if said {
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

func roleOf(m *Dict) string { return textOf(m, "role") }

// reasoningOf is the thought that an assistant's message carries.
func reasoningOf(m *Dict) string {
	if s := textOf(m, "reasoning_content"); s != "" {
		return s
	}
	return textOf(m, "reasoning")
}

// call is one call of an assistant's message.
type nativeCall struct {
	id, name  string
	arguments *Dict
}

func callsOf(m *Dict) []nativeCall {
	v, _ := m.Get("tool_calls")
	list, ok := v.(*List)
	if !ok {
		return nil
	}
	var calls []nativeCall
	for _, item := range list.items {
		d := item.(*Dict) // toolCalls made it
		call := nativeCall{id: textOf(d, "id"), arguments: NewDict(0)}
		if fn, ok := d.Get("function"); ok {
			if f, ok := fn.(*Dict); ok {
				call.name = textOf(f, "name")
				if a, ok := f.Get("arguments"); ok {
					if args, ok := a.(*Dict); ok {
						call.arguments = args
					}
				}
			}
		}
		calls = append(calls, call)
	}
	return calls
}

// dumpJSON is json.dumps(v, ensure_ascii=False) of data that came from JSON, which cannot fail.
func dumpJSON(style jsonStyle, v Value) string {
	b, err := style.append(new(render), nil, v, 0)
	if err != nil {
		return "null"
	}
	return string(b)
}
