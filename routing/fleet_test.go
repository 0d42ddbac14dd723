package routing

import (
	"testing"
	"time"

	"leeway/routing/prefix"
)

// eligible is a request that the preference can foresee.
func eligible(tokens int) Request {
	return Request{Tokens: prompt(tokens), Chat: true, Streaming: true, PlainText: true}
}

func TestATargetThatStaysKeepsItsAccounts(t *testing.T) {
	r := newRouter(t, 2, nil)
	r.Observe("w0", waiting(start, 2, 700))
	l := pick(t, r, start, Request{Tokens: prompt(50), Exclude: []string{"w1"}})
	r.Publish(fleetOf(3))
	s := r.fleet.Load().byID["w0"]
	if s.inFlight != 1 || s.sent.tokens != 50 || s.sample.uncached != 700 {
		t.Errorf("after a third worker joined, w0 has %+v", s.station)
	}
	l.Release()
	if s.inFlight != 0 {
		t.Error("a lease from before did not come back")
	}
}

func TestModelsDoNotMix(t *testing.T) {
	fleet := fleetOf(4)
	fleet[2].Model, fleet[3].Model = "other", "other"
	r := newRouter(t, 0, nil)
	r.Publish(fleet)
	for range 20 {
		if got := pick(t, r, start, Request{Model: "other"}).Target().ID; got != "w2" && got != "w3" {
			t.Fatalf("a request for the other model went to %s", got)
		}
	}
}

func TestASplitOrPlainHTTPWorkerMakesThePreferenceStandBack(t *testing.T) {
	for what, change := range map[string]func(*Target){
		"split": func(w *Target) { w.Split = true },
		"HTTP":  func(w *Target) { w.GRPC = false },
	} {
		fleet := fleetOf(2)
		change(&fleet[1])
		r := newRouter(t, 0, func(c *Config) { c.CacheMode = "enforce" })
		r.Publish(fleet)
		got := pick(t, r, start, eligible(100)).Receipt()
		if got.Result != Ineligible || got.Reasons != UnsupportedTopology.only() {
			t.Errorf("%s: %s, %v", what, got.Result, got.Reasons.Names())
		}
	}
}

// case C18, row 10
func TestRanksBehindOneAddressClaimOnlyWhenPinned(t *testing.T) {
	shared := Target{ID: "w", Model: "m", Rank: -1, Ranks: 2, Healthy: true, GRPC: true}
	pinned := []Target{shared, shared}
	for i := range pinned {
		pinned[i].ID, pinned[i].Worker, pinned[i].Rank = []string{"w@0", "w@1"}[i], "w", int32(i)
	}
	r := newRouter(t, 0, func(c *Config) { c.CacheMode = "enforce" })
	r.Publish(append(fleetOf(1), shared))
	r.Feed("w").Apply(start, stored(1, 0, prompt(160), 16))
	receipt := pick(t, r, start, eligible(161)).Receipt()
	if x, _ := receipt.Candidate("w"); x.Certificate != prefix.Ranks || x.Cached != 0 {
		t.Errorf("two ranks, none pinned: %s with %d tokens", x.Certificate, x.Cached)
	}
	r.Publish(pinned)
	r.Feed("w").Apply(start, stored(2, 1000, prompt(160), 16))
	receipt = pick(t, r, start, eligible(161)).Receipt()
	for id, want := range map[string]int32{"w@0": 160, "w@1": 0} {
		if x, _ := receipt.Candidate(id); x.Cached != want {
			t.Errorf("%s claims %d tokens, want %d", id, x.Cached, want)
		}
	}
	r.Observe("w@1", waiting(start, 5, 9000))
	if got := pick(t, r, start, Request{Tokens: prompt(10)}).Target(); got.Rank != 0 {
		t.Errorf("chose rank %d, whose own load is high", got.Rank)
	}
}

// case D10: what a worker held goes with it, and a lease that outlives it harms nothing.
func TestAWorkerThatLeavesTakesItsClaimsAlong(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode = "enforce" })
	old := r.Feed("w0")
	old.Apply(start, stored(1, 0, prompt(160), 16))
	l := pick(t, r, start, eligible(161))
	r.Publish(fleetOf(2)[1:])
	if got := pick(t, r, start, eligible(161)).Target().ID; got != "w1" {
		t.Fatalf("chose %s, which has left", got)
	}
	l.Finish(start, Outcome{PromptTokens: 161})
	old.Apply(start, stored(2, 100, prompt(160), 16))
	if got := r.index.Stats(start); len(got) != 1 || got[0].Worker != "w1" {
		t.Errorf("the index still knows %+v", got)
	}
}

func TestAnAnswerAuditsTheClaimItWasSentWith(t *testing.T) { // rows 16 and 17
	r := newRouter(t, 2, func(c *Config) { c.CacheMode = "enforce" })
	for i := range 2 {
		r.Observe(name(i), idle(start))
	}
	feed := r.Feed("w0")
	certificate := func() prefix.Word {
		receipt := pick(t, r, start, eligible(1601)).Receipt()
		x, _ := receipt.Candidate("w0")
		return x.Certificate
	}
	feed.Apply(start, stored(1, 0, prompt(1600), 16))
	l := pick(t, r, start, eligible(1601))
	if l.Target().ID != "w0" {
		t.Fatal("the owner was not chosen")
	}
	if l.Finish(start, Outcome{PromptTokens: 1601, CachedTokens: 1600}); certificate() != prefix.Certified {
		t.Errorf("a claim that held ended the certificate: %s", certificate())
	}
	l = pick(t, r, start, Request{Tokens: prompt(1601), Chat: true, Streaming: true, PlainText: true, Exclude: []string{"w1"}})
	if l.Finish(start, Outcome{PromptTokens: 1601, CachedTokens: 16}); certificate() != prefix.Refuted {
		t.Errorf("a false claim left the certificate: %s", certificate())
	}
	feed.Apply(start, stored(2, 0, prompt(1600), 16))
	l = pick(t, r, start, Request{Tokens: prompt(1601), PlainText: true, Exclude: []string{"w1"}})
	if l.Finish(start, Outcome{PromptTokens: 1602}); certificate() != prefix.Tokenizer {
		t.Errorf("other token counts left the certificate: %s", certificate())
	}
}

func TestAFailedAnswerAuditsNothing(t *testing.T) {
	r := newRouter(t, 1, func(c *Config) { c.CacheMode = "enforce" })
	r.Feed("w0").Apply(start, stored(1, 0, prompt(1600), 16))
	l := pick(t, r, start, eligible(1601))
	l.Finish(start.Add(time.Second), Outcome{PromptTokens: 3, Error: "aborted"})
	if s := r.index.Stats(start)[0]; !s.Certified || s.Audits != [3]uint64{} {
		t.Errorf("%+v", s)
	}
}
