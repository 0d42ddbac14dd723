package toolcall

import (
	"bytes"
	"encoding/json"
	"slices"
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
	s.args = &gemmaArgs{gemma: g, stops: []string{g.end, g.call}}
	return s, true
}

// gemmaArgs turns such arguments into JSON as they come. Whatever a model writes, what comes out is JSON as far as it
// goes, and all of it where the call ends.
type gemmaArgs struct {
	gemma
	stops []string // what ends the call, or opens another
	stack []byte   // the closing brackets awaited, inside the outermost; nil at first
	want  want     // wantKey, wantValue, wantMore or inString
	none  bool     // nothing stands in the innermost bracket yet
	comma bool     // one is due before what follows
	keyed bool     // the value is a key's
	deaf  bool     // to stops in this string: too much has come behind one
}

func (a *gemmaArgs) read(p *Parser, eof bool) bool {
	if a.stack == nil {
		p.argue(a.open('}', wantKey))
	}
	for len(a.stack) > 0 {
		if p.buf == "" {
			return false
		}
		n, out, stray := a.next(p.buf, eof)
		if n < 0 {
			p.wait("")
			return false
		}
		p.buf = p.buf[n:]
		p.argue(out)
		p.say(stray)
	}
	return a.ended(p, eof)
}

// ended passes on as content what stands between the last bracket and what ends the call. Brackets that close nothing are
// none.
func (a *gemmaArgs) ended(p *Parser, eof bool) bool {
	at, mark := earliest(p.buf[:min(len(p.buf), maxName)], a.stops)
	if at < 0 {
		return eof || len(p.buf) >= maxName
	}
	behind := strings.TrimLeft(p.buf[:at], "}], \n\t\r")
	if mark == a.end || behind == "" {
		p.buf = p.buf[at:]
		p.say(strings.TrimSpace(behind))
	}
	return true
}

// next turns the head of the text into JSON, or finds that it is none. It returns how much that takes, −1 if more text.
func (a *gemmaArgs) next(text string, eof bool) (n int, out, stray string) {
	if a.want == inString {
		n, out = a.text(text, eof)
		return n, out, ""
	}
	c := &cursor{text: text, eof: eof}
	b := text[0]
	switch ends := slices.ContainsFunc(a.stops, c.ahead); {
	case eof && a.uncut(text) == 0:
		return len(text), "", ""
	case c.short:
		return -1, "", ""
	case ends:
		return 0, a.close(0), ""
	case blank(b):
		return 1, "", ""
	case b == ',':
		return 1, a.more(), ""
	case bytes.IndexByte(a.stack, b) >= 0:
		return 1, a.close(bytes.LastIndexByte(a.stack, b)), ""
	case a.want == wantMore || b == ']' || b == '}':
		return a.stray(c)
	case a.want == wantKey:
		n, out = a.key(c)
	default:
		n, out = a.value(c)
	}
	return n, out, ""
}

// uncut is the length of a text at whose end the answer was cut off, without half a mark there.
func (a *gemmaArgs) uncut(text string) int {
	if held := heldSuffix(text, append(a.stops, a.quote)); held > 1 {
		return len(text) - held
	}
	return len(text)
}

// open begins an object or a list.
func (a *gemmaArgs) open(end byte, first want) string {
	a.stack = append(a.stack, end)
	a.want, a.none, a.comma, a.keyed = first, true, false, false
	return string(end - 2)
}

// close ends all from the bracket that stands there in the stack.
func (a *gemmaArgs) close(at int) string {
	out := []byte(a.missing())
	for len(a.stack) > at {
		last := len(a.stack) - 1
		out = append(out, a.stack[last])
		a.stack = a.stack[:last]
	}
	a.want, a.none, a.comma = wantMore, false, false
	return string(out)
}

// missing is the value of a key that has none.
func (a *gemmaArgs) missing() string {
	if a.want == wantValue && a.keyed {
		return `""`
	}
	return ""
}

// more goes on to the next member or element. What is not there needs no comma.
func (a *gemmaArgs) more() string {
	out := a.missing()
	a.want, a.keyed, a.comma = wantValue, false, !a.none
	if a.stack[len(a.stack)-1] == '}' {
		a.want = wantKey
	}
	return out
}

// due is what stands before the next key or element.
func (a *gemmaArgs) due() string {
	comma := a.comma
	a.none, a.comma = false, false
	if comma {
		return ","
	}
	return ""
}

// text passes on a string up to its closing mark. If that never comes the string has ended with the call.
func (a *gemmaArgs) text(text string, eof bool) (int, string) {
	if at := strings.Index(text, a.quote); at >= 0 {
		a.want = wantMore
		return at + len(a.quote), string(openai.AppendEscaped(nil, text[:at])) + `"`
	}
	n := -1
	if !a.deaf {
		n, _ = earliest(text, a.stops)
	}
	switch {
	case n >= 0 && eof:
		a.want = wantMore
		return n, string(openai.AppendEscaped(nil, text[:n])) + `"`
	case n >= 0 && len(text)-n > maxHeld:
		a.deaf, n = true, len(text)-heldSuffix(text, []string{a.quote})
	case n >= 0:
	case eof:
		n = a.uncut(text)
	default:
		n = len(text) - heldSuffix(text, append(a.stops, a.quote))
	}
	if n == 0 {
		return -1, ""
	}
	return n, string(openai.AppendEscaped(nil, text[:n]))
}

// key turns a key, which stands bare or between marks, into a quoted one.
func (a *gemmaArgs) key(c *cursor) (int, string) {
	key, ok := "", false
	switch {
	case c.lit(a.quote):
		key, ok = c.until(a.quote)
	case c.peek() == '"':
		key, ok = c.str()
	}
	if c.space(); ok {
		c.lit(":")
	}
	if c.short {
		return -1, ""
	}
	if !ok {
		at, mark := earliest(c.text, a.stops, []string{":", ",", "}"})
		if at < 0 && !c.eof {
			return -1, ""
		}
		if at < 0 { // cut off
			return len(c.text), ""
		}
		if key, c.pos = strings.TrimSpace(strings.ReplaceAll(c.text[:at], a.quote, "")), at; mark == ":" {
			c.pos++
		}
	}
	a.want, a.keyed = wantValue, true
	return c.pos, a.due() + string(append(openai.AppendString(nil, key), ':'))
}

// value begins a string or a nested value, or turns a number or a word into JSON.
func (a *gemmaArgs) value(c *cursor) (int, string) {
	due, b := "", c.text[0]
	switch opens := c.lit(a.quote); {
	case c.short:
		return -1, ""
	case opens:
		due, a.want, a.deaf = a.due(), inString, false
		return c.pos, due + `"`
	case b == '{':
		due = a.due()
		return 1, due + a.open('}', wantKey)
	case b == '[':
		due = a.due()
		return 1, due + a.open(']', wantValue)
	case b == '"':
		said, ok := c.str()
		if c.short {
			return -1, ""
		}
		if ok {
			a.want = wantMore
			return c.pos, a.due() + string(openai.AppendString(nil, said))
		}
	}
	n, _ := earliest(c.text, a.stops, []string{",", "}", "]"})
	switch {
	case n < 0 && !c.eof:
		return -1, ""
	case n < 0:
		return len(c.text), a.due() + unfinishedWord(c.text[:a.uncut(c.text)])
	}
	a.want = wantMore
	return n, a.due() + string(appendTyped(nil, strings.TrimSpace(c.text[:n]), numberKind))
}

// unfinishedWord is a word or number at whose end the answer was cut off.
func unfinishedWord(text string) string {
	text = strings.TrimSpace(text)
	for _, word := range []string{"true", "false", "null", text + "0"} {
		if strings.HasPrefix(word, text) && json.Valid([]byte(word)) {
			return text
		}
	}
	return string(appendTyped(nil, text, numberKind))
}

// stray finds the end of what stands where a comma or a bracket should.
func (a *gemmaArgs) stray(c *cursor) (n int, out, stray string) {
	n, _ = earliest(c.text[1:], a.stops, []string{",", "}", "]"})
	switch {
	case n >= 0:
		return n + 1, "", strings.TrimSpace(c.text[:n+1])
	case c.eof:
		return len(c.text), "", strings.TrimSpace(c.text[:a.uncut(c.text)])
	}
	return -1, "", ""
}
