package routing

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"leeway/routing/prefix"
)

// script drives a router through a random life: loads come and fail, events are lost, workers restart, requests come
// and go. Two routers given the same seed live the same life. It returns what was chosen.
func script(t *testing.T, mode string, seed uint64) (chosen []string, r *Router) {
	const workers = 6
	r = newRouter(t, workers, func(c *Config) { c.CacheMode = mode; c.LoadScore = []string{"v1", "v2"}[seed%2] })
	chance := rand.New(rand.NewPCG(seed, 3))
	sequence := make([]uint64, workers)
	var leases []*Lease
	now := start
	for range 400 {
		now = now.Add(time.Duration(chance.IntN(200)) * time.Millisecond)
		i := chance.IntN(workers)
		feed := r.Feed(name(i))
		switch chance.IntN(10) {
		case 0:
			r.Observe(name(i), Load{TakenAt: now.Add(-20 * time.Millisecond), RankCount: chance.IntN(2), Ranks: []RankLoad{{
				Running: chance.IntN(5), Waiting: chance.IntN(3), WaitingUncached: 500 * chance.IntN(4), Usage: chance.Float64(),
			}}})
		case 1:
			r.Forget(name(i))
		case 2, 3:
			sequence[i] += uint64(1 + chance.IntN(20)/19) // at times a gap
			feed.Apply(now, stored(sequence[i], 0, prompt(16*chance.IntN(100)), 16))
		case 4:
			feed.Disconnected()
		case 5:
			if len(leases) > 0 {
				j := chance.IntN(len(leases))
				leases[j].FirstToken(now)
				leases[j].Finish(now, Outcome{PromptTokens: leases[j].receipt.PromptTokens, CachedTokens: 16 * chance.IntN(100)})
				leases = append(leases[:j], leases[j+1:]...)
			}
		default:
			n := 1 + chance.IntN(1600)
			l := pick(t, r, now, Request{Tokens: prompt(n), Chat: true, Streaming: chance.IntN(4) > 0, PlainText: true})
			leases, chosen = append(leases, l), append(chosen, l.Target().ID)
			if got := l.Receipt(); got.Slack < 0 {
				t.Fatalf("slack %v: %+v", got.Slack, got)
			}
		}
	}
	for _, l := range leases {
		l.Release()
	}
	return chosen, r
}

// cases G1, D26; invariant 5
func TestShadowChoosesWhatOffChooses(t *testing.T) {
	differed := 0
	for seed := range uint64(30) {
		off, _ := script(t, "off", seed)
		shadow, r := script(t, "shadow", seed)
		for i := range off {
			if off[i] != shadow[i] {
				t.Fatalf("seed %d: request %d went to %s in off, to %s in shadow", seed, i, off[i], shadow[i])
			}
		}
		differed += len(r.Decisions(1000, "", true))
	}
	if differed == 0 {
		t.Error("the preference never differed: the test shows nothing")
	}
}

// In shadow a tie goes to the base choice too: what is counted as changed is what a cache would change.
func TestShadowChangesNothingWithoutACache(t *testing.T) {
	r := newRouter(t, 4, func(c *Config) { c.CacheMode = "shadow" })
	r.Feed("w0").Apply(start, stored(1, 0, prompt(160)[80:], 16))
	for n := range 50 {
		now := start.Add(time.Duration(n) * time.Millisecond)
		for i := range 4 {
			r.Observe(name(i), idle(now))
		}
		got := pick(t, r, now, eligible(1601)).Receipt()
		if got.Preferred != got.Base || got.Against != got.Base {
			t.Fatalf("base %s, preferred %s, against %s", got.Base, got.Preferred, got.Against)
		}
	}
	if len(r.Decisions(100, "", true)) > 0 {
		t.Error("changed decisions are listed")
	}
}

// case D26
func TestTwoGatewaysThatSeeTheSameChooseTheSame(t *testing.T) {
	for seed := range uint64(10) {
		one, _ := script(t, "enforce", seed)
		other, _ := script(t, "enforce", seed)
		if !slices.Equal(one, other) {
			t.Fatalf("seed %d: the choices differ", seed)
		}
	}
}

// case D26. Owners that are as good as each other are drawn from.
func TestTwoGatewaysDrawTheSameOwners(t *testing.T) {
	draws := func(seed uint64) (chosen []string) {
		r := newRouter(t, 5, func(c *Config) { c.CacheMode, c.Seed = "enforce", seed })
		for n := range 40 {
			now := start.Add(time.Duration(n) * time.Millisecond)
			for i := range 5 { // the first is the base choice and owns nothing
				r.Observe(name(i), waiting(now, min(i, 1), 100*min(i, 1)))
				if n == 0 && i > 0 {
					r.Feed(name(i)).Apply(now, stored(1, 0, prompt(160000), 16))
				}
			}
			l := pick(t, r, now, eligible(160000))
			chosen = append(chosen, l.Target().ID)
			l.Release()
		}
		return chosen
	}
	one, same, other := draws(7), draws(7), draws(8)
	if !slices.Equal(one, same) || slices.Equal(one, other) || slices.Contains(one, "w0") {
		t.Errorf("seed 7: %v and %v; seed 8: %v", one, same, other)
	}
}

// invariant 1
func TestAllAccountsAreZeroAtRest(t *testing.T) {
	for _, mode := range modeNames {
		_, r := script(t, mode, 5)
		for id, s := range r.fleet.Load().byID {
			if s.inFlight != 0 || s.sent.prefill != 0 || s.shadow.prefill != 0 || s.held.first != nil {
				t.Errorf("%s: %s: %+v", mode, id, s.station)
			}
			s.sent.retire(start.Add(time.Hour))
			s.shadow.retire(start.Add(time.Hour))
			if s.sent.tokens != 0 || s.shadow.tokens != 0 || s.sent.requests != 0 || s.shadow.requests != 0 {
				t.Errorf("%s: %s keeps credits that no sample is older than", mode, id)
			}
		}
	}
}

func TestEverythingAtOnce(t *testing.T) {
	r := newRouter(t, 8, func(c *Config) { c.CacheMode = "enforce" })
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range uint64(200) {
				now := start.Add(time.Duration(n) * time.Millisecond)
				r.Observe(name(i), idle(now))
				r.Feed(name(i)).Apply(now, stored(n+1, 0, prompt(16*int(n)), 16))
				l, err := r.Pick(now, Request{Model: "m", ID: fmt.Sprint(i, n), Tokens: prompt(3000), Chat: true, Streaming: true, PlainText: true})
				if err != nil {
					t.Error(err)
					return
				}
				l.FirstToken(now)
				l.Finish(now, Outcome{PromptTokens: 3000, CachedTokens: 2992})
				r.SetMode(Mode(n % 3))
				r.Decisions(5, "", false)
				if n%50 == 0 {
					r.Publish(fleetOf(8))
				}
			}
		})
	}
	all.Wait()
	for id, s := range r.fleet.Load().byID {
		if s.inFlight != 0 || s.sent.prefill != 0 || s.shadow.prefill != 0 {
			t.Errorf("%s is not at rest: %+v", id, s.station)
		}
	}
}

func TestAModeChangeTakesEffectWithTheNextDecision(t *testing.T) {
	r := newRouter(t, 2, nil)
	for i := range 2 {
		r.Observe(name(i), idle(start))
	}
	r.Feed("w0").Apply(start, stored(1, 0, prompt(64000), 16))
	r.Feed("w1").Apply(start, stored(1, 1<<20, []uint32{9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, 16))
	q := Request{Tokens: prompt(64000), Chat: true, Streaming: true, PlainText: true}
	for _, m := range []Mode{Off, Shadow, Enforce, Off} {
		r.SetMode(m)
		r.Observe("w0", Load{TakenAt: start.Add(time.Hour), RankCount: 1, Ranks: []RankLoad{{WaitingUncached: 2000, GenThroughput: 1000}}})
		r.Observe("w1", idle(start.Add(time.Hour)))
		l, err := r.Pick(start.Add(time.Second), withModel(q))
		if err != nil {
			t.Fatal(err)
		}
		if want := map[Mode]string{Off: "w1", Shadow: "w1", Enforce: "w0"}[m]; l.Target().ID != want {
			t.Errorf("%s: chose %s, want %s", m, l.Target().ID, want)
		}
		if got := l.Receipt(); m != Off && got.Preferred != "w0" {
			t.Errorf("%s: prefers %s: %+v", m, got.Preferred, got)
		}
	}
}

func withModel(q Request) Request { q.Model = "m"; return q }

func TestAWorkerThatComesBackStartsAfresh(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode = "enforce" })
	r.Observe("w0", idle(start))
	l := pick(t, r, start, Request{Tokens: prompt(10)})
	r.Feed("w0").Apply(start, stored(1, 0, prompt(64), 16))
	fleet := fleetOf(2)
	fleet[0].Epoch, fleet[1].Epoch = 1, 1
	r.Publish(fleet)
	for id, s := range r.fleet.Load().byID {
		if s.inFlight != 0 || s.sample.usable {
			t.Errorf("%s remembers: %+v", id, s.station)
		}
	}
	var q prefix.Query
	q.Ask(start, prompt(64), []prefix.Source{{Feed: r.Feed("w0"), Rank: -1}})
	if q.Claims[0].Tokens != 0 {
		t.Error("the new worker claims the old one's cache")
	}
	l.Release() // of a worker that is gone
}

// case H3
func TestAnUnhealthyWorkersCertificateDies(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode = "enforce" })
	r.Feed("w0").Apply(start, stored(1, 0, prompt(64), 16))
	fleet := fleetOf(2)
	fleet[0].Healthy = false
	r.Publish(fleet)
	r.Publish(fleetOf(2))
	l := pick(t, r, start, Request{Tokens: prompt(64), Chat: true, Streaming: true, PlainText: true})
	receipt := l.Receipt()
	if got := find(receipt, "w0").Certificate; got != prefix.Unhealthy {
		t.Errorf("certificate: %s", got)
	}
}
