package prefix

import "sync/atomic"

// blocks is one view's blocks by the engine's hash: which prefix each is, and how many copies there are. It is an
// open table of parallel arrays, because maps of structs take twice the memory. Its view's lock guards it.
type blocks struct {
	hashes   []int64
	prefixes []uint64 // 0: the block is outside the plain view
	copies   []uint16 // 0: an empty place
	foreign  []bool   // outside because of an adapter, a salt or an image, not for want of a parent
	count    int
	account  *atomic.Int64 // the index's
}

const blockBytes = 8 + 8 + 2 + 1

// maxCopies is more copies of one block than any engine makes.
const maxCopies = 1<<16 - 1

func (b *blocks) bytes() int64 { return int64(len(b.hashes)) * blockBytes }

// reset forgets all blocks and gives their memory back.
func (b *blocks) reset() {
	b.account.Add(-b.bytes())
	*b = blocks{account: b.account}
}

func (b *blocks) home(hash int64) int {
	return home(uint64(hash)*0x9E3779B97F4A7C15, len(b.hashes))
}

// find returns a block's place, or the empty place where it belongs.
func (b *blocks) find(hash int64) (at int, ok bool) {
	if len(b.hashes) == 0 {
		return 0, false
	}
	for at = b.home(hash); b.copies[at] != 0; {
		if b.hashes[at] == hash {
			return at, true
		}
		if at++; at == len(b.hashes) {
			at = 0
		}
	}
	return at, false
}

// insert adds a block that is not there with one copy.
func (b *blocks) insert(hash int64, prefix uint64, foreign bool) {
	if full(b.count+1, len(b.hashes)) {
		b.grow()
	}
	at, _ := b.find(hash)
	b.hashes[at], b.prefixes[at], b.copies[at], b.foreign[at] = hash, prefix, 1, foreign
	b.count++
}

func (b *blocks) grow() {
	old := *b
	defer func() { b.account.Add(b.bytes() - old.bytes()) }()
	room := roomFor(b.count + 1)
	b.hashes, b.prefixes = make([]int64, room), make([]uint64, room)
	b.copies, b.foreign = make([]uint16, room), make([]bool, room)
	for i, n := range old.copies {
		if n != 0 {
			at, _ := b.find(old.hashes[i])
			b.hashes[at], b.prefixes[at], b.copies[at], b.foreign[at] = old.hashes[i], old.prefixes[i], n, old.foreign[i]
		}
	}
}

// delete empties a place and moves up those that were pushed past it, so that no search stops short.
func (b *blocks) delete(at int) {
	b.count--
	room := len(b.hashes)
	for next := at; ; {
		if next++; next == room {
			next = 0
		}
		if b.copies[next] == 0 {
			break
		}
		if b.steps(b.home(b.hashes[next]), next) < b.steps(at, next) {
			continue // its home is past the hole: no search for it passes there
		}
		b.hashes[at], b.prefixes[at], b.copies[at], b.foreign[at] = b.hashes[next], b.prefixes[next], b.copies[next], b.foreign[next]
		at = next
	}
	b.copies[at] = 0
}

// steps is how far a search goes from one place to another.
func (b *blocks) steps(from, to int) int {
	if to < from {
		to += len(b.hashes)
	}
	return to - from
}
