package openai

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds how deep a body may nest; it keeps recursion here, and in whoever reads a Raw value, shallow.
const maxDepth = 128

// scanner reads one JSON text from front to back. Its error sticks: after the first, every method returns a zero value
// at once, so that callers read straight on and look once at the end.
type scanner struct {
	data  []byte
	pos   int
	depth int
	path  []step // where the reader is, kept for the messages
	err   *Error
}

// step is one part of a path: a member's name, or an index when the name is nil.
type step struct {
	name  []byte
	index int
}

// param is the path as clients write it: messages[2].content.
func (s *scanner) param() string {
	var b []byte
	for _, p := range s.path {
		switch {
		case p.name == nil:
			b = append(strconv.AppendInt(append(b, '['), int64(p.index), 10), ']')
		case len(b) > 0:
			b = append(append(b, '.'), p.name...)
		default:
			b = append(b, p.name...)
		}
	}
	return string(b)
}

// fail records the first error, in words about the field that is being read.
func (s *scanner) fail(code, format string, args ...any) {
	s.failAt(s.param(), code, format, args...)
}

// failAt is fail for another field than the one that is being read.
func (s *scanner) failAt(param, code, format string, args ...any) {
	if s.err == nil {
		what := "Invalid body: "
		if param != "" {
			what = "Invalid '" + param + "': "
		}
		s.err = Invalid(param, code, what+fmt.Sprintf(format, args...))
	}
}

// syntax records that the text is no JSON, and where.
func (s *scanner) syntax(format string, args ...any) {
	if s.err == nil {
		what := fmt.Sprintf(format, args...)
		s.err = Invalid("", CodeInvalidJSON, fmt.Sprintf("The body is not valid JSON: at byte %d, %s.", s.pos, what))
	}
}

// peek skips white space and returns the next byte, 0 at the end of the text or after an error.
func (s *scanner) peek() byte {
	if s.err != nil {
		return 0
	}
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// document reads the whole text as one value.
func (s *scanner) document(value func()) {
	switch {
	case bytes.HasPrefix(s.data, []byte("\xEF\xBB\xBF")):
		s.syntax("there is a byte order mark; send UTF-8 without one")
	case bytes.HasPrefix(s.data, []byte("\x1F\x8B")):
		s.syntax("there is gzip data; send the body uncompressed")
	case !utf8.Valid(s.data):
		for r, n := utf8.DecodeRune(s.data); r != utf8.RuneError || n > 1; r, n = utf8.DecodeRune(s.data[s.pos:]) {
			s.pos += n
		}
		s.syntax("there are bytes that are no UTF-8")
	}
	if s.peek() == 0 && s.pos == len(s.data) {
		s.syntax("it is empty; send a JSON object")
	}
	value()
	if s.err == nil && (s.peek() != 0 || s.pos < len(s.data)) {
		s.syntax("text follows the value")
	}
	if s.err == nil || s.err.Code == CodeInvalidJSON {
		return
	}
	// A fault of the JSON itself goes before a fault of one field that stands in front of it.
	whole := &scanner{data: s.data}
	if whole.document(whole.skip); whole.err != nil {
		s.err = whole.err
	}
}

// want consumes c or fails.
func (s *scanner) want(c byte, where string) bool {
	if s.peek() != c || s.err != nil {
		s.unexpected(where)
		return false
	}
	s.pos++
	return true
}

// unexpected records that the next byte, or the end, has no place here.
func (s *scanner) unexpected(where string) {
	if s.pos >= len(s.data) {
		s.syntax("it ends %s", where)
		return
	}
	r, _ := utf8.DecodeRune(s.data[s.pos:])
	s.syntax("unexpected %q %s", r, where)
}

// members reads an object and calls each for every member, which must consume the value. The key is decoded and valid
// only during the call. A nil each skips.
func (s *scanner) members(each func(key []byte)) {
	if !s.enter() {
		return
	}
	for first := true; ; first = false {
		c := s.peek()
		if c == '}' && first {
			s.pos++
			break
		}
		if c != '"' {
			s.unexpected("where a key should be")
			return
		}
		key := s.rawString()
		if !s.want(':', "after a key") {
			return
		}
		if each == nil {
			s.skip()
		} else {
			s.path = append(s.path, step{name: key})
			each(key)
			s.path = s.path[:len(s.path)-1]
		}
		if !s.more('}') {
			break
		}
	}
	s.depth--
}

// elements reads an array and calls each for every element, which must consume it. A nil each skips.
func (s *scanner) elements(each func(i int)) {
	if !s.enter() {
		return
	}
	for i := 0; ; i++ {
		if s.peek() == ']' && i == 0 {
			s.pos++
			break
		}
		if each == nil {
			s.skip()
		} else {
			s.path = append(s.path, step{index: i})
			each(i)
			s.path = s.path[:len(s.path)-1]
		}
		if !s.more(']') {
			break
		}
	}
	s.depth--
}

// enter steps over the opening bracket that peek has seen.
func (s *scanner) enter() bool {
	if s.depth++; s.depth > maxDepth {
		s.syntax("it nests deeper than %d levels", maxDepth)
	}
	s.pos++
	return s.err == nil
}

// more steps over a comma and reports true, or over the closing bracket and reports false.
func (s *scanner) more(end byte) bool {
	switch c := s.peek(); {
	case s.err != nil:
		return false
	case c == ',':
		s.pos++
		return true
	case c == end:
		s.pos++
		return false
	}
	s.unexpected(fmt.Sprintf("where ',' or '%c' should be", end))
	return false
}

// skip steps over one value and checks its grammar.
func (s *scanner) skip() {
	switch c := s.peek(); {
	case c == '"':
		s.literal()
	case c == '{':
		s.members(nil)
	case c == '[':
		s.elements(nil)
	case c == '-' || '0' <= c && c <= '9':
		s.number()
	default:
		s.word()
	}
}

// raw steps over one value and returns its bytes, which alias the text.
func (s *scanner) raw() []byte {
	s.peek()
	start := s.pos
	s.skip()
	if s.err != nil {
		return nil
	}
	return s.data[start:s.pos:s.pos]
}
