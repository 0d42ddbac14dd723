package sim

import (
	"math"
	"testing"
	"time"
)

func TestASampleTellsRunningFromWaitingAndCachedFromNot(t *testing.T) {
	e := small(16, false)
	now, _ := drain(t, e, 0)
	warm := job(1, 20, 1, 0)
	if err := e.Submit(now, warm); err != nil {
		t.Fatal(err)
	}
	now, _ = drain(t, e, now)
	for tag, prompt := range []int{48, 24, 10} {
		if err := e.Submit(now, job(tag, prompt, 2, uint32([]int{500, 0, 900}[tag]))); err != nil {
			t.Fatal(err)
		}
	}
	var out Output
	e.Advance(now, &out)
	s := e.Sample(now)
	want := Sample{
		Running: 1, Waiting: 2, Queued: 34, Uncached: 8 + 10, Pending: 48, // the running one evicted a block of the cached prefix
		Usage: 12. / 16, UsedTokens: 48, MaxTokens: 64, MaxRunning: 8,
	}
	s.Throughput, s.HitRate, s.Filled = 0, 0, 0
	if s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}

func TestFilledCountsCachedBlocksAndUsageDoesNot(t *testing.T) {
	e := small(16, false)
	if err := e.Submit(0, job(1, 33, 1, 0)); err != nil {
		t.Fatal(err)
	}
	now, _ := drain(t, e, 0)
	if s := e.Sample(now); s.Usage != 0 || s.Filled != 0.5 {
		t.Errorf("usage %v, filled %v; want 0 and 0.5", s.Usage, s.Filled)
	}
}

func TestThroughputFollowsTheTokensAndFades(t *testing.T) {
	for _, leap := range []bool{false, true} {
		e := NewEngine(EngineOptions{Deployment: deployments[0], Leap: leap})
		if err := e.Submit(0, &Job{Prompt: 100, Output: 2000}); err != nil {
			t.Fatal(err)
		}
		var out Output
		e.Advance(0, &out)
		e.Advance(8*time.Second, &out)
		want := 1 / deployments[0].step(workload{decoding: 1, context: 1300}).Seconds()
		if got := e.Sample(8 * time.Second).Throughput; math.Abs(got-want) > 0.02*want {
			t.Errorf("leap %v: %.1f tokens a second, want about %.1f", leap, got, want)
		}
		end, _ := drain(t, e, 8*time.Second)
		if got := e.Sample(end + 20*time.Second).Throughput; got != 0 {
			t.Errorf("leap %v: %.1f tokens a second after 20 idle seconds", leap, got)
		}
	}
}

func TestAnEstimateTakesTheUsualShareOfHits(t *testing.T) {
	if got := (Sample{Queued: 1000, HitRate: 0.75}).Estimate(); got != 250 {
		t.Errorf("%d, want 250", got)
	}
}
