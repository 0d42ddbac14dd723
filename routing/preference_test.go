package routing

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"leeway/routing/prefix"
)

// settings are DefaultConfig's, enforced.
func settings() Settings {
	c := DefaultConfig()
	return Settings{
		Mode: Enforce, Score: c.LoadScore, Cost: c.CacheCost, KVPressureWeight: c.KVPressureWeight,
		DefaultThroughput: c.DefaultThroughput, MeanPrefillTokens: c.MeanPrefillTokens, PrefillThroughput: c.PrefillThroughput,
	}
}

// snapshot is a receipt of certified workers with the same throughput, w0 the recorded base; queued and cached are
// tokens for each.
func snapshot(throughput float64, queued, cached []int) Receipt {
	r := Receipt{PromptTokens: 1 << 20, Result: Complete, Base: "w0"}
	for i := range queued {
		r.Workers = append(r.Workers, name(i))
		r.Candidates = append(r.Candidates, Candidate{
			Sampled: true, Uncached: int64(queued[i]), Throughput: throughput,
			Certificate: prefix.Certified, BlockSize: 16, Cached: int32(cached[i]), PrefillRate: 8000,
		})
	}
	return r
}

func replay(t testing.TB, r Receipt, s Settings) Receipt {
	t.Helper()
	got, err := Replay(r, s)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// case G6
func TestAnOwnerWinsOnlyIfItSavesMoreThanItCosts(t *testing.T) {
	// 2,000 cached tokens at 8,000 a second save 0.25 s; the queue costs 0.001 s a token.
	for queued, want := range map[int]string{240: "w1", 249: "w1", 250: "w0", 251: "w0", 260: "w0", 5000: "w0"} { // 5,000: case G8
		got := replay(t, snapshot(1000, []int{0, queued}, []int{0, 2000}), settings())
		if got.Chosen != want {
			t.Errorf("an owner with %d tokens queued: chose %s, want %s", queued, got.Chosen, want)
		}
	}
}

// case G4: what counts is the difference, so a fleet that is busy all over keeps its owners.
func TestAnEquallyBusyFleetKeepsItsOwners(t *testing.T) {
	for _, busy := range []int{0, 100, 10000, 1000000} {
		got := replay(t, snapshot(1000, []int{busy, busy + 100, busy}, []int{0, 2000, 0}), settings())
		if got.Chosen != "w1" {
			t.Errorf("all with %d tokens queued: chose %s", busy, got.Chosen)
		}
	}
}

func TestWhereNobodyAsksForLoadsNoWorkerIsBlamed(t *testing.T) {
	for unmonitored, want := range map[bool]Reason{false: MissingLoad, true: MonitorUnavailable} {
		s := settings()
		s.Unmonitored = unmonitored
		r := snapshot(1000, []int{0, 0}, []int{0, 4000})
		for i := range r.Candidates {
			r.Candidates[i].Sampled = false
		}
		got := replay(t, r, s)
		if got.Chosen != "w0" || got.Result != Fallback || got.Reasons != want.only() || find(got, "w1").Reasons != want.only() {
			t.Errorf("unmonitored %v: %s, %v, %v", unmonitored, got.Chosen, got.Result, got.Reasons.Names())
		}
	}
}

// TestTheBoundHoldsWhateverTheFleet checks, on random fleets, what section by section makes the preference safe.
func TestTheBoundHoldsWhateverTheFleet(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 7))
	for round := range 2000 {
		s := settings()
		s.Score = []string{"v1", "v2"}[round%2]
		s.Cost = []string{"least_load", "calibrated"}[round/2%2]
		r := randomFleet(chance)
		got := replay(t, r, s)
		base, preferred := find(got, got.Base), find(got, got.Preferred)
		gain, loss := preferred.Saving-base.Saving, preferred.Cost-base.Cost
		switch {
		case got.Slack < 0:
			t.Fatalf("round %d: slack %v", round, got.Slack)
		case got.Preferred != got.Base && gain <= loss:
			t.Fatalf("round %d: saves %v, costs %v", round, gain, loss)
		case got.Preferred != got.Base && (preferred.Certificate != prefix.Certified || !preferred.Sampled):
			t.Fatalf("round %d: no certificate or load, and yet credit: %+v", round, preferred)
		}
		for i, x := range got.Candidates {
			if x.Saving > 0 && (x.Saving-base.Saving)-(x.Cost-base.Cost) > got.Slack {
				t.Fatalf("round %d: w%d would have been better: %+v", round, i, got)
			}
		}
		off := s
		off.Mode = Off
		if plain := replay(t, r, off); plain.Chosen != got.Base {
			t.Fatalf("round %d: base %s, off chooses %s", round, got.Base, plain.Chosen)
		}
		if got.Preferred != got.Base {
			moreSaved(t, r, s, got.Preferred)
		}
		moreLoad(t, chance, r, s, got)
		equalLoad(t, r, s, got)
	}
}

// randomFleet has workers with and without loads and certificates.
func randomFleet(chance *rand.Rand) Receipt {
	n := 2 + chance.IntN(6)
	queued, cached := make([]int, n), make([]int, n)
	for i := range queued {
		queued[i], cached[i] = chance.IntN(4000), 16*chance.IntN(400)
	}
	r := snapshot(1000, queued, cached)
	r.Base = ""
	for i := range r.Candidates {
		x := &r.Candidates[i]
		x.InFlight, x.Ledger.Tokens, x.Ledger.Backlog = chance.Int32N(5), chance.Int64N(3000), chance.Int64N(9000)
		x.PrefillRate = 4000 + 8000*chance.Float64()
		if chance.IntN(5) == 0 {
			x.Certificate, x.Cached = prefix.Gap, 0
		}
		if chance.IntN(5) == 0 {
			x.Sampled, x.Uncached, x.Throughput = false, 0, 0
		}
	}
	return r
}

// moreSaved: the preferred owner stays preferred when it holds more.
func moreSaved(t *testing.T, r Receipt, s Settings, owner string) {
	t.Helper()
	r.Candidates = slices.Clone(r.Candidates)
	find(r, owner).Cached += 160
	if got := replay(t, r, s); got.Preferred != owner {
		t.Fatalf("%s lost its place by holding more", owner)
	}
}

func find(r Receipt, worker string) *Candidate {
	return &r.Candidates[slices.Index(r.Workers, worker)]
}

// moreLoad: a worker that was not preferred is not preferred for having more to do.
func moreLoad(t *testing.T, chance *rand.Rand, r Receipt, s Settings, before Receipt) {
	t.Helper()
	i := chance.IntN(len(r.Candidates))
	x := r.Candidates[i]
	if !x.Sampled || x.Uncached == 0 || before.Preferred == name(i) || before.Base == name(i) {
		return
	}
	r.Candidates = slices.Clone(r.Candidates)
	r.Candidates[i].Uncached += 500
	r.Candidates[i].Ledger.Backlog += 500
	if got := replay(t, r, s); got.Preferred == name(i) {
		t.Fatalf("w%d won by having more to do", i)
	}
}

// equalLoad: what every worker has more of changes nothing.
func equalLoad(t *testing.T, r Receipt, s Settings, before Receipt) {
	t.Helper()
	r.Candidates = slices.Clone(r.Candidates)
	for i := range r.Candidates {
		x := &r.Candidates[i]
		if !x.Sampled || x.Uncached == 0 || s.Cost == "calibrated" {
			return // no load can be added to it that weighs the same as elsewhere
		}
		x.Uncached += 512
	}
	r.Base = before.Base
	if got := replay(t, r, s); got.Preferred != before.Preferred {
		t.Fatalf("all have 512 tokens more, and %s is preferred to %s", got.Preferred, before.Preferred)
	}
}

func TestAWorkerWithoutCertificateOrLoadChangesNothingForOthers(t *testing.T) {
	r := snapshot(1000, []int{0, 100, 900}, []int{0, 2000, 0})
	for what, change := range map[string]func(*Candidate){
		"no certificate": func(x *Candidate) { x.Certificate = prefix.Warming },
		"no load":        func(x *Candidate) { x.Sampled, x.Uncached, x.Throughput, x.InFlight = false, 0, 0, 1 },
	} {
		changed := r
		changed.Candidates = slices.Clone(r.Candidates)
		change(&changed.Candidates[2])
		if got := replay(t, changed, settings()); got.Chosen != "w1" {
			t.Errorf("w2 with %s: chose %s", what, got.Chosen)
		}
	}
}

func TestCalibratedCostRefusesOldLoads(t *testing.T) {
	s := settings()
	s.Cost = "calibrated"
	r := snapshot(1000, []int{0, 100}, []int{0, 2000})
	if got := replay(t, r, s); got.Chosen != "w1" {
		t.Fatalf("chose %s", got.Chosen)
	}
	r.Candidates[1].SampleAge = 1.5
	if got := replay(t, r, s); got.Chosen != "w0" || got.Reasons&StaleLoad.only() == 0 {
		t.Errorf("chose %s for %v", got.Chosen, got.Reasons.Names())
	}
}

// case C15: an owner that computes slowly leaves; its own rate says how long the rest of the prompt takes there.
func TestCalibratedCostLeavesASlowOwner(t *testing.T) {
	s := settings()
	s.Cost = "calibrated"
	r := snapshot(1000, []int{0, 100}, []int{0, 2000})
	r.PromptTokens = 4000
	r.Candidates[1].PrefillRate = 8000. / 5
	if got := replay(t, r, s); got.Chosen != "w0" {
		t.Errorf("chose %s", got.Chosen)
	}
}

func TestOnlyForeseeableRequestsAreEligible(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode = "enforce" })
	for what, change := range map[string]func(*Request){
		"endpoint":        func(q *Request) { q.Chat = false },
		"stream":          func(q *Request) { q.Streaming = false },
		"n":               func(q *Request) { q.N = 2 },
		"adapter_or_salt": func(q *Request) { q.PlainText = false },
		"":                nil,
	} {
		q := Request{Tokens: prompt(100), Chat: true, Streaming: true, N: 1, PlainText: true}
		if change != nil {
			change(&q)
		}
		got := pick(t, r, start, q).Receipt()
		if (got.Result == Ineligible) != (change != nil) || got.Ineligible != what {
			t.Errorf("%s: %s, %s", what, got.Result, got.Ineligible)
		}
	}
}

func TestReceiptsSurviveTheLog(t *testing.T) {
	r := newRouter(t, 3, func(c *Config) { c.CacheMode = "shadow"; c.LoadScore = "v2" })
	for i := range 3 {
		r.Observe(name(i), idle(start))
		r.Feed(name(i)).Apply(start, stored(1, 0, prompt(64*(i+1)), 16))
	}
	for i := range 20 {
		l := pick(t, r, start, Request{ID: fmt.Sprint(i), Tokens: prompt(1000), Chat: true, Streaming: true, PlainText: true})
		l.Finish(start, Outcome{PromptTokens: 1000, CachedTokens: 160})
		line, err := r.AppendRecord(nil, l.Receipt())
		if err != nil {
			t.Fatal(err)
		}
		record, err := ParseRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		want, got := l.Receipt(), replay(t, record.Receipt, record.Settings)
		if got.At = want.At; !reflect.DeepEqual(got, want) {
			t.Fatalf("recorded %+v\nreplayed %+v", want, got)
		}
	}
	if _, err := ParseRecord([]byte(`{"v":2}`)); err == nil {
		t.Error("another version was read")
	}
}
