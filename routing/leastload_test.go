package routing

import (
	"math"
	"testing"
	"time"
)

// spread sends n requests of some tokens and returns how many each worker got.
func spread(t *testing.T, r *Router, at time.Time, n, tokens int) map[string]int {
	t.Helper()
	got := map[string]int{}
	for range n {
		got[pick(t, r, at, Request{Tokens: prompt(tokens)}).Target().ID]++
	}
	return got
}

func waiting(at time.Time, requests, uncached int) Load {
	return Load{TakenAt: at, RankCount: 1, Ranks: []RankLoad{{Waiting: requests, WaitingUncached: uncached, GenThroughput: 1000}}}
}

// case C3
func TestASampleTooOldIsNone(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.LoadMaxAgeSecs = 3 })
	r.Observe("w0", idle(start))
	now := start.Add(4 * time.Second)
	r.Observe("w1", waiting(now, 1, 500))
	l := pick(t, r, now, Request{Tokens: prompt(10)})
	if x := find(l.Receipt(), "w0"); x.Sampled {
		t.Errorf("a sample 4 s old is still in use: %+v", x)
	}
	got := spread(t, r, now, 20, 100)
	if got["w1"] == 0 {
		t.Errorf("the silent worker gets everything: %v", got)
	}
}

// case C4
func TestAQueueWithoutATokenCountIsEstimatedWhereConfigured(t *testing.T) {
	for _, c := range []struct {
		form     string
		estimate bool
		want     string
	}{{"v1", false, "w0"}, {"v1", true, "w1"}, {"v2", false, "w1"}} {
		r := newRouter(t, 2, func(cfg *Config) { cfg.LoadScore, cfg.EstimateQueue = c.form, c.estimate })
		r.Observe("w0", waiting(start, 10, 0))
		r.Observe("w1", waiting(start, 0, 100))
		if got := pick(t, r, start, Request{}).Target().ID; got != c.want {
			t.Errorf("%s, estimate %v: chose %s, want %s", c.form, c.estimate, got, c.want)
		}
	}
}

// case C14
func TestTiesAreDrawnUniformly(t *testing.T) {
	const workers, draws = 5, 5000
	got := map[string]int{}
	r := newRouter(t, workers, nil)
	for range draws {
		l := pick(t, r, start, Request{})
		got[l.Target().ID]++
		l.Release()
	}
	chi := 0.0
	for i := range workers {
		chi += math.Pow(float64(got[name(i)])-draws/workers, 2) / (draws / workers)
	}
	if chi > 18.5 { // p = 0.001 at four degrees of freedom
		t.Errorf("χ² = %.1f: %v", chi, got)
	}
}

// case C19: what was sent while the poll was under way is not in it.
func TestASampleRetiresOnlyWhatWasSentBeforeIt(t *testing.T) {
	r := newRouter(t, 1, nil)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	pick(t, r, at(0), Request{Tokens: prompt(100)})
	pick(t, r, at(10), Request{Tokens: prompt(30)})
	r.Observe("w0", idle(at(5)))
	if got := r.fleet.Load().byID["w0"].sent.tokens; got != 30 {
		t.Errorf("%d tokens on the account, want 30", got)
	}
	r.Observe("w0", idle(at(10))) // taken at the very moment of sending: it cannot have been seen
	if got := r.fleet.Load().byID["w0"].sent.tokens; got != 30 {
		t.Errorf("%d tokens on the account, want 30", got)
	}
	r.Observe("w0", idle(at(2))) // an older one that was slow
	if got := r.fleet.Load().byID["w0"].sample.taken; got != at(10).UnixNano() {
		t.Errorf("an older sample replaced a newer one")
	}
}

// case C21
func TestWorkCountsInTokensNotRequests(t *testing.T) {
	r := newRouter(t, 2, nil)
	for i := range 2 {
		r.Observe(name(i), idle(start))
	}
	first := pick(t, r, start, Request{Tokens: prompt(10000)}).Target().ID
	for range 2 {
		if got := pick(t, r, start, Request{Tokens: prompt(1000)}).Target().ID; got == first {
			t.Fatal("the worker with 10,000 tokens got more")
		}
	}
}

// cases C10, C11: whatever the policy, requests are counted, and neither loads nor health checks change the count.
func TestEveryPolicyCountsRequestsInFlight(t *testing.T) {
	for _, policy := range policyNames {
		r := newRouter(t, 3, func(c *Config) { c.Policy = policy })
		for range 30 {
			pick(t, r, start, Request{Tokens: prompt(10), Text: "hello", Key: "k"})
		}
		total := 0
		for i := range 3 {
			r.Observe(name(i), idle(start.Add(time.Second)))
			r.Publish(fleetOf(3))
			total += r.fleet.Load().byID[name(i)].inFlight
		}
		if total != 30 {
			t.Errorf("%s: %d in flight of 30", policy, total)
		}
	}
}

func TestAnUnusableSampleConcernsThatWorkerAlone(t *testing.T) {
	for name, bad := range map[string]Load{
		"rank count":      {TakenAt: start, RankCount: 2, Ranks: []RankLoad{{}}},
		"no ranks":        {TakenAt: start},
		"negative count":  {TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Waiting: -1}}},
		"absurd count":    {TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Running: 1 << 40}}},
		"not a number":    {TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Usage: math.NaN()}}},
		"infinite":        {TakenAt: start, RankCount: 1, Ranks: []RankLoad{{GenThroughput: math.Inf(1)}}},
		"next to nothing": {TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Waiting: 9, WaitingUncached: 9, GenThroughput: 1e-310}}},
		"too much usage":  {TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Usage: math.MaxFloat64}}},
		"a rate of fancy": {TakenAt: start, RankCount: 1, Ranks: []RankLoad{{GenThroughput: 1e98}}},
		"too much to add": {TakenAt: start, RankCount: 2, Ranks: []RankLoad{{GenThroughput: math.MaxFloat64}, {GenThroughput: math.MaxFloat64}}},
	} {
		r := newRouter(t, 2, nil)
		r.Observe("w0", bad)
		r.Observe("w1", idle(start))
		receipt := pick(t, r, start, Request{}).Receipt()
		if find(receipt, "w0").Sampled || !find(receipt, "w1").Sampled {
			t.Errorf("%s: %+v", name, receipt.Candidates)
		}
	}
}

func TestQueuesThatAreTooLongToAddUpDrawNoRequests(t *testing.T) {
	long := RankLoad{Running: 1<<30 - 1, Waiting: 1<<30 - 1}
	for _, score := range scoreNames {
		r := newRouter(t, 2, func(c *Config) { c.LoadScore, c.MaxWaiting = score, 1000 })
		for range 4 {
			pick(t, r, start.Add(time.Second), Request{Tokens: prompt(10)}).Release()
		}
		r.Observe("w0", Load{TakenAt: start, RankCount: 2, Ranks: []RankLoad{long, long}})
		r.Observe("w1", idle(start))
		for range 20 {
			l := pick(t, r, start.Add(2*time.Second), Request{Tokens: prompt(100)})
			receipt := l.Receipt()
			if x := find(receipt, "w0"); receipt.Chosen == "w0" || !x.Ledger.Full || x.Ledger.Score < 0 {
				t.Fatalf("%s: chose %s; %+v", score, receipt.Chosen, x)
			}
			l.Release()
		}
	}
}

func TestAWaitingQueueAtTheCapIsSkipped(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.MaxWaiting = 3 })
	r.Observe("w0", waiting(start, 1, 0))
	r.Observe("w1", waiting(start, 0, 1e6))
	got := map[string]int{}
	for range 5 {
		got[pick(t, r, start, Request{Tokens: prompt(1)}).Target().ID]++
	}
	if got["w0"] != 2 || got["w1"] != 3 {
		t.Errorf("%v, want w0 until its queue is 3, then w1", got)
	}
	if _, err := r.Pick(start, Request{Model: "m"}); err == nil {
		t.Error("both queues are full, and yet a choice")
	}
}

func TestTheLedgerIsBounded(t *testing.T) {
	var l ledger
	for i := range 3 * maxCredits {
		l.send(start.Add(time.Duration(i)), 2, 0)
	}
	if len(l.credits) != maxCredits || l.tokens != 6*maxCredits {
		t.Errorf("%d credits of %d tokens", len(l.credits), l.tokens)
	}
	if l.retire(start.Add(2 * maxCredits)); l.requests != 2*maxCredits+1 {
		t.Errorf("%d requests are left, want all that share the newest stamp", l.requests)
	}
	l.retire(start.Add(time.Hour))
	if l.tokens != 0 || l.requests != 0 {
		t.Errorf("left: %d tokens, %d requests", l.tokens, l.requests)
	}
}

func TestAWorkersPrefillRateIsLearntFromItsAnswers(t *testing.T) {
	r := newRouter(t, 1, nil)
	now := start
	for i := range 20 {
		l := pick(t, r, now, Request{Tokens: prompt(4000)})
		took := time.Second // 4,000 a second
		if i%5 == 0 {
			took = time.Minute // an outlier
		}
		l.FirstToken(now.Add(took))
		l.Finish(now.Add(took), Outcome{PromptTokens: 4000})
		now = now.Add(time.Minute)
	}
	if got := find(pick(t, r, now, Request{}).Receipt(), "w0").PrefillRate; math.Abs(got-4000) > 1 {
		t.Errorf("learnt %.0f tokens a second, want 4000", got)
	}
}

func TestOthersBacklogIsWhatTheGatewayDidNotSend(t *testing.T) {
	r := newRouter(t, 1, nil)
	l := pick(t, r, start, Request{Tokens: prompt(1000)})
	r.Observe("w0", waiting(start.Add(time.Second), 2, 1500))
	if got := r.fleet.Load().byID["w0"].others; got != 500 {
		t.Errorf("others' backlog %d, want 500", got)
	}
	l.FirstToken(start.Add(2 * time.Second))
	r.Observe("w0", waiting(start.Add(3*time.Second), 1, 500))
	if got := r.fleet.Load().byID["w0"].others; got != 500 {
		t.Errorf("others' backlog %d after the answer, want 500", got)
	}
}

func TestAReportedActiveUsageOfZeroIsOne(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.LoadScore = "v2" })
	for i, active := range []bool{true, false} {
		load := idle(start)
		load.Ranks[0].Usage, load.Ranks[0].HasActiveUsage = 0.9, active
		r.Observe(name(i), load)
	}
	got := pick(t, r, start, Request{}).Receipt()
	if w0, w1 := find(got, "w0"), find(got, "w1"); w0.Pressure != 0 || w1.Pressure != 0.9 {
		t.Errorf("pressures %v and %v", w0.Pressure, w1.Pressure)
	}
}

func TestANegativeUsageIsNone(t *testing.T) {
	r := newRouter(t, 1, nil)
	r.Observe("w0", Load{TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Usage: -0.5}}})
	if x := find(pick(t, r, start, Request{}).Receipt(), "w0"); x.Pressure != 0 || x.Ledger.Score != 0 {
		t.Errorf("pressure %v, score %v", x.Pressure, x.Ledger.Score)
	}
}

func TestScoresAMillionthApartAreATieInTheSecondForm(t *testing.T) {
	for form, want := range map[string]int{"v1": 1, "v2": 2} {
		seen := map[string]bool{}
		for seed := range uint64(20) {
			r := newRouter(t, 2, func(c *Config) { c.LoadScore, c.Seed, c.KVPressureWeight = form, seed+1, 1 })
			r.Observe("w0", idle(start))
			r.Observe("w1", Load{TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Usage: 9e-7}}})
			seen[pick(t, r, start, Request{}).Target().ID] = true
		}
		if len(seen) != want {
			t.Errorf("%s: chose among %d workers, want %d", form, len(seen), want)
		}
	}
}

func TestTheSecondFormsCapCountsWhatTheSampleDoesNotShow(t *testing.T) {
	c := DefaultConfig()
	c.MaxWaiting = 4
	for _, x := range []struct {
		inFlight, running, waiting, sent int32
		full                             bool
	}{{8, 5, 1, 0, false}, {9, 5, 1, 0, true}, {8, 5, 1, 3, true}, {5, 5, 3, 0, false}, {0, 0, 4, 0, true}} {
		got := formV2.full(&c, &Candidate{Sampled: true, InFlight: x.inFlight, Running: x.running, Waiting: x.waiting}, &Account{Requests: x.sent})
		if got != x.full {
			t.Errorf("%+v: full %t", x, got)
		}
	}
}
