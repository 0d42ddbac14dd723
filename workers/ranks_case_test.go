package workers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"leeway/routing"
	"leeway/routing/prefix"
	"leeway/workers/sim"
)

// ranked is a followed worker of two ranks, which are chosen one by one.
func ranked(t *testing.T, o sim.Options) (w *sim.Worker, pool *Pool, router *routing.Router, first, second string) {
	t.Helper()
	o.Ranks = 2
	w = startSim(t, o)
	cfg := quick(w.URL())
	cfg.DPAware = true
	pool, router = startPool(t, cfg)
	router.SetMode(routing.Shadow)
	waitState(t, pool, w.URL(), Ready)
	followed(t, w)
	return w, pool, router, rankID(w.URL(), 0), rankID(w.URL(), 1)
}

// case D18, H5
func TestEachRankClaimsForItselfWhereRanksAreChosen(t *testing.T) {
	_, pool, router, first, second := ranked(t, sim.Options{Speed: 20, FirstSequence: 40})
	ask(t, pool, second, promptOf(1, 100))
	waitClaim(t, router, second, promptOf(1, 100), prefix.Certified, 96)
	waitClaim(t, router, first, promptOf(1, 100), prefix.Warming, 0)
	ask(t, pool, first, promptOf(2, 100))
	waitClaim(t, router, first, promptOf(2, 100), prefix.Certified, 96)
	waitClaim(t, router, first, promptOf(1, 100), prefix.Certified, 0)
	if cached := ask(t, pool, second, promptOf(1, 100)); cached != 96 {
		t.Errorf("rank 1 had %d tokens, 96 were claimed", cached)
	}
}

// A gap has us open the stream again, whatever the worker says of its process; the other ranks are as they were. case D18
func TestAGapOfOneRankCostsTheOthersNothing(t *testing.T) {
	for _, dialect := range dialects {
		for _, kind := range []sim.FaultKind{sim.FaultKVGap, sim.FaultKVDrop} {
			t.Run(fmt.Sprint(dialect, " ", kind), func(t *testing.T) {
				w, pool, router, first, second := ranked(t, sim.Options{Speed: 20, Dialect: string(dialect)})
				ask(t, pool, first, promptOf(1, 100))
				ask(t, pool, second, promptOf(2, 100))
				waitClaim(t, router, first, promptOf(1, 100), prefix.Certified, 96)
				waitClaim(t, router, second, promptOf(2, 100), prefix.Certified, 96)
				opened := w.Subscriptions()
				if err := w.SetFaults(sim.Fault{Kind: kind, Times: 1}); err != nil {
					t.Fatal(err)
				}
				for i := uint32(3); i < 50 && w.Subscriptions() == opened; i++ {
					ask(t, pool, second, promptOf(i, 100))
				}
				followed(t, w)
				ask(t, pool, first, promptOf(99, 100)) // the next number proves the view
				waitClaim(t, router, first, promptOf(1, 100), prefix.Certified, 96)
			})
		}
	}
}

// case H4. Of several ranks some may have been flushed before one refused.
func TestAFlushThatOneRankRefusesEndsTheClaimsOfAll(t *testing.T) {
	w, pool, router, idle, busy := ranked(t, sim.Options{Speed: 1})
	ask(t, pool, idle, promptOf(1, 100))
	waitClaim(t, router, idle, promptOf(1, 100), prefix.Certified, 96)
	req := request(10000)
	req.Tokens = promptOf(2, 100)
	stream, err := pool.Generate(t.Context(), busy, req)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	waitClaim(t, router, busy, promptOf(2, 100), prefix.Certified, 96)
	if err := pool.Flush(t.Context(), w.URL(), time.Second); err == nil {
		t.Error("it was not refused")
	}
	if word, cached := claim(router, idle, promptOf(1, 100)); cached > 0 {
		t.Errorf("%s for %d tokens", word, cached)
	}
}

func TestAWorkerOfAbsurdlyManyRanksStaysOutside(t *testing.T) {
	w, other := startSim(t, sim.Options{}), startSim(t, sim.Options{})
	if err := w.SetFaults(sim.Fault{Kind: sim.FaultRanks, N: 500_000_000}); err != nil {
		t.Fatal(err)
	}
	cfg := quick(w.URL(), other.URL())
	cfg.DPAware = true
	pool, _ := startPool(t, cfg)
	waitState(t, pool, other.URL(), Ready)
	eventually(t, func() bool {
		s, _ := pool.Worker(w.URL())
		return strings.Contains(s.Problem, "500000000 data-parallel ranks")
	}, "the reason")
	if s, _ := pool.Worker(w.URL()); s.State != Pending {
		t.Errorf("state %s", s.State)
	}
	if err := w.SetFaults(); err != nil {
		t.Fatal(err)
	}
	waitState(t, pool, w.URL(), Ready)
}
