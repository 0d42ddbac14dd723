package toolcall

import (
	"strconv"
	"strings"
)

// The formats here write a call's name between markers of its own, and its arguments as JSON behind it.

const (
	deepseekCalls = "<｜tool▁calls▁begin｜>"
	deepseekCall  = "<｜tool▁call▁begin｜>"
	deepseekSep   = "<｜tool▁sep｜>"
	deepseekEnd   = "<｜tool▁call▁end｜>"
	deepseekLast  = "<｜tool▁calls▁end｜>"
)

// deepseekHead matches both spellings: "function" before the separator and the name behind it, arguments fenced (V3), or
// the name before the separator (V3.1).
func deepseekHead(_ *Parser, c *cursor, _ bool) (s start, ok bool) {
	c.lit(deepseekCalls)
	c.space()
	if !c.lit(deepseekCall) {
		return s, false
	}
	name, ok := c.until(deepseekSep)
	if !ok {
		return s, false
	}
	if s.name = strings.TrimSpace(name); s.name == "function" {
		c.space()
		if word := c.name(); word != "" {
			s.name = word
		}
	}
	c.space()
	if c.lit("```") {
		c.lit("json")
	}
	return argsOrNone(c, s, deepseekEnd, false)
}

// argsOrNone is rawArgs for a format whose closing marker may follow at once, or behind a null.
func argsOrNone(c *cursor, s start, end string, spaced bool) (start, bool) {
	c.space()
	at := c.pos
	c.lit("null")
	c.space()
	c.lit("```")
	c.space()
	if c.ahead(end) {
		s.args = givenArgs("{}")
		return s, s.name != ""
	}
	c.pos = at
	return rawArgs(c, s, spaced)
}

const (
	kimiCalls = "<|tool_calls_section_begin|>"
	kimiCall  = "<|tool_call_begin|>"
	kimiArgs  = "<|tool_call_argument_begin|>"
	kimiEnd   = "<|tool_call_end|>"
	kimiLast  = "<|tool_calls_section_end|>"

	// As some checkpoints write them.
	kimiOneCalls = "<|tool_call_section_begin|>"
	kimiOneLast  = "<|tool_call_section_end|>"
)

// kimiHead matches a call, whose name comes inside its id: functions.NAME:INDEX. An id that another call has is not taken.
func kimiHead(p *Parser, c *cursor, _ bool) (s start, ok bool) {
	c.any(kimiCalls, kimiOneCalls)
	c.space()
	if !c.lit(kimiCall) {
		return s, false
	}
	id, ok := c.until(kimiArgs)
	if !ok {
		return s, false
	}
	id = strings.TrimSpace(id)
	name, index, numbered := cutLast(id, ':')
	s.name = strings.TrimPrefix(name, "functions.")
	s.id = kimiID(s.name, index, numbered, p.calls)
	for n := p.calls; p.ids[s.id]; n++ {
		s.id = kimiID(s.name, "", false, n)
	}
	return argsOrNone(c, s, kimiEnd, true)
}

// cutLast is strings.Cut at the last sep.
func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// kimiID is the id that the model gave or, if it gave none, the next in its manner.
func kimiID(name, index string, numbered bool, calls int) string {
	if _, err := strconv.ParseUint(index, 10, 31); !numbered || err != nil {
		index = strconv.Itoa(calls)
	}
	return "functions." + name + ":" + index
}

// kimi3Head matches a call in tags, and names it in the manner of its model: by the first number that makes it another's
// than those of the conversation's calls.
func kimi3Head(p *Parser, c *cursor, more bool) (start, bool) {
	s, ok := tagHead(kimi3Tags)(p, c, more)
	for n := p.calls; s.id == "" || p.ids[s.id]; n++ {
		s.id = s.name + "_" + strconv.Itoa(n)
	}
	return s, ok
}

// Taken tells which ids the conversation's calls have. None of them is given again, not even one that the model gives.
func (p *Parser) Taken(ids []string) {
	p.ids = make(map[string]bool, len(ids))
	for _, id := range ids {
		p.ids[id] = true
	}
}
