package chattemplate

import (
	"fmt"
	"slices"
	"strings"

	"leeway/openai"
)

// deepSeek writes the prompts of DeepSeek V3.2 and V4, which are published with an encoder in Python.
type deepSeek struct{ dialect *deepSeekDialect }

// deepSeekDialect is what the two versions differ in.
type deepSeekDialect struct {
	block           string // name of the block of calls
	toolsText       string // of the system message; %s is the functions, one a line
	mergesResults   bool   // results of tools are part of the user's message, and with tools earlier thoughts stay
	thinksByDefault bool
}

const (
	deepSeekBOS       = "<｜begin▁of▁sentence｜>"
	deepSeekEOS       = "<｜end▁of▁sentence｜>"
	deepSeekUser      = "<｜User｜>"
	deepSeekAssistant = "<｜Assistant｜>"
	deepSeekMark      = "｜DSML｜"
	thinkOpen         = "<think>"
	thinkClose        = "</think>"
)

func (d deepSeek) thinking(req *openai.ChatRequest) Thinking {
	return Thinking{Switchable: true, On: d.thinks(req)}
}

func (d deepSeek) thinks(req *openai.ChatRequest) bool {
	return thinks(req, d.dialect.thinksByDefault)
}

func (d deepSeek) render(req *openai.ChatRequest) (string, error) {
	chat, err := newNativeChat(req)
	if err != nil {
		return "", err
	}
	p := &deepSeekPrompt{deepSeek: d, chat: chat, think: d.thinks(req), keeps: d.dialect.mergesResults && len(chat.tools) > 0}
	p.findLastUser()
	if p.think && !p.keeps && p.lastUser > 0 {
		before := slices.DeleteFunc(slices.Clone(chat.messages[:p.lastUser]), func(m *Dict) bool { return roleOf(m) == "developer" })
		chat.messages = append(before, chat.messages[p.lastUser:]...)
		p.findLastUser()
	}
	p.b.WriteString(deepSeekBOS)
	if d.dialect.mergesResults && p.think && p.effort() == "max" {
		p.b.WriteString(deepSeekMaxEffort)
	}
	if len(chat.tools) > 0 && roleOf(chat.messages[0]) != "system" && roleOf(chat.messages[0]) != "developer" {
		p.b.WriteString(p.tools())
	}
	for i := range chat.messages {
		if err := p.message(i); err != nil {
			return "", err
		}
	}
	out := p.b.String()
	if req.ContinueFinalMessage {
		out = strings.TrimSuffix(out, deepSeekEOS)
	}
	return out, nil
}

type deepSeekPrompt struct {
	deepSeek
	chat     *nativeChat
	b        strings.Builder
	think    bool
	keeps    bool // thoughts before the last user's message as well
	lastUser int
}

func (p *deepSeekPrompt) findLastUser() {
	p.lastUser = -1
	for i, m := range p.chat.messages {
		if role := roleOf(m); role == "user" || role == "developer" || p.dialect.mergesResults && role == "tool" {
			p.lastUser = i
		}
	}
}

// followsUser tells whether message i goes on with a user's message that is open already.
func (p *deepSeekPrompt) followsUser(i int) bool {
	if i == 0 {
		return false
	}
	role := roleOf(p.chat.messages[i-1])
	return role == "user" || role == "tool"
}

func (p *deepSeekPrompt) effort() string {
	if v, ok := p.chat.kwargs.Get("reasoning_effort"); ok {
		s, _ := text(v)
		return s
	}
	return p.chat.conversation.effort()
}

func (p *deepSeekPrompt) tools() string {
	lines := make([]string, len(p.chat.tools))
	for i, tool := range p.chat.tools {
		fn, _ := tool.(*Dict).Get("function")
		lines[i] = dumpJSON(compactJSON, fn)
	}
	return "\n\n" + strings.Replace(p.dialect.toolsText, "%s", strings.Join(lines, "\n"), 1)
}

func (p *deepSeekPrompt) message(i int) error {
	m := p.chat.messages[i]
	content := textOf(m, "content")
	tools := ""
	if i == 0 && len(p.chat.tools) > 0 {
		tools = p.tools()
	}
	switch role := roleOf(m); role {
	case "system":
		p.b.WriteString(content + tools)
	case "developer":
		if p.dialect.mergesResults {
			p.b.WriteString(deepSeekUser + content + tools)
		} else {
			p.b.WriteString(deepSeekUser + tools + "\n\n# The user's message is: " + content)
		}
		p.answer(i)
	case "user":
		if p.dialect.mergesResults && p.followsUser(i) {
			p.b.WriteString("\n\n")
		} else {
			p.b.WriteString(deepSeekUser)
		}
		p.b.WriteString(content)
		p.answer(i)
	case "tool":
		return p.result(i, content)
	case "assistant":
		p.assistant(i, m, content)
	default:
		return invalid(fmt.Sprintf("messages[%d].role", i), "the model has no messages with the role "+role+".")
	}
	return nil
}

// answer opens the assistant's turn, unless more of the user's follows.
func (p *deepSeekPrompt) answer(i int) {
	if p.dialect.mergesResults && i+1 < len(p.chat.messages) && roleOf(p.chat.messages[i+1]) != "assistant" {
		return
	}
	p.b.WriteString(deepSeekAssistant)
	p.thought(i)
}

// thought opens or closes the thought of the turn that follows message i.
func (p *deepSeekPrompt) thought(i int) {
	if p.think && (i >= p.lastUser || p.keeps) {
		p.b.WriteString(thinkOpen)
	} else {
		p.b.WriteString(thinkClose)
	}
}

func (p *deepSeekPrompt) assistant(i int, m *Dict, content string) {
	if p.think && (i > p.lastUser || p.keeps) {
		p.b.WriteString(reasoningOf(m) + thinkClose)
	}
	p.b.WriteString(content)
	if calls := callsOf(m); len(calls) > 0 {
		parts := make([]string, len(calls))
		for k, call := range calls {
			parts[k] = deepSeekCall(call)
		}
		p.b.WriteString("\n\n<" + deepSeekMark + p.dialect.block + ">\n" + strings.Join(parts, "\n") + "\n</" + deepSeekMark + p.dialect.block + ">")
	}
	p.b.WriteString(deepSeekEOS)
}

func deepSeekCall(call nativeCall) string {
	lines := make([]string, call.arguments.Len())
	for i, key := range call.arguments.keys {
		value, isText := text(call.arguments.values[i])
		if !isText {
			value = dumpJSON(compactJSON, call.arguments.values[i])
		}
		lines[i] = fmt.Sprintf(`<%sparameter name="%s" string="%t">%s</%sparameter>`, deepSeekMark, key, isText, value, deepSeekMark)
	}
	return "<" + deepSeekMark + `invoke name="` + call.name + "\">\n" + strings.Join(lines, "\n") + "\n</" + deepSeekMark + "invoke>"
}

// result writes what a tool gave back.
func (p *deepSeekPrompt) result(i int, content string) error {
	at := i
	for at > 0 && roleOf(p.chat.messages[at-1]) == "tool" {
		at--
	}
	if p.dialect.mergesResults {
		return p.mergedResult(i, at)
	}
	var calls []nativeCall
	if at > 0 {
		calls = callsOf(p.chat.messages[at-1])
	}
	order := i - at + 1
	if order > len(calls) {
		return invalid(fmt.Sprintf("messages[%d]", i), "the result of a tool needs a call of it in the assistant's message before.")
	}
	if order == 1 {
		p.b.WriteString("\n\n<function_results>")
	}
	p.b.WriteString("\n<result>" + content + "</result>")
	if order == len(calls) {
		p.b.WriteString("\n</function_results>\n\n")
		p.thought(i)
	}
	return nil
}

// mergedResult writes a run of results, which begins at the given message, in the order of their calls.
func (p *deepSeekPrompt) mergedResult(i, first int) error {
	if i > first {
		p.answer(i)
		return nil // written with the first
	}
	end := first
	for end < len(p.chat.messages) && roleOf(p.chat.messages[end]) == "tool" {
		end++
	}
	run := slices.Clone(p.chat.messages[first:end])
	order := map[string]int{}
	if first > 0 {
		for k, call := range callsOf(p.chat.messages[first-1]) {
			order[call.id] = k
		}
	}
	slices.SortStableFunc(run, func(a, b *Dict) int { return order[textOf(a, "tool_call_id")] - order[textOf(b, "tool_call_id")] })
	parts := make([]string, len(run))
	for k, m := range run {
		parts[k] = "<tool_result>" + textOf(m, "content") + "</tool_result>"
	}
	if p.followsUser(first) {
		p.b.WriteString("\n\n")
	} else {
		p.b.WriteString(deepSeekUser)
	}
	p.b.WriteString(strings.Join(parts, "\n\n"))
	p.answer(i)
	return nil
}
