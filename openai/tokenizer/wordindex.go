package tokenizer

import (
	"hash/maphash"
	"sync/atomic"
)

// wordIndex finds the token that a word is as a whole: by its bytes, where the vocabulary writes these as characters. It
// remembers which tokens the merges lead to, so that such a word is merged once in a tokenizer's life.
type wordIndex struct {
	seed  maphash.Seed
	texts texts
	slots []uint32 // id + 1
	all   bool     // every word that is a token stays whole (ignore_merges)
	whole []atomic.Uint32
}

func newWordIndex(m *bpe) *wordIndex {
	size := 64
	for size < m.vocab.count*2 {
		size *= 2
	}
	n := len(m.vocab.spans)
	x := &wordIndex{seed: maphash.MakeSeed(), slots: make([]uint32, size), all: m.whole, whole: make([]atomic.Uint32, n/32+1)}
	x.texts = texts{blob: make([]byte, 0, len(m.vocab.blob)), ends: make([]uint32, 0, n)}
	alphabet := newByteAlphabet()
	for id := range uint32(n) {
		text := m.vocab.text(id)
		if m.bytes {
			from := len(x.texts.blob)
			raw, ok := alphabet.unmap(x.texts.blob, text)
			x.texts.blob = raw
			if !ok {
				x.texts.blob = raw[:from] // no word has these characters
			}
			x.texts.ends = append(x.texts.ends, uint32(len(x.texts.blob)))
		} else {
			x.texts.add(text)
		}
		if raw := x.texts.get(id); len(raw) > 0 && m.vocab.id(text) == id {
			x.insert(raw, id)
		}
	}
	return x
}

func (x *wordIndex) insert(word []byte, id uint32) {
	mask := len(x.slots) - 1
	i := int(maphash.Bytes(x.seed, word)) & mask
	for x.slots[i] != 0 {
		i = (i + 1) & mask
	}
	x.slots[i] = id + 1
}

// find returns the token that is the word, noID if there is none.
func (x *wordIndex) find(word string) uint32 {
	mask := len(x.slots) - 1
	for i := int(maphash.String(x.seed, word)) & mask; x.slots[i] != 0; i = (i + 1) & mask {
		if id := x.slots[i] - 1; string(x.texts.get(id)) == word {
			return id
		}
	}
	return noID
}

// isWhole tells whether a word, or a part of one, that is the token needs no merging.
func (x *wordIndex) isWhole(id uint32, part bool) bool {
	return x.all && !part || x.whole[id/32].Load()>>(id%32)&1 != 0
}

// learn notes that merging the word gives this one token.
func (x *wordIndex) learn(id uint32) { x.whole[id/32].Or(1 << (id % 32)) }
