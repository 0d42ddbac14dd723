package tokenizer

import (
	"fmt"
	"unicode/utf8"
)

// model turns a pre-tokenized word into ids, appended to the encoder's.
type model interface {
	encode(e *encoder, word string)
}

// bpe is byte-pair encoding. With bytes, a word's first symbols are its bytes; else its characters.
type bpe struct {
	vocab    *vocab
	merges   mergeTable
	byteIDs  [256]uint32 // the tokens of single bytes, noID where there is none
	runes    runeTable   // the tokens of single characters
	fallback [256]uint32 // byte_fallback: <0x00> … <0xFF>

	index     *wordIndex
	joints    *joints
	bytePairs []uint32 // with bytes: the rank of every pair of them

	unk          uint32
	bytes        bool
	byteFallback bool
	fuseUnk      bool
	whole        bool // ignore_merges: a word that is a token stays whole
	affixed      bool
	prefix       string // continuing_subword_prefix
	suffix       string // end_of_word_suffix
}

// encode appends the word's tokens, from the cache if it was seen lately.
func (m *bpe) encode(e *encoder, word string) {
	if len(word) > cacheKeyLen {
		m.encodeLong(e, word)
		return
	}
	m.cached(e, keyOf(word), word, false)
}

func (m *bpe) cached(e *encoder, key wordKey, word string, part bool) {
	hit := &e.words.slots[key.slot()]
	if hit.key == key {
		n := len(e.ids)
		if cap(e.ids)-n >= cacheEntries {
			e.ids = e.ids[:n+cacheEntries]
			*(*[cacheEntries]uint32)(e.ids[n:]) = hit.ids
			e.ids = e.ids[:n+int(hit.count)]
			return
		}
		e.ids = append(e.ids, hit.ids[:hit.count]...)
		return
	}
	start := len(e.ids)
	m.merge(e, word, part)
	hit.put(key, e.ids[start:])
}

// cutFrom is the length from which words in scripts of wide characters are cut too: their parts come again more often.
const cutFrom = 9

// merge appends the tokens of a word, or a part of one, that is not in the cache.
func (m *bpe) merge(e *encoder, word string, part bool) {
	id := m.index.find(word)
	if id != noID && m.index.isWhole(id, part) {
		e.ids = append(e.ids, id)
		return
	}
	if !part && m.joints != nil && len(word) > cutFrom && word[len(word)-1] >= utf8.RuneSelf {
		m.encodeLong(e, word)
		return
	}
	start := len(e.ids)
	switch {
	case m.bytes:
		m.splitBytes(e, word)
	case m.affixed:
		m.splitAffixed(e, word)
	default:
		m.splitRunes(e, word)
	}
	merged := e.ids[start:]
	switch n := len(merged); {
	case n > smallWord:
		merged = m.mergeLarge(e, merged)
	case n > 1:
		var ranks [smallWord]uint32
		m.firstRanks(ranks[:n-1], merged, word)
		merged = m.mergeSmall(merged, ranks[:n])
	}
	e.ids = e.ids[:start+len(merged)]
	if len(merged) == 1 && merged[0] == id {
		m.index.learn(id)
	}
}

// firstRanks looks the ranks of a word's first pairs up. Those of bytes have a table of their own.
func (m *bpe) firstRanks(ranks, sym []uint32, word string) {
	if m.bytes && len(sym) == len(word) {
		for i := range ranks {
			ranks[i] = m.bytePairs[int(word[i])<<8|int(word[i+1])]
		}
		return
	}
	for i := range ranks {
		ranks[i] = m.merges.rank(sym[i], sym[i+1])
	}
}

func (m *bpe) splitBytes(e *encoder, word string) {
	pending := false
	for i := range len(word) {
		if id := m.byteIDs[word[i]]; id != noID && !pending {
			e.ids = append(e.ids, id)
		} else {
			pending = m.symbol(e, id, byteText(word[i]), pending)
		}
	}
	if pending {
		e.ids = append(e.ids, m.unk)
	}
}

// splitRunes appends the tokens of the word's characters. The library holds an unknown token back until the next known
// character, and byte fallback does not count as one; so do we.
func (m *bpe) splitRunes(e *encoder, word string) {
	pending := false
	for i := 0; i < len(word); {
		r, size := runeAt(word, i)
		id := m.runes.id(r)
		pending = m.symbol(e, id, word[i:i+size], pending)
		i += size
	}
	if pending {
		e.ids = append(e.ids, m.unk)
	}
}

// splitAffixed is splitRunes with a mark before every character but the first and after the last.
func (m *bpe) splitAffixed(e *encoder, word string) {
	pending := false
	for i := 0; i < len(word); {
		_, size := runeAt(word, i)
		text := word[i : i+size]
		if i > 0 {
			text = m.prefix + text
		}
		if i+size == len(word) {
			text += m.suffix
		}
		pending = m.symbol(e, m.vocab.idOf(text), text, pending)
		i += size
	}
	if pending {
		e.ids = append(e.ids, m.unk)
	}
}

// symbol appends a first symbol: its token, its bytes, or the unknown token. It reports whether an unknown token waits.
func (m *bpe) symbol(e *encoder, id uint32, text string, pending bool) bool {
	switch {
	case id != noID:
		if pending {
			e.ids = append(e.ids, m.unk)
		}
		e.ids = append(e.ids, id)
		return false
	case m.byteFallback && m.fallsBack(text):
		for i := range len(text) {
			e.ids = append(e.ids, m.fallback[text[i]])
		}
		return pending
	case m.unk == noID:
		return false
	}
	if pending && !m.fuseUnk {
		e.ids = append(e.ids, m.unk)
	}
	return true
}

func (m *bpe) fallsBack(text string) bool {
	for i := range len(text) {
		if m.fallback[text[i]] == noID {
			return false
		}
	}
	return true
}

// bindSymbols fills the tables of first symbols from the vocabulary.
func (m *bpe) bindSymbols() {
	for b := range 256 {
		m.byteIDs[b] = noID
		m.fallback[b] = m.vocab.idOf(fmt.Sprintf("<0x%02X>", b))
		if m.bytes {
			m.byteIDs[b] = m.vocab.idOf(byteText(byte(b)))
		}
	}
	m.index = newWordIndex(m)
	if m.bytes {
		m.bindPairs()
		m.joints = newJoints(m)
		return
	}
	for id := range m.vocab.spans {
		text := m.vocab.text(uint32(id))
		if r, size := utf8.DecodeRune(text); size > 0 && size == len(text) && m.vocab.id(text) == uint32(id) {
			m.runes.set(r, uint32(id))
		}
	}
	m.joints = newJoints(m)
}

func (m *bpe) bindPairs() {
	m.bytePairs = make([]uint32, 1<<16)
	for pair := range m.bytePairs {
		m.bytePairs[pair] = noRank
		if a, b := m.byteIDs[pair>>8], m.byteIDs[pair&255]; a != noID && b != noID {
			m.bytePairs[pair] = m.merges.rank(a, b)
		}
	}
}

// runeTable maps characters to ids in two stages.
type runeTable struct {
	pages [(utf8.MaxRune + 1) >> 8]*[256]uint32
}

func (t *runeTable) set(r rune, id uint32) {
	page := t.pages[r>>8]
	if page == nil {
		page = new([256]uint32)
		t.pages[r>>8] = page
	}
	page[r&255] = id + 1
}

func (t *runeTable) id(r rune) uint32 {
	if page := t.pages[uint32(r)>>8]; page != nil {
		return page[r&255] - 1 // 0 wraps to noID
	}
	return noID
}
