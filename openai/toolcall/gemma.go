package toolcall

import (
	"strings"

	"leeway/openai"
)

// gemma is a dialect of Google's models, which write arguments in a JSON of their own: keys stand bare, and strings
// between marks that need no escapes.
type gemma struct{ call, end, quote string }

var (
	gemma4        = gemma{"<|tool_call>", "<tool_call|>", `<|"|>`}
	functionGemma = gemma{"<start_function_call>", "<end_function_call>", "<escape>"}
)

// head matches a call up to the brace of its arguments.
func (g gemma) head(_ *Parser, c *cursor, _ bool) (s start, ok bool) {
	if !c.lit(g.call) || !c.lit("call:") {
		return s, false
	}
	s.name = c.name()
	if !c.lit("{") {
		return s, false
	}
	s.args = &gemmaArgs{quote: g.quote, fresh: true}
	return s, true
}

// gemmaArgs turns such arguments into JSON as they come.
type gemmaArgs struct {
	quote  string // around strings
	stack  []byte // the closing brackets awaited, inside the outermost
	fresh  bool   // just behind an opening bracket
	want   want   // wantKey, wantValue, wantMore or inString
	broken bool   // what follows is passed on as it is
}

func (a *gemmaArgs) read(p *Parser, eof bool) bool {
	if a.stack == nil {
		a.stack, a.want = []byte{'}'}, wantKey
		p.argue("{")
	}
	for p.buf != "" && len(a.stack) > 0 {
		if a.broken {
			return passVerbatim(p, p.format.stops(), eof)
		}
		n, out := a.next(p.buf, eof)
		if n == 0 && !a.broken {
			p.wait("")
			return false
		}
		p.buf = p.buf[n:]
		p.argue(out)
	}
	return len(a.stack) == 0
}

// next turns the head of the text into JSON and says how much it took, 0 if it needs more.
func (a *gemmaArgs) next(text string, eof bool) (n int, out string) {
	b := text[0]
	switch {
	case a.want == inString:
		return a.text(text, eof)
	case blank(b):
		return 1, ""
	case b == a.stack[len(a.stack)-1] && (a.fresh || a.want == wantMore):
		a.stack = a.stack[:len(a.stack)-1]
		a.fresh, a.want = false, wantMore
		return 1, string(b)
	case a.want == wantMore:
		if b != ',' {
			a.broken = true
			return 0, ""
		}
		return 1, a.comma()
	case a.want == wantKey:
		return a.key(text, eof)
	}
	return a.value(text, eof)
}

// comma goes on to the next member or element.
func (a *gemmaArgs) comma() string {
	a.want = wantValue
	if a.stack[len(a.stack)-1] == '}' {
		a.want = wantKey
	}
	return ","
}

// text passes on a string up to its closing mark.
func (a *gemmaArgs) text(text string, eof bool) (int, string) {
	if at := strings.Index(text, a.quote); at >= 0 {
		a.want = wantMore
		return at + len(a.quote), string(openai.AppendEscaped(nil, text[:at])) + `"`
	}
	n := len(text)
	if !eof {
		n -= heldSuffix(text, []string{a.quote})
	}
	return n, string(openai.AppendEscaped(nil, text[:n]))
}

// key turns a key, which stands bare or between marks, into a quoted one.
func (a *gemmaArgs) key(text string, eof bool) (int, string) {
	c := &cursor{text: text, eof: eof}
	key, ok := "", true
	if c.lit(a.quote) {
		key, ok = c.until(a.quote)
		c.space()
		ok = ok && c.lit(":")
	} else if !c.short {
		key, ok = c.until(":")
		key = strings.ReplaceAll(strings.TrimSpace(key), a.quote, "")
	}
	if c.short {
		return 0, ""
	}
	if !ok {
		a.broken = true
		return 0, ""
	}
	a.fresh, a.want = false, wantValue
	return c.pos, string(append(openai.AppendString(nil, key), ':'))
}

// value begins a string or a nested value, or turns a number or a word into JSON.
func (a *gemmaArgs) value(text string, eof bool) (int, string) {
	c := &cursor{text: text, eof: eof}
	switch {
	case c.lit(a.quote):
		a.fresh, a.want = false, inString
		return c.pos, `"`
	case c.short:
		return 0, ""
	case text[0] == '{':
		a.stack, a.fresh, a.want = append(a.stack, '}'), true, wantKey
		return 1, "{"
	case text[0] == '[':
		a.stack, a.fresh, a.want = append(a.stack, ']'), true, wantValue
		return 1, "["
	}
	n := strings.IndexAny(text, ",}]")
	if n < 0 && !eof {
		return 0, ""
	}
	if n == 0 {
		a.broken = true
		return 0, ""
	}
	if n < 0 {
		n = len(text)
	}
	a.fresh, a.want = false, wantMore
	return n, string(appendTyped(nil, strings.TrimSpace(text[:n]), numberKind))
}
