package openai

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// decode reads a body by a table of its fields, then lets settle look at the whole. Sampling fields are read if p is set;
// names that nothing reads are noted in ignored.
func decode[T any](body []byte, r *T, fields map[string]func(*scanner, *T), p *Sampling, ignored *[]string,
	settle func(*scanner)) (*T, error) {
	s := &scanner{data: body}
	s.document(func() {
		s.fields(func(key []byte) {
			if field, ok := fields[string(key)]; ok {
				field(s, r)
			} else if field, ok := samplingFields[string(key)]; ok && p != nil {
				field(s, p)
			} else {
				s.ignore(ignored, s.value() != nil)
			}
		})
		if s.err == nil {
			settle(s)
		}
	})
	if s.err != nil {
		return nil, s.err
	}
	return r, nil
}

// mismatch fails with what the field wants and what came; it is where every wrong type ends.
func (s *scanner) mismatch(want string) {
	if s.err != nil {
		return
	}
	got := "null"
	switch c := s.peek(); {
	case c == '"':
		got = "a string"
	case c == '{':
		got = "an object"
	case c == '[':
		got = "an array"
	case c == 't' || c == 'f':
		got = "a boolean"
	case c == '-' || '0' <= c && c <= '9':
		got = "a number"
	case c != 'n':
		s.unexpected("where a value should be")
		return
	}
	s.fail(CodeInvalidType, "expected %s, but got %s.", want, got)
}

// text reads an optional string; null is "".
func (s *scanner) text() string {
	if s.null() {
		return ""
	}
	if s.peek() != '"' {
		s.mismatch("a string")
		return ""
	}
	return string(s.rawString())
}

// requiredText reads a string that may be neither null nor empty.
func (s *scanner) requiredText() string {
	if s.peek() != '"' {
		s.mismatch("a string")
		return ""
	}
	t := s.rawString()
	if len(t) == 0 && s.err == nil {
		s.fail(CodeEmptyString, "the string is empty; it needs at least one character.")
	}
	return string(t)
}

// oneOf reads an optional string out of a fixed set.
func (s *scanner) oneOf(allowed ...string) string {
	if s.null() {
		return ""
	}
	t := s.text()
	for _, a := range allowed {
		if a == t {
			return t
		}
	}
	s.fail(CodeInvalidValue, "%q is not supported; use %s.", clip(t), list(allowed))
	return ""
}

// clip bounds what an error repeats of a client's text.
func clip(t string) string {
	const most = 64
	if len(t) <= most {
		return t
	}
	end := most
	for end > most-utf8.UTFMax && !utf8.RuneStart(t[end]) {
		end--
	}
	return t[:end] + "…"
}

// list writes the words of a choice: 'a', 'b' or 'c'.
func list(words []string) string {
	var b []byte
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b = append(b, " or "...)
		case i > 0:
			b = append(b, ", "...)
		}
		b = append(append(append(b, '\''), w...), '\'')
	}
	return string(b)
}

// flag reads an optional boolean; null is what the field means when it is left out.
func (s *scanner) flag(absent bool) bool {
	if s.null() {
		return absent
	}
	if c := s.peek(); c != 't' && c != 'f' {
		s.mismatch("a boolean")
		return absent
	}
	return s.word() == 't'
}

// integer reads an optional integer in [low, high]; null is nil.
func (s *scanner) integer(low, high int64) *int64 {
	if s.null() {
		return nil
	}
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		s.mismatch("an integer")
		return nil
	}
	text := string(s.number())
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case s.err != nil:
		return nil
	case err != nil && !wholeNumber(text):
		s.fail(CodeInvalidType, "expected an integer, but got %s.", clip(text))
	case n < low:
		s.fail(CodeIntegerBelow, "%s is below the minimum of %d.", clip(text), low)
	case err != nil || n > high:
		s.fail(CodeIntegerAbove, "%s is above the maximum of %d.", clip(text), high)
	}
	return &n
}

// wholeNumber tells an integer that is out of range from a number that is none.
func wholeNumber(text string) bool {
	for _, c := range text {
		if c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// count is integer for the fields that are plain ints.
func (s *scanner) count(low, high int64) *int {
	n := s.integer(low, high)
	if n == nil {
		return nil
	}
	i := int(*n)
	return &i
}

// float reads an optional number in [low, high]; null is nil.
func (s *scanner) float(low, high float64) *float64 {
	if s.null() {
		return nil
	}
	if c := s.peek(); c != '-' && (c < '0' || c > '9') {
		s.mismatch("a number")
		return nil
	}
	text := string(s.number())
	if s.err != nil {
		return nil
	}
	f, _ := strconv.ParseFloat(text, 64) // out of range is ±Inf, and caught below
	switch {
	case f < low:
		s.fail(CodeDecimalBelow, "%s is below the minimum of %g.", clip(text), low)
	case f > high:
		s.fail(CodeDecimalAbove, "%s is above the maximum of %g.", clip(text), high)
	}
	return &f
}

// object reads an optional object and keeps its bytes; null is nil.
func (s *scanner) object() json.RawMessage {
	if s.null() {
		return nil
	}
	if s.peek() != '{' {
		s.mismatch("an object")
		return nil
	}
	return s.raw()
}

// value keeps the bytes of anything but null.
func (s *scanner) value() json.RawMessage {
	if s.null() {
		return nil
	}
	return s.raw()
}

// fields reads an object whose members matter.
func (s *scanner) fields(each func(key []byte)) {
	if s.peek() != '{' {
		s.mismatch("an object")
		return
	}
	s.members(each)
}

// each reads an optional array; null is no element. It returns the number of elements.
func (s *scanner) each(of string, element func(i int)) (n int) {
	if s.null() {
		return 0
	}
	if s.peek() != '[' {
		s.mismatch("an array of " + of)
		return 0
	}
	s.elements(func(i int) { n++; element(i) })
	return n
}

// tokenIDs reads an optional array of token ids.
func (s *scanner) tokenIDs() (ids []uint32) {
	s.each("token ids", func(int) {
		if s.null() {
			s.fail(CodeInvalidType, "expected an integer, but got null.")
		} else if n := s.integer(0, math.MaxInt32); n != nil {
			ids = append(ids, uint32(*n))
		}
	})
	return ids
}
