package prefix

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// laneWidth is the number of views that one look-up answers for.
const laneWidth = 64

// lane says which of up to 64 views hold which prefix: a hash table from a prefix to one bit a view. Readers take no
// lock. Writers, each changing only its own bit, take a short one.
//
// A slot's hash is written once in the life of a table, so a reader never takes one prefix's owners for another's.
// Prefixes that lost all owners leave when the table is rebuilt.
type lane struct {
	slots atomic.Pointer[[]slot]
	bytes *atomic.Int64 // the index's account

	mu    sync.Mutex
	used  int    // slots with a hash
	live  int    // slots with an owner
	taken uint64 // bits given to views
}

// slot is written atomically once its table is published, and read so by whoever does not hold the lock.
type slot struct{ prefix, owners uint64 }

const slotBytes = 16

// A table is rebuilt when it is filled to 85 %, to be filled to 55 %: between 1.2 and 1.8 slots a prefix.
func roomFor(n int) int { return max(n*100/55, laneWidth) }
func full(n, room int) bool {
	return n*100 >= room*85
}

func newLane(bytes *atomic.Int64) *lane {
	l := &lane{bytes: bytes}
	l.rebuild()
	return l
}

// home is where the search for a hash begins in a table of some room. Hashes are spread evenly over 64 bits.
func home(hash uint64, room int) int {
	high, _ := bits.Mul64(hash, uint64(room))
	return int(high)
}

// owners returns the views that hold a prefix.
func owners(slots []slot, prefix uint64) uint64 {
	for i := home(prefix, len(slots)); ; {
		switch atomic.LoadUint64(&slots[i].prefix) {
		case prefix:
			return atomic.LoadUint64(&slots[i].owners)
		case 0:
			return 0
		}
		if i++; i == len(slots) {
			i = 0
		}
	}
}

// match writes for each wanted view how many of the chain's first blocks it holds without a break.
func (l *lane) match(c *chain, wanted uint64, depth *[laneWidth]int32) {
	const step = 64 // blocks hashed ahead of their look-up
	slots := *l.slots.Load()
	total := c.blocks()
	at := 0
	for at < total && wanted != 0 {
		for _, prefix := range c.upTo(at + step)[at:] {
			holding := owners(slots, prefix) & wanted
			for lost := wanted &^ holding; lost != 0; lost &= lost - 1 {
				depth[bits.TrailingZeros64(lost)] = int32(at)
			}
			if wanted = holding; wanted == 0 {
				return
			}
			at++
		}
	}
	for ; wanted != 0; wanted &= wanted - 1 {
		depth[bits.TrailingZeros64(wanted)] = int32(at)
	}
}

// add makes a view an owner of prefixes; 0 among them is skipped.
func (l *lane) add(bit uint64, prefixes []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slots := *l.slots.Load()
	for _, prefix := range prefixes {
		if prefix == 0 {
			continue
		}
		s := seek(slots, prefix)
		before := s.owners
		atomic.StoreUint64(&s.owners, before|bit) // before the hash, so that nobody finds the prefix without an owner
		if s.prefix == 0 {
			atomic.StoreUint64(&s.prefix, prefix)
			l.used++
		}
		if before == 0 {
			l.live++
		}
		if full(l.used, len(slots)) {
			l.rebuild()
			slots = *l.slots.Load()
		}
	}
}

// remove ends a view's ownership of prefixes.
func (l *lane) remove(bit uint64, prefixes []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slots := *l.slots.Load()
	for _, prefix := range prefixes {
		if prefix == 0 {
			continue
		}
		s := seek(slots, prefix)
		before := s.owners
		if before&bit == 0 {
			continue
		}
		atomic.StoreUint64(&s.owners, before&^bit)
		if before == bit {
			l.live--
		}
	}
	if roomFor(l.live)*4 < len(slots) {
		l.rebuild()
	}
}

// seek returns the slot of a prefix, or the empty one where it belongs. It is for writers.
func seek(slots []slot, prefix uint64) *slot {
	for i := home(prefix, len(slots)); ; {
		if found := slots[i].prefix; found == prefix || found == 0 {
			return &slots[i]
		}
		if i++; i == len(slots) {
			i = 0
		}
	}
}

// rebuild makes a table of the right size without the prefixes that nobody holds. Readers finish on the old one.
func (l *lane) rebuild() {
	next := make([]slot, roomFor(l.live))
	old := l.slots.Load()
	if old != nil {
		for _, s := range *old {
			if s.owners != 0 {
				*seek(next, s.prefix) = s
			}
		}
		l.bytes.Add(int64(-slotBytes * len(*old)))
	}
	l.used = l.live
	l.bytes.Add(int64(slotBytes * len(next)))
	l.slots.Store(&next)
}

// take gives a view a bit of its own; ok is false when the lane is full.
func (l *lane) take() (bit uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	free := ^l.taken
	bit = free & -free
	l.taken |= bit
	return bit, bit != 0
}

// give takes a bit back; the view holds nothing any more.
func (l *lane) give(bit uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.taken &^= bit
}
