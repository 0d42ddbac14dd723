package workers

import (
	"net"
	"testing"
	"time"

	"leeway/routing/prefix"
	"leeway/workers/sim"
)

// part takes the relay down, so that the worker behind it is out of contact, until the function that it returns.
func (r *relay) part(t *testing.T) (rejoin func()) {
	t.Helper()
	at := r.listener.Addr().String()
	_ = r.listener.Close()
	r.cut()
	return func() {
		listener, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		r.listener = listener
		r.copies.Go(r.accept)
	}
}

// row 2a, case H3: to be out of contact is no sign of ill health, and no proof of health either.
func TestAWorkerOutOfContactForLongKeepsItsViewIfItsProcessIsTheSame(t *testing.T) {
	for _, c := range []struct {
		name, dialect string
		meanwhile     func(*testing.T, *sim.Worker)
		kept          bool
	}{
		{"the same process", "sglang", func(*testing.T, *sim.Worker) {}, true},
		{"another process, whose numbers go on", "sglang", func(t *testing.T, w *sim.Worker) {
			if err := w.Restart(true); err != nil {
				t.Error(err)
			}
		}, false},
		{"a process that does not say since when it runs", "vllm", func(*testing.T, *sim.Worker) {}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, other := startSim(t, sim.Options{Dialect: c.dialect, Speed: 20}), startSim(t, sim.Options{})
			between := startRelay(t, w.URL())
			url := "grpc://" + between.listener.Addr().String()
			pool, router := shadowPool(t, url, other.URL())
			time.Sleep(2500 * time.Millisecond) // a process is another one if it began seconds later
			for seed := range uint32(3) {
				ask(t, pool, url, promptOf(seed, 100))
			}
			waitClaim(t, router, url, promptOf(1, 100), prefix.Certified, 96)
			rejoin := between.part(t)
			waitState(t, pool, url, NotReady)
			c.meanwhile(t, w)
			before := w.Subscriptions()
			rejoin()
			waitState(t, pool, url, Ready)
			eventually(t, func() bool { return w.Subscriptions() > before }, "its events to be followed again")
			if _, cached := claim(router, url, promptOf(1, 100)); cached != 0 {
				t.Errorf("%d tokens are claimed before anything is proved", cached)
			}
			ask(t, pool, url, promptOf(7, 100))
			waitClaim(t, router, url, promptOf(7, 100), prefix.Certified, 96)
			want := 0
			if c.kept {
				want = 96
			}
			if _, cached := claim(router, url, promptOf(1, 100)); cached != want {
				t.Errorf("%d tokens of before are claimed, want %d", cached, want)
			}
		})
	}
}

// case D1. A cursor of 0 asks for everything, the gap among it.
func TestAGapBehindTheVeryFirstBatchIsNoLoop(t *testing.T) {
	w, pool, router := tracked(t, sim.Options{Servicer: "rust", Speed: 20})
	if err := w.SetFaults(sim.Fault{Kind: sim.FaultKVGap, N: 3, Nth: 2}); err != nil {
		t.Fatal(err)
	}
	ask(t, pool, w.URL(), promptOf(100, 100))
	for seed := range uint32(10) {
		ask(t, pool, w.URL(), promptOf(seed, 100))
		waitClaim(t, router, w.URL(), promptOf(seed, 100), prefix.Certified, 96)
	}
	if n := w.Subscriptions(); n > 2 {
		t.Errorf("%d subscriptions", n)
	}
}

// case D1. It loses batches before it remembers them: to ask for each costs more than to begin anew.
func TestAWorkerWhoseHistoryHasGapsIsNotAskedForEachOfThem(t *testing.T) {
	w, pool, router := warm(t, sim.Options{Servicer: "rust", Speed: 50})
	if err := w.SetFaults(sim.Fault{Kind: sim.FaultKVDrop, Every: 3}); err != nil {
		t.Fatal(err)
	}
	opened := w.Subscriptions()
	for seed := range uint32(30) {
		ask(t, pool, w.URL(), promptOf(100+seed, 100))
	}
	eventually(t, func() bool {
		ask(t, pool, w.URL(), promptOf(1000, 100))
		word, _ := claim(router, w.URL(), promptOf(1, 100))
		return word == prefix.Certified
	}, "a certificate")
	if again := w.Subscriptions() - opened; again > 2 {
		t.Errorf("%d subscriptions", again)
	}
}
