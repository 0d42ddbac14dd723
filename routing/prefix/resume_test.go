package prefix

import (
	"slices"
	"testing"
)

func TestAGapIsResumedOnceAndThenAdopted(t *testing.T) { // row 2, case D1
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.batch(5, Resume)
	w.wants(Gap, 0)
	if cursor, ok := w.feed.Cursor(0); !ok || cursor != 1 {
		t.Fatalf("cursor %d, %v", cursor, ok)
	}
	w.feed.Disconnected()
	w.feed.Subscribed(0)
	w.batch(2, Applied, removed(9)) // the history had it
	w.wants(Certified, 9)
	w.lost(Gap, 0)

	w.batch(7, Resume)
	w.feed.Disconnected()
	w.feed.Subscribed(0)
	w.batch(8, Applied, run(100, random(3, 4), 4)) // still a gap
	w.wants(Certified, 0)
	w.lost(Gap, 1)
	w.batch(9, Applied, w.whole())
	w.wants(Certified, 10)
}

// It loses batches before it remembers them.
func TestAWorkerThatLacksWhatWasMissedIsNotAskedForEachLoss(t *testing.T) { // row 2, case D1
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.batch(3, Resume)
	w.feed.Disconnected()
	w.feed.Subscribed(1)
	w.batch(3, Applied, w.whole()) // still a gap
	w.wants(Certified, 10)
	w.batch(5, Applied, w.whole())
	w.wants(Certified, 10)
	w.lost(Gap, 2)
	w.now = w.now.Add(patience)
	w.batch(7, Resume)
	w.feed.Drop(Restart)
	w.batch(1, Applied)
	w.batch(3, Resume)
}

func TestAWorkerWithoutHistoryIsNotAskedForIt(t *testing.T) {
	w := newWorker(t)
	w.feed.NoResume()
	w.batch(1, Applied, w.whole())
	w.batch(5, Applied, run(100, random(3, 4), 4))
	w.wants(Certified, 0)
	w.lost(Gap, 1)
}

func TestAProcessAfterOneWithoutHistoryIsAskedForIt(t *testing.T) {
	w := newWorker(t)
	w.feed.NoResume()
	w.feed.Drop(Restart)
	w.batch(1, Applied, w.whole())
	w.batch(5, Resume)
}

// 0 stands for the beginning: a stream that is asked for from there tells the first batch and the same gap again.
func TestAGapBehindTheNumberZeroIsAdoptedAtOnce(t *testing.T) { // row 2
	w := newWorker(t)
	var told []Word
	w.feed.Watch(func(_ int32, reason Word) { told = append(told, reason) })
	w.batch(0, Applied, w.whole())
	w.batch(4, Applied, run(100, random(3, 4), 4))
	w.wants(Certified, 0)
	w.lost(Gap, 1)
	w.batch(6, Resume)
	if start := w.feed.Start(); start != 4 {
		t.Errorf("start %d", start)
	}
	if !slices.Equal(told, []Word{Gap}) {
		t.Errorf("told of %v", told)
	}
}

// A stream can be resumed behind the first rank's number only.
func TestWhatNoResumedStreamTellsIsNotAskedFor(t *testing.T) { // rows 2 and 10
	w := newWorker(t)
	w.feed.EachRank(2)
	for _, c := range []struct {
		rank   int32
		number uint64
		want   Verdict
	}{{0, 9, Applied}, {1, 8, Applied}, {1, 12, Applied}, {1, 14, Resume}} {
		if got := w.feed.Apply(w.now, &Batch{Sequence: c.number, Rank: c.rank}); got != c.want {
			t.Errorf("rank %d, %d: verdict %d", c.rank, c.number, got)
		}
	}
	w.lost(Gap, 1)
}
