package prefix

import (
	"testing"
	"time"
)

func TestALostStreamSuspendsAndTheNextProvesTheView(t *testing.T) { // row 2a
	for _, c := range []struct {
		name   string
		next   func(*worker)
		word   Word
		blocks int
		lost   Word
	}{
		{"the next number", func(w *worker) { w.batch(2, Applied, removed(9)) }, Certified, 9, Certified},
		{"a heartbeat at the cursor", func(w *worker) { w.heartbeat(1) }, Certified, 10, Certified},
		{"a heartbeat elsewhere", func(w *worker) { w.heartbeat(2) }, Suspended, 0, Certified},
		{"a later number", func(w *worker) { w.batch(3, Applied) }, Certified, 0, Reconnect},
		{"the same number", func(w *worker) { w.batch(1, Applied) }, Certified, 0, Reconnect},
		{"a lower number", func(w *worker) { w.batch(0, Applied) }, Certified, 0, Restart},
		{"another process", func(w *worker) { w.feed.Drop(Restart); w.batch(2, Applied) }, Certified, 0, Restart},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorker(t)
			w.batch(1, Applied, w.whole())
			w.feed.Disconnected()
			w.wants(Suspended, 0)
			w.feed.Subscribed(0)
			c.next(w)
			w.wants(c.word, c.blocks)
			if c.lost != Certified {
				w.lost(c.lost, 1)
			}
		})
	}
}

func TestANewIncarnationOwnsNothing(t *testing.T) { // row 3, case D2
	for name, number := range map[string]uint64{"from 0": 0, "from 1": 1, "a little lower": 4999} {
		w := newWorker(t)
		w.batch(5000, Applied, w.whole())
		w.batch(number, Applied)
		if c := w.claim(); c.Word != Certified || c.Tokens != 0 {
			t.Errorf("%s: %s with %d tokens", name, c.Word, c.Tokens)
		}
		w.lost(Restart, 1)
	}
	w := newWorker(t)
	w.batch(5, Applied, w.whole())
	w.batch(5, Applied, cleared) // a Cleared under a passed number
	w.wants(Certified, 0)
	w.lost(Restart, 1)
}

func TestRanksHaveTheirOwnSequenceAndCertificate(t *testing.T) { // row 10, case D18
	w := newWorker(t)
	for rank := range int32(2) {
		w.feed.Apply(t0, &Batch{Sequence: 1, Rank: rank, Events: []Event{w.whole()}})
	}
	w.wants(Ranks, 0)
	w.feed.Apply(t0, &Batch{Sequence: 0, Rank: 1}) // rank 1 starts anew
	var q Query
	q.Ask(t0, w.prompt, []Source{{Feed: w.feed, Rank: 0}, {Feed: w.feed, Rank: 1}, {Feed: w.feed, Rank: 2}})
	for rank, want := range []int{40, 0, 0} {
		if q.Claims[rank].Tokens != want {
			t.Errorf("rank %d claims %d, want %d", rank, q.Claims[rank].Tokens, want)
		}
	}
	if q.Claims[2].Word != Warming {
		t.Errorf("a rank that was never heard of: %s", q.Claims[2].Word)
	}
}

func TestAQuietRankClaimsNothing(t *testing.T) { // row 11, case D23
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.now = t0.Add(maxAge + time.Second)
	w.wants(Stale, 0)
	w.wants(Stale, 0)
	w.lost(Stale, 1)
	w.heartbeat(2) // not where we are
	w.wants(Stale, 0)
	w.heartbeat(1)
	w.wants(Certified, 10)
}

func TestAWorkerWithoutEventsSaysSo(t *testing.T) { // row 12, case D11
	w := newWorker(t)
	w.feed.Drop(Unsupported)
	w.wants(Unsupported, 0)
	w.feed.Subscribed(0)
	w.batch(1, Applied, w.whole())
	w.wants(Certified, 10)
}

func TestADeadEnginesStreamIsNotBelieved(t *testing.T) { // case H3
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.feed.Drop(Unhealthy)
	w.wants(Unhealthy, 0)
	w.batch(2, Resubscribe, w.whole())
	w.wants(Unhealthy, 0)
	w.feed.Subscribed(0) // it may tell its history
	w.batch(1, Resubscribe, w.whole())
	w.wants(Unhealthy, 0)
	w.feed.Well()
	w.batch(2, Resubscribe, w.whole())
	w.wants(Unhealthy, 0)
	w.feed.Subscribed(0)
	w.wants(Unhealthy, 0)
	w.batch(1, Applied, w.whole())
	w.wants(Certified, 10)
}

func TestAWorkerIsUnwellUntilAHealthCheckPasses(t *testing.T) { // case H3
	w := newWorker(t)
	for _, reason := range []Word{Restart, Reconnect, Gap, Unsupported} {
		w.feed.Drop(Unhealthy)
		w.feed.Drop(reason)
		if !w.feed.Unwell() {
			t.Errorf("%s: the worker is taken to be well", reason)
		}
		w.feed.Well()
		if w.feed.Unwell() {
			t.Errorf("%s: the worker stays unwell", reason)
		}
	}
	w.feed.Drop(Unhealthy)
	w.feed.Renew()
	if w.feed.Unwell() {
		t.Error("another worker is taken to be unwell")
	}
}

func TestASnapshotMakesTheViewComplete(t *testing.T) { // row 2b
	w := newWorker(t)
	chunk := func(sequence uint64, index uint32, unknown uint64, events ...Event) {
		w.feed.Apply(t0, &Batch{Sequence: sequence, Events: events, Snapshot: &Snapshot{Index: index, Count: 2, UnknownBefore: unknown}})
	}
	w.batch(1, Applied, run(100, random(3, 4), 4))
	first, second := w.whole(), w.whole()
	first.Blocks, second.Blocks = first.Blocks[:5], second.Blocks[5:]
	second.Parent, second.HasParent = 4, true
	chunk(7, 0, 0, cleared, first)
	w.wants(Reconnect, 0)
	chunk(8, 1, 0, second)
	w.wants(Certified, 10)
	w.batch(9, Applied, removed(55)) // complete: this one cannot have been there
	w.wants(Corrupt, 0)

	chunk(20, 0, 3, cleared, first)
	chunk(21, 1, 3, second)
	w.batch(22, Applied, removed(55))
	w.wants(Certified, 10)

	chunk(30, 0, 0, cleared, first)
	w.feed.Disconnected() // cut short
	w.wants(Reconnect, 0)
	w.batch(31, Applied, second)
	w.wants(Certified, 0)
}

func TestAnswersAuditClaims(t *testing.T) { // rows 16 and 17, case D24
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	for cached, want := range map[int]Finding{40: Exact, 44: Under, 36: Over} {
		claim := w.claim()
		if got := claim.Audit(cached); got != want {
			t.Errorf("%d cached: %s, want %s", cached, got, want)
		}
	}
	w.wants(Certified, 10) // one block less is no refutation
	before, claim := w.claim(), w.claim()
	claim.Audit(32)
	w.wants(Refuted, 0)
	w.batch(2, Applied, w.whole())
	before.Audit(0) // an old claim says nothing of the new view
	w.wants(Certified, 10)
	w.lost(Refuted, 1)

	w.feed.CountPrompt(42, 41)
	w.wants(Tokenizer, 0)
	w.feed.CountPrompt(41, 41)
	w.wants(Certified, 10)
	w.lost(Tokenizer, 1)
}

func TestAClaimDiesWithItsCertificate(t *testing.T) { // row 15
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	claim := w.claim()
	w.batch(2, Applied, run(100, random(3, 4), 4))
	if !claim.Holds() {
		t.Error("an ordinary batch ended a claim")
	}
	w.feed.Disconnected()
	w.heartbeat(2)
	if claim.Holds() {
		t.Error("a claim outlived its certificate")
	}
}

func TestARemovedWorkerLeavesNothingBehind(t *testing.T) { // case D10
	ix := NewIndex(Config{Bytes: 1 << 30, MaxAge: maxAge})
	tokens := random(1, 16001)
	old := ix.Feed("w")
	old.Apply(t0, &Batch{Sequence: 1, Events: []Event{run(0, tokens, 16)}})
	ix.Remove("w")
	old.Apply(t0, &Batch{Sequence: 2, Events: []Event{run(0, tokens, 16)}})
	var q Query
	q.Ask(t0, tokens, []Source{{Feed: ix.Feed("w"), Rank: -1}, {Feed: old, Rank: -1}})
	for i, c := range q.Claims {
		if c.Word != Warming || c.Tokens != 0 {
			t.Errorf("source %d: %s with %d tokens", i, c.Word, c.Tokens)
		}
	}
	if got := ix.Bytes(); got > slotBytes*laneWidth {
		t.Errorf("%d bytes are left", got)
	}
}

func TestAWorkerThatTellsNothingOfWhatItComputesIsSilent(t *testing.T) { // case D12
	w := newWorker(t)
	silent := func() bool { return w.feed.index.Stats(w.now)[0].Silent }
	for range 2 * silence {
		w.feed.Served(-1, silentTokens-1)
	}
	if silent() {
		t.Error("short prompts make no block to tell of")
	}
	for range silence {
		w.feed.Served(-1, silentTokens)
	}
	if !silent() {
		t.Error("not noticed")
	}
	if w.batch(1, Applied, w.whole()); silent() {
		t.Error("it has spoken")
	}
}

func TestAHeartbeatSpeaksForItsOwnRank(t *testing.T) { // rows 2c, 10 and 11
	w := newWorker(t)
	for rank := range int32(2) {
		w.feed.Apply(t0, &Batch{Sequence: 1, Rank: rank, Events: []Event{w.whole()}})
	}
	w.now = t0.Add(maxAge)
	w.feed.Apply(w.now, &Batch{Sequence: 1, Rank: 1, LoadOnly: true})
	w.now = w.now.Add(1)
	var q Query
	q.Ask(w.now, w.prompt, []Source{{Feed: w.feed, Rank: 0}, {Feed: w.feed, Rank: 1}})
	if q.Claims[0].Word != Stale || q.Claims[1].Word != Certified {
		t.Errorf("rank 0: %s, rank 1: %s", q.Claims[0].Word, q.Claims[1].Word)
	}
	if q.chains[0].tokens != nil {
		t.Error("the query keeps the prompt")
	}
}

func TestARankIsQuietOnlyAfterItsWholeTime(t *testing.T) { // row 11
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.now = t0.Add(maxAge)
	w.wants(Certified, 10)
	w.now = w.now.Add(1)
	w.wants(Stale, 0)
}

func TestANewIncarnationMayHaveAnotherBlockSize(t *testing.T) { // rows 3 and 8
	w := newWorker(t)
	w.batch(5, Applied, w.whole())
	w.batch(0, Applied, run(0, w.prompt, 8))
	if c := w.claim(); c.Word != Certified || c.Tokens != 40 {
		t.Errorf("%s with %d tokens", c.Word, c.Tokens)
	}
}

func TestAnotherWorkerOfTheSameNameIsHeardOnItsOwnStream(t *testing.T) { // case D10
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.feed.CountPrompt(42, 41)
	w.feed.Renew()
	w.batch(2, Resubscribe, w.whole()) // the old stream's
	w.feed.Subscribed(0)
	w.batch(7, Applied, w.whole())
	w.wants(Certified, 10) // and its tokens are counted anew
	w.lost(Restart, 1)
}

func TestALossIsCountedOnce(t *testing.T) {
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.feed.Disconnected()
	w.feed.Drop(Restart)
	w.feed.Drop(Restart)
	w.feed.Disconnected()
	w.lost(Restart, 1)
}

func TestAWorkersRanksAreBounded(t *testing.T) {
	w := newWorker(t)
	for rank := range int32(maxViews + 1) {
		w.feed.Apply(t0, &Batch{Sequence: 1, Rank: rank})
	}
	if n := len(w.feed.all()); n != maxViews {
		t.Errorf("%d views", n)
	}
	w.feed.index.Remove("w")
	if l, bit := w.feed.index.seat(); l != w.feed.index.lanes[0] || bit != 1 {
		t.Error("the seats of a worker that left are not given again")
	}
}

func TestTheLagIsFromPublisherToReceipt(t *testing.T) {
	w := newWorker(t)
	w.feed.Apply(t0, &Batch{Sequence: 1, Sent: t0.Add(-time.Second)})
	w.feed.Apply(t0, &Batch{Sequence: 2}) // does not say
	if lag := w.feed.index.Stats(t0)[0].Lag; lag != time.Second {
		t.Errorf("a lag of %v", lag)
	}
}
