package sim

import (
	"slices"
	"testing"
)

func TestAKeyStandsForABlockAndAllBeforeIt(t *testing.T) {
	tokens := []uint32{1, 2, 3, 4, 5, 6, 7, 8, 9}
	keys := AppendKeys(nil, tokens, 4)
	if len(keys) != 2 {
		t.Fatalf("%d keys of 9 tokens in blocks of 4", len(keys))
	}
	if again := AppendKeys(keys[:1:1], tokens, 4); !slices.Equal(again, keys) {
		t.Errorf("going on from the first: %x, want %x", again, keys)
	}
	same := AppendKeys(nil, []uint32{5, 6, 7, 8, 5, 6, 7, 8}, 4)
	if same[0] == keys[1] || same[0] == same[1] {
		t.Error("the same tokens at another place have the same key")
	}
}

func TestKeysDoNotCollideOverManyBlocks(t *testing.T) {
	seen := map[uint64]bool{}
	for first := range uint32(200_000) {
		for _, k := range AppendKeys(nil, []uint32{first, 0, first, 1}, 2) {
			if k == 0 || seen[k] {
				t.Fatalf("block %d: key %x again", first, k)
			}
			seen[k] = true
		}
	}
}
