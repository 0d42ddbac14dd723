package tokenizer

import "unsafe"

const (
	cacheBits    = 14
	cacheKeyLen  = 32
	cacheEntries = 7
)

// wordCache remembers the ids of short words. It is direct-mapped and an entry is one cache line, so that a hit costs
// little more than reading the word. A cache belongs to one encoder at a time.
type wordCache struct {
	slots [1 << cacheBits]cachedWord
}

type cachedWord struct {
	key   wordKey
	ids   [cacheEntries]uint32
	count uint8 // 0: empty
}

// wordKey is a word of up to 32 bytes: overlapping words of it, and its length. Equal keys mean equal words.
type wordKey struct {
	a, b, c, d uint64
	size       uint8
}

// keyOf packs a word of 1 to 32 bytes.
func keyOf(s string) wordKey {
	n := len(s)
	p := unsafe.Pointer(unsafe.StringData(s))
	switch {
	case n >= 16:
		return wordKey{load64(p, 0), load64(p, 8), load64(p, n-16), load64(p, n-8), uint8(n)}
	case n >= 8:
		return wordKey{a: load64(p, 0), b: load64(p, n-8), size: uint8(n)}
	case n >= 4:
		return wordKey{a: uint64(load32(p, 0)) | uint64(load32(p, n-4))<<32, size: uint8(n)}
	}
	return wordKey{a: uint64(s[0]) | uint64(s[n>>1])<<8 | uint64(s[n-1])<<16, size: uint8(n)}
}

// load64 and load32 read inside a string's bytes; keyOf keeps the offsets within its length.
func load64(p unsafe.Pointer, at int) uint64 { return *(*uint64)(unsafe.Add(p, at)) }
func load32(p unsafe.Pointer, at int) uint32 { return *(*uint32)(unsafe.Add(p, at)) }

func (k wordKey) slot() uint64 {
	h := (k.a ^ uint64(k.size)<<56) * 0x9e3779b97f4a7c15
	h = (h ^ h>>29 ^ k.b) * 0xbf58476d1ce4e5b9
	if k.size > 16 {
		h = (h ^ h>>32 ^ k.c) * 0x94d049bb133111eb
		h = (h ^ h>>29 ^ k.d) * 0x9e3779b97f4a7c15
	}
	return h >> (64 - cacheBits)
}

// recall appends the ids of a word that was seen lately; else it returns where they belong, nil for a word too long.
func (e *encoder) recall(word string) (place *cachedWord, key wordKey, known bool) {
	if len(word) > cacheKeyLen {
		return nil, wordKey{}, false
	}
	key = keyOf(word)
	place = &e.words.slots[key.slot()]
	if place.key != key {
		return place, key, false
	}
	e.ids = append(e.ids, place.ids[:place.count]...)
	return place, key, true
}

// put remembers ids if they are few enough.
func (w *cachedWord) put(key wordKey, ids []uint32) {
	if len(ids) == 0 || len(ids) > cacheEntries {
		return
	}
	w.key = key
	w.count = uint8(len(ids))
	copy(w.ids[:], ids)
}
