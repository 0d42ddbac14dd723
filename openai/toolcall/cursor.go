package toolcall

import (
	"encoding/json"
	"strings"
)

// maxName bounds a tool's or parameter's name, so that a stray marker does not hold text back for long.
const maxName = 256

// cursor matches the head of a call against text that may not be complete. When it runs out of text before it can
// decide it sets short, and whatever the match then says is void until more text has come.
type cursor struct {
	text  string
	pos   int
	eof   bool
	short bool
	names bool // in Python's literals a bare name stands for itself, as a string
}

func (c *cursor) rest() string { return c.text[c.pos:] }

// lit steps over x.
func (c *cursor) lit(x string) bool {
	rest := c.rest()
	if strings.HasPrefix(rest, x) {
		c.pos += len(x)
		return true
	}
	if !c.eof && strings.HasPrefix(x, rest) {
		c.short = true
	}
	return false
}

// any steps over the first of several that matches.
func (c *cursor) any(xs ...string) bool {
	for _, x := range xs {
		if c.lit(x) {
			return true
		}
	}
	return false
}

// space steps over white space, which may be none.
func (c *cursor) space() {
	for c.pos < len(c.text) && blank(c.text[c.pos]) {
		c.pos++
	}
}

func blank(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }

// peek is the next byte, 0 at the end.
func (c *cursor) peek() byte {
	if c.pos < len(c.text) {
		return c.text[c.pos]
	}
	c.short = c.short || !c.eof
	return 0
}

// until returns the text before stop and steps over both.
func (c *cursor) until(stop string) (string, bool) { return c.within(stop, maxName) }

// within is until for a text that may be longer.
func (c *cursor) within(stop string, longest int) (string, bool) {
	rest, limit := c.rest(), longest+len(stop)
	if i := strings.Index(rest[:min(limit, len(rest))], stop); i >= 0 {
		c.pos += i + len(stop)
		return rest[:i], true
	}
	if !c.eof && len(rest) < limit {
		c.short = true
	}
	return "", false
}

// word steps over the bytes that a name in a program may have.
func (c *cursor) word() string { return c.span(nameByte) }

// name steps over the bytes that a tool's name may have.
func (c *cursor) name() string {
	return c.span(func(b byte) bool { return nameByte(b) || b == ':' || b == '/' || b == '$' })
}

func (c *cursor) span(holds func(byte) bool) string {
	start := c.pos
	for c.pos < len(c.text) && holds(c.text[c.pos]) && c.pos-start < maxName {
		c.pos++
	}
	if c.pos == len(c.text) && !c.eof {
		c.short = true
	}
	return c.text[start:c.pos]
}

// nameByte reports whether a name may hold b; names in any script are let through.
func nameByte(b byte) bool {
	return b == '_' || b == '-' || b == '.' || b >= 0x80 || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// str steps over a JSON string and returns its meaning.
func (c *cursor) str() (s string, ok bool) {
	if c.peek() != '"' {
		return "", false
	}
	raw, ok := c.value()
	if !ok {
		return "", false
	}
	return s, json.Unmarshal([]byte(compact(raw)), &s) == nil
}

// value steps over one JSON value and returns its text.
func (c *cursor) value() (string, bool) {
	start := c.pos
	l := lexer{}
	for ; c.pos < len(c.text); c.pos++ {
		switch l.next(c.text[c.pos]) {
		case lexEnd:
			c.pos++
			return c.text[start:c.pos], true
		case lexAfter:
			return c.text[start:c.pos], true
		case lexBad:
			return "", false
		}
	}
	c.short = c.short || !c.eof
	return "", false
}

// ahead looks whether x stands here.
func (c *cursor) ahead(x string) bool {
	at := c.pos
	ok := c.lit(x)
	c.pos = at
	return ok
}

// opensObject looks whether an object stands here, as far as the first byte inside tells.
func (c *cursor) opensObject() bool {
	at := c.pos
	c.lit("{")
	c.space()
	b := c.peek()
	c.pos = at
	return b == '"' || b == '}'
}
