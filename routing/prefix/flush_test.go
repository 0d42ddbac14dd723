package prefix

import "testing"

func TestClearedAndFlushedViewsAreEmptyAtOnce(t *testing.T) { // row 13, cases D9 and H4
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	claim := w.claim()
	w.feed.Flush(w.now)
	if claim.Holds() {
		t.Error("a claim outlived the flush")
	}
	w.wants(Warming, 0)
	w.batch(2, Applied, w.whole()) // what it did before
	w.wants(Warming, 0)
	w.batch(3, Applied, removed(3), cleared, w.whole()) // what it says of the flush later
	w.wants(Certified, 10)
	w.batch(4, Applied, cleared)
	w.wants(Certified, 0)
}

// An engine may have flushed nothing, or say nothing of it.
func TestAFlushOfWhichNothingIsToldEndsWithTime(t *testing.T) { // row 13
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.feed.Flush(w.now)
	w.feed.Disconnected()
	w.feed.Subscribed(0)
	w.chunk(2, Snapshot{Index: 0, Count: 1}, cleared, w.whole()) // of before the flush, for all one knows
	w.wants(Reconnect, 0)
	w.now = w.now.Add(maxAge + 1)
	w.batch(3, Applied, w.whole().from(5))
	w.wants(Certified, 0)
	w.batch(4, Applied, w.whole())
	w.wants(Certified, 10)
}

func TestARefusedFlushLeavesTheViewAsItIs(t *testing.T) { // row 13
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	claim := w.claim()
	w.feed.Flush(w.now)
	w.batch(2, Applied, removed(9))
	w.wants(Warming, 0)
	w.feed.Flushed(true)
	if claim.Holds() {
		t.Error("a claim outlived the flush")
	}
	w.wants(Certified, 9)
	w.feed.Flush(w.now)
	w.feed.Disconnected()
	w.feed.Flushed(true)
	w.wants(Suspended, 0)
	w.feed.Drop(Reconnect)
	w.batch(3, Applied, w.whole())
	w.feed.Flush(w.now)
	w.feed.Flushed(false) // or its answer was lost
	w.batch(4, Applied)
	w.wants(Warming, 0)
}

// An engine may speak of the flush before it has answered.
func TestWhatFollowsTheEnginesWordOfAFlushStays(t *testing.T) { // row 13
	for _, refused := range []bool{false, true} {
		w := newWorker(t)
		w.batch(1, Applied, w.whole())
		w.feed.Flush(w.now)
		w.batch(2, Applied, cleared)
		w.batch(3, Applied, w.whole())
		w.feed.Flushed(refused)
		w.wants(Certified, 10)
	}
}

func TestOfSeveralRanksSomeMayHaveBeenFlushed(t *testing.T) { // rows 10 and 13
	w := newWorker(t)
	w.feed.EachRank(true)
	w.batch(1, Applied, w.whole())
	w.feed.Apply(t0, &Batch{Sequence: 1, Rank: 1, Events: []Event{w.whole()}})
	w.feed.Flush(w.now)
	w.feed.Flushed(true)
	var q Query
	q.Ask(w.now, w.prompt, []Source{{Feed: w.feed, Rank: 0}, {Feed: w.feed, Rank: 1}})
	for _, c := range q.Claims {
		if c.Word != Warming {
			t.Errorf("%s", c.Word)
		}
	}
}
