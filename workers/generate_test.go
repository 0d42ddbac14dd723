package workers

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"leeway/workers/engine"
	"leeway/workers/sim"
)

func eachDialect(t *testing.T, f func(t *testing.T, dialect string)) {
	for _, dialect := range dialects {
		t.Run(string(dialect), func(t *testing.T) { f(t, string(dialect)) })
	}
}

// cases A15, A16, H2
func TestEveryDialectStreamsTheSameAnswer(t *testing.T) {
	for _, servicer := range []sim.Servicer{sim.Python, sim.Rust} {
		t.Run(string(servicer), func(t *testing.T) {
			eachDialect(t, func(t *testing.T, dialect string) {
				pool, _, w := readyPool(t, sim.Options{Dialect: dialect, Servicer: string(servicer), Speed: 20})
				for _, streamed := range []bool{true, false} {
					req := request(100)
					req.Stream, req.Sampling.N = streamed, 2
					s, err := pool.Generate(t.Context(), w.URL(), req)
					if err != nil {
						t.Fatal(err)
					}
					got, err := collect(s)
					s.Close()
					if err != nil {
						t.Fatal(err)
					}
					for i := range 2 {
						if len(got.tokens[i]) != 20 || got.reasons[i] != "length" {
							t.Errorf("streamed %v: choice %d: %d tokens, ended by %q", streamed, i, len(got.tokens[i]), got.reasons[i])
						}
					}
					if got.prompt != 100 {
						t.Errorf("%d prompt tokens", got.prompt)
					}
				}
				if n := len(w.Aborts()); n != 0 {
					t.Errorf("%d aborts of answers that had ended", n)
				}
			})
		})
	}
}

// cases B1, B2, B4
func TestAWorkerIsFreedWhenTheClientLeaves(t *testing.T) {
	eachDialect(t, func(t *testing.T, dialect string) {
		for name, fault := range map[string][]sim.Fault{
			"in prefill":                    {{Kind: sim.FaultDelay, For: sim.Duration(30 * time.Second)}},
			"mid-stream":                    {{Kind: sim.FaultStall, After: 3}},
			"whose worker answers no abort": {{Kind: sim.FaultStall, After: 3}, {Kind: sim.FaultStall, Method: "Abort"}},
		} {
			t.Run(name, func(t *testing.T) {
				pool, _, w := readyPool(t, sim.Options{Dialect: dialect, Canned: true, TokenInterval: time.Millisecond})
				if err := w.SetFaults(fault...); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				s, err := pool.Generate(ctx, w.URL(), request(10))
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(100*time.Millisecond, cancel)
				_, err = collect(s)
				left := time.Now()
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("got %v", err)
				}
				eventually(t, func() bool { return len(w.Aborts())+len(w.Cancels()) > 0 }, "the worker to hear of it")
				if late := time.Since(left); late > time.Second {
					t.Errorf("the worker heard of it after %v", late)
				}
				began := time.Now()
				s.Close()
				s.Close()
				if took := time.Since(began); took > time.Second {
					t.Errorf("Close took %v", took)
				}
				if s, _ := pool.Worker(w.URL()); s.Active != 0 {
					t.Errorf("%d requests still counted", s.Active)
				}
			})
		}
	})
}

func TestAnAnswerGivenUpIsAbortedOnce(t *testing.T) {
	pool, _, w := readyPool(t, sim.Options{Canned: true, TokenInterval: 5 * time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := pool.Generate(ctx, w.URL(), request(10))
	if err != nil {
		t.Fatal(err)
	}
	var d engine.Delta
	if err := s.Recv(&d); err != nil {
		t.Fatal(err)
	}
	s.Close()
	cancel()
	eventually(t, func() bool { return len(w.Aborts()) > 0 }, "an abort")
	time.Sleep(50 * time.Millisecond)
	if aborts := w.Aborts(); len(aborts) != 1 || aborts[0].ID != s.ID() {
		t.Errorf("aborts: %+v, want one of %s", aborts, s.ID())
	}
}

// cases A2, A3, H7, H8
func TestABrokenAnswerIsAnError(t *testing.T) {
	eachDialect(t, func(t *testing.T, dialect string) {
		for _, c := range []struct {
			name      string
			fault     sim.Fault
			code      engine.Code
			transport bool
			text      string
		}{
			{"status", sim.Fault{Kind: sim.FaultError, After: 3, Code: "INTERNAL", Message: "a \"quoted\"\nline"}, engine.Internal, false, "quoted"},
			{"reset", sim.Fault{Kind: sim.FaultReset, After: 3}, engine.Unavailable, true, ""},
			{"end without complete", sim.Fault{Kind: sim.FaultEnd, After: 3}, engine.Internal, false, "before the answer did"},
			{"abort that nobody asked for", sim.Fault{Kind: sim.FaultFinish, After: 3, Reason: "abort"}, engine.Internal, false, "abort"},
			{"error as a reason", sim.Fault{Kind: sim.FaultFinish, After: 3, Reason: "error"}, engine.Internal, false, "error"},
			{"refused request", sim.Fault{Kind: sim.FaultError, Code: "INVALID_ARGUMENT", Message: "no"}, engine.InvalidArgument, false, "no"},
		} {
			t.Run(c.name, func(t *testing.T) {
				pool, _, w := readyPool(t, sim.Options{Dialect: dialect, Canned: true, TokenInterval: time.Millisecond})
				if err := w.SetFaults(c.fault); err != nil {
					t.Fatal(err)
				}
				s, err := pool.Generate(t.Context(), w.URL(), request(10))
				if err == nil {
					defer s.Close()
					_, err = collect(s)
				}
				var e *engine.Error
				if !errors.As(err, &e) || e.Code != c.code || e.Transport != c.transport || !strings.Contains(e.Message, c.text) {
					t.Errorf("got %#v", err)
				}
			})
		}
	})
}

// case H6
func TestRequestIdsAreTheGatewaysOwn(t *testing.T) {
	pool, _, w := readyPool(t, sim.Options{Canned: true, TokenInterval: time.Millisecond})
	for range 2 {
		req := request(10)
		req.ID = "the client's"
		req.Metadata = map[string]string{"x-request-id": "the client's"}
		s, err := pool.Generate(t.Context(), w.URL(), req)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
	}
	eventually(t, func() bool { return len(w.Requests()) == 2 }, "both requests")
	a, b := w.Requests()[0], w.Requests()[1]
	if a.ID == b.ID || a.ID == "the client's" {
		t.Errorf("ids %q and %q", a.ID, b.ID)
	}
	if got := a.Header["x-request-id"]; len(got) != 1 || got[0] != "the client's" {
		t.Errorf("metadata: %v", a.Header)
	}
}

// cases B7, B8
func TestCountersAreZeroAtRest(t *testing.T) {
	pool, _, w := readyPool(t, sim.Options{Canned: true, TokenInterval: time.Millisecond, OutputTokens: 10})
	before := runtime.NumGoroutine()
	var clients sync.WaitGroup
	for i := range 300 {
		clients.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%3 == 0 {
				time.AfterFunc(time.Duration(i%20)*time.Millisecond, cancel)
			}
			s, err := pool.Generate(ctx, w.URL(), request(10))
			if err != nil {
				return
			}
			defer s.Close()
			_, _ = collect(s)
		})
	}
	clients.Wait()
	if s, _ := pool.Worker(w.URL()); s.Active != 0 {
		t.Errorf("%d requests still counted", s.Active)
	}
	eventually(t, func() bool { return runtime.NumGoroutine() <= before+5 }, "goroutines to end")
}

// A token's way from the socket to the delta. Most of it is the connection's own.
func BenchmarkStream(b *testing.B) {
	w, err := sim.Start(sim.Options{Canned: true, TokenInterval: time.Microsecond, OutputTokens: 1 << 20, ContextLength: 1 << 22, KVTokens: 1 << 23})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	pool, stop := benchPool(b, w.URL())
	defer stop()
	most := 1 << 20
	s, err := pool.Generate(b.Context(), w.URL(), &engine.Request{
		Tokens: prompt(10), Stream: true, Sampling: engine.Sampling{MaxTokens: &most, IgnoreEOS: true},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var d engine.Delta
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Recv(&d); err != nil && err != io.EOF {
			b.Fatal(err)
		}
	}
}
