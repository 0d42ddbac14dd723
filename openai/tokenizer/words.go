package tokenizer

import "unicode/utf8"

// wordLevel has a token for every word it knows.
type wordLevel struct {
	vocab *vocab
	unk   uint32
}

func (m wordLevel) encode(e *encoder, word string) {
	id := m.vocab.idOf(word)
	if id == noID {
		id = m.unk
	}
	e.ids = append(e.ids, id)
}

// wordPiece takes the longest token at each place; a word that it cannot cover is unknown as a whole.
type wordPiece struct {
	vocab    *vocab
	unk      uint32
	prefix   string // of tokens that continue a word
	maxChars int
}

func (m wordPiece) encode(e *encoder, word string) {
	place, key, known := e.recall(word)
	if known {
		return
	}
	start := len(e.ids)
	m.cover(e, word)
	if place != nil {
		place.put(key, e.ids[start:])
	}
}

// cover appends the tokens of a word that is not in the cache.
func (m wordPiece) cover(e *encoder, word string) {
	start := len(e.ids)
	if utf8.RuneCountInString(word) > m.maxChars {
		e.ids = append(e.ids, m.unk)
		return
	}
	for i := 0; i < len(word); {
		id, end := m.longest(e, word, i)
		if id == noID {
			e.ids = append(e.ids[:start], m.unk)
			return
		}
		e.ids = append(e.ids, id)
		i = end
	}
}

func (m wordPiece) longest(e *encoder, word string, i int) (uint32, int) {
	e.mapped = e.mapped[:0]
	if i > 0 {
		e.mapped = append(e.mapped, m.prefix...)
	}
	affix := len(e.mapped)
	e.mapped = append(e.mapped, word[i:]...)
	for end := len(word); end > i; end = runeBefore(word, end) {
		if id := m.vocab.id(e.mapped[:affix+end-i]); id != noID {
			return id, end
		}
	}
	return noID, i
}
