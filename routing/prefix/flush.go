package prefix

import "time"

// flush is the flushes of the cache through the gateway of which the engine has said nothing yet.
type flush struct {
	pending int
	by      time.Time // which the last one takes place
	after   uint64    // the last batch before it
}

func (f *flush) add(by time.Time, after uint64) { f.pending, f.by, f.after = f.pending+1, by, after }

// over takes a batch and says whether the last flush is told of with it, or so long ago that it never will be. A history
// that is told again may hold an earlier one.
func (f *flush) over(at time.Time, b *Batch, patience time.Duration) bool {
	switch {
	case f.pending == 0:
		return false
	case at.Sub(f.by) > patience:
		f.pending = 0
	case b.Sequence > f.after && b.clears():
		f.pending--
	default:
		return false
	}
	return f.pending == 0
}

// Flush withdraws all certificates because the cache is being flushed through the gateway, by a moment. The engine may say
// so much later, and tell before of what it has flushed: until then, or until it has had long enough, nothing is certified.
func (f *Feed) Flush(by time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandon(Reconnect)
	f.flush.add(by, 0)
	for _, v := range f.all() {
		v.flush.add(by, v.cursor)
		v.set(v.load().size(), Warming)
		v.void()
	}
}

// Flushed says what came of the last Flush: a worker that has refused holds what it held.
func (f *Feed) Flushed(refused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if refused {
		f.flush.pending = max(0, f.flush.pending-1)
	}
	for _, v := range f.all() {
		switch {
		case v.flush.pending == 0: // the engine has spoken
		case !refused:
			v.empty(Warming)
		default:
			if v.flush.pending--; v.flush.pending == 0 && v.sound {
				v.certify()
			}
		}
	}
}
