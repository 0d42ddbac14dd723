package chattemplate

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"leeway/openai"
)

// deepSeek writes the prompts of DeepSeek V3.2, V4 and V4.1, which are published with encoders in Python.
type deepSeek struct{ dialect *deepSeekDialect }

// deepSeekDialect is what the versions differ in.
type deepSeekDialect struct {
	contents    *chatTemplate // how messages are taken
	block, call string        // names of the tags around all calls, and around one
	parameter   string        // name of the tag around an argument
	tools       string        // what is said about tools; %s is the functions, one a line
	thinks      bool          // without being asked
	effortSays  func(effort string) (on, said bool)
	write       func(p *deepSeekPrompt) error
	effort      func(p *deepSeekPrompt) (string, error) // what a prompt with a thought begins with
	system      string                                  // the token before system messages
}

const (
	deepSeekBOS       = "<｜begin▁of▁sentence｜>"
	deepSeekEOS       = "<｜end▁of▁sentence｜>"
	deepSeekUser      = "<｜User｜>"
	deepSeekAssistant = "<｜Assistant｜>"
	deepSeekReminder  = "<｜latest_reminder｜>"
	deepSeekMark      = "｜DSML｜"
	thinkOpen         = "<think>"
	thinkClose        = "</think>"
)

// deepSeekFor tells the two revisions of V4 apart by the encoder that a checkpoint may bring. Without it the model is taken
// for the newer one, as the engines do.
func deepSeekFor(files fs.FS, architecture, modelType string) (nativeRenderer, error) {
	switch {
	case strings.HasPrefix(architecture, "DeepseekV32For"):
		return deepSeek{deepSeekV32}, nil
	case strings.HasPrefix(architecture, "DeepseekV41For"), modelType == "deepseek_v41":
		return deepSeek{deepSeekV41}, nil
	case strings.HasPrefix(architecture, "DeepseekV4For"):
		encoder, found, err := readText(files, "encoding/encoding_dsv4.py")
		firstLine, _, _ := strings.Cut(deepSeekEffortBeyond, "\n")
		if found && !strings.Contains(encoder, firstLine) {
			return deepSeek{deepSeekV4First}, err
		}
		return deepSeek{deepSeekV4}, err
	}
	return nil, nil
}

func (d deepSeek) thinking(req *openai.ChatRequest) Thinking {
	return Thinking{Switchable: true, On: thinks(req, d.dialect.thinks, d.dialect.effortSays)}
}

func (d deepSeek) render(req *openai.ChatRequest, _ time.Time) (string, error) {
	chat, err := newNativeChat(req, d.dialect.contents)
	if err != nil {
		return "", err
	}
	p := &deepSeekPrompt{dialect: d.dialect, chat: chat, think: d.thinking(req).On}
	for i, m := range chat.messages {
		turn, err := p.turn(i, m)
		if err != nil {
			return "", err
		}
		p.turns = append(p.turns, turn)
	}
	if req.ContinueFinalMessage {
		p.turns[len(p.turns)-1].open = true
	}
	p.b.WriteString(deepSeekBOS)
	if err := d.dialect.write(p); err != nil {
		return "", err
	}
	return p.b.String(), nil
}

type deepSeekPrompt struct {
	dialect  *deepSeekDialect
	chat     *nativeChat
	turns    []*deepSeekTurn
	b        strings.Builder
	think    bool
	keeps    bool // thoughts before the last user's turn as well
	lastUser int  // index of that turn, −1 without one
}

// deepSeekTurn is a message with what DeepSeek's encoders read of it.
type deepSeekTurn struct {
	at                       int // index of the message
	role, content, reasoning string
	calls                    []nativeCall
	id                       string       // of the call that a tool's message answers
	parts                    []deepSeekIO // of a user's turn, when it is made of several messages
	tools                    []Value      // that it declares
	format                   Value        // that it demands of the answer, or nil
	task                     string       // a quick instruction's name
	open                     bool         // the model is to go on with it
}

// deepSeekIO is a text of the user or the result of a call.
type deepSeekIO struct {
	text, id string
	isResult bool
}

func (p *deepSeekPrompt) turn(i int, m *Dict) (*deepSeekTurn, error) {
	at := fmt.Sprintf("messages[%d]", i)
	calls, err := callsOf(m, at)
	if err != nil {
		return nil, err
	}
	t := &deepSeekTurn{at: i, role: roleOf(m), content: contentOf(m, "\n\n"), reasoning: reasoningOf(m), calls: calls,
		id: textOf(m, "tool_call_id"), task: textOf(m, "task")}
	for _, name := range []string{"wo_eos", "prefix"} {
		if v, ok := m.Get(name); ok && truth(v) {
			t.open = true
		}
	}
	if v, ok := m.Get("response_format"); ok && truth(v) {
		t.format = v
	}
	if v, ok := m.Get("tools"); ok {
		if list, ok := v.(*List); ok {
			t.tools = list.items
		}
	}
	return t, nil
}

// host finds the turn that declares the request's tools: the first that fits, else a system's turn put in front.
func (p *deepSeekPrompt) host(fits func(i int, t *deepSeekTurn) bool) {
	if len(p.chat.tools) == 0 {
		return
	}
	for i, t := range p.turns {
		if fits(i, t) {
			t.tools = p.chat.tools
			return
		}
	}
	p.turns = append([]*deepSeekTurn{{role: "system", tools: p.chat.tools}}, p.turns...)
}

// declaresTools tells whether any turn does.
func (p *deepSeekPrompt) declaresTools() bool {
	for _, t := range p.turns {
		if len(t.tools) > 0 {
			return true
		}
	}
	return false
}

// findLastUser sets lastUser.
func (p *deepSeekPrompt) findLastUser() {
	p.lastUser = -1
	for i, t := range p.turns {
		if t.role == "user" || t.role == "developer" || t.role == "system" && i > 0 && p.dialect.system != "" {
			p.lastUser = i
		}
	}
}

// declarations are the tools and the format that a turn declares, each after a blank line.
func (p *deepSeekPrompt) declarations(t *deepSeekTurn) (string, error) {
	out := ""
	if len(t.tools) > 0 {
		lines := make([]string, len(t.tools))
		for i, tool := range t.tools {
			d, _ := tool.(*Dict)
			if d == nil {
				return "", invalid(fmt.Sprintf("messages[%d].tools[%d]", t.at, i), "it must be an object.")
			}
			fn, ok := d.Get("function")
			if !ok {
				return "", invalid(fmt.Sprintf("messages[%d].tools[%d]", t.at, i), "it must have a function.")
			}
			lines[i] = dumpJSON(compactJSON, fn)
		}
		out = "\n\n" + strings.Replace(p.dialect.tools, "%s", strings.Join(lines, "\n"), 1)
	}
	if t.format != nil {
		out += "\n\n## Response Format:\n\nYou MUST strictly adhere to the following schema to reply:\n" + dumpJSON(compactJSON, t.format)
	}
	return out, nil
}

// callBlock writes the calls of an assistant's turn.
func (p *deepSeekPrompt) callBlock(calls []nativeCall) string {
	if len(calls) == 0 {
		return ""
	}
	d := p.dialect
	var b strings.Builder
	b.WriteString("\n\n<" + deepSeekMark + d.block + ">\n")
	for _, call := range calls {
		arguments, ok := call.arguments.(*Dict)
		if !ok {
			arguments = NewDict(1)
			arguments.Set("arguments", call.arguments)
		}
		lines := make([]string, arguments.Len())
		for i, key := range arguments.keys {
			value, isText := text(arguments.values[i])
			if !isText {
				value = dumpJSON(compactJSON, arguments.values[i])
			}
			lines[i] = "<" + deepSeekMark + d.parameter + ` name="` + string(key.(Str)) + `" string="` + strconv.FormatBool(isText) + `">` +
				value + "</" + deepSeekMark + d.parameter + ">"
		}
		b.WriteString("<" + deepSeekMark + d.call + ` name="` + call.name + "\">\n" + strings.Join(lines, "\n") + "\n</" + deepSeekMark + d.call + ">\n")
	}
	b.WriteString("</" + deepSeekMark + d.block + ">")
	return b.String()
}

func (p *deepSeekPrompt) unknownRole(t *deepSeekTurn) error {
	return invalid(fmt.Sprintf("messages[%d].role", t.at), "the model has no messages with the role "+strconv.Quote(t.role)+".")
}

func (p *deepSeekPrompt) emptyDeveloper(t *deepSeekTurn) error {
	return invalid(fmt.Sprintf("messages[%d].content", t.at), "a developer's message must not be empty.")
}

// openThought opens or closes the thought of the turn that follows turn i.
func (p *deepSeekPrompt) openThought(opens bool) {
	if opens {
		p.b.WriteString(thinkOpen)
	} else {
		p.b.WriteString(thinkClose)
	}
}
