package workers

import (
	"testing"
	"time"

	"leeway/routing"
	"leeway/routing/prefix"
	"leeway/workers/sim"
)

func (r *relay) url() string { return "grpc://" + r.listener.Addr().String() }

// withHistory is a worker behind a relay that can claim promptOf(1, 100), and whose servicer tells all of its history to
// who subscribes anew, beside another worker.
func withHistory(t *testing.T, dialect string, change func(*Config)) (w *sim.Worker, between *relay, pool *Pool, router *routing.Router, other string) {
	t.Helper()
	w = startSim(t, sim.Options{Dialect: dialect, Servicer: "rust", Speed: 20})
	between, other = startRelay(t, w.URL()), startSim(t, sim.Options{Dialect: dialect}).URL()
	cfg := quick(between.url(), other)
	change(&cfg)
	pool, router = startPool(t, cfg)
	router.SetMode(routing.Shadow)
	waitState(t, pool, between.url(), Ready)
	followed(t, w)
	ask(t, pool, between.url(), promptOf(1, 100))
	waitClaim(t, router, between.url(), promptOf(1, 100), prefix.Certified, 96)
	return w, between, pool, router, other
}

// claimsNothing looks for a while whether a worker claims anything of promptOf(1, 100).
func claimsNothing(t *testing.T, router *routing.Router, worker string, lasting time.Duration) {
	t.Helper()
	for end := time.Now().Add(lasting); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if word, cached := claim(router, worker, promptOf(1, 100)); cached > 0 {
			t.Fatalf("%s for %d tokens", word, cached)
		}
	}
}

// case H3. A servicer that keeps a history goes on to tell what its dead engine held, to whoever subscribes anew.
func TestADeadEnginesHistoryIsNotBelieved(t *testing.T) {
	eachDialect(t, func(t *testing.T, dialect string) {
		w, between, _, router, _ := withHistory(t, dialect, func(c *Config) { c.FailureThreshold = 1000 }) // it stays in the fleet
		url := between.url()
		if err := w.SetFaults(sim.Fault{Kind: sim.FaultUnhealthy}); err != nil {
			t.Fatal(err)
		}
		eventually(t, router.Feed(url).Unwell, "a probe to fail")
		opened := w.Subscriptions()
		for range 5 {
			between.cut()
			claimsNothing(t, router, url, 300*time.Millisecond)
		}
		if w.Subscriptions() != opened {
			t.Error("a dead engine's events are asked for")
		}
		if err := w.SetFaults(); err != nil {
			t.Fatal(err)
		}
		waitClaim(t, router, url, promptOf(1, 100), prefix.Certified, 96)
	})
}

// case H3. That a worker is wanted again, for want of another, is no sign that it is well.
func TestAnUnwellWorkerThatIsTheLastClaimsNothing(t *testing.T) {
	w, between, pool, router, other := withHistory(t, "sglang", func(c *Config) { c.HealthInterval, c.WedgeTime = 2, 0.5 })
	if err := w.SetFaults(sim.Fault{Kind: sim.FaultUnhealthy}, sim.Fault{Kind: sim.FaultStall}); err != nil {
		t.Fatal(err)
	}
	hold(t, pool, between.url(), 5, true, true)
	eventually(t, func() bool { return stalledOf(pool, between.url()) == "wedged" }, "it to be wedged")
	eventually(t, router.Feed(between.url()).Unwell, "a probe to fail")
	between.cut()
	if _, err := pool.Remove(other); err != nil {
		t.Fatal(err)
	}
	claimsNothing(t, router, between.url(), time.Second)
}

// A worker that has said that it is not well is asked until it is, late as it may answer.
func TestAWorkerThatIsWellAgainIsBelievedSoon(t *testing.T) {
	for name, faults := range map[string][]sim.Fault{
		"after a late answer": {{Kind: sim.FaultStall, Method: "HealthCheck", Times: 1}},
		"after it was lost":   nil,
	} {
		t.Run(name, func(t *testing.T) {
			w, between, pool, router, _ := withHistory(t, "vllm", func(c *Config) {
				c.HealthInterval = 60
				if faults == nil {
					c.FailureThreshold = 1
				}
			})
			if err := w.SetFaults(sim.Fault{Kind: sim.FaultUnhealthy}, sim.Fault{Kind: sim.FaultError, Code: "INTERNAL", Times: 1}); err != nil {
				t.Fatal(err)
			}
			answers(t, pool, between.url(), request(10)) // which has it probed
			eventually(t, router.Feed(between.url()).Unwell, "a probe to fail")
			if faults == nil {
				waitState(t, pool, between.url(), NotReady)
			}
			if err := w.SetFaults(faults...); err != nil {
				t.Fatal(err)
			}
			seed := uint32(10)
			eventually(t, func() bool {
				seed++
				req := request(0)
				req.Tokens = promptOf(seed, 100)
				answers(t, pool, between.url(), req)
				word, cached := claim(router, between.url(), promptOf(seed, 100))
				return word == prefix.Certified && cached == 96
			}, "a certificate")
		})
	}
}
