package chattemplate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"leeway/openai"
)

// harmony writes the prompts of gpt-oss: messages on channels. The checkpoint's template writes nearly the same; where it
// differs (results and arguments as JSON in JSON, blank lines) the library that the format is published with is followed,
// as vLLM does.
type harmony struct{}

const (
	harmonyStart   = "<|start|>"
	harmonyChannel = "<|channel|>"
	harmonyMessage = "<|message|>"
	harmonyEnd     = "<|end|>"
	harmonyCall    = "<|call|>"
)

func (harmony) thinking(*openai.ChatRequest) Thinking { return Thinking{On: true} }

func (harmony) render(req *openai.ChatRequest, now time.Time) (string, error) {
	chat, err := newNativeChat(req, partsTemplate)
	if err != nil {
		return "", err
	}
	p := &harmonyPrompt{chat: chat, names: map[string]string{}}
	messages := chat.messages
	instructions, instructed := "", false
	if len(messages) > 0 && (roleOf(messages[0]) == "system" || roleOf(messages[0]) == "developer") {
		instructions, instructed = contentOf(messages[0], ""), true
	}
	if err := p.system(now); err != nil {
		return "", err
	}
	if instructions != "" || len(chat.tools) > 0 {
		p.developer(instructions, instructed, harmonyTools(chat.tools))
	}
	for i, m := range messages {
		if i == 0 && instructed {
			continue
		}
		if err := p.message(i, m); err != nil {
			return "", err
		}
	}
	return p.text(req.ContinueFinalMessage), nil
}

type harmonyPrompt struct {
	chat  *nativeChat
	parts []harmonyPart
	names map[string]string // of the functions, by the id of the call
}

// harmonyPart is one message as the model reads it.
type harmonyPart struct{ header, channel, content, end string }

func (p *harmonyPrompt) add(header, channel, content, end string) {
	p.parts = append(p.parts, harmonyPart{header, channel, content, end})
}

// text joins the parts. Thoughts before the last final answer are left out: that answer followed from them.
func (p *harmonyPrompt) text(continued bool) string {
	final := -1
	for i, part := range p.parts {
		if part.channel == "final" {
			final = i
		}
	}
	var b strings.Builder
	for i, part := range p.parts {
		if i < final && part.channel == "analysis" {
			continue
		}
		b.WriteString(harmonyStart + part.header)
		if part.channel != "" {
			b.WriteString(harmonyChannel + part.channel)
		}
		b.WriteString(harmonyMessage + part.content)
		if continued && i == len(p.parts)-1 {
			return b.String()
		}
		b.WriteString(part.end)
	}
	return b.String() + harmonyStart + "assistant"
}

func (p *harmonyPrompt) system(now time.Time) error {
	effort, isText := text(p.chat.effortValue())
	switch {
	case effort == "" && isText:
		effort = "medium"
	case effort == "none", effort == "minimal":
		effort = "low" // the model has no less
	case effort != "low" && effort != "medium" && effort != "high":
		return invalid("reasoning_effort", "the model knows the efforts low, medium and high.")
	}
	content := "You are ChatGPT, a large language model trained by OpenAI.\nKnowledge cutoff: 2024-06\nCurrent date: " + now.Format("2006-01-02") +
		"\n\nReasoning: " + effort + "\n\n# Valid channels: analysis, commentary, final. Channel must be included for every message."
	if len(p.chat.tools) > 0 {
		content += "\nCalls to these tools must go to the commentary channel: 'functions'."
	}
	p.add("system", "", content, harmonyEnd)
	return nil
}

// developer writes what the operator of the model wants of it.
func (p *harmonyPrompt) developer(instructions string, instructed bool, tools string) {
	var sections []string
	if instructed {
		sections = append(sections, "# Instructions", instructions)
	}
	if tools != "" {
		sections = append(sections, tools)
	}
	p.add("developer", "", strings.Join(sections, "\n\n"), harmonyEnd)
}

func (p *harmonyPrompt) message(i int, m *Dict) error {
	at := fmt.Sprintf("messages[%d]", i)
	content := contentOf(m, "")
	switch role := roleOf(m); role {
	case "user":
		p.add("user", "", content, harmonyEnd)
	case "system", "developer":
		p.developer(content, true, "")
	case "assistant":
		return p.assistant(i, m, content)
	case "tool":
		name, ok := p.names[textOf(m, "tool_call_id")]
		if !ok {
			if name = textOf(m, "name"); name == "" {
				return invalid(at, "the result of a tool needs a name, or a call of it before.")
			}
		}
		p.add("functions."+name+" to=assistant", "commentary", content, harmonyEnd)
	default:
		return invalid(at+".role", "the model has no messages with the role "+strconv.Quote(role)+".")
	}
	return nil
}

func (p *harmonyPrompt) assistant(i int, m *Dict, content string) error {
	calls := p.chat.req.Messages[i].ToolCalls
	thought := reasoningOf(m)
	if len(calls) > 0 && content != "" {
		p.add("assistant", "commentary", content, harmonyEnd)
	}
	if thought != "" {
		p.add("assistant", "analysis", thought, harmonyEnd)
	}
	if len(calls) == 0 && (content != "" || p.chat.req.ContinueFinalMessage && i == len(p.chat.messages)-1) {
		p.add("assistant", "final", content, harmonyEnd)
	}
	for _, call := range calls {
		p.names[call.ID] = call.Name
		p.add("assistant to=functions."+call.Name, "commentary json", call.Arguments, harmonyCall)
	}
	return nil
}
