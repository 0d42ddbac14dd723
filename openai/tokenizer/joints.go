package tokenizer

import "unicode/utf8"

// joints knows which neighbouring characters stand together in some token. No merge can cross a place between two that
// do not, so that a long word, or a SentencePiece text without words, may be cut there: the parts are short enough for
// the cache. It is a filter that may say yes too often, never too seldom.
type joints struct {
	bits    []uint64
	unknown bool // characters without a token, which may be fused or held back, are joined to all others
	longest int  // the length of the longest token
}

const jointBits = 21

// newJoints returns nil where cutting would not be exact.
func newJoints(m *bpe) *joints {
	if m.affixed || m.mergesFallback() {
		return nil
	}
	j := &joints{bits: make([]uint64, 1<<jointBits/64)}
	if m.bytes {
		for _, id := range m.byteIDs {
			if id == noID {
				return nil
			}
		}
	} else {
		j.unknown = !m.byteFallback || !m.fallsBack(allBytes())
	}
	for id := range m.index.texts.ends {
		j.addToken(m.index.texts.get(uint32(id)))
	}
	return j
}

func allBytes() string {
	var all [256]byte
	for i := range all {
		all[i] = byte(i)
	}
	return string(all[:])
}

// addToken notes the joints inside a token. At its ends it may hold parts of characters.
func (j *joints) addToken(text []byte) {
	j.longest = max(j.longest, len(text))
	for at := 1; at < len(text); at++ {
		if !utf8.RuneStart(text[at]) {
			continue
		}
		left := at - 1
		for left > 0 && left > at-4 && !utf8.RuneStart(text[left]) {
			left--
		}
		right := at + 1
		for right < len(text) && right < at+4 && !utf8.RuneStart(text[right]) {
			right++
		}
		h := jointHash(pack(view(text[left:at])), pack(view(text[at:right])))
		j.bits[h>>6] |= 1 << (h & 63)
	}
}

// pack puts up to four bytes into a word; distinct texts without zero bytes at their start give distinct words.
func pack(s string) (p uint64) {
	for i := range len(s) {
		p = p<<8 | uint64(s[i])
	}
	return p
}

func jointHash(left, right uint64) uint64 {
	return (left<<32 | right) * 0x9e3779b97f4a7c15 >> (64 - jointBits)
}

// joined tells whether a token may hold the end of the character a and the beginning of the character b.
func (j *joints) joined(a, b string) bool {
	left := pack(a)
	for n := len(a); n > 0; n-- {
		tail := left & (1<<(8*n) - 1)
		head := uint64(0)
		for i := range len(b) {
			head = head<<8 | uint64(b[i])
			h := jointHash(tail, head)
			if j.bits[h>>6]>>(h&63)&1 != 0 {
				return true
			}
		}
	}
	return false
}

// mergesFallback tells whether a byte token takes part in a merge.
func (m *bpe) mergesFallback() bool {
	if !m.byteFallback {
		return false
	}
	isByte := map[uint32]bool{}
	for _, id := range m.fallback {
		isByte[id] = id != noID
	}
	for _, slot := range m.merges.slots {
		if slot != noMerge && (isByte[uint32(slot>>(idBits+rankBits))] || isByte[uint32(slot>>rankBits)&maxID]) {
			return true
		}
	}
	return false
}

// encodeLong cuts a word that is too long for the cache.
func (m *bpe) encodeLong(e *encoder, word string) {
	j := m.joints
	if j == nil {
		m.merge(e, word, false)
		return
	}
	if len(word) <= j.longest {
		if id := m.index.find(word); id != noID && m.index.isWhole(id, false) {
			e.ids = append(e.ids, id)
			return
		}
	}
	start, before := 0, 0
	r, size := runeAt(word, 0)
	known := !j.unknown || m.runes.id(r) != noID
	for at := size; at < len(word); at += size {
		r, size = runeAt(word, at)
		knew := known
		known = !j.unknown || m.runes.id(r) != noID
		if known && knew && !j.joined(word[before:at], word[at:at+size]) {
			m.encodePart(e, word[start:at])
			start = at
		}
		before = at
	}
	m.encodePart(e, word[start:])
}

// encodePart appends the tokens of a part of a word, which unlike a word is never a token just because it is one.
func (m *bpe) encodePart(e *encoder, part string) {
	if len(part) > cacheKeyLen {
		m.merge(e, part, true)
		return
	}
	key := keyOf(part)
	if m.index.all {
		key.size |= 0x80
	}
	m.cached(e, key, part, true)
}
