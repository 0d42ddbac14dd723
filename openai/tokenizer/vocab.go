package tokenizer

import (
	"fmt"
	"hash/maphash"
)

const (
	// maxID bounds token ids so that a pair and a rank fit into one word of the merge table, and a hostile file cannot
	// make us allocate for ids that it does not have.
	maxID = 1<<21 - 1
	// noID marks the absence of a token.
	noID = ^uint32(0)
)

// span is a token's text in the vocabulary's blob. A token that was never set has end 0 and start 1.
type span struct{ start, end uint32 }

// vocab maps token texts to ids and back. The texts lie in one blob, found by an open-addressed table of ids: a third of
// the memory of a Go map, and nothing for the garbage collector to follow.
type vocab struct {
	seed  maphash.Seed
	blob  []byte
	spans []span
	slots []uint32 // id + 1; a power of two of them
	count int      // tokens that can be found
}

func newVocab(sizeHint int) *vocab {
	v := &vocab{seed: maphash.MakeSeed()}
	v.grow(max(64, sizeHint*2))
	return v
}

func (v *vocab) grow(atLeast int) {
	size := 64
	for size < atLeast {
		size *= 2
	}
	old := v.slots
	v.slots = make([]uint32, size)
	for _, slot := range old {
		if slot != 0 {
			v.slots[v.slot(v.text(slot-1))] = slot
		}
	}
}

// slot returns the place of token, or the empty place where it belongs.
func (v *vocab) slot(token []byte) int {
	mask := len(v.slots) - 1
	i := int(maphash.Bytes(v.seed, token)) & mask
	for v.slots[i] != 0 && string(v.text(v.slots[i]-1)) != string(token) {
		i = (i + 1) & mask
	}
	return i
}

// text returns the token's text, nil if there is none.
func (v *vocab) text(id uint32) []byte {
	if int64(id) >= int64(len(v.spans)) || v.spans[id].start > v.spans[id].end {
		return nil
	}
	return v.blob[v.spans[id].start:v.spans[id].end]
}

func (v *vocab) has(id uint32) bool {
	return int64(id) < int64(len(v.spans)) && v.spans[id].start <= v.spans[id].end
}

// id returns the token's id, noID if there is none.
func (v *vocab) id(token []byte) uint32 {
	if slot := v.slots[v.slot(token)]; slot != 0 {
		return slot - 1
	}
	return noID
}

func (v *vocab) idOf(token string) uint32 {
	mask := len(v.slots) - 1
	i := int(maphash.String(v.seed, token)) & mask
	for v.slots[i] != 0 {
		if id := v.slots[i] - 1; string(v.text(id)) == token {
			return id
		}
		i = (i + 1) & mask
	}
	return noID
}

// set gives token an id. As in a JSON object, the last value of a text counts.
func (v *vocab) set(token []byte, id uint32) error {
	if id > maxID {
		return fmt.Errorf("token %.40q: id %d is above %d", token, id, maxID)
	}
	if v.has(id) && string(v.text(id)) != string(token) {
		return fmt.Errorf("id %d is given to both %.40q and %.40q", id, v.text(id), token)
	}
	for int(id) >= len(v.spans) {
		v.spans = append(v.spans, span{1, 0})
	}
	start := uint32(len(v.blob))
	v.blob = append(v.blob, token...)
	v.spans[id] = span{start, uint32(len(v.blob))}
	i := v.slot(token)
	if v.slots[i] == 0 {
		v.count++
	}
	v.slots[i] = id + 1
	if v.count*2 > len(v.slots) {
		v.grow(len(v.slots) * 2)
	}
	return nil
}

// compact gives back what growing the tables left over.
func (v *vocab) compact() {
	v.blob = append(make([]byte, 0, len(v.blob)), v.blob...)
	v.spans = append(make([]span, 0, len(v.spans)), v.spans...)
}
