package prefix

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// TestBlocksAreAMap inserts and deletes at random and compares with Go's map; hashes are few and collide in their
// places, so that deletions have runs to mend.
func TestBlocksAreAMap(t *testing.T) {
	chance := rand.New(rand.NewPCG(2, 2))
	var account atomic.Int64
	b, want := blocks{account: &account}, map[int64]uint64{}
	for range 20000 {
		hash := chance.Int64N(300) - 150
		at, ok := b.find(hash)
		if _, known := want[hash]; known != ok {
			t.Fatalf("hash %d: found %v, want %v", hash, ok, known)
		}
		switch {
		case !ok:
			prefix := chance.Uint64()
			b.insert(at, hash, prefix, false)
			want[hash] = prefix
		case b.entries[at].prefix != want[hash]:
			t.Fatalf("hash %d has prefix %x, want %x", hash, b.entries[at].prefix, want[hash])
		case chance.IntN(2) == 0:
			b.delete(at)
			delete(want, hash)
		}
		if b.count != len(want) {
			t.Fatalf("%d blocks, want %d", b.count, len(want))
		}
	}
	if account.Load() != b.bytes() {
		t.Errorf("the account says %d bytes, the table has %d", account.Load(), b.bytes())
	}
	if b.reset(); account.Load() != 0 {
		t.Errorf("%d bytes are left", account.Load())
	}
}

// TestALaneIsAMapOfSets adds and removes owners at random and compares with a map.
func TestALaneIsAMapOfSets(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 3))
	var account atomic.Int64
	l, want := newLane(&account), map[uint64]uint64{}
	for range 20000 {
		bit := uint64(1) << chance.IntN(laneWidth)
		prefixes := make([]uint64, chance.IntN(4))
		for i := range prefixes {
			prefixes[i] = (1 + chance.Uint64N(400)) * 0x9E3779B97F4A7C15
		}
		if chance.IntN(2) == 0 {
			l.add(bit, prefixes)
			for _, p := range prefixes {
				want[p] |= bit
			}
		} else {
			l.remove(bit, prefixes)
			for _, p := range prefixes {
				if want[p] &^= bit; want[p] == 0 {
					delete(want, p)
				}
			}
		}
		p := (1 + chance.Uint64N(400)) * 0x9E3779B97F4A7C15
		if got := owners(*l.slots.Load(), p); got != want[p] {
			t.Fatalf("%x is owned by %b, want %b", p, got, want[p])
		}
		if l.live != len(want) {
			t.Fatalf("%d prefixes are owned, want %d", l.live, len(want))
		}
	}
	if account.Load() != int64(slotBytes*len(*l.slots.Load())) {
		t.Errorf("the account says %d bytes", account.Load())
	}
}

func TestALaneHas64SeatsAndTakesThemBack(t *testing.T) {
	var account atomic.Int64
	l := newLane(&account)
	seen := uint64(0)
	for range laneWidth {
		bit, ok := l.take()
		if !ok || seen&bit != 0 {
			t.Fatalf("bit %b, %v, after %b", bit, ok, seen)
		}
		seen |= bit
	}
	if _, ok := l.take(); ok {
		t.Error("a 65th seat")
	}
	l.give(1 << 7)
	if bit, ok := l.take(); !ok || bit != 1<<7 {
		t.Errorf("the seat given back: %b, %v", bit, ok)
	}
}

func TestAPrefixHashSaysTheWholePrefix(t *testing.T) {
	tokens := random(1, 64)
	hashes := func(tokens []uint32, size int) []uint64 {
		var c chain
		c.begin(append(slices.Clone(tokens), 0), size)
		return slices.Clone(c.upTo(1 << 20))
	}
	whole := hashes(tokens, 16)
	if len(whole) != 4 {
		t.Fatalf("%d blocks of 64 tokens", len(whole))
	}
	for changed := range tokens {
		other := slices.Clone(tokens)
		other[changed]++
		for i, h := range hashes(other, 16) {
			if same := h == whole[i]; same != (i < changed/16) {
				t.Errorf("token %d changed, block %d: same hash %v", changed, i, same)
			}
		}
	}
	if sameBlock := hashes(append(tokens[:16:16], tokens[:16]...), 16); sameBlock[0] == sameBlock[1] {
		t.Error("a block's place does not matter")
	}
}

func TestAChainIsHashedOnceAndOnlyAsFarAsAsked(t *testing.T) {
	var c chain
	c.begin(random(1, 1000), 10)
	if n := len(c.upTo(5)); n != 5 || len(c.hashes) != 5 {
		t.Errorf("%d hashes, %d computed", n, len(c.hashes))
	}
	first := slices.Clone(c.upTo(5))
	if all := c.upTo(1000); len(all) != 99 || !slices.Equal(all[:5], first) {
		t.Errorf("%d hashes of 99 whole blocks before the last token", len(all))
	}
	if c.begin(nil, 10); len(c.upTo(5)) != 0 {
		t.Error("an empty prompt has blocks")
	}
}

func TestWordsSurviveText(t *testing.T) {
	for w := range words {
		text, _ := w.MarshalText()
		var back Word
		if err := back.UnmarshalText(text); err != nil || back != w {
			t.Errorf("%s reads back as %s", text, back)
		}
	}
	var w Word
	if w.UnmarshalText([]byte("of a later version")); w != Warming {
		t.Errorf("an unknown word certifies: %s", w)
	}
}

func TestAStatusKeepsItsParts(t *testing.T) {
	for _, size := range []int{0, 1, 16, maxBlockSize} {
		s := newStatus(1<<32-1, size, Tokenizer)
		if s.generation() != 1<<32-1 || s.size() != size || s.word() != Tokenizer {
			t.Errorf("%x: %d, %d, %s", uint64(s), s.generation(), s.size(), s.word())
		}
	}
}
