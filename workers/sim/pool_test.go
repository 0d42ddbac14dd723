package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// slowPool is the pool's contract in the plainest terms.
type slowPool struct {
	keys map[int32]uint64
	refs map[int32]int
	idle []int32 // oldest first
	size int
}

func (s *slowPool) check(t *testing.T, p *pool) {
	t.Helper()
	used := 0
	for _, n := range s.refs {
		if n > 0 {
			used++
		}
	}
	if p.inUse() != used || p.idle != len(s.idle) || p.available() != s.size-used {
		t.Fatalf("in use %d, idle %d, available %d; want %d, %d, %d", p.inUse(), p.idle, p.available(), used, len(s.idle), s.size-used)
	}
	var order []int32
	for b := p.oldest; b != none; b = p.next[b] {
		order = append(order, b)
	}
	if !slices.Equal(order, s.idle) {
		t.Fatalf("idle blocks %v, want %v", order, s.idle)
	}
	for b, key := range s.keys {
		if got := p.find(key); got != b {
			t.Fatalf("key %d is at %d, want %d", key, got, b)
		}
	}
}

func TestPoolKeepsItsBooksThroughAnyOrderOfUse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const size = 24
	p := newPool(size)
	s := &slowPool{keys: map[int32]uint64{}, refs: map[int32]int{}, size: size}
	var held []int32
	for range 20_000 {
		switch op := rng.IntN(4); {
		case op == 0 && p.available() > 0:
			wantEvict := uint64(0)
			if len(p.free) == 0 {
				wantEvict = s.keys[s.idle[0]]
				delete(s.keys, s.idle[0])
				s.idle = s.idle[1:]
			}
			b, evicted := p.take()
			if evicted != wantEvict {
				t.Fatalf("evicted %d, want the least recently used %d", evicted, wantEvict)
			}
			s.refs[b] = 1
			held = append(held, b)
		case op == 1 && len(held) > 0:
			i := rng.IntN(len(held))
			held[i] = nameBoth(p, s, held[i], 1+rng.Uint64N(40))
		case op == 2 && len(held) > 0:
			i := rng.IntN(len(held))
			releaseBoth(p, s, held[i])
			held = slices.Delete(held, i, i+1)
		case op == 3:
			if b := p.find(1 + rng.Uint64N(40)); b != none {
				pinBoth(p, s, b)
				held = append(held, b)
			}
		}
		s.check(t, p)
	}
}

func pinBoth(p *pool, s *slowPool, b int32) {
	p.pin(b)
	if s.refs[b] == 0 {
		s.idle = slices.DeleteFunc(s.idle, func(o int32) bool { return o == b })
	}
	s.refs[b]++
}

func releaseBoth(p *pool, s *slowPool, b int32) {
	p.release(b)
	s.refs[b]--
	if _, named := s.keys[b]; named && s.refs[b] == 0 {
		s.idle = append(s.idle, b)
	}
}

// nameBoth names a block that has no name yet; the engine never names one twice.
func nameBoth(p *pool, s *slowPool, b int32, key uint64) int32 {
	if _, named := s.keys[b]; named {
		return b
	}
	kept, isNew := p.name(b, key)
	if isNew {
		s.keys[b] = key
		return kept
	}
	s.refs[b]--
	if s.refs[kept] == 0 {
		s.idle = slices.DeleteFunc(s.idle, func(o int32) bool { return o == kept })
	}
	s.refs[kept]++
	return kept
}

func TestClearDropsIdleBlocksAndSparesThoseInUse(t *testing.T) {
	p := newPool(4)
	used, _ := p.take()
	p.name(used, 7)
	idle, _ := p.take()
	p.name(idle, 8)
	p.release(idle)
	if got := p.clear(); !slices.Equal(got, []uint64{8}) {
		t.Errorf("cleared %v, want [8]", got)
	}
	if p.find(8) != none || p.find(7) != used || p.available() != 3 {
		t.Errorf("8 at %d, 7 at %d, %d available", p.find(8), p.find(7), p.available())
	}
}

func TestKeyTableForgetsWithoutLosingNeighbours(t *testing.T) {
	table := newKeyTable(8)
	size := uint64(len(table.keys))
	keys := []uint64{3, 3 + size, 3 + 2*size, 4, size - 1, 2*size - 1} // clusters that wrap around
	for i, k := range keys {
		table.put(k, int32(i))
	}
	for gone, k := range keys {
		table.remove(k)
		table.remove(k) // a second time is nothing
		for i, other := range keys {
			want := int32(i)
			if i <= gone {
				want = none
			}
			if got := table.get(other); got != want {
				t.Fatalf("after removing %d: key %d at %d, want %d", k, other, got, want)
			}
		}
	}
}
