package workers

import (
	"encoding/json"
	"testing"
	"time"

	"leeway/routing"
	"leeway/routing/prefix"
	"leeway/workers/engine"
	"leeway/workers/sim"
)

// candidate is what a receipt says of one worker.
type candidate struct {
	Worker      string
	Sampled     bool
	Certificate prefix.Word
	Cached      int
}

// considered returns what the router knows of a worker at this moment, from the receipt of a choice.
func considered(r *routing.Router, worker string, req routing.Request) (candidate, bool) {
	lease, err := r.Pick(time.Now(), req)
	if err != nil {
		return candidate{}, false
	}
	defer lease.Release()
	text, err := json.Marshal(lease.Receipt())
	if err != nil {
		return candidate{}, false
	}
	var receipt struct{ Candidates []candidate }
	if err := json.Unmarshal(text, &receipt); err != nil {
		return candidate{}, false
	}
	for _, c := range receipt.Candidates {
		if c.Worker == worker {
			return c, true
		}
	}
	return candidate{}, false
}

func sampled(r *routing.Router, worker string) bool {
	c, ok := considered(r, worker, routing.Request{Model: "demo", Tokens: prompt(10)})
	return ok && c.Sampled
}

func TestLoadsReachTheRouter(t *testing.T) {
	eachDialect(t, func(t *testing.T, dialect string) {
		_, router, w := readyPool(t, sim.Options{Dialect: dialect, NoKVEvents: true})
		eventually(t, func() bool { return sampled(router, w.URL()) }, "a sample")
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
	eventually(t, func() bool { return sampled(router, quickOne.URL()) }, "a sample")
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
	if sampled(router, slow.URL()) {
		t.Error("the slow worker has a sample")
	}
}

// case C3
func TestAFailedPollTakesTheSampleBack(t *testing.T) {
	_, router, w := readyPool(t, sim.Options{NoKVEvents: true})
	eventually(t, func() bool { return sampled(router, w.URL()) }, "a sample")
	for _, fault := range []sim.Fault{
		{Kind: sim.FaultNoLoads},
		{Kind: sim.FaultError, Method: "GetLoads", Code: "UNAVAILABLE"},
	} {
		if err := w.SetFaults(fault); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { return !sampled(router, w.URL()) }, "the sample to go")
		if err := w.SetFaults(); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool { return sampled(router, w.URL()) }, "a sample")
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
		{"fallback", []time.Duration{0}}, // the other rank never pushes
	} {
		clear(w.pushed)
		w.info.Ranks = 2
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
	eventually(t, func() bool { return sampled(router, w.URL()) }, "a pushed sample")
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

func TestALoneRankMayHaveAnyNumberAndOthersOnlyTheirs(t *testing.T) {
	pool, _ := startPool(t, quick("grpc://127.0.0.1:1"))
	w := pool.members[0]
	for ranks, records := range map[int]int{0: 1, 1: 1, 2: 2} {
		w.mu.Lock()
		w.info.Ranks = ranks
		clear(w.pushed)
		w.mu.Unlock()
		for rank := range int32(5000) {
			w.takePush(&engine.PushedLoad{RankLoad: engine.RankLoad{Rank: 4999 - rank}}, time.Now())
		}
		if _, complete := w.pushedLoad(routing.Target{Rank: -1, Ranks: max(ranks, 1)}); !complete || len(w.pushed) != records {
			t.Errorf("%d ranks: %d records, complete %t", ranks, len(w.pushed), complete)
		}
	}
}
