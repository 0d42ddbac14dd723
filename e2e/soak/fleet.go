package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"leeway/workers/engine"
	"leeway/workers/sglang"
	"leeway/workers/sim"
	"leeway/workers/tokenspeed"
	"leeway/workers/vllm"
	"leeway/workers/wire"
)

// fleet is the simulated workers and what was done to them.
type fleet struct {
	workers []*member

	mu       sync.Mutex
	troubles map[string]int
}

// member is one worker. Every eighth has so small a cache that it evicts all the time.
type member struct {
	*sim.Worker
	dialect string
	small   bool
	busy    sync.Mutex // held while it is being disturbed

	mu     sync.Mutex
	events []event
}

// event is a trouble that can make a claim false before the gateway can know, from its beginning to its end.
type event struct {
	what     string
	from, to time.Time
	known    bool // the gateway did it itself, and knows when it is over
}

// note remembers what was done to a worker.
func (m *member) note(e event) {
	m.mu.Lock()
	m.events = append(m.events, e)
	m.mu.Unlock()
}

var kinds = []sim.Options{ // read-only
	{Dialect: "sglang", Servicer: string(sim.Python)}, {Dialect: "vllm", Servicer: string(sim.Python)},
	{Dialect: "sglang", Servicer: string(sim.Rust)}, {Dialect: "vllm", Servicer: string(sim.Rust)},
	{Dialect: "tokenspeed", Servicer: string(sim.Python)}, {Dialect: "vllm", Servicer: string(sim.Bridge)},
}

func startFleet(n int) (*fleet, error) {
	f := &fleet{troubles: map[string]int{}}
	for i := range n {
		o := kinds[i%len(kinds)]
		o.Speed, o.KVTokens = 4, 200_000
		m := &member{dialect: o.Dialect, small: i%8 == 7}
		if m.small {
			o.KVTokens, o.ContextLength = 8_000, 4_000
		}
		var err error
		if m.Worker, err = sim.Start(o); err != nil {
			return nil, errors.Join(err, f.close())
		}
		f.workers = append(f.workers, m)
	}
	return f, nil
}

func (f *fleet) urls() (urls []string) {
	for _, m := range f.workers {
		urls = append(urls, m.URL())
	}
	return urls
}

func (f *fleet) close() error {
	var errs []error
	for _, m := range f.workers {
		errs = append(errs, m.Close())
	}
	return errors.Join(errs...)
}

// heal ends all faults.
func (f *fleet) heal() {
	for _, m := range f.workers {
		_ = m.SetFaults()
	}
}

func (f *fleet) print() {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Printf("fleet       %d workers;", len(f.workers))
	for _, name := range slices.Sorted(maps.Keys(f.troubles)) {
		fmt.Printf(" %s %d", name, f.troubles[name])
	}
	fmt.Println()
}

// describe names a worker and what it is.
func (f *fleet) describe(url string) string {
	for i, m := range f.workers {
		if m.URL() == url {
			return fmt.Sprintf("%s (%s, %s)", url, m.dialect, kinds[i%len(kinds)].Servicer)
		}
	}
	return "none"
}

// explains says whether what was done to the workers explains so many certificates lost by gaps: one each time, and once
// more where a history that has a gap is told again.
func (f *fleet) explains(gaps float64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	done := 0
	for _, name := range []string{"lost batches", "gaps", "data loss", "overtaken batches"} {
		done += f.troubles[name]
	}
	if gaps > float64(2*done) {
		return fmt.Errorf("%.0f certificates were lost by gaps, of which there were %d", gaps, done)
	}
	return nil
}

// trouble disturbs one worker after another until ctx ends.
func (f *fleet) trouble(ctx context.Context, g *gateway) {
	var all sync.WaitGroup
	defer all.Wait()
	fault := func(faults ...sim.Fault) func(context.Context, *member) error {
		return func(_ context.Context, m *member) error { return m.SetFaults(faults...) }
	}
	plans := []struct {
		name string
		do   func(context.Context, *member) error
	}{
		{"restarts", func(_ context.Context, m *member) error { return m.Restart(false) }},
		{"restarts that count on", func(_ context.Context, m *member) error { return m.Restart(true) }},
		{"outages", outage},
		{"lost batches", fault(sim.Fault{Kind: sim.FaultKVDrop, Times: 1})},
		{"gaps", fault(sim.Fault{Kind: sim.FaultKVGap, N: 3, Times: 1})},
		{"lost streams", fault(sim.Fault{Kind: sim.FaultKVEnd, Times: 1})},
		{"data loss", fault(sim.Fault{Kind: sim.FaultKVEnd, Times: 1, Code: "DATA_LOSS"})},
		{"doubled batches", fault(sim.Fault{Kind: sim.FaultKVDuplicate, Times: 3})},
		{"overtaken batches", fault(sim.Fault{Kind: sim.FaultKVReorder, Times: 1})},
		{"flushes from elsewhere", flush},
		{"storms", storm},
	}
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n%100 == 70 {
			f.count("flushes through the gateway")
			all.Go(func() { f.flushAll(g) })
		}
		plan, m := plans[n%len(plans)], f.workers[rand.IntN(len(f.workers))]
		if !m.busy.TryLock() {
			continue
		}
		f.count(plan.name)
		all.Go(func() {
			defer m.busy.Unlock()
			began := time.Now()
			_ = plan.do(ctx, m)                                        // a worker that cannot be disturbed is as good as one that was
			if plan.name == "gaps" || plan.name == "doubled batches" { // nothing is lost by these, so they excuse nothing
				return
			}
			m.note(event{what: plan.name, from: began, to: time.Now()})
		})
	}
}

// flushAll empties every cache through the gateway.
func (f *fleet) flushAll(g *gateway) {
	began := time.Now()
	_ = post(g.url+"/flush_cache", "") // caches in use are not flushed, which is no failure
	for _, m := range f.workers {
		m.note(event{what: "flushes through the gateway", from: began, to: time.Now(), known: true})
	}
}

func (f *fleet) count(name string) {
	f.mu.Lock()
	f.troubles[name]++
	f.mu.Unlock()
}

// outage kills a worker for longer than the gateway's patience.
func outage(_ context.Context, m *member) error {
	m.Kill()
	time.Sleep(4 * time.Second)
	return m.Start()
}

// client speaks to a worker past the gateway.
func (m *member) client() (engine.Client, io.Closer, error) {
	conn, err := wire.Dial(m.URL())
	if err != nil {
		return nil, nil, err
	}
	switch m.dialect {
	case "sglang":
		return sglang.New(conn), conn, nil
	case "vllm":
		return vllm.New(conn), conn, nil
	}
	return tokenspeed.New(conn), conn, nil
}

// flush empties a cache behind the gateway's back.
func flush(ctx context.Context, m *member) error {
	client, conn, err := m.client()
	if err != nil {
		return err
	}
	defer conn.Close()
	return client.Flush(ctx, time.Second)
}

// storm computes forty prompts that nobody will ask again, each a batch of events, and in a small cache evictions.
func storm(ctx context.Context, m *member) error {
	client, conn, err := m.client()
	if err != nil {
		return err
	}
	defer conn.Close()
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			most, tokens := 4, make([]uint32, 800)
			for i := range tokens {
				tokens[i] = 300 + rand.Uint32N(200)
			}
			s, err := client.Generate(ctx, &engine.Request{
				ID: fmt.Sprint("storm-", rand.Uint64()), Tokens: tokens, Stream: true, Sampling: engine.Sampling{MaxTokens: &most, IgnoreEOS: true},
			})
			for d := (engine.Delta{}); err == nil; {
				err = s.Recv(&d)
			}
		})
	}
	all.Wait()
	return nil
}

// finished is what the engine recorded of the gateway's requests.
func (m *member) finished() (answers, cached int) {
	for _, r := range m.Finishes() {
		if strings.HasPrefix(r.ID, "leeway-") && r.Detail != "abort" {
			answers, cached = answers+1, cached+r.Cached
		}
	}
	return answers, cached
}
