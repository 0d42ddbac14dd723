package tokenizer

import "unicode/utf8"

// joints knows which neighbouring characters stand together in some token. No merge can cross a place between two that
// do not, so that a long word, or a SentencePiece text without words, may be cut there: the parts are short enough for
// the cache. It is a filter that may say yes too often, never too seldom.
type joints struct {
	bits    []uint64
	tails   partSet // ends of characters, where a token begins inside one
	heads   partSet // beginnings of characters, where a token ends inside one
	bytes   bool    // tokens may begin and end inside a character
	unknown bool    // characters without a token, which may be fused or held back, are joined to all others
	longest int     // the length of the longest token
}

const jointBits = 21

// newJoints returns nil where cutting would not be exact.
func newJoints(m *bpe) *joints {
	if m.affixed || m.mergesFallback() {
		return nil
	}
	j := &joints{bits: make([]uint64, 1<<jointBits/64), bytes: m.bytes}
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
		tail, head := pack(view(text[left:at])), pack(view(text[at:right]))
		h := jointHash(tail, head)
		j.bits[h>>6] |= 1 << (h & 63)
		if !utf8.Valid(text[left:at]) {
			j.tails.add(tail)
		}
		if !utf8.Valid(text[at:right]) {
			j.heads.add(head)
		}
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
	left, right := pack(a), pack(b)
	if j.has(left, right) {
		return true
	}
	if !j.bytes {
		return false
	}
	for n := len(a); n > 0; n-- {
		tail := left & (1<<(8*n) - 1)
		if n < len(a) && !j.tails.has(tail) {
			continue
		}
		for head := right; head > 0; head >>= 8 {
			if (head == right || j.heads.has(head)) && j.has(tail, head) {
				return true
			}
		}
	}
	return false
}

// partSet is a filter of parts of characters that tokens begin or end with.
type partSet [1 << 10]uint64

func (p *partSet) at(part uint64) (word *uint64, bit uint64) {
	h := part * 0x9e3779b97f4a7c15 >> (64 - 16)
	return &p[h>>6], 1 << (h & 63)
}

func (p *partSet) has(part uint64) bool {
	word, bit := p.at(part)
	return *word&bit != 0
}

func (p *partSet) add(part uint64) {
	word, bit := p.at(part)
	*word |= bit
}

func (j *joints) has(left, right uint64) bool {
	h := jointHash(left, right)
	return j.bits[h>>6]>>(h&63)&1 != 0
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
	if !m.bytes && len(part) <= 4 {
		if r, size := runeAt(part, 0); size == len(part) {
			if id := m.runes.id(r); id != noID {
				e.ids = append(e.ids, id)
				return
			}
		}
	}
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
