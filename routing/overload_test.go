package routing

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// protected is a router over three workers that takes 4 waiting requests for a long queue.
func protected(t *testing.T, change func(*Config)) *Router {
	return newRouter(t, 3, func(c *Config) {
		c.OverloadWaiting = 4
		c.LoadMaxAgeSecs = 10
		if change != nil {
			change(c)
		}
	})
}

func TestAnOverloadedWorkerIsLeftOutWhileAnotherIsNot(t *testing.T) {
	for name, load := range map[string]Load{
		"by its queue":   {TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Waiting: 4}}},
		"by its cache":   {TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Usage: 0.95, ActiveUsage: 0.9, HasActiveUsage: true}}},
		"over two ranks": {TakenAt: start, RankCount: 2, Ranks: []RankLoad{{Waiting: 2}, {Waiting: 2}}},
	} {
		for _, policy := range []string{"least_load", "round_robin", "consistent_hashing"} {
			r := protected(t, func(c *Config) { c.Policy, c.OverloadUsage = policy, 0.9 })
			r.Observe("w1", load)
			for range 30 {
				l := pick(t, r, start.Add(time.Second), Request{Tokens: prompt(10), Key: "k"})
				if l.Target().ID == "w1" {
					t.Fatalf("%s, %s: an overloaded worker was chosen", policy, name)
				}
				receipt := l.Receipt()
				if _, among := receipt.Candidate("w1"); among {
					t.Fatalf("%s, %s: an overloaded worker is a candidate", policy, name)
				}
			}
		}
	}
}

func TestOverloadEndsWithItsSample(t *testing.T) {
	over := Load{TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Waiting: 9}}}
	for name, end := range map[string]func(r *Router) time.Time{
		"a better one": func(r *Router) time.Time {
			r.Observe("w0", idle(start.Add(time.Second)))
			return start.Add(time.Second)
		},
		"a failed poll": func(r *Router) time.Time { r.Forget("w0"); return start.Add(time.Second) },
		"age":           func(*Router) time.Time { return start.Add(10 * time.Second) },
	} {
		r := protected(t, func(c *Config) { c.Policy = "round_robin" })
		r.Observe("w0", over)
		now := end(r)
		seen := map[string]bool{}
		for range 3 {
			seen[pick(t, r, now, Request{Tokens: prompt(10)}).Target().ID] = true
		}
		if !seen["w0"] {
			t.Errorf("after %s the worker is still left out", name)
		}
	}
}

func TestWhenAllAreOverloadedNobodyIsLeftOutOrTheRequestIsRefused(t *testing.T) {
	for _, shed := range []bool{false, true} {
		r := protected(t, func(c *Config) { c.OverloadShed = shed })
		for i := range 3 {
			r.Observe(name(i), Load{TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Waiting: 4 + i, WaitingUncached: 100 + i}}})
		}
		l, err := r.Pick(start, Request{Model: "m", Tokens: prompt(10)})
		if shed != errors.Is(err, ErrOverloaded) {
			t.Fatalf("shed %t: %v", shed, err)
		}
		counted := `smg_worker_overload_shed_total{stage="selection"} 1`
		if !shed {
			counted = "smg_worker_overload_fallback_total 1"
			if l.Target().ID != "w0" {
				t.Errorf("the least loaded of the overloaded was to be chosen, not %s", l.Target().ID)
			}
		}
		var text strings.Builder
		r.WriteMetrics(&text, start)
		for _, want := range []string{counted, `smg_workers_overloaded{model="m"} 3`} {
			if !strings.Contains(text.String(), want+"\n") {
				t.Errorf("shed %t: no %q in the metrics", shed, want)
			}
		}
	}
}

func TestProtectionWithoutThresholdsTakesThePublishedOnes(t *testing.T) {
	for _, c := range []struct {
		load  RankLoad
		taken bool
	}{{RankLoad{Waiting: 7, Usage: 0.79}, true}, {RankLoad{Waiting: 8}, false}, {RankLoad{Usage: 0.8}, false}} {
		r := newRouter(t, 2, func(cfg *Config) { cfg.OverloadProtection, cfg.Policy = true, "round_robin" })
		r.Observe("w0", Load{TakenAt: start, RankCount: 1, Ranks: []RankLoad{c.load}})
		first, second := pick(t, r, start, Request{}), pick(t, r, start, Request{})
		if taken := first.Target() != second.Target(); taken != c.taken {
			t.Errorf("%+v: taken %t", c.load, taken)
		}
	}
}
