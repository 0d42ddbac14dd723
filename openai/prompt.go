package openai

import (
	"fmt"
	"math"
)

// maxPrompts bounds how many texts one request may bring.
const maxPrompts = 2048

// Prompt is one text to go on from or to embed: as text, or as token ids.
type Prompt struct {
	Text   string
	Tokens []uint32 // not nil: these count
}

// Prompts is what "prompt" and "input" hold. Batch tells a list of one from a single.
type Prompts struct {
	List  []Prompt
	Batch bool
}

// Field is what the client calls the prompt of that index: the field, or an element of it.
func (p Prompts) Field(field string, i int) string {
	if !p.Batch {
		return field
	}
	return fmt.Sprintf("%s[%d]", field, i)
}

// promptKind is what a field takes for prompts.
type promptKind struct {
	texts, ids     bool
	whole, element string // in words
}

var (
	anyPrompts  = promptKind{true, true, "a string, an array of strings, or an array of token ids", "a string, a token id, or an array of token ids"}
	textPrompts = promptKind{true, false, "a string or an array of strings", "a string"}
	idPrompts   = promptKind{false, true, "an array of token ids or an array of such arrays", "a token id or an array of token ids"}
)

// prompts reads a string, strings, token ids, or lists of token ids, as far as the kind has them.
func (s *scanner) prompts(kind promptKind) (p Prompts) {
	switch c := s.peek(); {
	case c == 'n':
		s.null()
		return p
	case c == '"' && kind.texts:
		return Prompts{List: []Prompt{{Text: s.text()}}}
	case c != '[':
		s.mismatch(kind.whole)
		return p
	}
	single := Prompt{Tokens: []uint32{}}
	s.elements(func(i int) {
		c := s.peek()
		text, list, id := c == '"', c == '[', c == '-' || '0' <= c && c <= '9'
		alike := len(p.List) == 0 || (p.List[0].Tokens == nil) == text
		switch {
		case text && kind.texts && len(single.Tokens) == 0 && alike:
			p.List = append(p.List, Prompt{Text: s.text()})
		case list && kind.ids && len(single.Tokens) == 0 && alike:
			p.List = append(p.List, Prompt{Tokens: append([]uint32{}, s.tokenIDs()...)})
		case id && kind.ids && len(p.List) == 0:
			if id := s.integer(0, math.MaxInt32); id != nil {
				single.Tokens = append(single.Tokens, uint32(*id))
			}
		case i == 0 || !kind.ids:
			s.mismatch(kind.element)
		default:
			s.mismatch("an element of the same kind as the one before it")
		}
	})
	switch {
	case len(single.Tokens) > 0:
		p.List = []Prompt{single}
	case len(p.List) == 0:
		s.fail(CodeEmptyArray, "the array is empty; it needs at least one element.")
	case len(p.List) > maxPrompts:
		s.fail(CodeArrayAbove, "it has %d elements; at most %d are allowed.", len(p.List), maxPrompts)
	default:
		p.Batch = true
	}
	return p
}
