package prefix

import "sync/atomic"

// blocks is one view's blocks by the engine's hash: which prefix each is, and how many copies there are. It is an
// open table, because a map takes twice the memory. Its view's lock guards it.
type blocks struct {
	entries []entry
	notes   []note // of the same order
	count   int
	account *atomic.Int64 // the index's
}

type entry struct {
	hash   int64
	prefix uint64 // 0: the block is outside the plain view
}

// note is the number of copies, none in an empty place, and whether the block is outside because of an adapter, a
// salt or an image, not for want of a parent.
type note uint16

const (
	foreignNote note = 1 << 15
	// maxCopies is more copies of one block than any engine makes.
	maxCopies = foreignNote - 1

	blockBytes = 16 + 2
)

func newNote(foreign bool) note {
	if foreign {
		return 1 | foreignNote
	}
	return 1
}

func (n note) copies() note  { return n &^ foreignNote }
func (n note) foreign() bool { return n&foreignNote != 0 }

func (b *blocks) bytes() int64 { return int64(len(b.entries)) * blockBytes }

// reset forgets all blocks and gives their memory back.
func (b *blocks) reset() {
	b.account.Add(-b.bytes())
	*b = blocks{account: b.account}
}

func (b *blocks) home(hash int64) int {
	return home(uint64(hash)*0x9E3779B97F4A7C15, len(b.entries))
}

// find returns a block's place, or the empty place where it belongs.
func (b *blocks) find(hash int64) (at int, ok bool) {
	if len(b.entries) == 0 {
		return 0, false
	}
	for at = b.home(hash); b.notes[at] != 0; {
		if b.entries[at].hash == hash {
			return at, true
		}
		if at++; at == len(b.entries) {
			at = 0
		}
	}
	return at, false
}

// insert adds a block that is not there with one copy, at the place that find named.
func (b *blocks) insert(at int, hash int64, prefix uint64, foreign bool) {
	if full(b.count+1, len(b.entries)) {
		b.grow()
		at, _ = b.find(hash)
	}
	b.entries[at], b.notes[at] = entry{hash, prefix}, newNote(foreign)
	b.count++
}

func (b *blocks) grow() {
	old := *b
	defer func() { b.account.Add(b.bytes() - old.bytes()) }()
	room := roomFor(b.count + 1)
	b.entries, b.notes = make([]entry, room), make([]note, room)
	for i, n := range old.notes {
		if n != 0 {
			at, _ := b.find(old.entries[i].hash)
			b.entries[at], b.notes[at] = old.entries[i], n
		}
	}
}

// delete empties a place and moves up those that were pushed past it, so that no search stops short.
func (b *blocks) delete(at int) {
	b.count--
	for next := at; ; {
		if next++; next == len(b.entries) {
			next = 0
		}
		if b.notes[next] == 0 || next == at {
			break
		}
		if b.steps(b.home(b.entries[next].hash), next) < b.steps(at, next) {
			continue // its home is past the hole: no search for it passes there
		}
		b.entries[at], b.notes[at] = b.entries[next], b.notes[next]
		at = next
	}
	b.entries[at], b.notes[at] = entry{}, 0
}

// steps is how far a search goes from one place to another.
func (b *blocks) steps(from, to int) int {
	if to < from {
		to += len(b.entries)
	}
	return to - from
}
