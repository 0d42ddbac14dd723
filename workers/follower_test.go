package workers

import (
	"context"
	"io"
	"slices"
	"testing"

	"leeway/workers/engine"
)

// teller is a worker that does not say since when it runs; its subscriptions tell what is written.
type teller struct {
	engine.Client
	streams [][]uint64 // the numbers that each subscription tells
	starts  []uint64   // that were asked for
}

func (e *teller) Info(context.Context) (engine.Info, error) { return engine.Info{Model: "m"}, nil }

func (e *teller) Events(_ context.Context, start uint64) (engine.EventStream, error) {
	e.starts = append(e.starts, start)
	stream := &told{e.streams[0]}
	e.streams = e.streams[1:]
	return stream, nil
}

type told struct{ numbers []uint64 }

func (s *told) Recv() (*engine.Batch, error) {
	if len(s.numbers) == 0 {
		return nil, io.EOF
	}
	b := &engine.Batch{Sequence: s.numbers[0]}
	s.numbers = s.numbers[1:]
	return b, nil
}

// What is missing is asked for at once, of the process that the stream came from. After a pause it may be another.
func TestAProcessThatMayHaveChangedInAPauseProvesNothing(t *testing.T) {
	pool, router := startPool(t, quick("grpc://127.0.0.1:1"))
	w, e := pool.members[0], &teller{streams: [][]uint64{{1, 5}, {5, 9}, {9}}}
	w.mu.Lock()
	w.client = e
	w.mu.Unlock()
	f := &follower{worker: w, feed: router.Feed(w.spec.URL), backoff: eventBackoff}
	if wait := f.follow(t.Context()); wait != 0 {
		t.Errorf("a first gap is asked for after %v", wait)
	}
	if wait := f.follow(t.Context()); wait == 0 {
		t.Error("a second gap is asked for without a pause")
	}
	f.follow(t.Context())
	if !slices.Equal(e.starts, []uint64{0, 1, 0}) {
		t.Errorf("subscribed at %d", e.starts)
	}
}
