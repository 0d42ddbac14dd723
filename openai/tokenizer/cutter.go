package tokenizer

import "strings"

// markCutter cuts a SentencePiece-style text into words that the cache can know. The library merges such a text as one
// word; a cut before a space mark changes nothing when no token holds the character before it together with the mark.
type markCutter struct {
	mark   string
	joined *runeSet // characters that come before the mark inside a token
}

// spaceMark is what SentencePiece writes for a space.
const spaceMark = "▁"

// newMarkCutter returns nil where cutting is not exact or not worth while.
func newMarkCutter(m *bpe) *markCutter {
	if m.bytes || m.whole || m.affixed || m.vocab.idOf(spaceMark) == noID {
		return nil
	}
	var joined ranges
	for id := range m.vocab.spans {
		text := view(m.vocab.text(uint32(id)))
		for at := 1; at < len(text); at++ {
			next := strings.Index(text[at:], spaceMark)
			if next < 0 {
				break
			}
			at += next
			r, _ := runeAt(text, runeBefore(text, at))
			joined = append(joined, runeRange{r, r})
		}
	}
	return &markCutter{spaceMark, newRuneSet(joined.normalized())}
}

func (c *markCutter) split(e *encoder, stage int, s string, first bool) {
	done := 0
	for at := 1; at < len(s); at++ {
		next := strings.Index(s[at:], c.mark)
		if next < 0 {
			break
		}
		at += next
		if r, _ := runeAt(s, runeBefore(s, at)); !c.joined.has(r) {
			e.feed(stage+1, s[done:at], false)
			done = at
		}
	}
	e.feed(stage+1, s[done:], false)
}
