package workers

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"leeway/routing"
	"leeway/routing/prefix"
	"leeway/workers/engine"
	"leeway/workers/sim"
)

// brittle is a pool whose breakers open after three failures and close after two answers.
func brittle(t *testing.T, change func(*Config), options ...sim.Options) (*Pool, *routing.Router, []*sim.Worker) {
	t.Helper()
	var fleet []*sim.Worker
	cfg := quick()
	cfg.BreakerFailures, cfg.BreakerSuccesses, cfg.BreakerTimeout = 3, 2, 1
	for _, o := range options {
		w := startSim(t, o)
		fleet, cfg.URLs = append(fleet, w), append(cfg.URLs, w.URL())
	}
	if change != nil {
		change(&cfg)
	}
	pool, router := startPool(t, cfg)
	for _, w := range fleet {
		waitState(t, pool, w.URL(), Ready)
	}
	return pool, router, fleet
}

// try sends a request and returns what came of it.
func try(t *testing.T, p *Pool, url string) error {
	t.Helper()
	s, err := p.Generate(t.Context(), url, request(10))
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = collect(s)
	return err
}

func breakerOf(p *Pool, url string) Breaker {
	s, _ := p.Worker(url)
	return s.Breaker
}

// picks counts which workers a number of choices fall on.
func picks(r *routing.Router, n int) map[string]int {
	chosen := map[string]int{}
	for range n {
		if id, err := pick(r, "demo"); err == nil {
			chosen[id]++
		}
	}
	return chosen
}

func TestAWorkerThatFailsRequestsAndPassesChecksIsLeftOutUntilItRecovers(t *testing.T) {
	for name, fault := range map[string]sim.Fault{
		"unavailable":           {Kind: sim.FaultError, Code: "UNAVAILABLE"},
		"internal":              {Kind: sim.FaultError, Code: "INTERNAL"},
		"its own deadline":      {Kind: sim.FaultError, Code: "DEADLINE_EXCEEDED"},
		"cancelled by itself":   {Kind: sim.FaultError, Code: "CANCELLED"},
		"refuses the gateway":   {Kind: sim.FaultError, Code: "UNAUTHENTICATED"},
		"ends with nothing":     {Kind: sim.FaultEnd},
		"breaks off":            {Kind: sim.FaultError, Code: "INTERNAL", After: 2},
		"gives error as reason": {Kind: sim.FaultFinish, After: 2, Reason: "error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			canned := sim.Options{Canned: true, TokenInterval: time.Millisecond}
			pool, router, fleet := brittle(t, nil, canned, canned)
			bad, good := fleet[0], fleet[1].URL()
			if err := bad.SetFaults(fault); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if err := try(t, pool, bad.URL()); err == nil {
					t.Fatal("no failure")
				}
			}
			if got := breakerOf(pool, bad.URL()); got != Open {
				t.Fatalf("after three failures the breaker is %s", got)
			}
			if chosen := picks(router, 20); chosen[good] != 20 {
				t.Errorf("chosen: %v", chosen)
			}
			if err := try(t, pool, bad.URL()); !errors.Is(err, ErrNotReady) {
				t.Errorf("an open worker took a request: %v", err)
			}
			eventually(t, func() bool { return breakerOf(pool, bad.URL()) == HalfOpen }, "the breaker to be half open")
			eventually(t, func() bool { return picks(router, 20)[bad.URL()] > 0 }, "the half-open worker to be chosen")
			if err := try(t, pool, bad.URL()); err == nil || breakerOf(pool, bad.URL()) != Open {
				t.Errorf("it failed again (%v), and the breaker is %s", err, breakerOf(pool, bad.URL()))
			}
			if err := bad.SetFaults(); err != nil {
				t.Fatal(err)
			}
			eventually(t, func() bool { return breakerOf(pool, bad.URL()) == HalfOpen }, "the breaker to be half open")
			for range 2 {
				if err := try(t, pool, bad.URL()); err != nil {
					t.Error(err)
				}
			}
			if got := breakerOf(pool, bad.URL()); got != Closed {
				t.Errorf("after two answers the breaker is %s", got)
			}
		})
	}
}

func TestWhatIsNotAWorkersFaultIsNotHeldAgainstIt(t *testing.T) {
	for name, fault := range map[string]sim.Fault{
		"a bad request": {Kind: sim.FaultError, Code: "INVALID_ARGUMENT"},
		"busy":          {Kind: sim.FaultError, Code: "RESOURCE_EXHAUSTED"},
		"not possible":  {Kind: sim.FaultError, Code: "UNIMPLEMENTED"},
		"a long answer": {Kind: sim.FaultStall, After: 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool, _, fleet := brittle(t, nil, sim.Options{Canned: true, TokenInterval: time.Millisecond})
			if err := fleet[0].SetFaults(fault); err != nil {
				t.Fatal(err)
			}
			for range 6 {
				ctx, leave := context.WithTimeout(t.Context(), 50*time.Millisecond)
				s, err := pool.Generate(ctx, fleet[0].URL(), request(10))
				if err == nil {
					_, err = collect(s)
					s.Close()
				}
				if leave(); err == nil {
					t.Error("no failure")
				}
			}
			if got := breakerOf(pool, fleet[0].URL()); got != Closed {
				t.Errorf("the breaker is %s", got)
			}
		})
	}
}

func TestARequestThatFailsAgainOnAWorkerCountsOnce(t *testing.T) {
	pool, _, fleet := brittle(t, nil, sim.Options{})
	if err := fleet[0].SetFaults(sim.Fault{Kind: sim.FaultError, Code: "UNAVAILABLE"}); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if s, err := pool.GenerateAgain(t.Context(), fleet[0].URL(), request(10)); err == nil {
			_, _ = collect(s)
			s.Close()
		}
	}
	if got := breakerOf(pool, fleet[0].URL()); got != Closed {
		t.Errorf("the breaker is %s", got)
	}
}

func TestAHalfOpenBreakerIsTriedByAFewUnlessThereIsNobodyElse(t *testing.T) {
	canned := sim.Options{Canned: true, TokenInterval: time.Millisecond}
	pool, router, fleet := brittle(t, nil, canned, canned)
	bad, good := fleet[0], fleet[1]
	if err := bad.SetFaults(sim.Fault{Kind: sim.FaultError, Code: "UNAVAILABLE"}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_ = try(t, pool, bad.URL())
	}
	if err := bad.SetFaults(sim.Fault{Kind: sim.FaultStall}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return breakerOf(pool, bad.URL()) == HalfOpen }, "the breaker to be half open")
	hold := func() error {
		s, err := pool.Generate(t.Context(), bad.URL(), request(10))
		if err == nil {
			t.Cleanup(s.Close)
		}
		return err
	}
	if err := errors.Join(hold(), hold()); err != nil {
		t.Fatal(err)
	}
	if err := hold(); !errors.Is(err, ErrNotReady) {
		t.Errorf("a third request was let through beside another worker: %v", err)
	}
	if chosen := picks(router, 20); chosen[good.URL()] != 20 {
		t.Errorf("chosen: %v", chosen)
	}
	if _, err := pool.Remove(good.URL()); err != nil {
		t.Fatal(err)
	}
	if chosen := picks(router, 20); chosen[bad.URL()] != 20 {
		t.Errorf("with nobody else left: %v", chosen)
	}
	if err := hold(); err != nil {
		t.Errorf("with nobody else left: %v", err)
	}
}

func TestAllBreakersOpenIsNoHealthyWorker(t *testing.T) {
	pool, router, fleet := brittle(t, func(c *Config) { c.BreakerTimeout = 60 }, sim.Options{})
	if err := fleet[0].SetFaults(sim.Fault{Kind: sim.FaultError, Code: "UNAVAILABLE"}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_ = try(t, pool, fleet[0].URL())
	}
	if _, err := pick(router, "demo"); !errors.Is(err, routing.ErrNoHealthy) {
		t.Errorf("picked: %v", err)
	}
	s, _ := pool.Worker(fleet[0].URL())
	if s.State != Ready || s.Problem == "" {
		t.Errorf("status %+v", s)
	}
	fleet[0].Kill()
	waitState(t, pool, fleet[0].URL(), NotReady)
	if err := fleet[0].Start(); err != nil {
		t.Fatal(err)
	}
	waitState(t, pool, fleet[0].URL(), Ready)
	if got := breakerOf(pool, fleet[0].URL()); got != Closed {
		t.Errorf("another process, and its breaker is %s", got)
	}
	if _, err := pick(router, "demo"); err != nil {
		t.Error(err)
	}
}

// A worker that was away for a moment is back as soon as it passes a check.
func TestWantOfAConnectionOpensABreakerOnlyUntilThereIsOne(t *testing.T) {
	pool, _, fleet := brittle(t, func(c *Config) { c.BreakerTimeout, c.StallTime = 60, 60 }, sim.Options{})
	fleet[0].Kill()
	for range 5 {
		_ = try(t, pool, fleet[0].URL())
	}
	if got := breakerOf(pool, fleet[0].URL()); got != Open {
		t.Fatalf("the breaker is %s", got)
	}
	if err := fleet[0].Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return breakerOf(pool, fleet[0].URL()) == Closed }, "the breaker to be closed")
	if err := try(t, pool, fleet[0].URL()); err != nil {
		t.Error(err)
	}
}

// However many answers a broken connection takes with it, it broke once.
func TestABrokenConnectionIsOneFailure(t *testing.T) {
	pool, _, fleet := brittle(t, nil, sim.Options{Canned: true, TokenInterval: 10 * time.Millisecond})
	var running sync.WaitGroup
	for range 10 {
		running.Go(func() { _ = try(t, pool, fleet[0].URL()) })
	}
	eventually(t, func() bool { return len(fleet[0].Requests()) == 10 }, "ten requests")
	if err := fleet[0].Restart(false); err != nil {
		t.Fatal(err)
	}
	running.Wait()
	if got := breakerOf(pool, fleet[0].URL()); got != Closed {
		t.Errorf("the breaker is %s", got)
	}
	if err := fleet[0].SetFaults(sim.Fault{Kind: sim.FaultReset, After: 2}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return try(t, pool, fleet[0].URL()) != nil && breakerOf(pool, fleet[0].URL()) == Open }, "the breaker to be open")
}

// An open breaker says nothing of the cache: it is as the events tell, and claimed from the next one on.
func TestAnOpenBreakerKeepsWhatIsKnownOfTheCache(t *testing.T) {
	pool, router, fleet := brittle(t, nil, sim.Options{Speed: 20}, sim.Options{})
	url := fleet[0].URL()
	router.SetMode(routing.Shadow)
	for seed := range uint32(3) {
		ask(t, pool, url, promptOf(seed, 100))
	}
	waitClaim(t, router, url, promptOf(1, 100), prefix.Certified, 96)
	if err := fleet[0].SetFaults(sim.Fault{Kind: sim.FaultError, Code: "UNAVAILABLE"}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		_ = try(t, pool, url)
	}
	if got := breakerOf(pool, url); got != Open {
		t.Fatal(got)
	}
	if err := fleet[0].SetFaults(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return breakerOf(pool, url) == HalfOpen }, "the breaker to be half open")
	for seed := range uint32(2) {
		ask(t, pool, url, promptOf(7+seed, 100))
	}
	waitClaim(t, router, url, promptOf(1, 100), prefix.Certified, 96)
}

func TestFailuresThatAreHeldAgainstAWorker(t *testing.T) {
	for code, want := range map[engine.Code]outcome{
		engine.Canceled: failure, engine.Unknown: failure, engine.InvalidArgument: neutral, engine.DeadlineExceeded: failure,
		engine.NotFound: neutral, engine.AlreadyExists: neutral, engine.PermissionDenied: failure, engine.ResourceExhausted: neutral,
		engine.FailedPrecondition: neutral, engine.Aborted: neutral, engine.OutOfRange: neutral, engine.Unimplemented: neutral,
		engine.Internal: failure, engine.Unavailable: failure, engine.DataLoss: failure, engine.Unauthenticated: failure,
	} {
		if got := blame(&engine.Error{Code: code}); got != want {
			t.Errorf("code %d: %v", code, got)
		}
		if got := blame(&engine.Error{Code: code, Transport: true}); got != severed {
			t.Errorf("a broken connection with code %d: %v", code, got)
		}
		if got := blame(&engine.Error{Code: code, Transport: true, Unsent: true}); got != unreached {
			t.Errorf("no connection, with code %d: %v", code, got)
		}
	}
}
