package prefix

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxViews bounds the ranks of one worker.
const maxViews = 1024

// Verdict says what became of a batch.
type Verdict uint8

// The verdicts.
const (
	Applied Verdict = iota
	Heard           // a heartbeat or a duplicate: nothing to apply
	// Resume says that batches are missing before this one, which was not applied. The caller reconnects once at
	// Start; whatever comes next is applied.
	Resume
	// Resubscribe says that the worker has been unhealthy since the stream was opened and that the stream may be a
	// dead engine's. The caller opens another one from the start.
	Resubscribe
)

// Feed is one worker's event stream, from subscription to subscription, and the views that follow from it. One
// goroutine applies batches in the order in which they were sent; the other methods may be called from any.
type Feed struct {
	index  *Index
	worker string

	views    atomic.Pointer[[]*view] // for readers; replaced when a rank appears
	absent   atomic.Uint32           // the Word for which there is no stream at all; None if there may be one
	ranks    atomic.Int32            // so many are candidates of their own; 0 if none is
	mismatch atomic.Bool             // the engine counts other prompt tokens than we do
	lag      atomic.Int64            // nanoseconds from publisher to receipt, of the newest batch
	losses   [words]atomic.Uint64    // certificates lost, by reason
	watcher  atomic.Pointer[func(rank int32, reason Word)]
	audits   [findings]atomic.Uint64

	mu       sync.Mutex // guards the rest and the views
	closed   bool
	deaf     bool          // events are not believed before a new subscription
	unwell   bool          // nor is one, before the worker is well again
	noResume bool          // the worker keeps no history
	untold   map[int32]int // prompts that a rank has computed since its newest batch with an event
	lacking  time.Time     // when the worker was last found not to have what was missed
	flush    flush
	snapshot struct {
		running bool
		next    uint32 // the chunk that comes next
		count   uint32 // how many there are
		whole   bool   // whether it lists everything
	}
}

// Apply takes the next batch of the stream, received at a moment.
func (f *Feed) Apply(at time.Time, b *Batch) Verdict {
	f.mu.Lock()
	verdict := f.apply(at, b)
	f.mu.Unlock()
	f.index.keepBound()
	return verdict
}

func (f *Feed) apply(at time.Time, b *Batch) Verdict {
	switch {
	case f.closed:
		return Heard
	case f.deaf:
		return Resubscribe
	}
	if !b.Sent.IsZero() {
		f.lag.Store(int64(at.Sub(b.Sent)))
	}
	if b.LoadOnly {
		f.heartbeat(at, b)
		return Heard
	}
	v := f.view(b.Rank)
	if v == nil {
		return Heard
	}
	f.told(b)
	if b.Snapshot != nil {
		f.chunk(at, v, b)
		return Applied
	}
	f.abandon(Reconnect) // a snapshot that is cut short is not known to be whole
	admitted, loss := f.admit(at, v, b)
	if loss != None {
		f.lose(v, loss)
	}
	if admitted != Applied {
		return admitted
	}
	v.heard(at)
	v.base(b)
	v.retold = span{}
	f.perform(at, v, b)
	return Applied
}

// admit judges a batch by its number: whether to apply it, and whether the view must be emptied before that. What was
// sent after the batch at the cursor does not repeat it. What was sent before it and has a lower number is late: nothing
// can be based on it, and whether it was missed before is not known, so the next batch that is not late, too, is a new
// beginning. What claims to be later still than a certificate may be old is of a clock that was set back.
func (f *Feed) admit(at time.Time, v *view, b *Batch) (Verdict, Word) {
	newer := !v.sent.IsZero() && b.Sent.After(v.sent)
	late := b.Sequence < v.cursor && b.Sent.Before(v.sent)
	switch {
	case !v.based && late && v.sent.Sub(b.Sent) <= f.index.cfg.MaxAge:
		return Heard, None
	case !v.based, b.Sequence == v.cursor+1:
		return Applied, None
	case v.retold.take(b.Sequence) && !newer && b.clears() == 0:
		return Heard, None
	case late:
		v.based = false
		return Heard, Restart
	case b.Sequence < v.cursor:
		return Applied, Restart
	case v.behind == Suspended:
		return Applied, Reconnect
	case v.behind == Gap: // the worker's own history lacks them
		f.lacking = at
		return Applied, Gap
	case b.Sequence == v.cursor && (newer || b.clears() > 0):
		return Applied, Restart
	case b.Sequence == v.cursor:
		return Heard, None
	case !f.resumes(at, v):
		return Applied, Gap
	}
	f.suspend(v, Gap)
	return Resume, None
}

// perform applies an admitted batch and certifies the view, or empties it if the events do not add up.
func (f *Feed) perform(at time.Time, v *view, b *Batch) {
	if v.flush.over(at, b) {
		v.empty(Warming)
	}
	if fault := v.apply(b.Events); fault != None {
		f.lose(v, fault)
		return
	}
	v.certify()
}

// heartbeat takes a batch that says nothing but that its rank is where it was: proof that nothing was missed, if the
// number is the cursor, and no news otherwise. The number 0 may also stand for none before a stream's first batch.
func (f *Feed) heartbeat(at time.Time, b *Batch) {
	v := f.find(b.Rank)
	if v == nil || !v.based || v.cursor != b.Sequence {
		return
	}
	v.heard(at)
	if v.behind == Suspended && b.Sequence > 0 {
		v.certify()
	}
}

// chunk takes a part of a snapshot. The first empties all views; after the last they are certified. Of one whose parts
// do not follow each other nothing is kept: what happened between them is not known.
func (f *Feed) chunk(at time.Time, v *view, b *Batch) {
	s := b.Snapshot
	if s.Index == 0 {
		f.drop(Reconnect)
		f.snapshot.running, f.snapshot.next, f.snapshot.count, f.snapshot.whole = true, 0, s.Count, true
	}
	if !f.snapshot.running || s.Index != f.snapshot.next || s.Count != f.snapshot.count {
		f.abandon(Reconnect)
		return
	}
	v.heard(at)
	f.snapshot.next++
	f.snapshot.whole = f.snapshot.whole && s.UnknownBefore == 0
	v.base(b)
	if fault := v.apply(b.Events); fault != None {
		f.snapshot.running = false
		f.drop(fault)
		return
	}
	v.complete = false
	if f.snapshot.next < s.Count {
		return
	}
	f.snapshot.running = false
	for _, v := range f.all() {
		if v.based {
			v.complete = f.snapshot.whole
			v.certify()
		}
	}
}

// abandon gives up a snapshot for a reason, if one is running.
func (f *Feed) abandon(w Word) {
	if f.snapshot.running {
		f.snapshot.running = false
		f.drop(w)
	}
}

// Subscribed says that a stream has been opened, after a number or, with 0, from where the worker is. Views that were
// suspended stay so until it proves them. Of a worker that is not well it is not believed.
func (f *Feed) Subscribed(since uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unwell {
		return
	}
	f.deaf = false
	f.absent.Store(uint32(None))
	for _, v := range f.all() {
		v.retold = span{}
		switch {
		case since == 0: // it may tell its whole history again, none of which is late
			v.sent = time.Time{}
		case v.based:
			v.retold = span{since, v.cursor}
		}
	}
}

// Disconnected says that the stream was lost: nothing is claimed until the next one shows that nothing was missed.
func (f *Feed) Disconnected() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandon(Reconnect)
	for _, v := range f.all() {
		if v.behind == None && v.based {
			f.suspend(v, Suspended)
		}
	}
}

// Drop empties every view for a reason: Restart when the process is another, Reconnect when it may be, Gap when the
// stream says that it lost data, Unsupported when there is none. After Unhealthy and Unsupported nothing is believed
// before a new subscription, and after Unhealthy none before Well; after the others the next batch is a new beginning.
func (f *Feed) Drop(w Word) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(w)
	if w == Restart || w == Reconnect {
		f.retire()
	}
	if w == Unhealthy || w == Unsupported {
		f.deaf = true
		f.absent.Store(uint32(w))
		f.unwell = f.unwell || w == Unhealthy
	}
}

// Well says that the worker has passed a health check: what it tells on its next subscription is its engine's.
func (f *Feed) Well() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unwell = false
}

// Unwell says whether the worker has failed a health check and passed none since. A subscription would be in vain.
func (f *Feed) Unwell() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unwell
}

func (f *Feed) drop(w Word) {
	if w == Restart {
		f.flush, f.noResume, f.lacking = flush{}, false, time.Time{}
	}
	for _, v := range f.all() {
		f.lose(v, w)
		v.based = false
		if w == Restart {
			v.flush = flush{}
		}
	}
}

// retire takes away the empty views of all ranks but the first, which every process has: another one may have no more.
func (f *Feed) retire() {
	var stay []*view
	for _, v := range f.all() {
		if v.rank == 0 {
			stay = append(stay, v)
		} else {
			v.lane.give(v.bit)
		}
	}
	f.views.Store(&stay)
}

// word is a view's word at a moment, in Unix nanoseconds: a certificate is stale while nothing has been heard for too
// long. That it has become so is counted when it is first seen.
func (f *Feed) word(v *view, s status, now int64) Word {
	if s.word() != Certified || now-v.seen.Load() <= int64(f.index.cfg.MaxAge) {
		return s.word()
	}
	if !v.quiet.Swap(true) {
		f.lost(v.rank, Stale)
	}
	return Stale
}

// EachRank says to how many ranks requests are pinned, so that each makes claims of its own. If to none, a worker of
// several ranks makes no claims.
func (f *Feed) EachRank(ranks int) { f.ranks.Store(int32(ranks)) }

// Renew forgets everything because another worker has taken this one's name. Nothing is believed before a new
// subscription, so that the old stream cannot speak for the new worker.
func (f *Feed) Renew() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(Restart)
	f.retire()
	f.deaf, f.unwell, f.untold = true, false, nil
	f.mismatch.Store(false)
}

// suspend withdraws a certificate and keeps the view.
func (f *Feed) suspend(v *view, w Word) {
	v.behind = w
	v.sound = false
	v.set(v.load().size(), w)
}

func (f *Feed) all() []*view {
	if views := f.views.Load(); views != nil {
		return *views
	}
	return nil
}

// find returns a rank's view; nil if it has none.
func (f *Feed) find(rank int32) *view {
	for _, v := range f.all() {
		if v.rank == rank {
			return v
		}
	}
	return nil
}

// view returns a rank's view, a new one if it has none; nil if the worker has too many.
func (f *Feed) view(rank int32) *view {
	if v := f.find(rank); v != nil {
		return v
	}
	all := f.all()
	if len(all) == maxViews {
		return nil
	}
	if len(all) == 1 && f.ranks.Load() == 0 && all[0].load().word() == Certified {
		f.lost(all[0].rank, Ranks)
	}
	v := &view{rank: rank, flush: f.flush, blocks: blocks{account: &f.index.bytes}}
	v.lane, v.bit = f.index.seat()
	v.status.Store(uint64(newStatus(1, 0, Warming)))
	next := append(all[:len(all):len(all)], v)
	f.views.Store(&next)
	return v
}
