package routing

import (
	"testing"
	"time"
)

// case C6: prompts that nobody has seen before leave no worker behind.
func TestUniquePromptsAreSharedEvenly(t *testing.T) {
	for _, mode := range modeNames {
		r := newRouter(t, 5, func(c *Config) { c.CacheMode = mode })
		got, now, sequence := map[string]int{}, start, map[string]uint64{}
		for n := range 1000 {
			if now = now.Add(50 * time.Millisecond); n%20 == 0 {
				for i := range 5 {
					r.Observe(name(i), idle(now))
				}
			}
			tokens := prompt(500)
			for i := range tokens {
				tokens[i] += uint32(1000 * n)
			}
			l := pick(t, r, now, Request{Tokens: tokens, Chat: true, Streaming: true, PlainText: true})
			id := l.Target().ID
			got[id]++
			sequence[id]++
			r.Feed(id).Apply(now, stored(sequence[id], int64(1000*n), tokens, 20))
			l.Finish(now, Outcome{PromptTokens: 500, CompletionTokens: 1})
		}
		for i := range 5 {
			if n := got[name(i)]; n < 160 || n > 240 {
				t.Errorf("%s: %s got %d of 1000 requests, a fair share is 200", mode, name(i), n)
			}
		}
	}
}

// case C7: requests that never overlap leave no load, so all of them may go to the owner. The receipt says that it is for
// the cache.
func TestRequestsOneAfterAnotherStayWithTheOwnerAndSaySo(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode = "enforce" })
	r.Feed("w0").Apply(start, stored(1, 0, prompt(1600), 16))
	forTheCache := 0
	for n := range 50 {
		now := start.Add(time.Duration(n) * 100 * time.Millisecond)
		for i := range 2 {
			r.Observe(name(i), idle(now))
		}
		l := pick(t, r, now, eligible(1601))
		receipt := l.Receipt()
		l.Finish(now.Add(50*time.Millisecond), Outcome{PromptTokens: 1601, CachedTokens: 1600})
		if receipt.Chosen != "w0" || receipt.Saving != 0.2 {
			t.Fatalf("request %d: chose %s to save %v s", n, receipt.Chosen, receipt.Saving)
		}
		if receipt.Base != receipt.Chosen {
			forTheCache++
			if receipt.Slack <= 0 || receipt.Result != Partial {
				t.Errorf("request %d: slack %v, %s", n, receipt.Slack, receipt.Result)
			}
		}
	}
	if forTheCache == 0 {
		t.Error("no receipt says that the cache made the choice")
	}
}

// case D20: workers of one name in two places are two workers, and each owns what it holds.
func TestWorkersAreToldApartByTheirWholeAddress(t *testing.T) {
	fleet := fleetOf(2)
	fleet[0].ID, fleet[1].ID = "grpc://llm-0.blue:50051", "grpc://llm-0.green:50051"
	r := newRouter(t, 0, func(c *Config) { c.CacheMode = "shadow" })
	r.Publish(fleet)
	r.Feed(fleet[0].ID).Apply(start, stored(1, 0, prompt(1600), 16))
	r.Feed(fleet[1].ID).Apply(start, stored(1, 0, prompt(160), 16))
	receipt := pick(t, r, start, eligible(1601)).Receipt()
	for i, want := range []int32{1600, 160} {
		if x, _ := receipt.Candidate(fleet[i].ID); x.Cached != want {
			t.Errorf("%s claims %d tokens, want %d", fleet[i].ID, x.Cached, want)
		}
	}
	r.Publish(fleet[1:])
	receipt = pick(t, r, start, eligible(1601)).Receipt()
	if x, _ := receipt.Candidate(fleet[1].ID); x.Cached != 160 {
		t.Errorf("after its namesake left, %s claims %d tokens", fleet[1].ID, x.Cached)
	}
}
