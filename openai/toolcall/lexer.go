package toolcall

import (
	"strings"

	"leeway/openai"
)

// lexer follows the structure of one JSON value, byte by byte, as far as it takes to know where the value ends. What
// stands for a number or a word is not judged.
type lexer struct {
	stack []byte // the open brackets
	want  want
	key   bool // the string being read is a key
}

// want is what the lexer expects next.
type want uint8

const (
	wantValue want = iota
	wantFirstKey
	wantKey
	wantFirstElement
	wantColon
	wantMore // a comma, or the end of the innermost bracket
	inString
	inEscape
	inScalar
)

// inObject is a lexer that has read an object up to the end of one member's value.
func inObject() lexer { return lexer{stack: []byte{'{'}, want: wantMore} }

// lexed is what the lexer makes of a byte.
type lexed uint8

const (
	lexPart  lexed = iota // a byte of the value
	lexBlank              // white space outside strings
	lexEnd                // the last byte of the value
	lexAfter              // the first byte after a value that ends without a mark of its own
	lexBad                // not JSON
)

// next takes one byte. After lexEnd, lexAfter or lexBad the lexer is spent.
func (l *lexer) next(b byte) lexed {
	switch l.want {
	case inString:
		return l.inString(b)
	case inEscape:
		l.want = inString
		return lexPart
	case inScalar:
		return l.inScalar(b)
	}
	if blank(b) {
		return lexBlank
	}
	switch {
	case l.want == wantMore:
		return l.more(b)
	case l.want == wantColon:
		return l.expect(b == ':', wantValue)
	case (l.want == wantFirstKey && b == '}') || (l.want == wantFirstElement && b == ']'):
		return l.pop()
	case l.want == wantFirstKey || l.want == wantKey:
		l.key = true
		return l.expect(b == '"', inString)
	}
	return l.value(b)
}

// expect moves on if a byte is the only one allowed here.
func (l *lexer) expect(ok bool, next want) lexed {
	l.want = next
	if ok {
		return lexPart
	}
	return lexBad
}

// value takes the first byte of a value.
func (l *lexer) value(b byte) lexed {
	switch b {
	case '{':
		l.stack = append(l.stack, b)
		l.want = wantFirstKey
	case '[':
		l.stack = append(l.stack, b)
		l.want = wantFirstElement
	case '"':
		l.key = false
		l.want = inString
	case ',', ':', '}', ']':
		return lexBad
	default:
		l.want = inScalar
	}
	return lexPart
}

// inString takes a byte of a key or of a string.
func (l *lexer) inString(b byte) lexed {
	switch {
	case b == '\\':
		l.want = inEscape
	case b == '"' && l.key:
		l.want = wantColon
	case b == '"' && len(l.stack) == 0:
		return lexEnd
	case b == '"':
		l.want = wantMore
	}
	return lexPart
}

// inScalar takes a byte of a number or a word, or the one that ends it.
func (l *lexer) inScalar(b byte) lexed {
	switch {
	case len(l.stack) == 0 && (blank(b) || b == ',' || b == '}' || b == ']'):
		return lexAfter
	case blank(b):
		l.want = wantMore
		return lexBlank
	case b == ',' || b == '}' || b == ']':
		return l.more(b)
	case b == '"' || b == '{' || b == '[' || b == ':':
		return lexBad
	}
	return lexPart
}

// more takes what follows a value inside a bracket.
func (l *lexer) more(b byte) lexed {
	open := l.stack[len(l.stack)-1]
	switch {
	case b == ',' && open == '{':
		l.want = wantKey
		return lexPart
	case b == ',':
		l.want = wantValue
		return lexPart
	case b == '}' && open == '{' || b == ']' && open == '[':
		return l.pop()
	}
	return lexBad
}

// pop closes the innermost bracket.
func (l *lexer) pop() lexed {
	l.stack = l.stack[:len(l.stack)-1]
	if len(l.stack) == 0 {
		return lexEnd
	}
	l.want = wantMore
	return lexPart
}

// appendByte appends a byte of a JSON text, with what the lexer stood in before it: control characters in strings, which
// models write as they are, become escapes.
func appendByte(dst []byte, b byte, in want) []byte {
	switch {
	case b >= ' ' || in != inString && in != inEscape:
		return append(dst, b)
	case in == inEscape: // its backslash is there
		return append(dst, openai.AppendEscaped(nil, string(rune(b)))[1:]...)
	}
	return openai.AppendEscaped(dst, string(rune(b)))
}

// compact returns a JSON text without the white space outside its strings, and a text that is no JSON as it is.
func compact(text string) string {
	out := make([]byte, 0, len(text))
	l := lexer{}
	for i := range len(text) {
		in := l.want
		switch l.next(text[i]) {
		case lexBlank:
		case lexPart, lexAfter:
			out = appendByte(out, text[i], in)
		case lexEnd:
			if strings.TrimSpace(text[i+1:]) != "" {
				return text
			}
			return string(append(out, text[i]))
		case lexBad:
			return text
		}
	}
	return string(out)
}
