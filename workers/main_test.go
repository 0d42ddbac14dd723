package workers

import (
	"context"
	"io"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"leeway/routing"
	"leeway/workers/engine"
	"leeway/workers/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var dialects = []engine.Dialect{engine.SGLang, engine.VLLM, engine.TokenSpeed}

// quick is a configuration for tests: everything that waits waits less.
func quick(urls ...string) Config {
	cfg := DefaultConfig()
	cfg.URLs, cfg.LoadInterval, cfg.HealthInterval, cfg.HealthTimeout = urls, 0.2, 0.3, 1
	return cfg
}

func startSim(t *testing.T, o sim.Options) *sim.Worker {
	t.Helper()
	w, err := sim.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// startPool runs a pool until the test ends.
func startPool(t *testing.T, cfg Config) (*Pool, *routing.Router) {
	t.Helper()
	router, err := routing.New(routing.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	log := zerolog.Nop()
	if os.Getenv("LEEWAY_TEST_LOG") != "" {
		log = zerolog.New(zerolog.NewTestWriter(t))
	}
	pool, err := New(cfg, router, log)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- pool.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return pool, router
}

// readyPool starts a worker and a pool that has found it.
func readyPool(t *testing.T, o sim.Options) (*Pool, *routing.Router, *sim.Worker) {
	t.Helper()
	w := startSim(t, o)
	pool, router := startPool(t, quick(w.URL()))
	waitState(t, pool, w.URL(), Ready)
	return pool, router, w
}

func waitState(t *testing.T, p *Pool, url string, want State) {
	t.Helper()
	eventually(t, func() bool { s, ok := p.Worker(url); return ok && s.State == want }, "%s to be %s", url, want)
}

func eventually(t *testing.T, holds func() bool, what string, args ...any) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("waited in vain for "+what, args...)
}

func prompt(n int) []uint32 {
	tokens := make([]uint32, n)
	for i := range tokens {
		tokens[i] = uint32(300 + i%200)
	}
	return tokens
}

func request(n int) *engine.Request {
	most := 20
	return &engine.Request{Tokens: prompt(n), Stream: true, Sampling: engine.Sampling{MaxTokens: &most, IgnoreEOS: true}}
}

// answer is what a stream gave, put together.
type answer struct {
	tokens  map[int][]uint32
	reasons map[int]string
	prompt  int
	cached  int
}

func collect(s *Stream) (answer, error) {
	a := answer{tokens: map[int][]uint32{}, reasons: map[int]string{}}
	var d engine.Delta
	for {
		err := s.Recv(&d)
		if err == io.EOF {
			return a, nil
		}
		if err != nil {
			return a, err
		}
		a.tokens[d.Index] = append(a.tokens[d.Index], d.Tokens...)
		a.prompt, a.cached = max(a.prompt, d.PromptTokens), max(a.cached, d.CachedTokens)
		if d.Done {
			a.reasons[d.Index] = d.FinishReason
		}
	}
}

func benchPool(b *testing.B, url string) (*Pool, func()) {
	router, err := routing.New(routing.DefaultConfig())
	if err != nil {
		b.Fatal(err)
	}
	pool, err := New(quick(url), router, zerolog.Nop())
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- pool.Run(ctx) }()
	for s, _ := pool.Worker(url); s.State != Ready; s, _ = pool.Worker(url) {
		time.Sleep(time.Millisecond)
	}
	return pool, func() { cancel(); <-ended }
}
