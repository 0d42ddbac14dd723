package toolcall

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"leeway/openai"
)

// pythonHead matches the first call of a list of calls in Python's manner, [f(a=1), g()], or the next one.
func pythonHead(p *Parser, c *cursor, more bool) (s start, ok bool) {
	c.space()
	if more {
		if !c.lit(",") {
			return s, false
		}
	} else {
		for _, mark := range p.format.open {
			if mark != "[" && c.lit(mark) {
				break
			}
		}
		c.space()
		if !c.lit("[") {
			return s, false
		}
	}
	s.list = true
	s, ok = pythonCall(c, s)
	_, none := s.args.(givenArgs)
	s.explicit = more || p.calls == 0 && p.blank && !none // all the answer, and with a keyword
	return s, ok
}

// linesHead matches the first call behind the marker, or the next one: on a line of its own, or in a list after all.
func linesHead(p *Parser, c *cursor, more bool) (s start, ok bool) {
	c.space()
	if more {
		c.lit(",")
	} else {
		c.any(p.format.open...)
		c.space()
		s.list = c.lit("[")
	}
	return pythonCall(c, s)
}

// pythonCall matches a call as far as to its first argument's value or to its closing parenthesis.
func pythonCall(c *cursor, s start) (_ start, ok bool) {
	c.space()
	s.name = c.word()
	c.space()
	if !c.lit("(") {
		return s, false
	}
	c.space()
	if c.lit(")") {
		s.args = givenArgs("{}")
		return s, true
	}
	key, ok := keyword(c)
	at := c.pos
	c.space()
	if ok && c.peek() != '"' && c.peek() != '\'' {
		_, ok = pythonArgument(c)
	}
	c.pos = at
	s.args = &pythonArgs{key: key, first: true}
	return s, ok
}

// keyword matches the name of an argument and the sign behind it.
func keyword(c *cursor) (string, bool) {
	c.space()
	key := c.word()
	c.space()
	return key, key != "" && c.lit("=")
}

// pythonArgument matches a value and looks whether the argument ends there.
func pythonArgument(c *cursor) ([]byte, bool) {
	v, ok := pythonValue(c, nil, 0)
	end := c.pos
	c.space()
	after := c.peek()
	c.pos = end
	return v, ok && (after == ',' || after == ')')
}

// pythonArgs turns keyword arguments into the members of an object: strings as they come, all else one by one.
type pythonArgs struct {
	key   string // of the value being read
	first bool
	quote byte // that ends the string being read; 0 outside of one
	after bool // a value has been read
}

func (a *pythonArgs) read(p *Parser, eof bool) bool {
	if a.first {
		p.argue(a.member())
	}
	for p.buf != "" {
		c := &cursor{text: p.buf, eof: eof}
		switch {
		case a.quote != 0:
			if !a.text(p, eof) {
				return false
			}
			continue
		case a.after && a.end(c):
			p.argue("}")
			p.buf = p.buf[c.pos:]
			return true
		case a.after:
			if a.next(c) {
				p.argue(a.member())
			}
		default:
			a.value(p, c)
		}
		if p.short(c) {
			return false
		}
		if c.pos == 0 { // no Python: the rest is content
			p.state, p.blank, p.list = inText, false, false
			return true
		}
		p.buf = p.buf[c.pos:]
	}
	return false
}

// value passes on one value, or the quote that begins it if it is a string.
func (a *pythonArgs) value(p *Parser, c *cursor) {
	c.space()
	q := c.peek()
	if q == 0 {
		return
	}
	if q == '"' || q == '\'' {
		p.argue(`"`)
		a.quote = q
		c.pos++
		return
	}
	v, ok := pythonArgument(c)
	switch {
	case c.short:
	case ok:
		p.argue(string(v))
		a.after = true
	default:
		c.pos = 0
	}
}

// member begins the member of the argument whose name has been read.
func (a *pythonArgs) member() string {
	out := []byte{','}
	if a.first {
		out[0], a.first = '{', false
	}
	return string(append(openai.AppendString(out, a.key), ':'))
}

// text passes on a string's characters up to its closing quote.
func (a *pythonArgs) text(p *Parser, eof bool) bool {
	out, n, closed := pythonText(nil, p.buf, a.quote, eof)
	p.buf = p.buf[n:]
	if closed {
		out = append(out, '"')
		a.quote, a.after = 0, true
	}
	p.argue(string(out))
	return closed
}

// end matches the parenthesis that closes the call, a comma before it or not.
func (a *pythonArgs) end(c *cursor) bool {
	c.space()
	if c.lit(",") {
		c.space()
	}
	if c.lit(")") {
		return true
	}
	c.pos = 0
	return false
}

// next matches a comma and the next argument's name.
func (a *pythonArgs) next(c *cursor) bool {
	c.space()
	key, ok := "", c.lit(",")
	if ok {
		key, ok = keyword(c)
	}
	if !ok {
		c.pos = 0
		return false
	}
	if !c.short {
		a.key, a.after = key, false
	}
	return !c.short
}

// pythonText appends the characters of a string literal as they stand in a JSON string, up to the closing quote or to
// what cannot be decided yet. It returns how many bytes it has used.
func pythonText(dst []byte, s string, quote byte, eof bool) (out []byte, used int, closed bool) {
	for i := 0; i < len(s); {
		stop := strings.IndexAny(s[i:], `\`+string(quote))
		if stop < 0 {
			return openai.AppendEscaped(dst, s[i:]), len(s), false
		}
		dst = openai.AppendEscaped(dst, s[i:i+stop])
		i += stop
		if s[i] == quote {
			return dst, i + 1, true
		}
		text, n := pythonEscape(s[i:], eof)
		if n == 0 {
			return dst, i, false
		}
		dst = openai.AppendEscaped(dst, text)
		i += n
	}
	return dst, len(s), false
}

// pythonEscape returns the meaning of the escape at the head of s and its length, 0 if it is not complete.
func pythonEscape(s string, eof bool) (string, int) {
	if len(s) < 2 {
		if eof {
			return s, len(s)
		}
		return "", 0
	}
	if i := strings.IndexByte(`nrtbfav0`, s[1]); i >= 0 {
		return "\n\r\t\b\f\a\v\x00"[i : i+1], 2
	}
	digits := 0
	switch s[1] {
	case '\\', '\'', '"':
		return s[1:2], 2
	case '\n':
		return "", 2
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return s[:1], 1 // Python keeps the backslash of an escape that it does not know
	}
	if len(s) < 2+digits {
		if eof {
			return s, len(s)
		}
		return "", 0
	}
	r, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil {
		return s[:1], 1
	}
	return string(utf8.AppendRune(nil, rune(r))), 2 + digits
}
