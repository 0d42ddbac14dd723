package prefix

import "testing"

// A stream is resumed after the first rank's number, and repeats what it has sent of the others since then.
func TestAResumedStreamMayRepeatItself(t *testing.T) { // rows 2 and 10, case D1
	w := newWorker(t)
	w.feed.EachRank(2)
	apply := func(rank int32, number uint64, want Verdict) {
		t.Helper()
		if got := w.feed.Apply(w.now, &Batch{Sequence: number, Rank: rank, Events: []Event{w.whole()}}); got != want {
			t.Fatalf("rank %d, %d: verdict %d, want %d", rank, number, got, want)
		}
	}
	words := func(want ...Word) {
		t.Helper()
		var q Query
		q.Ask(t0, w.prompt, []Source{{Feed: w.feed, Rank: 0}, {Feed: w.feed, Rank: 1}})
		for rank, word := range want {
			if q.Claims[rank].Word != word {
				t.Fatalf("rank %d is %s, want %s", rank, q.Claims[rank].Word, word)
			}
		}
	}
	apply(0, 1, Applied)
	for number := range uint64(3) {
		apply(1, number+1, Applied)
	}
	apply(1, 6, Resume)
	w.feed.Disconnected()
	w.feed.Subscribed(1)
	words(Suspended, Gap)
	apply(1, 2, Heard)
	apply(1, 3, Heard)
	words(Suspended, Gap)
	apply(1, 6, Applied) // still a gap, which is taken now
	words(Suspended, Certified)
	apply(0, 2, Applied)
	words(Certified, Certified)
	w.lost(Gap, 1)
	w.lost(Restart, 0)

	w.now = w.now.Add(patience)
	apply(1, 9, Resume) // of one rank: it repeats the last one, and the gap stays
	w.feed.Disconnected()
	w.feed.Subscribed(2)
	apply(0, 2, Heard)
	apply(1, 9, Applied)
	w.lost(Gap, 2)
}

func TestAnotherProcessMayHaveFewerRanks(t *testing.T) { // rows 3 and 10
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.feed.Apply(t0, &Batch{Sequence: 1, Rank: 1, Events: []Event{w.whole()}})
	w.wants(Ranks, 0)
	w.lost(Ranks, 1)
	if w.feed.index.Stats(t0)[0].Certified {
		t.Error("the gauge says certified")
	}
	w.feed.Drop(Restart)
	w.batch(1, Applied, w.whole())
	w.wants(Certified, 10)
	if !w.feed.index.Stats(t0)[0].Certified {
		t.Error("the gauge says not certified")
	}
}

// A process that is another, or may be, has not the ranks of the one before it, whichever spoke first.
func TestRanksOfAProcessThatIsGoneDoNotCount(t *testing.T) { // rows 3 and 10
	for _, why := range []Word{Restart, Reconnect} {
		w := newWorker(t)
		w.rank(1, 5)
		w.rank(0, 5)
		w.wants(Ranks, 0)
		w.feed.Drop(why)
		w.rank(0, 1)
		w.wants(Certified, 10)
	}
}

// A stream is asked to go on behind a number. What it repeats comes once and in order; numbers that fall later on are
// another process's, however high they are.
func TestNumbersThatFallOnAResumedStreamAreARestart(t *testing.T) { // row 3
	for name, fall := range map[string]uint64{"to the beginning": 1, "into what may be repeated": 25} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t)
			w.batch(21, Applied, w.whole())
			w.feed.Disconnected()
			w.feed.Subscribed(1)
			for i := uint64(22); i <= 60; i++ {
				w.batch(i, Applied)
			}
			w.wants(Certified, 10)
			w.batch(fall, Applied)
			w.wants(Certified, 0)
			w.lost(Restart, 1)
		})
	}
}

func TestARestartWhileAResumedStreamRepeatsIsSeen(t *testing.T) { // row 3
	w := newWorker(t)
	w.batch(30, Applied, w.whole())
	w.feed.Disconnected()
	w.feed.Subscribed(10)
	for i := uint64(11); i <= 20; i++ {
		w.batch(i, Heard)
	}
	w.batch(12, Applied)
	w.wants(Certified, 0)
	w.lost(Restart, 1)
}

// rank applies a batch of a rank that stores the prompt.
func (w *worker) rank(rank int32, sequence uint64) {
	w.feed.Apply(w.now, &Batch{Sequence: sequence, Rank: rank, Events: []Event{w.whole()}})
}

// While a stream is resumed behind a gap, what repeats the cursor proves nothing of what is missing.
func TestAHeartbeatDoesNotMendAGap(t *testing.T) { // rows 2 and 2c
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.batch(3, Resume)
	w.heartbeat(1)
	w.wants(Gap, 0)
}

func TestAClearedBatchUnderAPassedNumberIsNoRepetition(t *testing.T) { // rows 3 and 10
	w := newWorker(t)
	w.feed.EachRank(2)
	for _, b := range []struct {
		number uint64
		want   Verdict
		events []Event
	}{{9, Applied, []Event{w.whole()}}, {5, Heard, nil}, {6, Applied, []Event{cleared}}} {
		if b.want == Heard {
			w.feed.Disconnected()
			w.feed.Subscribed(4)
		}
		if got := w.feed.Apply(t0, &Batch{Sequence: b.number, Rank: 1, Events: b.events}); got != b.want {
			t.Errorf("number %d: verdict %d", b.number, got)
		}
	}
	w.lost(Restart, 1)
}

func TestAnotherWorkerOfTheNameHasRanksOfItsOwn(t *testing.T) { // case D18
	w := newWorker(t)
	for rank := range int32(2) {
		w.feed.Apply(t0, &Batch{Sequence: 1, Rank: rank, Events: []Event{w.whole()}})
	}
	w.wants(Ranks, 0)
	w.feed.Renew()
	w.feed.Subscribed(0)
	w.batch(1, Applied, w.whole())
	w.wants(Certified, 10)
}

// Some servicers listen to the first rank only.
func TestARankThatTellsNothingIsSilent(t *testing.T) { // cases D12 and D18
	w := newWorker(t)
	w.feed.EachRank(2)
	stats := func() Stats { return w.feed.index.Stats(w.now)[0] }
	for number := range uint64(silence) {
		w.feed.Served(0, silentTokens)
		w.feed.Served(1, silentTokens)
		w.batch(number, Applied, w.whole())
	}
	if s := stats(); !s.Silent || s.Certified {
		t.Errorf("silent %t, certified %t", s.Silent, s.Certified)
	}
	if w.feed.Apply(t0, &Batch{Sequence: 1, Rank: 1}); !stats().Silent { // it tells of nothing
		t.Error("not silent")
	}
	w.feed.Apply(t0, &Batch{Sequence: 2, Rank: 1, Events: []Event{w.whole()}})
	if s := stats(); s.Silent || !s.Certified {
		t.Errorf("when it has spoken: silent %t, certified %t", s.Silent, s.Certified)
	}
	if w.feed.CountPrompt(3, 4); stats().Certified {
		t.Error("certified though it counts other tokens")
	}
	for range silence {
		w.feed.Served(1, silentTokens)
	}
	if w.feed.Renew(); stats().Silent {
		t.Error("another worker is silent")
	}
}
