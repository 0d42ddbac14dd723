package tokenizer

import "fmt"

// A merge table maps a pair of token ids to the merge's rank. Key and value share one word, 21 bits of left id, 21 of
// right id and 22 of rank, so that a probe costs one load.
const (
	idBits   = 21
	rankBits = 64 - 2*idBits
	maxRank  = 1<<rankBits - 1
	noRank   = ^uint32(0)
	noMerge  = ^uint64(0)
)

type mergeTable struct {
	slots  []uint64
	shift  uint8
	result []uint32 // the merged token of each rank
}

func newMergeTable(count int) mergeTable {
	bits := 4
	for 1<<bits < count*2 {
		bits++
	}
	t := mergeTable{slots: make([]uint64, 1<<bits), shift: uint8(64 - bits)}
	for i := range t.slots {
		t.slots[i] = noMerge
	}
	return t
}

func pairKey(left, right uint32) uint64 {
	return uint64(left)<<(idBits+rankBits) | uint64(right)<<rankBits
}

// spread is Fibonacci hashing: the high bits of the product depend on all bits of the pair.
func spread(key uint64) uint64 {
	return (key >> rankBits) * 0x9e3779b97f4a7c15
}

// add appends the next merge; a pair that comes again takes the later rank. A file may have any number of merges for its
// vocabulary, so the table grows with them.
func (t *mergeTable) add(left, right, result uint32) error {
	if len(t.result) >= maxRank {
		return fmt.Errorf("more than %d merges are not supported", maxRank)
	}
	rank := uint64(len(t.result))
	t.result = append(t.result, result)
	if len(t.result) > len(t.slots)/8*7 {
		t.grow()
	}
	t.put(left, right, rank)
	return nil
}

func (t *mergeTable) grow() {
	old := t.slots
	next := newMergeTable(len(old))
	t.slots, t.shift = next.slots, next.shift
	for _, slot := range old {
		if slot != noMerge {
			t.put(uint32(slot>>(idBits+rankBits)), uint32(slot>>rankBits)&maxID, slot&maxRank)
		}
	}
}

func (t *mergeTable) put(left, right uint32, rank uint64) {
	key := pairKey(left, right)
	mask := uint64(len(t.slots) - 1)
	for i := spread(key) >> t.shift; ; i = (i + 1) & mask {
		if t.slots[i] == noMerge || t.slots[i]&^maxRank == key {
			t.slots[i] = key | rank
			return
		}
	}
}

// rank returns the rank of merging left and right, noRank if they do not merge.
func (t *mergeTable) rank(left, right uint32) uint32 {
	key := pairKey(left, right)
	mask := uint64(len(t.slots) - 1)
	for i := spread(key) >> t.shift; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot&^maxRank == key {
			if slot == noMerge {
				return noRank
			}
			return uint32(slot & maxRank)
		}
		if slot == noMerge {
			return noRank
		}
	}
}
