package workers

import (
	"testing"
	"time"

	"leeway/routing"
	"leeway/workers/engine"
	"leeway/workers/sim"
)

// sampleOf returns what the router knows of a worker's load at this moment.
func sampleOf(t *testing.T, r *routing.Router, worker string) (routing.Candidate, bool) {
	t.Helper()
	lease, err := r.Pick(time.Now(), routing.Request{Model: "demo", Tokens: prompt(10)})
	if err != nil {
		t.Fatal(err)
	}
	defer lease.Release()
	for _, c := range lease.Receipt().Candidates {
		if c.Worker == worker && c.Sampled {
			return c, true
		}
	}
	return routing.Candidate{}, false
}

func TestLoadsReachTheRouter(t *testing.T) {
	eachDialect(t, func(t *testing.T, dialect string) {
		_, router, w := readyPool(t, sim.Options{Dialect: dialect, NoKVEvents: true})
		eventually(t, func() bool { _, ok := sampleOf(t, router, w.URL()); return ok }, "a sample")
	})
}

func TestOneSlowWorkerDelaysNoOther(t *testing.T) {
	slow, quickOne := startSim(t, sim.Options{NoKVEvents: true}), startSim(t, sim.Options{NoKVEvents: true})
	if err := slow.SetFaults(sim.Fault{Kind: sim.FaultStall, Method: "GetLoads"}); err != nil {
		t.Fatal(err)
	}
	pool, router := startPool(t, quick(slow.URL(), quickOne.URL()))
	waitState(t, pool, slow.URL(), Ready)
	waitState(t, pool, quickOne.URL(), Ready)
	began := time.Now()
	eventually(t, func() bool { _, ok := sampleOf(t, router, quickOne.URL()); return ok }, "a sample")
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if _, ok := sampleOf(t, router, slow.URL()); ok {
		t.Error("the slow worker has a sample")
	}
}

// case C3
func TestAFailedPollTakesTheSampleBack(t *testing.T) {
	_, router, w := readyPool(t, sim.Options{NoKVEvents: true})
	eventually(t, func() bool { _, ok := sampleOf(t, router, w.URL()); return ok }, "a sample")
	for _, fault := range []sim.Fault{
		{Kind: sim.FaultNoLoads},
		{Kind: sim.FaultError, Method: "GetLoads", Code: "UNAVAILABLE"},
	} {
		if err := w.SetFaults(fault); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { _, ok := sampleOf(t, router, w.URL()); return !ok }, "the sample to go")
		if err := w.SetFaults(); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { _, ok := sampleOf(t, router, w.URL()); return ok }, "a sample")
	}
}

func TestPollingStopsWhilePushesAreFresh(t *testing.T) {
	w := newWorker(&Pool{}, Spec{URL: "grpc://push:1"}, 1)
	now := time.Now()
	for _, c := range []struct {
		want string
		ages []time.Duration
	}{
		{"poll", nil},
		{"skipped_fresh_push", []time.Duration{0, 900 * time.Millisecond}},
		{"fallback", []time.Duration{0, time.Second}},
	} {
		clear(w.pushed)
		for rank, age := range c.ages {
			w.pushed[int32(rank)] = pushedLoad{taken: now.Add(-age)}
		}
		if got := w.pollMode(now, time.Second); got != c.want {
			t.Errorf("ages %v: got %s, want %s", c.ages, got, c.want)
		}
	}
}

func TestPushedLoadsReachTheRouter(t *testing.T) {
	w := startSim(t, sim.Options{Servicer: string(sim.Rust), Speed: 20})
	if err := w.SetFaults(sim.Fault{Kind: sim.FaultNoLoads}); err != nil {
		t.Fatal(err)
	}
	pool, router := startPool(t, quick(w.URL()))
	waitState(t, pool, w.URL(), Ready)
	eventually(t, func() bool { _, ok := sampleOf(t, router, w.URL()); return ok }, "a pushed sample")
}

// A target of two ranks is only known once both have spoken, and is as old as the older word.
func TestAPushOfOneRankIsNoSampleOfTwo(t *testing.T) {
	w := newWorker(&Pool{}, Spec{URL: "grpc://push:2"}, 1)
	now := time.Now()
	pooled := routing.Target{Rank: -1, Ranks: 2}
	w.pushed[0] = pushedLoad{RankLoad: engine.RankLoad{Running: 1}, taken: now}
	if _, complete := w.pushedLoad(pooled); complete {
		t.Error("one rank stood for two")
	}
	w.pushed[1] = pushedLoad{RankLoad: engine.RankLoad{Running: 2}, taken: now.Add(-time.Second)}
	sample, complete := w.pushedLoad(pooled)
	if !complete || sample.RankCount != 2 || len(sample.Ranks) != 2 || !sample.TakenAt.Equal(now.Add(-time.Second)) {
		t.Errorf("got %+v, %v", sample, complete)
	}
	if alone, complete := w.pushedLoad(routing.Target{Rank: 1, Ranks: 2}); !complete || alone.Ranks[0].Running != 2 {
		t.Errorf("got %+v, %v", alone, complete)
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	load := engine.Load{RankCount: 3, Ranks: []engine.RankLoad{{Rank: 0}, {Rank: 1}}}
	if l := polledLoad(load, -1); l.RankCount == len(l.Ranks) {
		t.Error("a rank that was not listed is not missed")
	}
	if l := polledLoad(load, 2); len(l.Ranks) != 0 || l.RankCount != 1 {
		t.Errorf("a rank that was not listed has a load: %+v", l)
	}
}
