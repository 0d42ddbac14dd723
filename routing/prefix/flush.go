package prefix

import "time"

// flush is the flushes of the cache through the gateway of which the engine has said nothing yet.
type flush struct {
	pending int
	until   time.Time // the engine may speak of the last one
	after   uint64    // the last batch before it
}

func (f *flush) add(until time.Time, after uint64) {
	f.pending, f.until, f.after = f.pending+1, until, after
}

// over takes a batch and says whether the last flush is told of with it, or so long ago that it never will be. A history
// that is told again may hold an earlier one.
func (f *flush) over(at time.Time, b *Batch) bool {
	switch {
	case f.pending == 0:
		return false
	case at.After(f.until):
		f.pending = 0
	case b.Sequence > f.after: // it may tell of several at once
		f.pending = max(0, f.pending-b.clears())
	}
	return f.pending == 0
}

// Flush withdraws all certificates because the cache is being flushed through the gateway. The engine may say so much later,
// and tell before of what it has flushed: until it does, or until a moment, nothing is certified.
func (f *Feed) Flush(until time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandon(Reconnect)
	f.flush.add(until, 0)
	for _, v := range f.all() {
		v.flush.add(until, v.cursor)
		v.set(v.load().size(), Warming)
		v.void()
	}
}

// Flushed says what came of the last Flush: a worker that has refused holds what it held. If not, and unless it has spoken
// already, the engine may speak of it until a moment.
func (f *Feed) Flushed(until time.Time, refused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flush.until = until
	if refused {
		f.flush.pending = max(0, f.flush.pending-1)
	}
	for _, v := range f.all() {
		switch {
		case v.flush.pending == 0: // the engine has spoken
		case !refused:
			v.flush.until = until
			v.empty(Warming)
		default:
			if v.flush.pending--; v.flush.pending == 0 && v.sound {
				v.certify()
			}
		}
	}
}

// Empty forgets what all ranks hold, because of a flush that the engine tells of block by block.
func (f *Feed) Empty() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandon(Reconnect)
	for _, v := range f.all() {
		v.empty(v.load().word())
	}
}
