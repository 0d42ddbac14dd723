package tokenizer

import (
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonReader reads a JSON text in one pass, without building a tree: the vocabulary of a tokenizer.json is most of its
// bytes, and goes straight into our tables.
type jsonReader struct {
	data []byte
	pos  int
	err  error
}

// maxDepth bounds nesting in what is skipped.
const maxDepth = 200

func (r *jsonReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("byte %d: "+format, append([]any{r.pos}, args...)...)
	}
}

// peek skips white space and returns the next byte, 0 at the end or after an error.
func (r *jsonReader) peek() byte {
	for r.err == nil && r.pos < len(r.data) {
		switch c := r.data[r.pos]; c {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

func (r *jsonReader) expect(c byte) bool {
	if r.peek() != c {
		r.fail("want %q", c)
		return false
	}
	r.pos++
	return true
}

// object calls field for every member; field must read the value.
func (r *jsonReader) object(field func(key []byte)) {
	if !r.expect('{') {
		return
	}
	if r.peek() == '}' {
		r.pos++
		return
	}
	var scratch []byte
	for r.err == nil {
		scratch = r.text(scratch[:0])
		if !r.expect(':') {
			return
		}
		field(scratch)
		if r.more('}') {
			return
		}
	}
}

// array calls element for every element; element must read it.
func (r *jsonReader) array(element func()) {
	if !r.expect('[') {
		return
	}
	if r.peek() == ']' {
		r.pos++
		return
	}
	for r.err == nil {
		element()
		if r.more(']') {
			return
		}
	}
}

// more reads a comma or the closing bracket and tells whether the list is over.
func (r *jsonReader) more(closing byte) bool {
	switch r.peek() {
	case ',':
		r.pos++
		return false
	case closing:
		r.pos++
		return true
	}
	r.fail("want ',' or %q", closing)
	return true
}

// text appends the string at the cursor, unescaped, to dst.
func (r *jsonReader) text(dst []byte) []byte {
	if !r.expect('"') {
		return dst
	}
	start := r.pos
	for i := start; i < len(r.data); i++ {
		switch c := r.data[i]; {
		case c == '"':
			r.pos = i + 1
			return r.valid(append(dst, r.data[start:i]...), len(dst))
		case c < ' ':
			r.pos = i
			r.fail("control character in a string")
			return dst
		case c == '\\':
			dst = append(dst, r.data[start:i]...)
			r.pos = i + 1
			dst = r.escape(dst)
			if r.err != nil {
				return dst
			}
			start, i = r.pos, r.pos-1
		}
	}
	r.fail("string without an end")
	return dst
}

func (r *jsonReader) valid(dst []byte, from int) []byte {
	if !utf8.Valid(dst[from:]) {
		r.fail("string is not valid UTF-8")
	}
	return dst
}

// escape appends the character of the escape whose backslash has been read.
func (r *jsonReader) escape(dst []byte) []byte {
	if r.pos >= len(r.data) {
		r.fail("string without an end")
		return dst
	}
	c := r.data[r.pos]
	r.pos++
	switch c {
	case '"', '\\', '/':
		return append(dst, c)
	case 'b':
		return append(dst, '\b')
	case 'f':
		return append(dst, '\f')
	case 'n':
		return append(dst, '\n')
	case 'r':
		return append(dst, '\r')
	case 't':
		return append(dst, '\t')
	case 'u':
		return r.unicode(dst)
	}
	r.fail("unknown escape \\%c", c)
	return dst
}

func (r *jsonReader) unicode(dst []byte) []byte {
	c := r.hex4()
	if utf16.IsSurrogate(c) {
		low := rune(-1)
		if r.pos+1 < len(r.data) && r.data[r.pos] == '\\' && r.data[r.pos+1] == 'u' {
			r.pos += 2
			low = r.hex4()
		}
		if c = utf16.DecodeRune(c, low); c == utf8.RuneError {
			r.fail("lone surrogate in a string")
		}
	}
	return utf8.AppendRune(dst, c)
}

func (r *jsonReader) hex4() rune {
	if r.pos+4 > len(r.data) {
		r.fail("short \\u escape")
		return 0
	}
	n, err := strconv.ParseUint(string(r.data[r.pos:r.pos+4]), 16, 16)
	if err != nil {
		r.fail("bad \\u escape")
	}
	r.pos += 4
	return rune(n)
}

// number returns the text of the number at the cursor.
func (r *jsonReader) number() string {
	r.peek()
	start := r.pos
	for r.pos < len(r.data) {
		switch c := r.data[r.pos]; {
		case '0' <= c && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			r.pos++
			continue
		}
		break
	}
	if start == r.pos {
		r.fail("want a number")
	}
	return string(r.data[start:r.pos])
}

// id reads a token id, which the tables here must be able to hold.
func (r *jsonReader) id() uint32 {
	r.peek()
	n, digits := uint32(0), 0
	for r.pos < len(r.data) && '0' <= r.data[r.pos] && r.data[r.pos] <= '9' && digits < 8 {
		n = n*10 + uint32(r.data[r.pos]-'0')
		r.pos++
		digits++
	}
	if digits == 0 || n > maxID {
		r.fail("want a token id between 0 and %d", maxID)
	}
	return n
}

// raw skips the value at the cursor and returns its bytes.
func (r *jsonReader) raw() []byte {
	r.peek()
	start := r.pos
	r.skip(0)
	return r.data[start:r.pos]
}

func (r *jsonReader) skip(depth int) {
	if depth > maxDepth {
		r.fail("nested deeper than %d", maxDepth)
		return
	}
	switch c := r.peek(); c {
	case '{':
		r.object(func([]byte) { r.skip(depth + 1) })
	case '[':
		r.array(func() { r.skip(depth + 1) })
	case '"':
		r.text(nil)
	case 't', 'f', 'n':
		r.word()
	default:
		r.number()
	}
}

// word reads true, false or null.
func (r *jsonReader) word() string {
	r.peek()
	for _, w := range [...]string{"true", "false", "null"} {
		if len(r.data)-r.pos >= len(w) && string(r.data[r.pos:r.pos+len(w)]) == w {
			r.pos += len(w)
			return w
		}
	}
	r.fail("unexpected character")
	return ""
}
