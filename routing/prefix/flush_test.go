package prefix

import "testing"

func TestClearedAndFlushedViewsAreEmptyAtOnce(t *testing.T) { // row 13, cases D9 and H4
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	claim := w.claim()
	w.feed.Flush(w.now.Add(maxAge))
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
	w.feed.Flush(w.now.Add(maxAge))
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
	w.feed.Flush(w.now.Add(maxAge))
	w.batch(2, Applied, removed(9))
	w.wants(Warming, 0)
	w.feed.Flushed(w.now.Add(maxAge), true)
	if claim.Holds() {
		t.Error("a claim outlived the flush")
	}
	w.wants(Certified, 9)
	w.feed.Flush(w.now.Add(maxAge))
	w.feed.Disconnected()
	w.feed.Flushed(w.now.Add(maxAge), true)
	w.wants(Suspended, 0)
	w.feed.Drop(Reconnect)
	w.batch(3, Applied, w.whole())
	w.feed.Flush(w.now.Add(maxAge))
	w.feed.Flushed(w.now.Add(maxAge), false) // or its answer was lost
	w.batch(4, Applied)
	w.wants(Warming, 0)
}

// An engine may speak of the flush before it has answered.
func TestWhatFollowsTheEnginesWordOfAFlushStays(t *testing.T) { // row 13
	for _, refused := range []bool{false, true} {
		w := newWorker(t)
		w.batch(1, Applied, w.whole())
		w.feed.Flush(w.now.Add(maxAge))
		w.batch(2, Applied, cleared)
		w.batch(3, Applied, w.whole())
		w.feed.Flushed(w.now.Add(maxAge), refused)
		w.wants(Certified, 10)
	}
}

func TestEachOfSeveralFlushesIsWaitedFor(t *testing.T) { // row 13
	for _, refused := range []bool{true, false} {
		w := newWorker(t)
		w.batch(1, Applied, w.whole())
		w.feed.Flush(w.now.Add(maxAge))
		w.feed.Flushed(w.now.Add(maxAge), false)
		w.batch(2, Applied, w.whole()) // on its way when the cache was flushed
		w.feed.Flush(w.now.Add(maxAge))
		w.feed.Flushed(w.now.Add(maxAge), refused)
		w.wants(Warming, 0)
		w.batch(3, Applied, cleared)
		w.batch(4, Applied, w.whole())
		if refused {
			w.wants(Certified, 10)
			continue
		}
		w.wants(Warming, 0) // on its way when it was flushed again
		w.batch(5, Applied, cleared, w.whole())
		w.wants(Certified, 10)
	}
}

// A rank may be heard of later than the flush, or anew.
func TestARankThatAppearsAfterAFlushWasFlushed(t *testing.T) { // rows 10 and 13
	w := newWorker(t)
	w.feed.EachRank(2)
	second := func(number uint64, events ...Event) Word {
		w.feed.Apply(w.now, &Batch{Sequence: number, Rank: 1, Events: events})
		var q Query
		q.Ask(w.now, w.prompt, []Source{{Feed: w.feed, Rank: 1}})
		return q.Claims[0].Word
	}
	w.feed.Flush(w.now.Add(maxAge))
	w.feed.Flushed(w.now.Add(maxAge), false)
	if word := second(1, w.whole()); word != Warming {
		t.Errorf("%s", word)
	}
	w.feed.Drop(Reconnect)
	if word := second(1, w.whole()); word != Warming {
		t.Errorf("after a new stream: %s", word)
	}
	if word := second(2, cleared); word != Certified {
		t.Errorf("when it has said so: %s", word)
	}
	w.feed.Drop(Restart)
	if word := second(1, w.whole()); word != Certified {
		t.Errorf("another process: %s", word)
	}
}

func TestABatchMayTellOfSeveralFlushes(t *testing.T) { // row 13
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	for range 2 {
		w.feed.Flush(w.now.Add(maxAge))
		w.feed.Flushed(w.now.Add(maxAge), false)
	}
	w.batch(2, Applied, cleared, cleared, w.whole())
	w.wants(Certified, 10)
}

// A history that is told again may hold an earlier flush.
func TestAnEarlierFlushIsNotTheOneThatIsWaitedFor(t *testing.T) { // row 13
	w := newWorker(t)
	w.batch(5, Applied, cleared, w.whole())
	w.feed.Flush(w.now.Add(maxAge))
	w.feed.Flushed(w.now.Add(maxAge), false)
	w.feed.Disconnected()
	w.feed.Subscribed(0)
	w.batch(5, Applied, cleared, w.whole())
	w.wants(Reconnect, 0)
	w.batch(6, Applied, cleared)
	w.wants(Certified, 0)
}

func TestAnotherProcessIsNotWaitedForToTellOfAFlush(t *testing.T) { // rows 3 and 13
	w := newWorker(t)
	w.batch(1, Applied)
	w.feed.Flush(w.now.Add(maxAge))
	w.feed.Drop(Restart)
	w.batch(1, Applied, w.whole())
	w.wants(Certified, 10)
}
