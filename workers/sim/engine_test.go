package sim

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// small is an engine with blocks of 4 tokens and room for some.
func small(blocks int, leap bool) *Engine {
	return NewEngine(EngineOptions{Deployment: deployments[0], BlockSize: 4, KVTokens: 4 * blocks, Budget: 64, MaxRunning: 8, Leap: leap})
}

// job makes a job over tokens from a stream that depends on seed; its answer goes on with them.
func job(tag, prompt, output int, seed uint32) *Job {
	tokens := make([]uint32, prompt+output)
	for i := range tokens {
		tokens[i] = seed + uint32(i)
	}
	return &Job{Tag: tag, Prompt: prompt, Output: output, Keys: AppendKeys(nil, tokens, 4)}
}

// unique makes a job whose prompt is like job's and whose answer is like no other.
func unique(tag, prompt, output int, seed uint32) *Job {
	j := job(tag, prompt, 0, seed)
	for i := len(j.Keys); i < (prompt+output)/4; i++ {
		j.Keys = append(j.Keys, uint64(tag+1)<<32|uint64(i))
	}
	j.Output = output
	return j
}

// drain lets an engine run until it is idle and returns all that it did.
func drain(t *testing.T, e *Engine, now time.Duration) (time.Duration, Output) {
	t.Helper()
	var all Output
	e.Advance(now, &all)
	for range 100_000 {
		next, busy := e.Next()
		if !busy {
			return now, all
		}
		now = next
		e.Advance(now, &all)
	}
	t.Fatal("the engine does not come to rest")
	return now, all
}

func TestTheSecondTurnFindsTheFirstOneInTheCache(t *testing.T) {
	e := small(64, false)
	first := job(1, 16, 6, 100)
	if err := e.Submit(0, first); err != nil {
		t.Fatal(err)
	}
	now, out := drain(t, e, 0)
	tokens := 0
	for _, p := range out.Progress {
		tokens += p.Tokens
	}
	if tokens != 6 || !out.Progress[len(out.Progress)-1].Done {
		t.Fatalf("%d tokens, %v", tokens, out.Progress)
	}
	second := job(2, 24, 1, 100)
	if err := e.Submit(now, second); err != nil {
		t.Fatal(err)
	}
	drain(t, e, now)
	if second.Cached != 20 { // 16 of the prompt, 5 computed of the answer, whole blocks
		t.Errorf("%d tokens cached, want 20", second.Cached)
	}
}

func TestTheLastPromptTokenIsAlwaysComputed(t *testing.T) {
	e := small(64, false)
	for i, want := range []int{0, 12} {
		j := job(i, 16, 1, 7)
		if err := e.Submit(0, j); err != nil {
			t.Fatal(err)
		}
		drain(t, e, 0)
		if j.Cached != want {
			t.Errorf("time %d: %d cached, want %d", i, j.Cached, want)
		}
	}
}

func TestAPromptLongerThanTheBudgetIsComputedInChunks(t *testing.T) {
	e := small(64, false)
	if err := e.Submit(0, job(1, 150, 1, 0)); err != nil {
		t.Fatal(err)
	}
	steps := 0
	var out Output
	for now := time.Duration(0); ; steps++ {
		e.Advance(now, &out)
		next, busy := e.Next()
		if !busy {
			break
		}
		now = next
	}
	if steps != 3 {
		t.Errorf("%d steps, want 3 of 64, 64 and 22", steps)
	}
}

func TestTailsAreEvictedBeforeTheirHeads(t *testing.T) {
	e := small(8, false)
	old := job(1, 17, 1, 100) // 4 full blocks
	if err := e.Submit(0, old); err != nil {
		t.Fatal(err)
	}
	now, _ := drain(t, e, 0)
	if err := e.Submit(now, job(2, 25, 1, 900)); err != nil { // needs 7 blocks, 4 are free
		t.Fatal(err)
	}
	_, out := drain(t, e, now)
	var removed []uint64
	for _, c := range out.Changes {
		if c.Removed != 0 {
			removed = append(removed, c.Removed)
		}
	}
	want := []uint64{old.Keys[3], old.Keys[2], old.Keys[1]}
	if !slices.Equal(removed, want) {
		t.Errorf("removed %x, want the tail first %x", removed, want)
	}
}

func TestBlocksInUseAreNotEvictedAndTheNextJobWaits(t *testing.T) {
	e := small(8, false)
	a, b := job(1, 24, 4, 0), job(2, 24, 1, 500)
	for _, j := range []*Job{a, b} {
		if err := e.Submit(0, j); err != nil {
			t.Fatal(err)
		}
	}
	var out Output
	e.Advance(0, &out)
	if s := e.Sample(0); s.Running != 1 || s.Waiting != 1 || s.Uncached != 24 || s.Usage != 0.75 {
		t.Errorf("%+v", s)
	}
	_, out = drain(t, e, 0)
	if last := out.Progress[len(out.Progress)-1]; last.Job != b || !last.Done {
		t.Errorf("the waiting job did not end last: %+v", last)
	}
}

func TestTheLastRunningJobIsPreemptedAndRecomputed(t *testing.T) {
	e := small(8, false)
	a, b := job(1, 12, 12, 0), job(2, 12, 12, 500)
	for _, j := range []*Job{a, b} {
		if err := e.Submit(0, j); err != nil {
			t.Fatal(err)
		}
	}
	_, out := drain(t, e, 0)
	got := map[*Job]int{}
	for _, p := range out.Progress {
		got[p.Job] += p.Tokens
		if p.Cut {
			t.Errorf("job %d was cut", p.Job.Tag)
		}
	}
	if e.Preempted == 0 || got[a] != 12 || got[b] != 12 {
		t.Errorf("%d preemptions, %d and %d tokens", e.Preempted, got[a], got[b])
	}
	if s := e.Sample(0); s.Usage != 0 || s.Running+s.Waiting != 0 {
		t.Errorf("something is left: %+v", s)
	}
}

func TestAJobThatFillsTheWholeMemoryIsCut(t *testing.T) {
	e := small(4, false)
	if err := e.Submit(0, job(1, 10, 100, 0)); err != nil {
		t.Fatal(err)
	}
	_, out := drain(t, e, 0)
	if last := out.Progress[len(out.Progress)-1]; !last.Cut || !last.Done {
		t.Errorf("%+v", last)
	}
	if err := e.Submit(0, job(2, 16, 1, 0)); !errors.Is(err, ErrTooLong) {
		t.Errorf("a prompt with no room for an answer: %v", err)
	}
}

func TestAbortFreesAJobWhereverItIs(t *testing.T) {
	e := small(8, true)
	a, b := job(1, 20, 50, 0), job(2, 20, 5, 500)
	for _, j := range []*Job{a, b} {
		if err := e.Submit(0, j); err != nil {
			t.Fatal(err)
		}
	}
	var out Output
	e.Advance(0, &out)
	if !e.Abort(1, b) || !e.Abort(1, a) || e.Abort(1, a) {
		t.Error("each job is there once")
	}
	_, out = drain(t, e, time.Second)
	if len(out.Progress) > 0 || e.pool.inUse() != 0 {
		t.Errorf("%d blocks in use, progress %v", e.pool.inUse(), out.Progress)
	}
}

func TestFlushEmptiesAnIdleEngineAndIsRefusedOtherwise(t *testing.T) {
	e := small(8, false)
	j := job(1, 9, 2, 0)
	if err := e.Submit(0, j); err != nil {
		t.Fatal(err)
	}
	var out Output
	e.Advance(0, &out)
	if e.Flush(&out) {
		t.Error("flushed under a running job")
	}
	drain(t, e, 0)
	out.Reset()
	if !e.Flush(&out) || len(out.Changes) != 2 {
		t.Errorf("changes %v", out.Changes)
	}
}

// history of one job, which leaping must not change.
type trail struct {
	first, last time.Duration
	tokens      int
	cached      int
	cut         bool
}

// replay runs the same arrivals through an engine and returns what became of each job and of the cache.
func replay(t *testing.T, leap bool, seed uint64) (map[int]trail, []uint64, int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	e := small(40, leap)
	trails := map[int]trail{}
	var out Output
	note := func() {
		for _, p := range out.Progress {
			tr := trails[p.Job.Tag]
			if tr.tokens == 0 && p.Tokens > 0 {
				tr.first = p.At
			}
			tr.tokens += p.Tokens
			tr.last, tr.cached, tr.cut = p.At, p.Job.Cached, p.Cut
			trails[p.Job.Tag] = tr
		}
		out.Reset()
	}
	now := time.Duration(0)
	for tag := range 60 {
		now += time.Duration(rng.Int64N(int64(60 * time.Millisecond)))
		e.Advance(now, &out)
		note()
		j := unique(tag, 5+rng.IntN(60), 1+rng.IntN(40), uint32(rng.IntN(3)*1000))
		if err := e.Submit(now, j); err != nil {
			t.Fatal(err)
		}
		e.Advance(now, &out)
		note()
	}
	_, rest := drain(t, e, now)
	out = rest
	note()
	var keys []uint64
	for _, k := range e.pool.keys {
		if k != 0 {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return trails, keys, e.Preempted
}

func TestLeapingChangesNoTimeNoTokenAndNoBlock(t *testing.T) {
	for seed := range uint64(60) {
		steps, stepKeys, preempted := replay(t, false, seed)
		leaps, leapKeys, preemptedLeaping := replay(t, true, seed)
		if len(steps) != 60 || preempted != preemptedLeaping {
			t.Fatalf("seed %d: %d jobs, %d and %d preemptions", seed, len(steps), preempted, preemptedLeaping)
		}
		for tag, want := range steps {
			if got := leaps[tag]; got != want {
				t.Fatalf("seed %d, job %d: leaping %+v, stepping %+v", seed, tag, got, want)
			}
		}
		if !slices.Equal(stepKeys, leapKeys) {
			t.Fatalf("seed %d: %d blocks cached stepping, %d leaping", seed, len(stepKeys), len(leapKeys))
		}
	}
}

func TestChangesTellExactlyWhatIsCached(t *testing.T) {
	e := small(20, false)
	rng := rand.New(rand.NewPCG(9, 9))
	held := map[uint64]bool{}
	now := time.Duration(0)
	for tag := range 300 {
		if err := e.Submit(now, job(tag, 5+rng.IntN(40), 1+rng.IntN(10), uint32(rng.IntN(5)*1000))); err != nil {
			t.Fatal(err)
		}
		var out Output
		now, out = drain(t, e, now)
		for _, c := range out.Changes {
			if c.Job == nil {
				if !held[c.Removed] {
					t.Fatal("a block went that had not come")
				}
				delete(held, c.Removed)
				continue
			}
			for _, k := range c.Job.Keys[c.From:c.To] {
				if held[k] {
					t.Fatal("a block came twice")
				}
				held[k] = true
			}
		}
		for k := range held {
			if e.pool.find(k) == none {
				t.Fatal("a block went without a word")
			}
		}
	}
}

// BenchmarkFleetRequests serves requests of 3072 tokens, two thirds of them shared, and 200 tokens of answer, over 64
// engines: the trial's size.
func BenchmarkFleetRequests(b *testing.B) {
	engines := make([]*Engine, 64)
	for i := range engines {
		engines[i] = NewEngine(EngineOptions{Deployment: deployments[0], BlockSize: 16, Leap: true})
	}
	rng := rand.New(rand.NewPCG(3, 4))
	shared := make([]uint64, 128)
	for i := range shared {
		shared[i] = rng.Uint64() | 1
	}
	var out Output
	now := time.Duration(0)
	for i := range b.N {
		keys := slices.Clone(shared)
		for range 64 {
			keys = append(keys, rng.Uint64()|1)
		}
		now += 150 * time.Millisecond / 64
		e := engines[i%len(engines)]
		e.Advance(now, &out)
		out.Reset()
		if err := e.Submit(now, &Job{Tag: i, Prompt: 16 * len(keys), Output: 200, Keys: keys}); err != nil {
			b.Fatal(err)
		}
		e.Advance(now, &out)
	}
	b.ReportMetric(float64(len(engines[0].running)), "running")
}
