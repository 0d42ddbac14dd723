package prefix

import (
	"sync/atomic"
	"time"
)

// view is what one rank of one worker holds, as far as its events tell. The feed's lock guards it, except for what
// readers of claims look at: its status, when it was last heard of, and its bit in the lane.
type view struct {
	rank   int32
	lane   *lane
	bit    uint64
	status atomic.Uint64
	seen   atomic.Int64 // Unix nanoseconds
	quiet  atomic.Bool  // found stale since then

	cursor uint64    // the last sequence number applied
	sent   time.Time // when that batch was sent, if it said so
	based  bool      // whether there is one
	behind Word      // why the view is suspended; None if it is not
	flush  flush
	sound  bool // but for a flush it is certified
	retold span // what a resumed stream may repeat: of several ranks' it is resumed for the first
	// complete says that every block of the cache is in the view, so that a removal of any other is a lost event.
	complete bool
	blocks   blocks
	groups   map[int64]bool // groups whose kind was said, and whether it is the main attention
	evicted  recent         // prefixes that the engine has removed
	changed  []uint64       // scratch: prefixes to be added to the lane or removed
}

// span is a run of sequence numbers, empty if it ends before it begins or at 0.
type span struct{ next, last uint64 }

// take tells whether a number is in the span, which then goes on behind it.
func (s *span) take(number uint64) bool {
	if number < s.next || number > s.last || s.last == 0 {
		return false
	}
	s.next = number + 1
	return true
}

// maxGroups bounds the layer groups a view remembers. Of those beyond it nothing counts.
const maxGroups = 64

// base sets the cursor to a batch.
func (v *view) base(b *Batch) { v.cursor, v.sent, v.based = b.Sequence, b.Sent, true }

func (v *view) load() status { return status(v.status.Load()) }

// set changes word and block size; the generation rises if the certificate is lost or regained.
func (v *view) set(size int, w Word) {
	s := v.load()
	generation := s.generation()
	if s.word() != w {
		generation++
	}
	v.status.Store(uint64(newStatus(generation, size, w)))
}

// void ends every claim made so far, whatever becomes of the certificate.
func (v *view) void() {
	s := v.load()
	v.status.Store(uint64(newStatus(s.generation()+1, s.size(), s.word())))
}

// empty forgets all blocks. Claims are void before the first one goes.
func (v *view) empty(w Word) {
	size := v.load().size()
	if w == BlockSize || w == Restart {
		size = 0
	}
	v.set(size, w)
	v.void()
	v.complete = false
	const step = 1024 // so that other views' writers wait for a short time only
	for from := 0; from < len(v.blocks.entries); from += step {
		v.changed = v.changed[:0]
		for _, e := range v.blocks.entries[from:min(from+step, len(v.blocks.entries))] {
			v.changed = append(v.changed, e.prefix)
		}
		v.lane.remove(v.bit, v.changed)
	}
	v.blocks.reset()
}

// certify says that the view is what the rank holds, or part of it, unless it may be what the rank held before a flush.
func (v *view) certify() {
	v.behind = None
	if v.flush.pending == 0 {
		v.set(v.load().size(), Certified)
	}
	v.sound = true
}

// apply carries out a batch's events in order, and returns why the view cannot be trusted any more, if so.
func (v *view) apply(events []Event) Word {
	for i := range events {
		e := &events[i]
		fault := None
		switch e.Kind {
		case Stored:
			fault = v.store(e)
		case Removed:
			fault = v.remove(e)
		case Cleared:
			if e.Owner == "" {
				v.empty(v.load().word())
				v.complete = true
			}
		}
		if fault != None {
			return fault
		}
	}
	return None
}

// counts says whether an event is about the copies that the view is made of. A group whose kind is not said is taken for
// the main one; a fault, if it turns out later that it was not. A removal need not say it and teaches nothing.
func (v *view) counts(e *Event) (main bool, fault Word) {
	p := &e.Place
	if !p.onDevice() {
		return false, None
	}
	main = p.GroupKind == "" || mainKind(p.GroupKind)
	if p.Group < 0 {
		return main, None
	}
	said, known := v.groups[p.Group]
	switch {
	case known && p.GroupKind != "" && said != main:
		v.groups[p.Group] = main
		return false, Corrupt
	case known:
		return said, None
	case e.Kind == Removed:
		return main, None
	case len(v.groups) == maxGroups:
		return false, None
	case v.groups == nil:
		v.groups = map[int64]bool{}
	}
	v.groups[p.Group] = main
	return main, None
}

// store adds a run of blocks. Those that a plain prompt cannot use are kept outside the plain view, with all that
// follow them; so are those whose parent is unknown: a block is never a root for want of a parent.
func (v *view) store(e *Event) Word {
	if main, fault := v.counts(e); !main {
		return fault
	}
	before, foreign := root, e.Foreign
	if e.HasParent {
		before = 0
		if at, ok := v.blocks.find(e.Parent); ok {
			before, foreign = v.blocks.entries[at].prefix, foreign || v.blocks.notes[at].foreign()
		}
	}
	v.changed = v.changed[:0]
	defer func() { v.lane.add(v.bit, v.changed) }()
	for i := range e.Blocks {
		b := &e.Blocks[i]
		if b.Level > 0 {
			before = 0
			continue
		}
		if foreign = foreign || b.Foreign; foreign {
			before = 0
		} else if fault := v.fits(b); fault != None {
			return fault
		}
		if before != 0 {
			before = follow(before, b.Tokens)
		}
		if !v.copy(b.Hash, before, foreign) {
			return Corrupt
		}
	}
	return None
}

// fits checks a block's tokens against its size and the view's, which the first block sets.
func (v *view) fits(b *Block) Word {
	n := len(b.Tokens)
	if n == 0 || n > maxBlockSize || b.Size > 0 && n != b.Size {
		return Corrupt
	}
	switch s := v.load(); s.size() {
	case n:
		return None
	case 0:
		v.set(n, s.word())
		return None
	}
	return BlockSize
}

// copy counts one more copy of a block. It is false if the hash names another block already.
func (v *view) copy(hash int64, prefix uint64, foreign bool) bool {
	at, ok := v.blocks.find(hash)
	if !ok {
		v.blocks.insert(at, hash, prefix, foreign)
		if prefix != 0 {
			v.changed = append(v.changed, prefix)
		}
		return true
	}
	known, n := v.blocks.entries[at].prefix, v.blocks.notes[at]
	// An orphan, which has neither prefix nor note, may turn out to be either.
	differs := known != 0 && foreign || n.foreign() && prefix != 0 || known != 0 && prefix != 0 && known != prefix
	if differs || n.copies() == maxCopies {
		return false
	}
	if foreign {
		n |= foreignNote
	}
	v.blocks.notes[at] = n + 1
	if known == 0 && prefix != 0 { // an orphan whose parent has come
		v.blocks.entries[at].prefix = prefix
		v.changed = append(v.changed, prefix)
	}
	return true
}

// remove takes away one copy of each block. Descendants stay: a claim counts an unbroken chain only.
func (v *view) remove(e *Event) Word {
	if main, fault := v.counts(e); !main {
		return fault
	}
	v.changed = v.changed[:0]
	defer func() {
		v.lane.remove(v.bit, v.changed)
		v.evicted.add(v.changed) // later, or a claim of them might not know that they have left since
	}()
	for _, hash := range e.Hashes {
		at, ok := v.blocks.find(hash)
		if !ok {
			if v.complete {
				return Corrupt // the event that stored it was lost
			}
			continue
		}
		if v.blocks.notes[at].copies() == 1 {
			v.changed = append(v.changed, v.blocks.entries[at].prefix)
			v.blocks.delete(at)
			continue
		}
		v.blocks.notes[at]--
	}
	return None
}

func (v *view) heard(at time.Time) {
	v.seen.Store(Nanos(at))
	v.quiet.Store(false)
}
