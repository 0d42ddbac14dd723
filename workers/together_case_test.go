package workers

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"leeway/routing"
	"leeway/workers/engine"
	"leeway/workers/sim"
)

// Polls, pushed loads, KV events, restarts, choices and changes of mode at once; the race detector watches. Every engine
// is idle and every account zero when it is over.
func TestPollsEventsAndChoicesAtOnce(t *testing.T) {
	fleet := []*sim.Worker{
		startSim(t, sim.Options{Speed: 20}), startSim(t, sim.Options{Dialect: "vllm", Servicer: string(sim.Rust), Speed: 20}),
		startSim(t, sim.Options{Dialect: "tokenspeed", Speed: 20}),
	}
	cfg := quick(fleet[0].URL(), fleet[1].URL(), fleet[2].URL())
	cfg.LoadInterval = 0.05
	pool, router := startPool(t, cfg)
	for _, w := range fleet {
		waitState(t, pool, w.URL(), Ready)
	}
	var all sync.WaitGroup
	for client := range 6 {
		all.Go(func() {
			for n := range 25 {
				serveOne(t, pool, router, promptOf(uint32(n%5), 40*(n%7+1)), fmt.Sprint(client, " ", n))
			}
		})
	}
	all.Go(func() {
		for n := range 40 {
			router.SetMode(routing.Mode(n % 3))
			router.Decisions(20, "", true)
			_ = pool.Flush(t.Context(), fleet[n%3].URL(), time.Second)
			if n%20 == 10 {
				_ = fleet[2].Restart(n == 10)
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	all.Wait()
	for _, w := range fleet {
		eventually(t, func() bool {
			s, _ := pool.Worker(w.URL())
			return s.Active == 0 && w.Load(0).Running+w.Load(0).Waiting == 0
		}, "%s to be idle", w.URL())
	}
	for _, w := range fleet {
		waitState(t, pool, w.URL(), Ready)
	}
	eventually(t, func() bool { return accountsAreZero(router) }, "accounts at zero")
}

// serveOne takes one request all the way. What a restarted worker breaks off is released like the rest.
func serveOne(t *testing.T, pool *Pool, router *routing.Router, tokens []uint32, id string) {
	lease, err := router.Pick(time.Now(), routing.Request{ID: id, Model: "demo", Tokens: tokens, Chat: true, Streaming: true, PlainText: true})
	if err != nil {
		t.Error(err)
		return
	}
	defer lease.Release()
	req := request(0)
	req.Tokens = tokens
	s, err := pool.Generate(t.Context(), lease.Target().ID, req)
	if err != nil {
		return
	}
	defer s.Close()
	var first engine.Delta
	if s.Recv(&first) != nil {
		return
	}
	lease.FirstToken(time.Now())
	if a, err := collect(s); err == nil {
		lease.Finish(time.Now(), routing.Outcome{PromptTokens: max(a.prompt, first.PromptTokens), CachedTokens: max(a.cached, first.CachedTokens)})
	}
}

// accountsAreZero looks at what a decision would see.
func accountsAreZero(router *routing.Router) bool {
	lease, err := router.Pick(time.Now(), routing.Request{Model: "demo", Tokens: prompt(1)})
	if err != nil {
		return false
	}
	receipt := lease.Receipt()
	lease.Release()
	for _, x := range receipt.Candidates {
		if x.InFlight != 0 || x.Ledger.Backlog != 0 || x.Shadow.Backlog != 0 || x.Ledger.Tokens >= 40 || x.Shadow.Tokens >= 40 { // the shortest prompt; looking costs a token
			return false
		}
	}
	return len(receipt.Candidates) == 3
}
