package workers

import (
	"strings"
	"testing"
	"time"

	"leeway/routing/prefix"
	"leeway/workers/sim"
)

// Engines answer their own health check while they still warm up, and say by the standard health service that they do.
func TestAWorkerThatWarmsUpIsNotReady(t *testing.T) {
	for _, dialect := range dialects {
		w := startSim(t, sim.Options{Dialect: string(dialect)})
		if err := w.SetFaults(sim.Fault{Kind: sim.FaultNotServing}); err != nil {
			t.Fatal(err)
		}
		pool, _ := startPool(t, quick(w.URL()))
		eventually(t, func() bool { s, _ := pool.Worker(w.URL()); return strings.Contains(s.Problem, "warms up") }, "%s: the reason", dialect)
		if s, _ := pool.Worker(w.URL()); s.State != Pending || w.Subscriptions() > 0 {
			t.Errorf("%s: %s", dialect, s.State)
		}
		if err := w.SetFaults(); err != nil {
			t.Fatal(err)
		}
		waitState(t, pool, w.URL(), Ready)
	}
}

func TestAHealthServiceThatSaysNothingKeepsNobodyOut(t *testing.T) {
	for _, fault := range []sim.Fault{
		{Kind: sim.FaultStall, Method: "Check"}, {Kind: sim.FaultError, Method: "Check", Code: "INTERNAL"}, {Kind: sim.FaultUnimplemented, Method: "Check"},
	} {
		w := startSim(t, sim.Options{})
		if err := w.SetFaults(fault); err != nil {
			t.Fatal(err)
		}
		pool, _ := startPool(t, quick(w.URL()))
		waitState(t, pool, w.URL(), Ready)
	}
}

// A supervisor may have another process there before the worker is missed.
func TestAProcessThatTakesAnothersPlaceIsAskedWhetherItServes(t *testing.T) {
	for _, dialect := range []string{"sglang", "vllm"} { // vLLM's does not say since when it runs
		w := startSim(t, sim.Options{Dialect: dialect, Speed: 20})
		pool, _ := startPool(t, quick(w.URL()))
		waitState(t, pool, w.URL(), Ready)
		followed(t, w)
		time.Sleep(300 * time.Millisecond) // else its start tells it from the next by too little
		if err := w.SetFaults(sim.Fault{Kind: sim.FaultNotServing}); err != nil {
			t.Fatal(err)
		}
		if err := w.Restart(false); err != nil {
			t.Fatal(err)
		}
		waitState(t, pool, w.URL(), NotReady)
		if err := w.SetFaults(); err != nil {
			t.Fatal(err)
		}
		waitState(t, pool, w.URL(), Ready)
	}
}

// row 2a: that the numbers of another process go on where those of the one before have ended proves nothing.
func TestAProcessThatIsNotProvedToBeTheSameClaimsNothingOfTheOneBefore(t *testing.T) {
	w, pool, router := warm(t, sim.Options{Dialect: "vllm", Speed: 20})
	before, _ := router.Feed(w.URL()).Cursor(0)
	late := sim.Fault{Kind: sim.FaultDelay, Method: "SubscribeKvEvents", For: sim.Duration(time.Second), Times: 1}
	if err := w.SetFaults(late); err != nil {
		t.Fatal(err)
	}
	if err := w.Restart(false); err != nil {
		t.Fatal(err)
	}
	for n := uint32(10); ; n++ { // until the next number is the one after the last that was heard
		req := request(0)
		req.Tokens = promptOf(n, 100)
		eventually(t, func() bool { return answers(t, pool, w.URL(), req) }, "the new process to answer")
		if n-9 >= uint32(before) {
			break
		}
	}
	followed(t, w)
	seed := uint32(100)
	eventually(t, func() bool {
		ask(t, pool, w.URL(), promptOf(seed, 100))
		seed++
		if word, cached := claim(router, w.URL(), promptOf(1, 100)); word == prefix.Certified && cached > 0 {
			t.Fatalf("%d tokens of the process before are claimed", cached)
		}
		word, _ := claim(router, w.URL(), prompt(10))
		return word == prefix.Certified
	}, "a new certificate")
}
