package workers

import (
	"context"
	"errors"
	"io"
	"time"

	"leeway/routing/prefix"
	"leeway/workers/engine"
)

const (
	eventBackoff    = 100 * time.Millisecond
	eventBackoffMax = 5 * time.Second
	// eventAccept is how long a worker may take to accept a subscription.
	eventAccept = 2 * time.Second
	// eventReask is the pause before a worker without events is asked again: it may have been started anew with them.
	eventReask = time.Minute
)

// follower keeps a worker's KV-event stream open for a session and feeds what it says to the prefix index and the
// router. One goroutine runs it, so that batches are applied in the order in which they came.
type follower struct {
	worker  *worker
	feed    *prefix.Feed
	backoff time.Duration
	again   bool      // this is not the session's first subscription
	heard   bool      // one has been accepted, and what came of it may still be kept
	ours    bool      // it was we who ended the last one just now, to ask for what was missing
	resumed time.Time // when batches were last asked for again
	opened  time.Time // when the last subscription was accepted
}

// followEvents runs a follower until ctx ends. What it leaves behind is suspended, not forgotten: the next session may
// find the engine where this one left it.
func (w *worker) followEvents(ctx context.Context) {
	f := &follower{worker: w, feed: w.feed(), backoff: eventBackoff}
	defer f.feed.Disconnected()
	f.feed.Watch(func(rank int32, reason prefix.Word) {
		w.log.Debug().Int32("rank", rank).Stringer("reason", reason).Msg("certificate lost")
	})
	for sleep(ctx, f.follow(ctx)) {
	}
}

// follow holds one subscription until it ends and returns how long to wait before the next. A worker that is not well
// is not subscribed to: a servicer whose engine is dead may go on to tell what that engine held.
func (f *follower) follow(ctx context.Context) time.Duration {
	if f.feed.Unwell() {
		return recheck
	}
	start, err := f.cursor(ctx)
	if err == nil {
		err = f.receive(ctx, start)
	}
	if ctx.Err() != nil {
		return 0
	}
	f.worker.log.Debug().Err(err).Uint64("start", start).Msg("KV-event stream ended")
	f.feed.Disconnected()
	f.worker.gauges.eventsEnded(err)
	ours := f.ours
	f.ours = false // a pause is time enough for another process
	switch {
	case errors.Is(err, errResume) && time.Since(f.resumed) > eventBackoffMax:
		f.resumed, f.ours = time.Now(), true
		return 0
	case errors.Is(err, errResume):
	case errors.Is(err, engine.ErrUnsupported):
		f.worker.gauges.eventsUnavailable(true)
		f.heard = false
		f.feed.Drop(prefix.Unsupported)
		return eventReask
	case errors.Is(err, engine.ErrOutOfRange) && start != 0:
		f.worker.gauges.resynced("out_of_range")
		f.feed.NoResume()
		f.ours = ours
		return 0
	case errors.Is(err, engine.ErrDataLoss), errors.Is(err, engine.ErrOutOfRange):
		f.worker.gauges.resynced("data_loss")
		f.feed.Drop(prefix.Gap)
	default:
		f.worker.doubt(err)
	}
	wait := f.backoff
	f.backoff = min(2*f.backoff, eventBackoffMax)
	return wait
}

// cursor says where to subscribe: after the last batch that was applied, if the process is still the one that sent
// it and keeps a history; else from now. A stream that broke off, and was not ended by us, may be another process's now:
// where the worker does not prove that it is the same, its view goes, for numbers that fit prove nothing. The ranks that
// a stream cannot be resumed for see a gap or a repetition and judge it themselves.
func (f *follower) cursor(ctx context.Context) (uint64, error) {
	if !f.again {
		f.again = true
	} else if same, err := f.worker.recognise(ctx); err != nil {
		return 0, err
	} else if f.heard && !same && !f.ours {
		f.heard = false
		f.feed.Drop(prefix.Reconnect)
		f.worker.suspect()
	}
	return f.feed.Start(), nil
}

// What ends a subscription from our side.
var (
	errResume      = errors.New("batches are missing")
	errResubscribe = errors.New("the stream may be a dead engine's")
	errNotAccepted = errors.New("the worker does not accept the subscription")
)

// receive takes what comes on one subscription until either side ends it; it never returns nil. That a stream is
// unsupported, or cannot be resumed, is the answer to the first read as often as to the call.
func (f *follower) receive(ctx context.Context, start uint64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(eventAccept, cancel)
	stream, err := f.worker.currentClient().Events(ctx, start)
	if !late.Stop() {
		return errNotAccepted
	}
	if err != nil {
		return err
	}
	f.heard, f.opened = true, time.Now()
	f.feed.Subscribed(start)
	f.worker.gauges.subscribed()
	for first := true; ; first = false {
		b, err := stream.Recv()
		if err == io.EOF {
			return &engine.Error{Code: engine.Unavailable, Message: "the KV-event stream ended", Cause: io.EOF}
		}
		if err == nil && first { // it may come from a process that started while we subscribed
			_, err = f.worker.recognise(ctx)
		}
		if err != nil {
			return err
		}
		if err := f.take(b, time.Now()); err != nil {
			return err
		}
	}
}

// take applies one batch. Its load record is good whatever becomes of its events.
func (f *follower) take(b *engine.Batch, received time.Time) error {
	f.worker.gauges.eventsUnavailable(false)
	if b.Load != nil {
		f.worker.takePush(b.Load, received)
	} else {
		f.worker.heard()
	}
	verdict := f.feed.Apply(received, toPrefix(b))
	f.worker.gauges.batch(b, verdict, received)
	switch verdict {
	case prefix.Resume:
		return errResume
	case prefix.Resubscribe:
		return errResubscribe
	}
	if received.Sub(f.opened) > eventBackoffMax { // what ends sooner could become a loop
		f.backoff = eventBackoff
	}
	return nil
}

// toPrefix translates a batch into the words of the index.
func toPrefix(b *engine.Batch) *prefix.Batch {
	out := &prefix.Batch{Sequence: b.Sequence, Rank: b.Rank, Sent: b.Sent, LoadOnly: b.LoadOnly}
	if s := b.Snapshot; s != nil {
		out.Snapshot = &prefix.Snapshot{Index: s.Index, Count: s.Count, UnknownBefore: s.UnknownBefore}
	}
	for i := range b.Events {
		switch e := &b.Events[i]; {
		case e.Stored != nil:
			out.Events = append(out.Events, storedEvent(e.Stored))
		case e.Removed != nil:
			out.Events = append(out.Events, prefix.Event{Kind: prefix.Removed, Place: place(&e.Removed.Place), Hashes: e.Removed.Hashes})
		case e.Cleared != nil:
			out.Events = append(out.Events, prefix.Event{Kind: prefix.Cleared, Place: prefix.Place{Owner: e.Cleared.Ownership}})
		}
	}
	return out
}

// storedEvent keeps what tells a block of a plain prompt from others: an adapter, a salt or an image makes it foreign.
func storedEvent(s *engine.Stored) prefix.Event {
	e := prefix.Event{
		Kind: prefix.Stored, Place: place(&s.Place), Foreign: s.LoRAName != "" || s.CacheSalt != "",
		Blocks: make([]prefix.Block, len(s.Blocks)),
	}
	if s.Parent != nil {
		e.Parent, e.HasParent = *s.Parent, true
	}
	for i := range s.Blocks {
		b := &s.Blocks[i]
		e.Blocks[i] = prefix.Block{Hash: b.Hash, Tokens: b.Tokens, Size: b.Size, Foreign: b.LoRAID != nil || b.ExtraKeys}
		if b.Level != nil {
			e.Blocks[i].Level = *b.Level
		}
	}
	return e
}

// place translates where a copy lies. Older servicers say the tier with a level, if at all.
func place(p *engine.Place) prefix.Place {
	out := prefix.Place{
		Tier: prefix.Tier(p.Tier), Medium: p.Medium, Group: -1, GroupKind: p.GroupKind, Remote: p.Remote, Owner: p.Ownership,
	}
	if p.Group != nil {
		out.Group = int64(*p.Group)
	}
	if out.Tier == prefix.TierUnsaid && p.Level != nil { // levels count from the device outwards, as tiers do
		out.Tier = prefix.Device + prefix.Tier(min(max(*p.Level, 0), 3))
	}
	return out
}
