package prefix

import "time"

// flush is a flush of the cache through the gateway, of which the engine has said nothing yet.
type flush struct {
	by    time.Time // which it takes place; zero: there is none
	after uint64    // the last batch before it
	sound bool      // but for a flush the view is certified
}

// over says whether a batch tells of the flush, or comes so late that none will. A history that is told again may hold an
// earlier one.
func (f *flush) over(at time.Time, b *Batch, patience time.Duration) bool {
	return !f.by.IsZero() && (b.Sequence > f.after && b.clears() || at.Sub(f.by) > patience)
}

// Flush withdraws all certificates because the cache is being flushed through the gateway, by a moment. The engine may say
// so much later, and tell before of what it has flushed: until then, or until it has had long enough, nothing is certified.
func (f *Feed) Flush(by time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandon(Reconnect)
	for _, v := range f.all() {
		v.flush.by, v.flush.after = by, v.cursor
		v.set(v.load().size(), Warming)
		v.void()
	}
}

// Flushed says what came of the last Flush. A worker of one rank that has refused holds what it held; of several, some may not have.
func (f *Feed) Flushed(refused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.all()
	for _, v := range all {
		switch {
		case v.flush.by.IsZero(): // the engine has spoken
		case refused && len(all) == 1:
			if v.flush.by = (time.Time{}); v.flush.sound {
				v.certify()
			}
		default:
			v.empty(Warming)
		}
	}
}
