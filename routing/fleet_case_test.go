package routing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"leeway/routing/prefix"
)

// row 2a, case H3: a worker that says it is unwell loses its cache; of one that cannot be reached nothing is known.
func TestAWorkerOutOfContactIsSuspendedAndAnUnhealthyOneForgotten(t *testing.T) {
	for lost, want := range map[bool]int32{true: 160, false: 0} {
		r := newRouter(t, 2, func(c *Config) { c.CacheMode = "enforce" })
		feed := r.Feed("w0")
		feed.Apply(start, stored(1, 0, prompt(160), 16))
		fleet := fleetOf(2)
		fleet[0].Healthy, fleet[0].Lost = false, lost
		r.Publish(fleet)
		r.Publish(fleetOf(2))
		claim := func() Candidate {
			receipt := pick(t, r, start, eligible(161)).Receipt()
			x, _ := receipt.Candidate("w0")
			return x
		}
		if got := claim(); got.Cached != 0 || got.Certificate == prefix.Certified {
			t.Errorf("lost %t: %s for %d tokens before a new stream", lost, got.Certificate, got.Cached)
		}
		if feed.Unwell() == lost {
			t.Errorf("lost %t: unwell %t; that it can be chosen again is no health check", lost, !lost)
		}
		feed.Well()
		feed.Subscribed(0)
		feed.Apply(start, stored(2, 1<<20, []uint32{1 << 20, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, 16))
		if got := claim(); got.Cached != want || got.Certificate != prefix.Certified {
			t.Errorf("lost %t: %s for %d tokens after the next batch, want %d", lost, got.Certificate, got.Cached, want)
		}
	}
}

// cases D12 and D18. An engine whose server tells of its first rank only.
func TestARankThatTellsNothingOfWhatItComputesIsShown(t *testing.T) {
	for cached, silent := range map[int]int{0: 1, 300: 0} { // of the prompt's 300 tokens: there may be nothing to tell
		text := measured(t, cached)
		for _, want := range []string{fmt.Sprintf(`leeway_kv_silent{worker="w"} %d`, silent), `leeway_kv_certificate{worker="w"} 0`} {
			if !strings.Contains(text, want+"\n") {
				t.Errorf("%d tokens cached: %s is missing", cached, want)
			}
		}
	}
}

// measured is the metrics of a worker of two ranks that computes on both and tells of the first.
func measured(t *testing.T, cached int) string {
	r := newRouter(t, 1, nil)
	ranks := slices.Repeat(fleetOf(1), 2)
	for i := range ranks {
		ranks[i].ID, ranks[i].Worker, ranks[i].Rank, ranks[i].Ranks = fmt.Sprint("w@", i), "w", int32(i), 2
	}
	r.Publish(ranks)
	for n := range 100 {
		for i := range ranks {
			l := pick(t, r, start, Request{Tokens: prompt(300), Exclude: []string{ranks[1-i].ID}, PlainText: true})
			l.Finish(start, Outcome{PromptTokens: 300, CachedTokens: cached})
			l.Release()
		}
		r.Feed("w").Apply(start, stored(uint64(n), 0, prompt(300), 16))
	}
	var text strings.Builder
	r.WriteMetrics(&text, start)
	return text.String()
}

// case H3. A worker may stand aside for other reasons than its health, and come back without a word of it.
func TestAWorkerThatComesBackIsNotTherebyWell(t *testing.T) {
	r := newRouter(t, 2, nil)
	r.Feed("w0").Drop(prefix.Unhealthy)
	fleet := fleetOf(2)
	fleet[0].Healthy, fleet[0].Lost = false, true
	r.Publish(fleet)
	r.Publish(fleetOf(2))
	if !r.Feed("w0").Unwell() {
		t.Error("the worker is taken to be well")
	}
}
