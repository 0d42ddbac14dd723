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

// A gap has us open the stream again, whatever the worker says of its process; the other ranks are as they were. case D18
func TestAGapOfOneRankCostsTheOthersNothing(t *testing.T) {
	for _, dialect := range dialects {
		for _, kind := range []sim.FaultKind{sim.FaultKVGap, sim.FaultKVDrop} {
			t.Run(fmt.Sprint(dialect, " ", kind), func(t *testing.T) {
				w := startSim(t, sim.Options{Ranks: 2, Speed: 20, Dialect: string(dialect)})
				cfg := quick(w.URL())
				cfg.DPAware = true
				pool, router := startPool(t, cfg)
				router.SetMode(routing.Shadow)
				waitState(t, pool, w.URL(), Ready)
				followed(t, w)
				first, second := rankID(w.URL(), 0), rankID(w.URL(), 1)
				ask(t, pool, first, promptOf(1, 100))
				ask(t, pool, second, promptOf(2, 100))
				waitClaim(t, router, first, promptOf(1, 100), prefix.Certified, 96)
				waitClaim(t, router, second, promptOf(2, 100), prefix.Certified, 96)
				opened := w.Subscriptions()
				if err := w.SetFaults(sim.Fault{Kind: kind, Times: 1}); err != nil {
					t.Fatal(err)
				}
				for i := uint32(3); w.Subscriptions() == opened; i++ {
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
	w := startSim(t, sim.Options{Ranks: 2, Speed: 1})
	cfg := quick(w.URL())
	cfg.DPAware = true
	pool, router := startPool(t, cfg)
	router.SetMode(routing.Shadow)
	waitState(t, pool, w.URL(), Ready)
	followed(t, w)
	idle, busy := rankID(w.URL(), 0), rankID(w.URL(), 1)
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
