package workers

import (
	"archive/zip"
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"leeway/routing"
	"leeway/workers/engine"
	"leeway/workers/sim"
)

func pick(r *routing.Router, model string) (string, error) {
	lease, err := r.Pick(time.Now(), routing.Request{Model: model, Tokens: prompt(10)})
	if err != nil {
		return "", err
	}
	defer lease.Release()
	return lease.Target().ID, nil
}

func TestTheDialectIsFoundByProbing(t *testing.T) {
	eachDialect(t, func(t *testing.T, dialect string) {
		pool, router, w := readyPool(t, sim.Options{Dialect: dialect, Model: "m-" + dialect})
		s, _ := pool.Worker(w.URL())
		if string(s.Dialect) != dialect || s.Model != "m-"+dialect || s.Info.Ranks != 1 || s.Info.ContextLength != 32768 {
			t.Errorf("got %+v", s)
		}
		if id, err := pick(router, "m-"+dialect); err != nil || id != w.URL() {
			t.Errorf("picked %q, %v", id, err)
		}
	})
}

func TestAWrongHintIsCorrected(t *testing.T) {
	w := startSim(t, sim.Options{Dialect: "tokenspeed"})
	pool, _ := startPool(t, quick(w.URL()+"?runtime=vllm&model=other"))
	waitState(t, pool, w.URL(), Ready)
	if s, _ := pool.Worker(w.URL()); s.Dialect != engine.TokenSpeed || s.Model != "other" {
		t.Errorf("got %s, %s", s.Dialect, s.Model)
	}
}

// cases E7, E8
func TestAWorkerThatIsDownAtTheStartJoinsWhenItComes(t *testing.T) {
	w := startSim(t, sim.Options{})
	w.Kill()
	pool, router := startPool(t, quick(w.URL()))
	eventually(t, func() bool { s, _ := pool.Worker(w.URL()); return s.Problem != "" }, "a reason")
	if _, err := pick(router, "demo"); !errors.Is(err, routing.ErrNoTarget) {
		t.Errorf("picked: %v", err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	came := time.Now()
	waitState(t, pool, w.URL(), Ready)
	if took := time.Since(came); took > 5*time.Second {
		t.Errorf("it took %v, two probe intervals are 0.6 s", took)
	}
}

func TestAKilledWorkerLeavesTheFleetAndComesBack(t *testing.T) {
	pool, router, w := readyPool(t, sim.Options{})
	w.Kill()
	died := time.Now()
	waitState(t, pool, w.URL(), NotReady)
	if took := time.Since(died); took < 1800*time.Millisecond || took > 12*time.Second {
		t.Errorf("out of selection after %v", took)
	}
	if _, err := pick(router, "demo"); !errors.Is(err, routing.ErrNoHealthy) {
		t.Errorf("picked: %v", err)
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	waitState(t, pool, w.URL(), Ready)
}

// case H3
func TestADeadEngineBehindALivingProcessIsLost(t *testing.T) {
	pool, _, w := readyPool(t, sim.Options{})
	w.KillCore()
	waitState(t, pool, w.URL(), NotReady)
	if err := w.Restart(false); err != nil {
		t.Fatal(err)
	}
	waitState(t, pool, w.URL(), Ready)
}

// case D10
func TestARemovedWorkerFinishesItsAnswersAndGetsNoMore(t *testing.T) {
	pool, router, w := readyPool(t, sim.Options{Canned: true, TokenInterval: 5 * time.Millisecond})
	s, err := pool.Generate(t.Context(), w.URL(), request(10))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	status, _ := pool.Worker(w.URL())
	if gone, err := pool.Remove(status.ID); err != nil || gone.State != Draining {
		t.Fatalf("got %+v, %v", gone, err)
	}
	if _, err := pick(router, "demo"); !errors.Is(err, routing.ErrNoTarget) {
		t.Errorf("picked: %v", err)
	}
	if _, err := pool.Generate(t.Context(), w.URL(), request(10)); !errors.Is(err, ErrUnknownWorker) {
		t.Errorf("a removed worker took a request: %v", err)
	}
	if got, err := collect(s); err != nil || len(got.tokens[0]) != 20 {
		t.Errorf("the running answer: %d tokens, %v", len(got.tokens[0]), err)
	}
}

func TestWorkersComeAndGoAtRunTime(t *testing.T) {
	pool, _ := startPool(t, quick())
	w := startSim(t, sim.Options{})
	for range 2 {
		changed := pool.Changed()
		if _, err := pool.Add(Spec{URL: w.URL()}); err != nil {
			t.Fatal(err)
		}
		<-changed
		if _, err := pool.Add(Spec{URL: w.URL()}); !errors.Is(err, ErrWorkerExists) {
			t.Errorf("added twice: %v", err)
		}
		waitState(t, pool, w.URL(), Ready)
		if _, err := pool.Remove(w.URL()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pool.Remove(w.URL()); !errors.Is(err, ErrUnknownWorker) {
		t.Errorf("removed twice: %v", err)
	}
	if n := len(pool.Workers()); n != 0 {
		t.Errorf("%d workers left", n)
	}
}

func TestAWorkerCanBeRelabelledButNotMoved(t *testing.T) {
	pool, router, w := readyPool(t, sim.Options{})
	s, err := pool.Update(w.URL(), func(s *Spec) {
		s.URL, s.Model, s.Priority, s.Labels = "grpc://elsewhere:1", "renamed", 7, map[string]string{"zone": "a"}
	})
	if err != nil || s.Spec.URL != w.URL() || s.Model != "renamed" || s.Spec.Priority != 7 || s.Spec.Cost != 1 || s.Spec.Labels["zone"] != "a" {
		t.Errorf("got %+v, %v", s, err)
	}
	if _, err := pick(router, "renamed"); err != nil {
		t.Error(err)
	}
	if _, err := pool.Update(s.ID, func(s *Spec) { s.Role = "cook" }); err == nil {
		t.Error("a role that does not exist was taken")
	}
	if _, err := pool.Update("nobody", func(*Spec) {}); !errors.Is(err, ErrUnknownWorker) {
		t.Errorf("got %v", err)
	}
}

func TestEachRankIsATargetWhereRanksAreChosen(t *testing.T) {
	eachDialect(t, func(t *testing.T, dialect string) {
		w := startSim(t, sim.Options{Dialect: dialect, Ranks: 2, Speed: 20})
		cfg := quick(w.URL())
		cfg.DPAware = true
		pool, _ := startPool(t, cfg)
		waitState(t, pool, w.URL(), Ready)
		for rank := range 2 {
			s, err := pool.Generate(t.Context(), rankID(w.URL(), int32(rank)), request(20))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := collect(s); err != nil {
				t.Error(err)
			}
			s.Close()
		}
		for i, r := range w.Requests() {
			if r.Request.Rank == nil || int(*r.Request.Rank) != i {
				t.Errorf("request %d went to rank %v", i, r.Request.Rank)
			}
		}
	})
}

func TestTheTokenizerComesFromTheWorker(t *testing.T) {
	eachDialect(t, func(t *testing.T, dialect string) {
		pool, _, _ := readyPool(t, sim.Options{Dialect: dialect})
		archive, err := pool.Tokenizer(t.Context(), "demo")
		if err != nil {
			t.Fatal(err)
		}
		files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := files.Open("tokenizer.json"); err != nil {
			t.Error(err)
		}
		if _, err := pool.Tokenizer(t.Context(), "another"); !errors.Is(err, ErrNotReady) {
			t.Errorf("a model that nobody serves: %v", err)
		}
	})
}

func TestConfigNamesWhatIsWrong(t *testing.T) {
	for text, change := range map[string]func(*Config){
		"worker_urls":             func(c *Config) { c.URLs = []string{"http://x:1"} },
		"nothing may stand":       func(c *Config) { c.URLs = []string{"grpc://x:1/path"} },
		"stands in the list":      func(c *Config) { c.URLs = []string{"grpc://x:1", "grpc://x:1/"} },
		"not one of runtime":      func(c *Config) { c.URLs = []string{"grpc://x:1?speed=2"} },
		"rank":                    func(c *Config) { c.URLs = []string{"grpc://x:1@0"} },
		"host and port":           func(c *Config) { c.URLs = []string{"grpc://x"} },
		"99999 is no port":        func(c *Config) { c.URLs = []string{"grpc://x:99999"} },
		"cb_failure_threshold":    func(c *Config) { c.BreakerFailures = 0 },
		"worker_wedge_secs":       func(c *Config) { c.WedgeTime = -1 },
		"backend":                 func(c *Config) { c.Backend = "trtllm" },
		"load_monitor_interval":   func(c *Config) { c.LoadInterval = 0 },
		"health_check_timeout":    func(c *Config) { c.HealthTimeout = -1 },
		"health_failure_threshol": func(c *Config) { c.FailureThreshold = 0 },
	} {
		cfg := DefaultConfig()
		change(&cfg)
		if err := cfg.Validate(); err == nil || !bytes.Contains([]byte(err.Error()), []byte(text)) {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}

func TestALateProbeIsLoadUntilTheSilenceLasts(t *testing.T) {
	late := &engine.Error{Code: engine.DeadlineExceeded}
	w := newWorker(&Pool{cfg: DefaultConfig()}, Spec{URL: "grpc://late:1"}, 1)
	w.heard()
	if w.isLost(late, 1, time.Hour) {
		t.Error("lost for one late probe")
	}
	if !w.isLost(late, 3, 0) {
		t.Error("three in a row are not enough")
	}
	w.contact = time.Now().Add(-15 * time.Second)
	w.spoke.Store(true)
	if w.isLost(late, 1, 0) {
		t.Error("lost although tokens come")
	}
	w.spoke.Store(false)
	if !w.isLost(late, 1, 0) {
		t.Error("neither a probe nor any other sign of life, and still chosen")
	}
}

// case F6
func TestALargePromptPasses(t *testing.T) {
	pool, _, w := readyPool(t, sim.Options{Canned: true, TokenInterval: time.Microsecond, ContextLength: 1 << 22, KVTokens: 1 << 23})
	req, most := request(2_500_000), 1
	for i := range req.Tokens {
		req.Tokens[i] = 4000 // two bytes each, 5 MB in all
	}
	req.Stream, req.Sampling.MaxTokens = false, &most
	s, err := pool.Generate(t.Context(), w.URL(), req)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := collect(s)
	if err != nil || got.prompt != len(req.Tokens) {
		t.Errorf("%d prompt tokens, %v", got.prompt, err)
	}
}

func TestAWorkerThatComesBackWithMoreRanksHasMoreTargets(t *testing.T) {
	w := startSim(t, sim.Options{})
	cfg := quick(w.URL())
	cfg.DPAware = true
	pool, _ := startPool(t, cfg)
	waitState(t, pool, w.URL(), Ready)
	if err := w.SetFaults(sim.Fault{Kind: sim.FaultRanks, N: 2}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		s, ok := pool.Worker(rankID(w.URL(), 1))
		return ok && s.State == Ready && s.Info.Ranks == 2
	}, "two ranks")
	if _, err := pool.Generate(t.Context(), w.URL(), request(10)); !errors.Is(err, ErrUnknownWorker) {
		t.Errorf("the target without a rank is still there: %v", err)
	}
}

// A worker that is removed while it is asked for its health is not remembered for the answer that never came.
func TestAWorkerRemovedDuringAProbeIsForgotten(t *testing.T) {
	w := startSim(t, sim.Options{HealthDelay: 800 * time.Millisecond})
	pool, router := startPool(t, quick(w.URL()))
	waitState(t, pool, w.URL(), Ready)
	time.Sleep(600 * time.Millisecond) // a probe is under way
	if _, err := pool.Remove(w.URL()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	var text bytes.Buffer
	router.WriteMetrics(&text, time.Now())
	if strings.Contains(text.String(), w.URL()) {
		t.Errorf("the router remembers it:\n%s", &text)
	}
}
