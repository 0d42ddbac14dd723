package routing

import (
	"math"
	"testing"
	"time"
)

func calibrated() Settings {
	s := settings()
	s.Cost = "calibrated"
	return s
}

// change returns a receipt with one candidate changed.
func change(r Receipt, worker string, how func(*Candidate)) Receipt {
	candidates := append([]Candidate(nil), r.Candidates...)
	r.Candidates = candidates
	how(find(r, worker))
	return r
}

func TestCalibratedCostIsThePrefillAhead(t *testing.T) {
	fleet := snapshot(1000, []int{0, 100}, []int{0, 2000}) // 2,000 cached tokens are worth 2,000 tokens of backlog
	for _, c := range []struct {
		what string
		how  func(*Candidate)
		want string
	}{
		{"less sent to the owner than it has cached", func(x *Candidate) { x.Ledger.Backlog = 1999 }, "w1"},
		{"as much", func(x *Candidate) { x.Ledger.Backlog = 2000 }, "w0"},
		{"less of others' waiting there", func(x *Candidate) { x.OthersBacklog = 1999 }, "w1"},
		{"as much of others'", func(x *Candidate) { x.OthersBacklog = 2000 }, "w0"},
		{"a load that is a second old", func(x *Candidate) { x.SampleAge = 1 }, "w1"},
		{"an older one", func(x *Candidate) { x.SampleAge = 1.001 }, "w0"},
		{"half the rate for a long prompt", func(x *Candidate) { x.PrefillRate = 4000 }, "w0"},
		{"many times the rate, and more ahead than it saves", func(x *Candidate) { x.PrefillRate, x.Ledger.Backlog = 64000, 2001 }, "w0"},
		{"many times the rate, and less", func(x *Candidate) { x.PrefillRate, x.Ledger.Backlog = 64000, 1999 }, "w1"},
	} {
		if got := replay(t, change(fleet, "w1", c.how), calibrated()); got.Chosen != c.want {
			t.Errorf("%s: chose %s, want %s", c.what, got.Chosen, c.want)
		}
	}
	slow := change(fleet, "w1", func(x *Candidate) { x.PrefillRate = 4000 })
	if x := find(replay(t, slow, calibrated()), "w1"); x.Saving != 0.5 {
		t.Errorf("2,000 tokens at the worker's own 4,000 a second save %v s", x.Saving)
	}
}

// By now it may be computed.
func TestWhatOthersHadQueuedAtTheBaseCountsByAFreshLoad(t *testing.T) {
	fleet := change(snapshot(1000, []int{0, 100}, []int{0, 2000}), "w1", func(x *Candidate) { x.Ledger.Backlog = 3000 })
	for age, want := range map[float64]string{1: "w1", 1.001: "w0"} {
		crowded := change(fleet, "w0", func(x *Candidate) { x.OthersBacklog, x.SampleAge = 1001, age })
		if got := replay(t, crowded, calibrated()); got.Chosen != want {
			t.Errorf("a load that is %v s old: chose %s, want %s", age, got.Chosen, want)
		}
	}
}

func TestShadowHasBacklogsOfItsOwn(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode, c.CacheCost = "shadow", "calibrated" })
	r.Observe("w0", waiting(start, 1, 100))
	r.Observe("w1", idle(start))
	r.Feed("w0").Apply(start, stored(1, 0, prompt(1600), 16))
	for n := range 2 {
		got := pick(t, r, start, eligible(1601)).Receipt()
		w0, w1 := find(got, "w0"), find(got, "w1")
		if w0.Ledger.Backlog != 0 || w1.Ledger.Backlog != int64(1601*n) || w0.Shadow.Backlog != int64(n) || w1.Shadow.Backlog != 0 {
			t.Errorf("request %d: sent %d and %d, in shadow %d and %d", n, w0.Ledger.Backlog, w1.Ledger.Backlog, w0.Shadow.Backlog, w1.Shadow.Backlog)
		}
		if n == 0 && (got.Chosen != "w1" || got.Preferred != "w0") {
			t.Errorf("request %d: chose %s, prefers %s", n, got.Chosen, got.Preferred)
		}
	}
	s := calibrated()
	s.Mode = Shadow
	fleet := change(snapshot(1000, []int{0, 100}, []int{0, 2000}), "w1", func(x *Candidate) { x.Shadow.Backlog = 3000 })
	if got := replay(t, fleet, s); got.Preferred != "w0" {
		t.Errorf("an owner that is busy in shadow was preferred there: %+v", got)
	}
}

func TestAnOldLoadSaysNothingOfOthersQueues(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.LoadMaxAgeSecs = 3 })
	r.Observe("w0", waiting(start, 2, 1500))
	r.Observe("w1", idle(start.Add(5*time.Second)))
	for age, want := range map[time.Duration]int64{time.Second: 1500, 3*time.Second - 1: 1500, 3 * time.Second: 0} {
		if x := find(pick(t, r, start.Add(age), Request{}).Receipt(), "w0"); x.OthersBacklog != want || x.Sampled != (want > 0) {
			t.Errorf("at %v: %+v", age, x)
		}
	}
	r.Observe("w0", Load{TakenAt: start.Add(6 * time.Second), RankCount: 1})
	if s := r.fleet.Load().byID["w0"]; s.others != 0 {
		t.Errorf("an unusable sample leaves %d tokens of others'", s.others)
	}
}

func TestOnlyWhatWasSentBeforeASampleIsTakenOffItsQueue(t *testing.T) {
	r := newRouter(t, 1, nil)
	pick(t, r, start.Add(time.Second), Request{Tokens: prompt(1000)})
	r.Observe("w0", waiting(start, 2, 1500))
	if got := r.fleet.Load().byID["w0"].others; got != 1500 {
		t.Errorf("others' backlog %d, want 1500", got)
	}
}

func TestAQueueWithoutTokensWeighsByItsRequests(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode, c.CacheCost = "enforce", "calibrated" })
	r.Feed("w0").Apply(start, stored(1, 0, prompt(304), 16))
	r.Feed("w1").Apply(start, stored(1, 1<<20, prompt(16), 16))
	r.Observe("w0", idle(start))
	r.Observe("w1", idle(start))
	own := pick(t, r, start.Add(1), eligible(305))
	if own.Target().ID != "w0" {
		t.Fatalf("%s is chosen, want the idle owner", own.Target().ID)
	}
	for requests, want := range map[int]int64{1: 0, 51: 50 * 1024} {
		r.Observe("w0", waiting(start.Add(2), requests, 0)) // one of them is ours
		if got := r.fleet.Load().byID["w0"].others; got != want {
			t.Errorf("%d waiting: others' backlog %d, want %d", requests, got, want)
		}
	}
	r.Observe("w0", waiting(start.Add(2), 51, 0))
	if got := pick(t, r, start.Add(3), eligible(305)).Target().ID; got != "w1" {
		t.Errorf("%s is chosen, want the idle worker", got)
	}
}

// Prompts that are cached wait for slots all the same: the engine's own count of tokens says nothing of that.
func TestAnOwnerWhereRequestsWaitForMoreThanPrefillGetsNoMore(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode, c.CacheCost, c.LoadScore = "enforce", "calibrated", "v2" })
	r.Feed("w0").Apply(start, stored(1, 0, prompt(3200), 16))
	r.Feed("w1").Apply(start, stored(1, 1<<20, prompt(16), 16))
	got, moved := map[string]int{}, 0
	now := start
	for i := range 400 {
		if i%20 == 0 { // 16 requests run, the others wait
			n := got["w0"]
			r.Observe("w0", Load{TakenAt: now, RankCount: 1, Ranks: []RankLoad{{Running: min(n, 16), Waiting: max(n-16, 0), WaitingUncached: max(n-16, 0), GenThroughput: 1000}}})
			r.Observe("w1", idle(now))
		}
		now = now.Add(5 * time.Millisecond)
		l := pick(t, r, now, eligible(3201))
		if receipt := l.Receipt(); receipt.Base != receipt.Chosen {
			moved++
		}
		switch got[l.Target().ID]++; {
		case l.Target().ID == "w1":
			l.Release()
		case got["w0"] <= 16:
			l.FirstToken(now)
		}
	}
	if moved < 16 || moved > 100 { // what is saved is 0.4 s, in which 80 come
		t.Errorf("%d of 400 are moved to the owner", moved)
	}
	late := pick(t, r, now, eligible(3201)).Receipt()
	if x := find(late, "w0"); x.Overdue < 0.4 || x.Net < 0 {
		t.Errorf("overdue %.3f s, net %.3f s", x.Overdue, x.Net)
	}
	for _, l := range []string{"w0", "w1"} { // the same wait at both is no reason
		s := r.fleet.Load().byID[l].station
		s.held = line{first: &Lease{receipt: Receipt{At: start}}}
		s.sent.prefill = 0
	}
	if got := pick(t, r, now, eligible(3201)).Target().ID; got != "w0" {
		t.Errorf("%s is chosen, want the owner", got)
	}
}

// learnt answers some requests and returns the rate that they have taught.
func learnt(t *testing.T, n, tokens int, others int, o Outcome) float64 {
	r := newRouter(t, 1, nil)
	now := start
	for range n {
		r.Observe("w0", waiting(now, min(others, 1), others))
		l := pick(t, r, now.Add(1), Request{Tokens: prompt(tokens)})
		now = now.Add(time.Second)
		l.FirstToken(now)
		outcome := o
		outcome.PromptTokens = tokens
		l.Finish(now, outcome)
	}
	return find(pick(t, r, now, Request{}).Receipt(), "w0").PrefillRate
}

func TestOnlyTellingAnswersTeachARate(t *testing.T) {
	for _, c := range []struct {
		what      string
		n, tokens int
		others    int
		outcome   Outcome
		want      float64
	}{
		{"enough of them", rateMinimum, 4000, 0, Outcome{}, 4000},
		{"too few", rateMinimum - 1, 4000, 0, Outcome{}, 8000},
		{"prompts too short", 20, rateTokens - 1, 0, Outcome{}, 8000},
		{"what was cached is not computed", 20, 4000, 0, Outcome{CachedTokens: 3000}, 1000},
		{"a long wait behind others", 20, 4000, 2001, Outcome{}, 8000},
		{"a wait that the engine tells", 20, 4000, 2001, Outcome{Queue: 0.5}, 8000},
		{"a short wait that it tells", 20, 4000, 0, Outcome{Queue: 0.2}, 5000},
		{"failures", 20, 4000, 0, Outcome{Error: "aborted"}, 8000},
	} {
		if got := learnt(t, c.n, c.tokens, c.others, c.outcome); math.Abs(got-c.want) > 1 {
			t.Errorf("%s: learnt %.0f tokens a second, want %.0f", c.what, got, c.want)
		}
	}
}

// What others had queued is known as long as the sample is good, and no longer.
func TestAForgottenQueueDoesNotBarLearning(t *testing.T) {
	r := newRouter(t, 1, func(c *Config) { c.CacheCost = "calibrated" })
	r.Observe("w0", Load{TakenAt: start, RankCount: 1, Ranks: []RankLoad{{WaitingUncached: 1 << 29, Waiting: 3}}})
	r.Forget("w0")
	now := start.Add(time.Hour)
	for range 40 {
		l := pick(t, r, now, Request{Tokens: prompt(4096), Chat: true, Streaming: true, PlainText: true})
		l.FirstToken(now.Add(40 * time.Second))
		l.Finish(now.Add(41*time.Second), Outcome{PromptTokens: 4096})
		l.Release()
		now = now.Add(time.Minute)
	}
	if rate := find(pick(t, r, now, Request{}).Receipt(), "w0").PrefillRate; rate > 200 {
		t.Errorf("%v tokens a second, about 102 were seen", rate)
	}
}

// The step from one cost to the other is tried on what was recorded under the first.
func TestWhatWasRecordedUnderOneCostIsDecidedAgainUnderTheOther(t *testing.T) {
	for _, recorded := range costNames {
		r := newRouter(t, 2, func(c *Config) { c.CacheMode, c.CacheCost = "enforce", recorded })
		r.Feed("w0").Apply(start, stored(1, 0, prompt(1600), 16))
		r.Feed("w1").Apply(start, stored(1, 1<<20, prompt(16), 16))
		r.Observe("w0", idle(start))
		r.Observe("w1", waiting(start, 1, 5000))
		pick(t, r, start, Request{Tokens: prompt(16)}) // waits at the owner, far beyond its prefill
		now := start.Add(10 * time.Second)
		r.Observe("w0", waiting(now, 1, 50))
		r.Observe("w1", idle(now))
		line, err := r.AppendRecord(nil, pick(t, r, now, eligible(1601)).Receipt())
		if err != nil {
			t.Fatal(err)
		}
		record, err := ParseRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		under := record.Settings
		under.Cost = "calibrated"
		again, err := record.Replay(under)
		if x := find(again, "w0"); err != nil || again.Chosen != "w1" || x.Overdue < 9 {
			t.Errorf("recorded with %s: %v, chose %s; %+v", recorded, err, again.Chosen, x)
		}
		under.PrefillThroughput = 16_000
		if again, err = record.Replay(under); err != nil || find(again, "w1").PrefillRate != 16_000 {
			t.Errorf("a rate that was not measured: %v, %v", err, find(again, "w1").PrefillRate)
		}
	}
}

func TestSingleAnswersDoNotMoveTheRate(t *testing.T) {
	for name, odd := range map[string]float64{"stalled": 600, "in no time": 1e-6} {
		var r rate
		for i := range 3 * rateWindow {
			seconds := 1.0
			if i%3 == 0 {
				seconds = odd
			}
			r.learn(1000, seconds)
		}
		if got := r.tokens(8000); got != 1000 {
			t.Errorf("%s: %v tokens a second, most answers say 1,000", name, got)
		}
	}
}
