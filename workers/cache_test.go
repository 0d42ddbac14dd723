package workers

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"leeway/routing"
	"leeway/routing/prefix"
	"leeway/workers/engine"
	"leeway/workers/sim"
)

// shadowPool is a pool whose router computes what workers can claim.
func shadowPool(t *testing.T, urls ...string) (*Pool, *routing.Router) {
	t.Helper()
	pool, router := startPool(t, quick(urls...))
	router.SetMode(routing.Shadow)
	for _, url := range urls {
		waitState(t, pool, url, Ready)
	}
	return pool, router
}

// followed waits until a worker's events are listened to: what it computes before that is never heard of.
func followed(t *testing.T, w *sim.Worker) {
	t.Helper()
	eventually(t, func() bool { return w.Subscriptions() > 0 }, "the events of %s to be followed", w.URL())
}

// tracked is a worker whose events are followed, beside another one that stays empty.
func tracked(t *testing.T, o sim.Options) (*sim.Worker, *Pool, *routing.Router) {
	t.Helper()
	w, other := startSim(t, o), startSim(t, sim.Options{Dialect: o.Dialect})
	pool, router := shadowPool(t, w.URL(), other.URL())
	followed(t, w)
	return w, pool, router
}

// warm is one that holds promptOf(1, 100) and can claim it.
func warm(t *testing.T, o sim.Options) (*sim.Worker, *Pool, *routing.Router) {
	t.Helper()
	w, pool, router := tracked(t, o)
	ask(t, pool, w.URL(), promptOf(1, 100))
	waitClaim(t, router, w.URL(), promptOf(1, 100), prefix.Certified, 96)
	return w, pool, router
}

// claim is what a worker can prove to hold of a prompt now.
func claim(r *routing.Router, worker string, tokens []uint32) (prefix.Word, int) {
	c, ok := considered(r, worker, routing.Request{Model: "demo", Tokens: tokens, Chat: true, Streaming: true, PlainText: true})
	if !ok {
		return prefix.Unhealthy, 0
	}
	return c.Certificate, c.Cached
}

func waitClaim(t *testing.T, r *routing.Router, worker string, tokens []uint32, word prefix.Word, cached int) {
	t.Helper()
	var gotWord prefix.Word
	var got int
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if gotWord, got = claim(r, worker, tokens); gotWord == word && got == cached {
			return
		}
	}
	t.Fatalf("the claim stays %s for %d tokens, want %s for %d", gotWord, got, word, cached)
}

// ask runs a prompt on a worker and returns how much of it the engine had cached.
func ask(t *testing.T, p *Pool, url string, tokens []uint32) int {
	t.Helper()
	req := request(0)
	req.Tokens = tokens
	s, err := p.Generate(t.Context(), url, req)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := collect(s)
	if err != nil {
		t.Fatal(err)
	}
	return got.cached
}

// answers reports whether a worker answers a request to its end.
func answers(t *testing.T, p *Pool, url string, req *engine.Request) bool {
	s, err := p.Generate(t.Context(), url, req)
	if err != nil {
		return false
	}
	defer s.Close()
	_, err = collect(s)
	return err == nil
}

func promptOf(seed uint32, n int) []uint32 {
	tokens := prompt(n)
	tokens[0] = seed
	return tokens
}

func TestWhatAWorkerHasComputedItCanClaim(t *testing.T) {
	for _, servicer := range []sim.Servicer{sim.Python, sim.Rust, sim.Bridge} {
		t.Run(string(servicer), func(t *testing.T) {
			eachDialect(t, func(t *testing.T, dialect string) {
				w, pool, router := tracked(t, sim.Options{Dialect: dialect, Servicer: string(servicer), Speed: 20})
				eventually(t, func() bool { return sampled(router, w.URL()) }, "a sample")
				ask(t, pool, w.URL(), promptOf(1, 100))
				waitClaim(t, router, w.URL(), promptOf(1, 100), prefix.Certified, 96)
				if cached := ask(t, pool, w.URL(), promptOf(1, 100)); cached != 96 {
					t.Errorf("the engine had %d tokens, 96 were claimed", cached)
				}
				waitClaim(t, router, w.URL(), promptOf(2, 100), prefix.Certified, 0)
			})
		})
	}
}

// case D2
func TestARestartEndsAllClaims(t *testing.T) {
	for _, keep := range []bool{false, true} {
		w, pool, router := tracked(t, sim.Options{Speed: 20})
		for seed := range uint32(3) {
			ask(t, pool, w.URL(), promptOf(seed, 100))
		}
		waitClaim(t, router, w.URL(), promptOf(1, 100), prefix.Certified, 96)
		if err := w.Restart(keep); err != nil {
			t.Fatal(err)
		}
		eventually(t, func() bool {
			word, cached := claim(router, w.URL(), promptOf(1, 100))
			return word != prefix.Certified && cached == 0
		}, "the claim to end")
		eventually(t, func() bool { return answers(t, pool, w.URL(), request(100)) }, "the new process to answer")
		seed := uint32(10) // what is cached already makes no event
		eventually(t, func() bool {
			ask(t, pool, w.URL(), promptOf(seed, 100))
			seed++
			word, _ := claim(router, w.URL(), prompt(10))
			return word == prefix.Certified
		}, "a new certificate")
		if _, cached := claim(router, w.URL(), promptOf(1, 100)); cached != 0 {
			t.Errorf("keep %v: %d tokens of the process before are claimed", keep, cached)
		}
	}
}

// cases D1, D11, D12, H3
func TestFaultsOfTheStreamEndClaims(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault sim.Fault
	}{
		{"gap", sim.Fault{Kind: sim.FaultKVGap, N: 3, Times: 1}},
		{"lost batch", sim.Fault{Kind: sim.FaultKVDrop, Times: 1}},
		{"stream lost with a batch", sim.Fault{Kind: sim.FaultKVEnd, Times: 1}},
		{"data loss", sim.Fault{Kind: sim.FaultKVEnd, Times: 1, Code: "DATA_LOSS"}},
	} {
		for _, servicer := range []sim.Servicer{sim.Python, sim.Rust} {
			t.Run(c.name+" "+string(servicer), func(t *testing.T) {
				w, pool, router := warm(t, sim.Options{Servicer: string(servicer), Speed: 20})
				if err := w.SetFaults(c.fault); err != nil {
					t.Fatal(err)
				}
				seed := uint32(10)
				eventually(t, func() bool {
					seed++
					ask(t, pool, w.URL(), promptOf(seed, 100))
					word, cached := claim(router, w.URL(), promptOf(seed, 100))
					return word == prefix.Certified && cached == 96
				}, "a new certificate")
				if cached := ask(t, pool, w.URL(), promptOf(seed, 100)); cached != 96 {
					t.Errorf("the engine had %d tokens, 96 were claimed", cached)
				}
			})
		}
	}
}

func TestAWorkerWithoutEventsClaimsNothing(t *testing.T) {
	w, other := startSim(t, sim.Options{NoKVEvents: true, Speed: 20}), startSim(t, sim.Options{})
	pool, router := shadowPool(t, w.URL(), other.URL())
	ask(t, pool, w.URL(), promptOf(1, 100))
	waitClaim(t, router, w.URL(), promptOf(1, 100), prefix.Unsupported, 0)
}

// case H3
func TestACertificateDiesWithTheEngine(t *testing.T) {
	w, pool, router := warm(t, sim.Options{Speed: 20})
	w.KillCore()
	waitState(t, pool, w.URL(), NotReady)
	if err := w.Restart(true); err != nil {
		t.Fatal(err)
	}
	waitState(t, pool, w.URL(), Ready)
	if word, cached := claim(router, w.URL(), promptOf(1, 100)); cached != 0 {
		t.Errorf("%s for %d tokens", word, cached)
	}
}

// case H4
func TestAFlushThroughTheGatewayEmptiesAtOnce(t *testing.T) {
	for _, dialect := range dialects {
		w, pool, router := warm(t, sim.Options{Dialect: string(dialect), Speed: 20})
		if err := pool.Flush(t.Context(), w.URL(), time.Second); err != nil {
			t.Fatal(err)
		}
		if _, cached := claim(router, w.URL(), promptOf(1, 100)); cached != 0 {
			t.Errorf("%s: %d tokens are claimed", dialect, cached)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := pool.Flush(ended, w.URL(), time.Second); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a flush that nobody waits for: %v", dialect, err)
		}
		ask(t, pool, w.URL(), promptOf(1, 100))
		waitClaim(t, router, w.URL(), promptOf(1, 100), prefix.Certified, 96)
	}
}

// case H4. A servicer that keeps a history tells, to who subscribes anew, what it held before the flush.
func TestAHistoryFromBeforeAFlushIsNotClaimed(t *testing.T) {
	w, pool, router := warm(t, sim.Options{Servicer: "rust", Speed: 50})
	if err := pool.Flush(t.Context(), w.URL(), time.Second); err != nil {
		t.Fatal(err)
	}
	waitClaim(t, router, w.URL(), promptOf(1, 100), prefix.Warming, 0)
	router.Feed(w.URL()).Drop(prefix.Unhealthy)
	if err := w.SetFaults(sim.Fault{Kind: sim.FaultUnhealthy, Times: 1}); err != nil { // it stays in the fleet
		t.Fatal(err)
	}
	eventually(t, func() bool { _, told := router.Feed(w.URL()).Cursor(0); return told }, "the history")
	if word, cached := claim(router, w.URL(), promptOf(1, 100)); cached > 0 {
		t.Errorf("%s: %d tokens are claimed", word, cached)
	}
	if cached := ask(t, pool, w.URL(), promptOf(1, 100)); cached != 0 {
		t.Errorf("the engine has %d tokens", cached)
	}
	waitClaim(t, router, w.URL(), promptOf(1, 100), prefix.Certified, 96)
}

// case H4. An engine that is busy refuses, and holds what it held.
func TestARefusedFlushCostsNoClaims(t *testing.T) {
	w, pool, router := warm(t, sim.Options{Speed: 1})
	busy := request(10000)
	busy.Tokens = promptOf(2, 100)
	stream, err := pool.Generate(t.Context(), w.URL(), busy)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	waitClaim(t, router, w.URL(), promptOf(2, 100), prefix.Certified, 96)
	if err := pool.Flush(t.Context(), w.URL(), time.Second); err == nil {
		t.Error("it was not refused")
	}
	waitClaim(t, router, w.URL(), promptOf(1, 100), prefix.Certified, 96)
}

// relay stands between gateway and worker, to break the connection and neither of them.
type relay struct {
	listener net.Listener
	to       string
	mu       sync.Mutex
	conns    []net.Conn
	copies   sync.WaitGroup
}

func startRelay(t *testing.T, to string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: listener, to: strings.TrimPrefix(to, "grpc://")}
	r.copies.Go(r.accept)
	t.Cleanup(func() { _ = listener.Close(); r.cut(); r.copies.Wait() })
	return r
}

func (r *relay) accept() {
	for {
		in, err := r.listener.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", r.to)
		if err != nil {
			_ = in.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, in, out)
		r.mu.Unlock()
		r.copies.Go(func() { _, _ = io.Copy(in, out); _ = in.Close() })
		r.copies.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
	}
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range r.conns {
		_ = conn.Close()
	}
	r.conns = nil
}

func TestALostConnectionToAnUnchangedEngineKeepsItsWarmView(t *testing.T) {
	for _, servicer := range []sim.Servicer{sim.Python, sim.Rust} {
		t.Run(string(servicer), func(t *testing.T) {
			w, other := startSim(t, sim.Options{Servicer: string(servicer), Speed: 20}), startSim(t, sim.Options{})
			between := startRelay(t, w.URL())
			url := "grpc://" + between.listener.Addr().String()
			pool, router := shadowPool(t, url, other.URL())
			followed(t, w)
			for seed := range uint32(3) {
				ask(t, pool, url, promptOf(seed, 100))
			}
			waitClaim(t, router, url, promptOf(1, 100), prefix.Certified, 96)
			before := w.Subscriptions()
			between.cut()
			eventually(t, func() bool { word, _ := claim(router, url, promptOf(1, 100)); return word == prefix.Suspended }, "the claim to be suspended")
			eventually(t, func() bool { return w.Subscriptions() > before }, "its events to be followed again")
			waitState(t, pool, url, Ready)
			ask(t, pool, url, promptOf(7, 100))
			waitClaim(t, router, url, promptOf(1, 100), prefix.Certified, 96)
			waitClaim(t, router, url, promptOf(7, 100), prefix.Certified, 96)
		})
	}
}

func TestRanksThatAreNotChosenClaimNothing(t *testing.T) {
	w, pool, router := tracked(t, sim.Options{Ranks: 2, Speed: 20})
	ask(t, pool, w.URL(), promptOf(1, 100))
	waitClaim(t, router, w.URL(), promptOf(1, 100), prefix.Ranks, 0)
}
