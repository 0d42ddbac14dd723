package prefix

import (
	"testing"
	"time"
)

// dated applies a batch that was sent so many seconds after the first.
func (w *worker) dated(sequence uint64, seconds int, want Verdict, events ...Event) {
	w.t.Helper()
	b := &Batch{Sequence: sequence, Sent: t0.Add(time.Duration(seconds) * time.Second), Events: events}
	if got := w.feed.Apply(w.now, b); got != want {
		w.t.Fatalf("batch %d, sent at %d s: verdict %d, want %d", sequence, seconds, got, want)
	}
}

func TestANumberThatComesAgainWithALaterDateIsARestart(t *testing.T) { // row 3, case D2
	w := newWorker(t)
	w.dated(0, 1, Applied, w.whole())
	w.dated(0, 1, Heard, w.whole()) // the same batch
	w.wants(Certified, 10)
	w.dated(0, 2, Applied)
	w.wants(Certified, 0)
	w.dated(1, 3, Applied)
	w.lost(Restart, 1)
}

func TestNothingIsBasedOnABatchThatIsLate(t *testing.T) { // case D1
	w := newWorker(t)
	w.feed.NoResume()
	w.dated(1, 1, Applied, w.whole())
	w.dated(3, 3, Applied) // has overtaken the one before it
	w.lost(Gap, 1)
	w.dated(2, 2, Heard, w.whole())
	w.wants(Restart, 0)
	w.dated(4, 4, Applied)
	w.wants(Certified, 0)
	w.dated(5, 5, Applied, w.whole())
	w.wants(Certified, 10)
	w.lost(Gap, 1)
	w.lost(Restart, 1)
}

func TestTwoBatchesThatAreLateAreNoBeginning(t *testing.T) { // case D1
	w := newWorker(t)
	w.feed.NoResume()
	w.dated(1, 1, Applied)
	w.dated(4, 4, Applied) // has overtaken two
	w.dated(2, 2, Heard, w.whole())
	w.dated(3, 3, Heard, removed(9))
	w.wants(Restart, 0)
	w.dated(5, 5, Applied)
	w.lost(Gap, 1)
	w.lost(Restart, 1)
}

// A worker that has learnt to date its batches repeats the last one.
func TestADateThatIsNewIsNoLaterDate(t *testing.T) { // row 3
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.dated(1, 1, Heard, w.whole())
	w.wants(Certified, 10)
}

// Its numbers are low and its dates, too: a worker whose clock was set back and which started anew.
func TestAClockThatWasSetBackDoesNotSilenceAWorker(t *testing.T) { // row 3
	w := newWorker(t)
	w.dated(100, 3600, Applied, w.whole())
	w.dated(0, 1, Heard)
	w.wants(Restart, 0)
	w.dated(1, 2, Applied, w.whole())
	w.dated(2, 3, Applied)
	w.wants(Certified, 10)
}

// A stream is resumed behind the first rank's number, and may repeat what it has sent of another. What is newer than
// that rank's last batch is no repetition.
func TestWhatIsNewIsNoRepetition(t *testing.T) { // rows 3 and 10, case D18
	w := newWorker(t)
	w.feed.EachRank(2)
	of := func(number uint64, second int, want Verdict) {
		t.Helper()
		b := &Batch{Sequence: number, Rank: 1, Sent: t0.Add(time.Duration(second) * time.Second)}
		if number == 9 {
			b.Events = []Event{w.whole()}
		}
		if got := w.feed.Apply(t0, b); got != want {
			t.Fatalf("number %d: verdict %d", number, got)
		}
	}
	of(9, 9, Applied)
	w.feed.Disconnected()
	w.feed.Subscribed(4)
	of(5, 5, Heard)
	of(6, 12, Applied)
	w.lost(Restart, 1)
	w.wants(Certified, 0)
}

// A worker that keeps a history may tell all of it to who asks from the start.
func TestAHistoryThatIsToldAnewIsNotLate(t *testing.T) { // rows 2a and 3
	w := newWorker(t)
	whole := w.whole()
	first := whole
	first.Blocks = whole.Blocks[:5]
	w.dated(0, 0, Applied, first)
	w.dated(1, 1, Applied, whole.from(5))
	w.feed.Disconnected()
	w.feed.Subscribed(0)
	w.dated(0, 0, Applied, first)
	w.dated(1, 1, Applied, whole.from(5))
	w.wants(Certified, 10)
}

// A heartbeat says 0 before the first batch of its stream.
func TestTheNumber0OfAHeartbeatProvesNothing(t *testing.T) { // row 2c, case H5
	w := newWorker(t)
	w.batch(0, Applied, w.whole())
	w.feed.Disconnected()
	w.feed.Subscribed(0)
	w.heartbeat(0)
	w.wants(Suspended, 0)
	w.batch(1, Applied)
	w.wants(Certified, 10)
}

// A group of layers whose kind was not said is taken for the main one, until it turns out to be another.
func TestAGroupThatTurnsOutToBeAnotherIsCorrupt(t *testing.T) { // row 9, case D19
	w := newWorker(t)
	e := w.whole()
	e.Group = 3
	w.batch(1, Applied, e)
	w.wants(Certified, 10)
	e.GroupKind = "sliding_window"
	w.batch(2, Applied, e)
	w.wants(Corrupt, 0)
	w.batch(3, Applied, e, w.whole())
	w.wants(Certified, 10)
}

// A removal may come first, without a kind.
func TestARemovalSaysNothingOfItsGroup(t *testing.T) { // row 9
	w := newWorker(t)
	e := removed(50)
	e.Group = 3
	w.batch(1, Applied, w.whole(), e)
	e = w.whole()
	e.Group, e.GroupKind = 3, "sliding_window"
	w.batch(2, Applied, e)
	w.wants(Certified, 10)
}

// What is stored under a group that is not remembered could not be taken away again, since a removal names no kind.
func TestAGroupBeyondTheBoundDoesNotCountThoughItSaysItsKind(t *testing.T) { // row 9
	w := newWorker(t)
	e := w.whole()
	for group := range int64(maxGroups + 1) {
		e.Group, e.GroupKind = group, "sliding_window"
		if group == maxGroups {
			e.GroupKind = "full_attention"
		}
		w.batch(uint64(group), Applied, e)
	}
	w.wants(Certified, 0)
}

// Its numbers go on and its dates do not: a clock that was set back.
func TestABatchWithAnEarlierDateIsNotLateIfItsNumberGoesOn(t *testing.T) { // case D1
	w := newWorker(t)
	w.dated(5, 10, Applied)
	w.feed.Drop(Gap)
	w.dated(6, 5, Applied, w.whole())
	w.wants(Certified, 10)
}

// It is resumed behind the first rank's number, and then from the beginning: nothing is a repetition any more.
func TestAStreamFromTheBeginningRepeatsNothing(t *testing.T) { // rows 3 and 10
	w := newWorker(t)
	w.feed.EachRank(2)
	w.feed.Apply(t0, &Batch{Sequence: 9, Rank: 1, Events: []Event{w.whole()}})
	for _, since := range []uint64{4, 0} {
		w.feed.Disconnected()
		w.feed.Subscribed(since)
	}
	if got := w.feed.Apply(t0, &Batch{Sequence: 5, Rank: 1}); got != Applied {
		t.Errorf("verdict %d", got)
	}
	w.lost(Restart, 1)
}
