package routing

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newRouter returns a router with a fleet of n healthy workers w0, w1, … of model m.
func newRouter(t testing.TB, n int, change func(*Config)) *Router {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Seed = 1
	if change != nil {
		change(&cfg)
	}
	r, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.Publish(fleetOf(n))
	return r
}

func fleetOf(n int) []Target {
	fleet := make([]Target, n)
	for i := range fleet {
		fleet[i] = Target{ID: name(i), Model: "m", Rank: -1, Ranks: 1, Healthy: true, GRPC: true}
	}
	return fleet
}

func name(i int) string { return fmt.Sprint("w", i) }

func prompt(n int) []uint32 {
	tokens := make([]uint32, n)
	for i := range tokens {
		tokens[i] = uint32(i)
	}
	return tokens
}

func pick(t testing.TB, r *Router, at time.Time, req Request) *Lease {
	t.Helper()
	if req.Model == "" {
		req.Model = "m"
	}
	lease, err := r.Pick(at, req)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// idle is the load of a worker of one rank with nothing to do.
func idle(at time.Time) Load {
	return Load{TakenAt: at, RankCount: 1, Ranks: []RankLoad{{GenThroughput: 1000}}}
}

// cases C1, C2, C20
func TestRequestsThatArriveTogetherSpread(t *testing.T) {
	for _, c := range []struct {
		score   string
		sampled int // workers that have reported their load
	}{{"v1", 4}, {"v2", 4}, {"v1", 0}, {"v2", 0}} {
		r := newRouter(t, 4, func(cfg *Config) { cfg.LoadScore = c.score })
		for i := range c.sampled {
			r.Observe(name(i), idle(start))
		}
		var wait sync.WaitGroup
		for range 100 {
			wait.Go(func() {
				if _, err := r.Pick(start, Request{Model: "m", Tokens: prompt(32000)}); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		for id, s := range r.fleet.Load().byID {
			if s.inFlight != 25 {
				t.Errorf("%+v: %s has %d requests of 100, want 25", c, id, s.inFlight)
			}
		}
	}
}

func TestRefusalsSayWhy(t *testing.T) {
	r := newRouter(t, 1, func(c *Config) { c.MaxWaiting = 1 })
	if _, err := r.Pick(start, Request{Model: "other"}); !errors.Is(err, ErrNoTarget) {
		t.Errorf("unknown model: %v", err)
	}
	r.Observe("w0", Load{TakenAt: start, RankCount: 1, Ranks: []RankLoad{{Waiting: 1}}})
	if _, err := r.Pick(start, Request{Model: "m"}); !errors.Is(err, ErrSaturated) {
		t.Errorf("full queue: %v", err)
	}
	fleet := fleetOf(1)
	fleet[0].Healthy = false
	r.Publish(fleet)
	if _, err := r.Pick(start, Request{Model: "m"}); !errors.Is(err, ErrNoHealthy) {
		t.Errorf("no healthy worker: %v", err)
	}
}

func TestALeaseIsReleasedOnce(t *testing.T) {
	r := newRouter(t, 1, nil)
	lease := pick(t, r, start, Request{Tokens: prompt(10)})
	lease.Finish(start, Outcome{})
	lease.Finish(start, Outcome{})
	lease.Release()
	s := r.fleet.Load().byID["w0"]
	if s.inFlight != 0 || s.sent.prefill != 0 || s.shadow.prefill != 0 || s.held.first != nil {
		t.Errorf("not at rest: %+v", s.station)
	}
}

func TestAFailedWorkerIsAvoidedWhileAnotherIsLeft(t *testing.T) {
	r := newRouter(t, 2, nil)
	for range 20 {
		lease := pick(t, r, start, Request{Exclude: []string{"w0"}})
		if lease.Target().ID != "w1" {
			t.Fatal("chose the worker that had failed")
		}
	}
	pick(t, r, start, Request{Exclude: []string{"w0", "w1"}})
}

func TestSettingsWithoutEffectAreNamed(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   []string
	}{
		{nil, nil},
		{func(c *Config) { c.Policy, c.CacheMode = "random", "enforce" }, []string{"least_load_cache_mode"}},
		{func(c *Config) { c.Policy, c.AssignmentMode, c.CacheMode = "manual", "delegate", "enforce" }, nil},
		{func(c *Config) { c.StickySessions, c.AssignmentMode, c.CacheMode = true, "min_load", "shadow" }, nil},
		{func(c *Config) { c.AssignmentMode = "min_load" }, []string{"assignment_mode"}},
		{func(c *Config) { c.MeanDecodeTokens = 2048 }, []string{"least_load_mean_remaining_decode_tokens"}},
		{func(c *Config) { c.CacheCost, c.PollSecs = "calibrated", 1 }, []string{"least_load_cache_cost"}},
		{func(c *Config) { c.CacheCost, c.PollSecs = "calibrated", 0.5 }, nil},
		{func(c *Config) { c.CacheCost, c.PollSecs, c.Unmonitored = "calibrated", 10, true }, nil},
	} {
		if got := slices.Collect(maps.Keys(newRouter(t, 1, c.change).Unused())); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
