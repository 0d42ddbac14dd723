package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrTooLong says that a job can never fit the engine's KV memory.
var ErrTooLong = errors.New("the sequence does not fit the KV cache")

// Job is one sequence to compute. The caller fills the exported fields; Output and the keys of the answer's blocks
// may be set as late as the job's entry in Output.Admitted, when Cached is known; who does so lets Advance go no
// further than Next at a time, or the first token may be due before.
type Job struct {
	Tag    int      // the caller's own
	Prompt int      // tokens
	Output int      // tokens of the answer
	Keys   []uint64 // of the full blocks of prompt and answer, as far as known; blocks beyond are never shared
	Cached int      // prompt tokens found in the cache when the job was first admitted

	admitted  bool
	computed  int // tokens with KV
	generated int
	chunk     int // tokens that the step under way computes
	blocks    []int32
	stored    int // leading blocks that are findable
}

// known is the length of the sequence so far; the last token of it may have no KV yet.
func (j *Job) known() int     { return j.Prompt + j.generated }
func (j *Job) decoding() bool { return j.generated > 0 && j.computed == j.known()-1 }

// advance is the number of tokens whose KV n steps compute.
func (j *Job) advance(n int) int {
	if j.chunk > 0 && j.decoding() {
		return n
	}
	return j.chunk
}

// Output is what an engine did. Its slices are reused: Reset it between uses.
type Output struct {
	Admitted []*Job
	Progress []Progress
	Changes  []Change
}

// Reset empties the output and keeps its memory.
func (o *Output) Reset() {
	o.Admitted, o.Progress, o.Changes = o.Admitted[:0], o.Progress[:0], o.Changes[:0]
}

// Progress says that a job got tokens at a point of time.
type Progress struct {
	Job    *Job
	At     time.Duration
	Tokens int
	Done   bool
	// Cut says that the job ended before its time because memory had no room for another token.
	Cut bool
}

// Change is something that happened to the cache, in order: blocks From to To of Job became findable, or the block
// of key Removed went, or everything did.
type Change struct {
	Job      *Job
	From, To int
	Removed  uint64
	Cleared  bool
}

// EngineOptions sets up an Engine. Zero fields take the defaults of the comment.
type EngineOptions struct {
	Deployment Deployment
	BlockSize  int // 16
	KVTokens   int // the deployment's
	Budget     int // tokens a step, 8192
	MaxRunning int // sequences, 256
	// Leap computes stretches in which every sequence decodes in closed form. Tokens then come in groups, and the
	// blocks that they fill become findable at the end of a stretch or the next Advance. Every time is the same as
	// without, unless two answers in one stretch are equal, block by block.
	Leap bool
}

// Engine models an inference engine: continuous batching, chunked prefill and a prefix cache, on a clock that it
// is told. It does nothing by itself and is for one goroutine at a time.
type Engine struct {
	o       EngineOptions
	pool    *pool
	running []*Job
	waiting []*Job

	busy  bool
	began time.Duration
	ends  time.Duration
	steps int // of the stretch under way
	work  workload

	rate      float64 // tokens a second, averaged over about a second
	rateAt    time.Duration
	asked     int64 // prompt tokens of admitted jobs
	hit       int64 // of these, found in the cache
	Preempted int
}

// NewEngine returns an idle engine with an empty cache.
func NewEngine(o EngineOptions) *Engine {
	if o.BlockSize <= 0 {
		o.BlockSize = 16
	}
	if o.KVTokens <= 0 {
		o.KVTokens = o.Deployment.KVTokens
	}
	if o.Budget <= 0 {
		o.Budget = 8192
	}
	if o.MaxRunning <= 0 {
		o.MaxRunning = 256
	}
	return &Engine{o: o, pool: newPool(max(o.KVTokens/o.BlockSize, 1))}
}

// Submit queues a job. A stretch under way ends with the step that is being computed.
func (e *Engine) Submit(now time.Duration, j *Job) error {
	if e.blocksFor(j.Prompt+1) > e.pool.size() || j.Prompt <= 0 {
		return fmt.Errorf("%w: %d tokens of prompt, %d tokens of memory", ErrTooLong, j.Prompt, e.pool.size()*e.o.BlockSize)
	}
	e.cut(now)
	e.waiting = append(e.waiting, j)
	return nil
}

// Abort takes a job out, wherever it is; its blocks stay cached. It reports whether the job was there.
func (e *Engine) Abort(now time.Duration, j *Job) bool {
	e.cut(now)
	if i := slices.Index(e.waiting, j); i >= 0 {
		e.waiting = slices.Delete(e.waiting, i, i+1)
		return true
	}
	i := slices.Index(e.running, j)
	if i < 0 {
		return false
	}
	e.running = slices.Delete(e.running, i, i+1)
	e.release(j)
	return true
}

// Next says when the step or stretch under way ends; false when there is none.
func (e *Engine) Next() (time.Duration, bool) { return e.ends, e.busy }

// Advance brings the engine to now: it ends every step that is over by then and begins the next.
func (e *Engine) Advance(now time.Duration, out *Output) {
	for e.busy && e.ends <= now {
		e.finish(e.steps, out)
		e.begin(e.ends, out)
	}
	if !e.busy {
		e.begin(now, out)
		return
	}
	if e.steps > 1 {
		e.settle(now, out)
	}
}

// Flush empties the cache. It is refused while a job runs.
func (e *Engine) Flush(out *Output) bool {
	if len(e.running) > 0 {
		return false
	}
	for _, key := range e.pool.clear() {
		out.Changes = append(out.Changes, Change{Removed: key})
	}
	return true
}

// cut shortens a stretch to the step that is being computed at now.
func (e *Engine) cut(now time.Duration) {
	if !e.busy || e.steps <= 1 || now >= e.ends {
		return
	}
	done := e.o.Deployment.stepsWithin(e.work, now-e.began, e.steps)
	if e.o.Deployment.run(e.work, done) < now-e.began || done == 0 {
		done++
	}
	e.steps = min(done, e.steps)
	e.ends = e.began + e.o.Deployment.run(e.work, e.steps)
}

// settle ends the steps of a stretch that are over by now and leaves the rest under way.
func (e *Engine) settle(now time.Duration, out *Output) {
	done := e.o.Deployment.stepsWithin(e.work, now-e.began, e.steps-1)
	if done == 0 {
		return
	}
	left := e.steps - done
	ends := e.ends
	e.ends = e.began + e.o.Deployment.run(e.work, done)
	e.finish(done, out)
	e.work.context += int64(done * e.work.decoding)
	e.busy, e.began, e.ends, e.steps = true, e.ends, ends, left
}

func (e *Engine) blocksFor(tokens int) int { return (tokens + e.o.BlockSize - 1) / e.o.BlockSize }
