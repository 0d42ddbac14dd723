package openai

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// word steps over true, false or null and returns its first byte.
func (s *scanner) word() byte {
	c := s.peek()
	for _, w := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(s.data[s.pos:], []byte(w)) && s.err == nil {
			s.pos += len(w)
			return c
		}
	}
	s.unexpected("where a value should be")
	return 0
}

// null consumes a null. Every optional field asks for it first.
func (s *scanner) null() bool {
	return s.peek() == 'n' && s.word() == 'n'
}

// number steps over a number and returns its text.
func (s *scanner) number() []byte {
	start := s.pos
	if s.data[s.pos] == '-' {
		s.pos++
	}
	if s.pos < len(s.data) && s.data[s.pos] == '0' {
		s.pos++
	} else {
		s.digits()
	}
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		s.pos++
		s.digits()
	}
	if s.pos < len(s.data) && s.data[s.pos]|0x20 == 'e' {
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		s.digits()
	}
	return s.data[start:s.pos]
}

// digits steps over at least one digit.
func (s *scanner) digits() {
	start := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	if s.pos == start {
		s.unexpected("in a number")
	}
}

// literal steps over a string and returns what stands between its quotes, and whether it holds escapes.
func (s *scanner) literal() (text []byte, escaped bool) {
	start := s.pos + 1
	for i := start; i < len(s.data); i++ {
		c := s.data[i]
		if plain[c] || c >= utf8.RuneSelf {
			continue
		}
		switch {
		case c == '"':
			s.pos = i + 1
			return s.data[start:i:i], escaped
		case c == '\\' && i+1 < len(s.data):
			n := escapeLen(s.data[i:])
			if n == 0 {
				s.pos = i
				s.syntax("unknown escape %q in a string", s.data[i:min(i+2, len(s.data))])
				return nil, false
			}
			escaped = true
			i += n - 1
		case c < 0x20:
			s.pos = i
			s.syntax("control character %q in a string; escape it", c)
			return nil, false
		}
	}
	s.pos = len(s.data)
	s.syntax("it ends inside a string")
	return nil, false
}

// escapeLen is the length of the escape at the head of b, 0 if it is none.
func escapeLen(b []byte) int {
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if hex4(b) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 is the value of an escape \uXXXX at the head of b, -1 if there is none.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return r
}

// rawString reads a string as decoded bytes; without escapes they alias the text.
func (s *scanner) rawString() []byte {
	text, escaped := s.literal()
	if !escaped {
		return text
	}
	return unescape(make([]byte, 0, len(text)), text)
}

// unescape appends the meaning of text, whose escapes literal has checked. Half a surrogate pair becomes U+FFFD.
func unescape(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		text = text[i:]
		if text[1] != 'u' {
			dst = append(dst, escapeMeaning(text[1]))
			text = text[2:]
			continue
		}
		r := hex4(text)
		text = text[6:]
		if utf16.IsSurrogate(r) {
			if r = utf16.DecodeRune(r, hex4(text)); r != utf8.RuneError {
				text = text[6:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// escapeMeaning is the character of a two-byte escape.
func escapeMeaning(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}
