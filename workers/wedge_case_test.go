package workers

import (
	"testing"
	"time"

	"leeway/routing"
	"leeway/workers/engine"
	"leeway/workers/sim"
)

// hasty is a pool of two that takes a worker for wedged after half a second; the first is held up by a fault.
func hasty(t *testing.T, fault sim.Fault) (*Pool, *routing.Router, [2]*sim.Worker) {
	t.Helper()
	canned := sim.Options{Canned: true, TokenInterval: time.Millisecond}
	pool, router, fleet := brittle(t, func(c *Config) { c.WedgeTime = 0.5 }, canned, canned)
	if err := fleet[0].SetFaults(fault); err != nil {
		t.Fatal(err)
	}
	return pool, router, [2]*sim.Worker{fleet[0], fleet[1]}
}

// hold keeps n requests open on a worker; where it reads, something waits for every next part of the answers.
func hold(t *testing.T, p *Pool, url string, n int, streamed, reads bool) {
	t.Helper()
	for range n {
		req := request(10)
		req.Stream = streamed
		s, err := p.Generate(t.Context(), url, req)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			var d engine.Delta
			for reads && s.Recv(&d) == nil {
			}
		}()
		t.Cleanup(func() { s.Close(); <-ended })
	}
}

func stalledOf(p *Pool, url string) string {
	s, _ := p.Worker(url)
	return s.Stalled
}

func TestAWorkerThatOwesTokensAndGivesNoneGetsNoMoreUntilItMoves(t *testing.T) {
	pool, router, fleet := hasty(t, sim.Fault{Kind: sim.FaultStall, After: 2, For: sim.Duration(4 * time.Second)})
	hold(t, pool, fleet[0].URL(), 4, true, true)
	eventually(t, func() bool { return stalledOf(pool, fleet[0].URL()) == "wedged" }, "the worker to seem wedged")
	eventually(t, func() bool { return picks(router, 20)[fleet[1].URL()] == 20 }, "all requests to go to the other worker")
	if s, _ := pool.Worker(fleet[0].URL()); s.State != Ready || s.Problem == "" {
		t.Errorf("status %+v", s)
	}
	if _, err := pool.Remove(fleet[1].URL()); err != nil {
		t.Fatal(err)
	}
	if chosen := picks(router, 20); chosen[fleet[0].URL()] != 20 {
		t.Errorf("with nobody else left: %v", chosen)
	}
	eventually(t, func() bool { return stalledOf(pool, fleet[0].URL()) == "" }, "the worker to move again")
}

// A request that is held open for a reason of its own is no sign of anything.
func TestHeldRequestsAreNotTakenForAWedge(t *testing.T) {
	stall := sim.Fault{Kind: sim.FaultStall, After: 2}
	for name, c := range map[string]struct {
		fault           sim.Fault
		n               int
		streamed, reads bool
	}{
		"a few streams":              {stall, 3, true, true},
		"whole answers that take":    {sim.Fault{Kind: sim.FaultDelay, For: sim.Duration(time.Minute)}, 6, false, true},
		"clients that read nothing":  {stall, 6, true, false},
		"streams that go on, slowly": {sim.Fault{Kind: sim.FaultTokenDelay, For: sim.Duration(300 * time.Millisecond)}, 6, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool, _, fleet := hasty(t, c.fault)
			hold(t, pool, fleet[0].URL(), c.n, c.streamed, c.reads)
			for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				if got := stalledOf(pool, fleet[0].URL()); got != "" {
					t.Fatal(got)
				}
			}
		})
	}
}
