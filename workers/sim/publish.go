package sim

import (
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"leeway/workers/enginepb/commonpb"
)

// publisher numbers the batches of every rank and hands them to whoever has subscribed.
type publisher struct {
	w *Worker

	mu      sync.Mutex
	next    []uint64 // by rank
	eventID uint64
	subs    map[*subscriber]bool
	joined  int                    // subscribers so far
	held    *commonpb.KvEventBatch // overtaken by the next one
	history *history               // nil: nothing is kept
}

// newPublisher numbers on from next, which it shares with the worker, so that a restart may go on counting.
func newPublisher(w *Worker, next []uint64) *publisher {
	p := &publisher{w: w, next: next, subs: map[*subscriber]bool{}}
	if w.o.servicer() == Rust {
		p.history = newHistory(w.o.History, next[0])
	}
	return p
}

// publish sends a rank's events as one batch.
func (p *publisher) publish(rank int, events []*commonpb.KvCacheEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rank > 0 && p.w.o.servicer() != Python {
		return // these listen to the first rank only
	}
	faults := &p.w.faults
	if f, ok := faults.one(FaultKVGap); ok {
		p.next[rank] += uint64(max(f.N, 1))
	}
	if f, ok := faults.one(FaultKVBlockSize); ok {
		resize(events, int32(f.N))
	}
	if f, ok := faults.one(FaultKVFields); ok {
		relabel(events, f.Set)
	}
	for _, e := range events {
		e.EventId = p.eventID
		p.eventID++
	}
	b := &commonpb.KvEventBatch{
		SequenceNumber: p.next[rank], Timestamp: float64(time.Now().UnixMicro()) / 1e6, Events: events,
	}
	if p.w.o.servicer() == Python {
		b.DpRank = new(int32(rank))
	}
	p.next[rank]++
	if faults.on(FaultKVDrop) {
		return
	}
	if p.history != nil {
		p.history.add(b)
	}
	p.deliver(b)
}

// deliver hands a batch to every subscriber, in an order and as often as the faults want.
func (p *publisher) deliver(b *commonpb.KvEventBatch) {
	if p.held == nil && p.w.faults.on(FaultKVReorder) {
		p.held = b
		return
	}
	out := []*commonpb.KvEventBatch{b}
	if p.w.faults.on(FaultKVDuplicate) {
		out = append(out, b)
	}
	if p.held != nil {
		out, p.held = append(out, p.held), nil
	}
	for s := range p.subs {
		s.push(out)
	}
}

// resize lets blocks claim another size than they have.
func resize(events []*commonpb.KvCacheEvent, size int32) {
	for _, e := range events {
		for _, b := range e.GetStored().GetBlocks() {
			b.BlockSize = size
		}
	}
}

// relabel lets blocks claim to be elsewhere, or something else, than they are.
func relabel(events []*commonpb.KvCacheEvent, fields Fields) {
	for _, e := range events {
		switch {
		case e.GetStored() != nil:
			fields.apply(e.GetStored())
			for _, b := range e.GetStored().Blocks {
				fields.apply(b)
			}
		case e.GetRemoved() != nil:
			fields.apply(e.GetRemoved())
		}
	}
}

// join adds a subscriber and gives what it must be sent before anything live.
func (p *publisher) join(s *subscriber, start uint64) ([]*commonpb.KvEventBatch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var backlog []*commonpb.KvEventBatch
	switch p.w.o.servicer() {
	case Python:
		if start != 0 {
			return nil, status.Error(codes.OutOfRange, "there is no history to resume from: start at 0")
		}
	case Rust:
		var ok bool
		if backlog, ok = p.history.since(start); !ok {
			return nil, status.Errorf(codes.OutOfRange, "sequence number %d is outside the history", start)
		}
	}
	p.subs[s] = true
	p.joined++
	return backlog, nil
}

func (p *publisher) leave(s *subscriber) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.subs, s)
}

// subscriber is one KV-event stream's queue.
type subscriber struct {
	wake chan struct{}

	mu    sync.Mutex
	queue []*commonpb.KvEventBatch
	over  bool // it was too slow, and has missed something
}

// queueLimit bounds a subscriber's queue; beyond it a batch is lost.
const queueLimit = 1 << 16

// push queues batches for the stream; what a full queue cannot take is lost.
func (s *subscriber) push(batches []*commonpb.KvEventBatch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) >= queueLimit {
		s.over = true
		return
	}
	s.queue = append(s.queue, batches...)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// pop takes what is queued.
func (s *subscriber) pop() (batches []*commonpb.KvEventBatch, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	batches, s.queue = s.queue, nil
	return batches, s.over
}
