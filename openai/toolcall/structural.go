package toolcall

import (
	"encoding/json"
	"slices"
	"strconv"

	"leeway/openai"
)

// Start says what may stand before the call that a structural tag forces.
type Start uint8

const (
	AnyStart      Start = iota // text, and a thought if the model opens one
	InThought                  // the answer begins in a thought, which ends before the call
	BehindThought              // nothing: the engine constrains only what comes behind the thought
)

// structural are the formats whose own markers can be forced on an engine.
var structural = map[string]func(calls) grammar{
	"harmony":       harmonyGrammar,
	"mistral":       mistralGrammar,
	"kimik2":        kimiGrammar,
	"kimi_k3":       kimi3Grammar,
	"inkling":       inklingGrammar,
	"glm47_moe":     glmGrammar,
	"glm":           glmGrammar,
	"iquest":        iquestGrammar,
	"hy_v4":         hunyuanGrammar,
	"minimax_m3":    m3Grammar,
	"deepseek_v41":  dsmlGrammar,
	"deepseek_v4.1": dsmlGrammar,
}

// calls is what a structural tag has to allow.
type calls struct {
	tools  []openai.Tool
	start  Start
	single bool
}

// each makes one grammar for every tool.
func (c calls) each(of func(i int, t openai.Tool) grammar) (all []grammar) {
	for i, t := range c.tools {
		all = append(all, of(i, t))
	}
	return all
}

// triggered allows text, and behind a trigger the tags that begin with it, one at least.
func (c calls) triggered(tags []grammar, triggers ...string) grammar {
	return grammar{Type: "triggered_tags", Triggers: triggers, Tags: tags, AtLeastOne: true, StopAfterFirst: c.single}
}

// separated is a list of tags, which holds one at least.
func (c calls) separated(separator string, tags []grammar) grammar {
	return grammar{Type: "tags_with_separator", Separator: &separator, Tags: tags, AtLeastOne: true, StopAfterFirst: c.single}
}

// several is one or more of some grammars.
func (c calls) several(choices []grammar) grammar {
	if c.single {
		return either(choices...)
	}
	return grammar{Type: "plus", Content: &grammar{Type: "or", Elements: choices}}
}

// after puts what may come first before calls. fence and marks are the format's own; no thought may hold the one, and
// nothing but calls the others.
func (c calls) after(fence, marks []string, forced grammar) grammar {
	switch c.start {
	case InThought:
		return sequence(tagged("", anyText(slices.Concat(fence, marks)...), "</think>"), forced)
	case BehindThought:
		return forced
	}
	return sequence(anyText(marks...), forced)
}

func mistralGrammar(c calls) grammar {
	tags := c.each(func(_ int, t openai.Tool) grammar {
		return tagged(`{"name": "`+t.Name+`", "arguments": `, parameters(t), "}")
	})
	return c.triggered([]grammar{tagged("[TOOL_CALLS] [", c.separated(", ", tags), "]")}, "[TOOL_CALLS]")
}

func kimiGrammar(c calls) grammar {
	var tags []grammar
	for i, t := range c.tools {
		call := kimiCall + "functions." + t.Name + ":" + strconv.Itoa(i) + kimiArgs
		tags = append(tags, tagged(kimiCalls+call, parameters(t), kimiEnd), tagged(call, parameters(t), kimiEnd))
	}
	return c.triggered(tags, kimiCalls, kimiCall)
}

func inklingGrammar(c calls) grammar {
	const open = "<|content_invoke_tool_json|>"
	return c.triggered(c.each(func(_ int, t openai.Tool) grammar {
		return tagged(open+`{"name":"`+t.Name+`","args":`, parameters(t), "}<|end_message|>")
	}), open)
}

// harmonyGrammar allows thoughts and words on their channels, and then one call: what ends a call ends the answer, too.
func harmonyGrammar(c calls) grammar {
	marks := slices.Concat(harmonyFormat.open, harmonyFormat.drop)
	const next = "<|end|>" + harmonyStart + "assistant"
	said := func(channel string) grammar {
		return tagged(harmonyChannel+channel+harmonyMessage, anyText(marks...), next)
	}
	call := either(c.each(func(_ int, t openai.Tool) grammar {
		return tagged(harmonyChannel+"commentary to=functions."+t.Name+" <|constrain|>json"+harmonyMessage, parameters(t), "")
	})...)
	messages := either(said("analysis"), said("commentary"))
	forced := sequence(grammar{Type: "star", Content: &messages}, call)
	switch c.start {
	case InThought:
		return sequence(tagged("", anyText(marks...), next), forced)
	case BehindThought: // which has ended with its message
		return sequence(optional(constant(harmonyStart+"assistant")), forced)
	}
	return forced
}

// parameters are a tool's arguments in JSON.
func parameters(t openai.Tool) grammar { return ofSchema(json.RawMessage(argumentsSchema(t))) }

// What GLM's thoughts and calls are made of.
var (
	glmFence = []string{"<think>", "</think>"}
	glmMarks = []string{"<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"}
)

func glmGrammar(c calls) grammar {
	return c.after(glmFence, glmMarks, c.triggered(keyedCalls(c, "tool_call"), "<tool_call>"))
}

func iquestGrammar(c calls) grammar {
	marks := append([]string{"<iquest_tool_call>", "</iquest_tool_call>"}, glmMarks[2:]...)
	return c.after(glmFence, marks, c.triggered(keyedCalls(c, "iquest_tool_call"), "<iquest_tool_call>"))
}

// hunyuanGrammar forces the tags without a suffix, as engines know no other.
func hunyuanGrammar(c calls) grammar {
	marks := []string{"<tool_call", "</tool_call", "<arg_key", "</arg_key", "<arg_value", "</arg_value"}
	group := tagged("<tool_calls>", c.several(keyedCalls(c, "tool_call")), "</tool_calls>")
	return c.after([]string{"<think", "</think"}, marks, c.triggered([]grammar{group}, "<tool_calls>"))
}

// keyedCalls are calls whose arguments stand in tags that engines know as GLM's.
func keyedCalls(c calls, call string) []grammar {
	return c.each(func(_ int, t openai.Tool) grammar {
		arguments := parameters(t)
		arguments.Style = "glm_xml"
		return tagged("<"+call+">"+t.Name, arguments, "</"+call+">")
	})
}

func dsmlGrammar(c calls) grammar {
	const end, param = "</｜DSML｜ parameter>", `<｜DSML｜ parameter name="`
	value := either(
		sequence(constant(`true">`), anyText(end, "</｜DSML｜ invoke>", "</｜DSML｜ calls>")),
		sequence(constant(`false">`), ofSchema(json.RawMessage("true"))),
	)
	argument := tagged(param, sequence(pattern(`[^"]+`), constant(`" string="`), value), end+"\n")
	forced := sequence(constant("\n\n<｜DSML｜ calls>\n"), c.separated("", c.each(func(_ int, t openai.Tool) grammar {
		return tagged(`<｜DSML｜ invoke name="`+t.Name+"\">\n", grammar{Type: "star", Content: &argument}, "</｜DSML｜ invoke>\n")
	})), constant("</｜DSML｜ calls>"))
	if c.start == InThought {
		return c.after(glmFence, []string{"<｜DSML｜", "</｜DSML｜"}, forced)
	}
	return forced
}

const (
	kimi3Tools    = "<|open|>tools<|sep|>"
	kimi3Argument = `<|open|>argument key="`
	kimi3End      = "<|close|>argument<|sep|>"
)

func kimi3Grammar(c calls) grammar {
	forced := c.several(c.each(func(_ int, t openai.Tool) grammar {
		return sequence(constant(`<|open|>call tool="`+escaper.Replace(t.Name)+`" index="`), pattern("[1-9][0-9]*"), constant(`"<|sep|>`),
			kimi3Arguments(t), constant("<|close|>call<|sep|>"))
	}))
	triggers := []string{kimi3Tools, "<|close|>think<|sep|>", "<|close|>response<|sep|>"}
	var tags []grammar
	for _, before := range [...]string{"", triggers[1], triggers[2]} {
		tags = append(tags, tagged(before+kimi3Tools, forced, "<|close|>tools<|sep|>"))
	}
	return c.triggered(tags, triggers...)
}

// kimi3Arguments are a tool's parameters in the order in which it declares them.
func kimi3Arguments(t openai.Tool) grammar {
	word, text := anyText(`"`, "<|"), anyText("<|close|>", "<|open|>", "<|sep|>")
	arguments := readShape(t.Parameters).members(func(name string, s shape) grammar {
		name = escaper.Replace(name)
		if kind, value := kimi3Value(s, text); kind != "" {
			return sequence(constant(kimi3Argument+name+`" type="`+kind+`"<|sep|>`), value, constant(kimi3End))
		}
		return sequence(constant(kimi3Argument+name+`" type="`), word, constant(`"<|sep|>`), text, constant(kimi3End))
	})
	if arguments == nil {
		each := sequence(constant(kimi3Argument), word, constant(`" type="`), word, constant(`"<|sep|>`), text, constant(kimi3End))
		return grammar{Type: "star", Content: &each}
	}
	return sequence(arguments...)
}

// kimi3Value is the format's name for a value's type, "" if it has not one type alone, and the value.
func kimi3Value(s shape, text grammar) (string, grammar) {
	switch t := s.only(); t {
	case "string":
		if choices := s.choices(); choices != nil {
			return t, either(choices...)
		}
		return t, text
	case "integer", "number":
		return "number", ofSchema(s.whole())
	case "null":
		return t, constant("null")
	case "boolean", "array", "object":
		return t, ofSchema(s.whole())
	}
	return "", grammar{}
}

func m3Grammar(c calls) grammar {
	const think, thought = "<mm:think>", "</mm:think>"
	invokes := c.separated("", c.each(func(_ int, t openai.Tool) grammar {
		b := m3Grammars{left: maxGrammar}
		arguments := anyText(m3Ends...)
		if members := b.members(readShape(t.Parameters)); members != nil {
			arguments = sequence(members...)
		}
		return tagged(m3Tags.open+t.Name+`">`, arguments, m3Mark+"</invoke>\n")
	}))
	group := tagged(m3Mark+"<tool_call>\n", invokes, m3Mark+"</tool_call>")
	thoughts := either(tagged(think, anyText(think, thought, m3Mark), thought), constant(thought))
	forced := sequence(optional(thoughts), c.triggered([]grammar{group}, m3Mark+"<tool_call>"))
	switch c.start {
	case InThought:
		return sequence(tagged("", anyText(think, thought, m3Mark), thought), forced)
	case BehindThought:
		return forced
	}
	return sequence(anyText(m3Mark), forced)
}

// m3Grammars makes grammars of a tool's parameters.
type m3Grammars struct {
	left int      // values that may still be described; those beyond are free
	refs []string // the references on the way to where it is
}

// maxGrammar bounds how many values one tool's grammar describes: schemas may refer to each other again and again.
const maxGrammar = 1000

// m3Ends are the tags that no value may hold.
var m3Ends = []string{"</invoke>", `<invoke name="`, "</tool_call>"}

// members are the members of an object as tags, nil if its schema names none. A null is left out.
func (b *m3Grammars) members(s shape) []grammar {
	return s.members(func(name string, s shape) grammar {
		if s.only() == "null" {
			return grammar{}
		}
		return b.element(s, name)
	})
}

// element is a value between the tags of its name.
func (b *m3Grammars) element(s shape, name string) grammar {
	free := anyText(append([]string{"</" + name + ">"}, m3Ends...)...)
	if b.left--; b.left >= 0 && !slices.Contains(b.refs, s.ref) {
		if s.ref != "" {
			b.refs = append(b.refs, s.ref)
			defer func() { b.refs = b.refs[:len(b.refs)-1] }()
		}
		if value, ok := b.value(s, name); ok {
			free = value
		}
	}
	return sequence(constant(m3Mark+"<"+name+">"), free, constant(m3Mark+"</"+name+">"))
}

// value is a value as the format writes it, if its schema says what it is.
func (b *m3Grammars) value(s shape, name string) (grammar, bool) {
	switch s.only() {
	case "string":
		if choices := s.choices(); choices != nil {
			return either(choices...), s.Type != nil
		}
		return anyText(append([]string{m3Mark, "</" + name + ">"}, m3Ends...)...), true
	case "integer", "number":
		return ofSchema(s.whole()), true
	case "boolean":
		return either(constant("true"), constant("false"), constant("True"), constant("False")), true
	case "array":
		if s.Items == nil {
			return grammar{}, false
		}
		item := b.element(s.child(s.Items), "item")
		return grammar{Type: "star", Content: &item}, true
	case "object":
		members := b.members(s)
		return sequence(members...), members != nil
	}
	return grammar{}, false
}
