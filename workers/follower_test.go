package workers

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"leeway/routing/prefix"
	"leeway/workers/engine"
)

// teller is a worker whose subscriptions tell what is written.
type teller struct {
	engine.Client
	streams [][]uint64  // the numbers that each subscription tells; 1 comes with a block
	end     error       // of each; nil: io.EOF
	starts  []uint64    // that were asked for
	started []time.Time // what it says of its start, each time that it is asked; then nothing
}

func (e *teller) Info(context.Context) (engine.Info, error) {
	info := engine.Info{Model: "m"}
	if len(e.started) > 0 {
		info.StartTime, e.started = e.started[0], e.started[1:]
	}
	return info, nil
}

func (e *teller) Events(_ context.Context, start uint64) (engine.EventStream, error) {
	e.starts = append(e.starts, start)
	stream := &told{e.streams[0], cmp.Or(e.end, io.EOF)}
	e.streams = e.streams[1:]
	return stream, nil
}

type told struct {
	numbers []uint64
	end     error
}

func (s *told) Recv() (*engine.Batch, error) {
	if len(s.numbers) == 0 {
		return nil, s.end
	}
	b := &engine.Batch{Sequence: s.numbers[0]}
	if b.Sequence == 1 {
		b.Events = []engine.Event{{Stored: &engine.Stored{Blocks: []engine.Block{{Hash: 7, Tokens: []uint32{1, 2, 3, 4}}}}}}
	}
	s.numbers = s.numbers[1:]
	return b, nil
}

// follows is a follower of a teller, and what it makes the worker claim of the block.
func follows(t *testing.T, e *teller) (f *follower, claim func() prefix.Claim) {
	t.Helper()
	pool, router := startPool(t, quick("grpc://127.0.0.1:1"))
	w := pool.members[0]
	w.mu.Lock()
	w.client = e
	w.mu.Unlock()
	f = &follower{worker: w, feed: router.Feed(w.spec.URL), backoff: eventBackoff}
	return f, func() prefix.Claim {
		var q prefix.Query
		q.Ask(time.Now(), []uint32{1, 2, 3, 4, 5}, []prefix.Source{{Feed: f.feed, Rank: -1}})
		return q.Claims[0]
	}
}

// What is missing is asked for at once, of the process that the stream came from. After a pause it may be another.
func TestAProcessThatMayHaveChangedInAPauseProvesNothing(t *testing.T) {
	e := &teller{streams: [][]uint64{{1, 5}, {2, 9}, {9}}}
	f, _ := follows(t, e)
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

// case D2. Its numbers fit.
func TestAProcessThatStartsWhileWeSubscribeOwnsNothing(t *testing.T) {
	first := time.Now().Add(-time.Hour)
	f, claim := follows(t, &teller{
		streams: [][]uint64{{1}, {2}},
		started: []time.Time{first, first, first.Add(30 * time.Minute)},
	})
	if _, err := f.worker.recognise(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.follow(t.Context())
	if err := f.receive(t.Context(), f.feed.Start()); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if c := claim(); c.Word != prefix.Certified || c.Tokens != 0 {
		t.Errorf("%s for %d tokens", c.Word, c.Tokens)
	}
}

// case D1. Its numbers fit, too.
func TestAStreamThatLostDataProvesNothing(t *testing.T) {
	started := slices.Repeat([]time.Time{time.Now().Add(-time.Hour)}, 10)
	for end, want := range map[error]int{engine.ErrDataLoss: 0, io.EOF: 4} {
		f, claim := follows(t, &teller{streams: [][]uint64{{1}, {2}}, started: started, end: end})
		f.follow(t.Context())
		err := f.receive(t.Context(), f.feed.Start())
		if !errors.Is(err, end) {
			t.Fatal(err)
		}
		if c := claim(); c.Word != prefix.Certified || c.Tokens != want {
			t.Errorf("%v: %s for %d tokens", end, c.Word, c.Tokens)
		}
	}
}

func TestOnlyAStreamThatLastsEndsThePauses(t *testing.T) {
	f, _ := follows(t, &teller{})
	for lasted, want := range map[time.Duration]time.Duration{eventBackoffMax: time.Second, eventBackoffMax + 1: eventBackoff} {
		f.opened, f.backoff = time.Now(), time.Second
		if err := f.take(&engine.Batch{}, f.opened.Add(lasted)); err != nil || f.backoff != want {
			t.Errorf("after %v: the next pause is %v (%v)", lasted, f.backoff, err)
		}
	}
}

// cases D1 and D11. Each pause is twice as long as the one before, and a worker without events is left alone.
func TestAStreamThatEndsIsOpenedLessAndLessOften(t *testing.T) {
	f, _ := follows(t, &teller{streams: slices.Repeat([][]uint64{{1}}, 9)})
	for _, want := range []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
		if wait := f.follow(t.Context()); wait != want*time.Millisecond {
			t.Errorf("a pause of %v, want %d ms", wait, want)
		}
	}
	f, claim := follows(t, &teller{streams: [][]uint64{nil}, end: engine.ErrUnsupported})
	if wait := f.follow(t.Context()); wait != time.Minute || claim().Word != prefix.Unsupported {
		t.Errorf("%s, and a pause of %v", claim().Word, wait)
	}
}

// case H3
func TestAnUnwellWorkerIsNotSubscribedTo(t *testing.T) {
	e := &teller{streams: [][]uint64{{1}}}
	f, _ := follows(t, e)
	f.feed.Drop(prefix.Unhealthy)
	if wait := f.follow(t.Context()); wait != recheck || len(e.starts) > 0 {
		t.Errorf("asked %d times, and a pause of %v", len(e.starts), wait)
	}
	f.feed.Well()
	if f.follow(t.Context()); len(e.starts) != 1 {
		t.Errorf("asked %d times when it is well", len(e.starts))
	}
}
