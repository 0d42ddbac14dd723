package toolcall

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"leeway/openai"
)

// quoting is how a string literal is written in Python.
type quoting struct {
	mark string // that ends it: one quote, or three
	raw  bool   // a backslash stands for itself
}

// quote matches the beginning of a string literal with the letters before it. A formatted string is no literal.
func (c *cursor) quote() (q quoting, ok bool) {
	at := c.pos
	for c.pos < len(c.text) && c.pos-at < 2 && strings.IndexByte("rRbBuU", c.text[c.pos]) >= 0 {
		c.pos++
	}
	q.raw = strings.ContainsAny(c.text[at:c.pos], "rR")
	b := c.peek()
	if b != '"' && b != '\'' {
		c.pos = at
		return q, false
	}
	q.mark = strings.Repeat(string(b), 3)
	if !c.lit(q.mark) {
		q.mark = q.mark[:1]
		c.pos++
	}
	return q, true
}

// another matches the beginning of a string literal that is joined to the one before, side by side or by a plus. Without
// one it stays behind the gap.
func (c *cursor) another() (q quoting, ok bool) {
	c.gap()
	at := c.pos
	if c.lit("+") {
		c.gap()
	}
	if q, ok = c.quote(); !ok {
		c.pos = at
	}
	return q, ok
}

// pythonText appends the characters of a string literal as they stand in a JSON string, up to the mark that ends it or to
// what cannot be decided yet. It returns how many bytes it has used.
func pythonText(dst []byte, s string, q quoting, eof bool) (out []byte, used int, closed bool) {
	for i := 0; i < len(s); {
		stop := strings.IndexAny(s[i:], `\`+q.mark[:1])
		if stop < 0 {
			return openai.AppendEscaped(dst, s[i:]), len(s), false
		}
		dst = openai.AppendEscaped(dst, s[i:i+stop])
		i += stop
		rest := s[i:]
		if strings.HasPrefix(rest, q.mark) {
			return dst, i + len(q.mark), true
		}
		if !eof && strings.HasPrefix(q.mark, rest) {
			return dst, i, false
		}
		text, n := rest[:1], 1
		if text == `\` {
			text, n = pythonEscape(rest, q.raw, eof)
		}
		if n == 0 {
			return dst, i, false
		}
		dst = openai.AppendEscaped(dst, text)
		i += n
	}
	return dst, len(s), false
}

// pythonEscape returns the meaning of the escape at the head of s and its length, 0 if it is not complete. Python keeps
// the backslash of an escape that it does not know; here \N{name} is one of those.
func pythonEscape(s string, raw, eof bool) (string, int) {
	switch {
	case len(s) < 2 && !eof:
		return "", 0
	case len(s) < 2:
		return s, len(s)
	case raw && strings.IndexByte(`\'"`, s[1]) >= 0:
		return s[:2], 2
	case raw:
		return s[:1], 1
	}
	if i := strings.IndexByte(`\'"nrtbfav`, s[1]); i >= 0 {
		return "\\'\"\n\r\t\b\f\a\v"[i : i+1], 2
	}
	switch s[1] {
	case '\n':
		return "", 2
	case 'x':
		return codePoint(s, 2, 2, 16, eof)
	case 'u':
		return codePoint(s, 2, 4, 16, eof)
	case 'U':
		return codePoint(s, 2, 8, 16, eof)
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return codePoint(s, 1, 3, 8, eof)
	}
	return s[:1], 1
}

// codePoint reads the digits of an escape: of octal ones some, of hexadecimal ones all. Two halves of a surrogate pair,
// as JSON writes them, are one character.
func codePoint(s string, from, most, base int, eof bool) (string, int) {
	n := from
	for n < len(s) && n-from < most {
		if _, err := strconv.ParseUint(s[n:n+1], base, 8); err != nil {
			break
		}
		n++
	}
	switch missing := n-from < most; {
	case missing && n == len(s) && !eof:
		return "", 0
	case missing && base == 16:
		return s[:1], 1
	}
	v, _ := strconv.ParseUint(s[from:n], base, 32)
	r := rune(v)
	if most == 4 && utf16.IsSurrogate(r) {
		if !eof && len(s) < 2*n {
			return "", 0
		}
		if strings.HasPrefix(s[n:], `\u`) && len(s) >= 2*n {
			low, _ := strconv.ParseUint(s[n+2:2*n], 16, 32)
			if pair := utf16.DecodeRune(r, rune(low)); pair != utf8.RuneError {
				return string(pair), 2 * n
			}
		}
	}
	return string(r), n
}
