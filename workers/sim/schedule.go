package sim

import (
	"slices"
	"time"
)

// begin schedules the next step at now: running jobs first, each a token or a chunk of prefill, then waiting jobs in
// order, as far as the token budget and the memory go.
func (e *Engine) begin(now time.Duration, out *Output) {
	e.busy, e.work = false, workload{}
	budget := e.o.Budget
	preempted := e.Preempted
	for i := 0; i < len(e.running); i++ {
		j := e.running[i]
		j.chunk = min(j.known()-j.computed, budget)
		if !e.makeRoom(i, now, out) {
			break
		}
		budget -= j.chunk
		e.work.add(j)
	}
	if e.Preempted == preempted {
		e.admit(budget, out)
	}
	if len(e.running) == 0 {
		return
	}
	e.busy, e.began = true, now
	e.steps = e.stretch()
	e.ends = now + e.o.Deployment.run(e.work, e.steps)
}

// makeRoom reserves the blocks of running job i's chunk, preempting the last jobs where memory is short. It is
// false when job i itself had to go; then it was the last.
func (e *Engine) makeRoom(i int, now time.Duration, out *Output) bool {
	j := e.running[i]
	for !e.reserve(j, j.chunk, out) {
		last := len(e.running) - 1
		victim := e.running[last]
		e.running = e.running[:last]
		e.release(victim)
		if last == 0 {
			out.Progress = append(out.Progress, Progress{Job: victim, At: now, Done: true, Cut: true})
			return false
		}
		e.Preempted++
		victim.computed, victim.stored, victim.chunk = 0, 0, 0
		e.waiting = append([]*Job{victim}, e.waiting...)
		if victim == j {
			return false
		}
	}
	return true
}

// reserve allocates what n more tokens of j need; nothing if that is more than there is.
func (e *Engine) reserve(j *Job, n int, out *Output) bool {
	need := e.blocksFor(j.computed+n) - len(j.blocks)
	if need > e.pool.available() {
		return false
	}
	for range need {
		b, evicted := e.pool.take()
		j.blocks = append(j.blocks, b)
		if evicted != 0 {
			out.Changes = append(out.Changes, Change{Removed: evicted})
		}
	}
	return true
}

// admit starts waiting jobs. The first that does not fit ends it: nobody overtakes.
func (e *Engine) admit(budget int, out *Output) {
	taken := 0
	for _, j := range e.waiting {
		if budget <= 0 || len(e.running) >= e.o.MaxRunning {
			break
		}
		matched, idle := e.match(j)
		start := matched * e.o.BlockSize
		chunk := min(j.known()-start, budget)
		if e.blocksFor(start+chunk)-matched > e.pool.available()-idle {
			break
		}
		for _, key := range j.Keys[:matched] {
			b := e.pool.find(key)
			e.pool.pin(b)
			j.blocks = append(j.blocks, b)
		}
		j.computed, j.stored, j.chunk = start, matched, chunk
		e.reserve(j, chunk, out)
		if !j.admitted {
			j.admitted, j.Cached = true, min(start, j.Prompt)
			e.asked += int64(j.Prompt)
			e.hit += int64(j.Cached)
			out.Admitted = append(out.Admitted, j)
		}
		e.running = append(e.running, j)
		e.work.add(j)
		budget -= chunk
		taken++
	}
	if taken > 0 {
		e.waiting = slices.Delete(e.waiting, 0, taken)
	}
}

// match counts the leading blocks of j that the cache holds, and how many of these nobody uses. The last known
// token is always left to compute, since it yields the next one.
func (e *Engine) match(j *Job) (blocks, idle int) {
	limit := min((j.known()-1)/e.o.BlockSize, len(j.Keys))
	for _, key := range j.Keys[:limit] {
		b := e.pool.find(key)
		if b == none {
			break
		}
		if e.pool.refs[b] == 0 {
			idle++
		}
		blocks++
	}
	return blocks, idle
}

// stretch is the number of steps that can be computed at once: up to the first end of a job, as long as memory is
// sure to suffice. A job that waits for memory allows none, since a block stored meanwhile may be one of its own.
func (e *Engine) stretch() int {
	forMemory := len(e.waiting) > 0 && len(e.running) < e.o.MaxRunning
	if !e.o.Leap || forMemory || e.work.prefill > 0 || e.work.decoding != len(e.running) {
		return 1
	}
	n := e.running[0].Output - e.running[0].generated
	for _, j := range e.running[1:] {
		n = min(n, j.Output-j.generated)
	}
	for ; n > 1; n /= 2 {
		need := 0
		for _, j := range e.running {
			need += e.blocksFor(j.computed+n) - len(j.blocks)
		}
		if need <= e.pool.available() {
			return n
		}
	}
	return 1
}

// finish ends n steps: KV is there, full blocks become findable, jobs get tokens and some are done.
func (e *Engine) finish(n int, out *Output) {
	for _, j := range e.running { // all before any ends: nobody gets the blocks of one that is only now done
		e.reserve(j, j.advance(n), out)
	}
	generated := 0
	alive := e.running[:0]
	for _, j := range e.running {
		tokens := e.compute(j, n, out)
		generated += tokens
		done := j.computed >= j.Prompt && j.generated >= j.Output
		if tokens > 0 || done {
			out.Progress = append(out.Progress, Progress{Job: j, At: e.ends, Tokens: tokens, Done: done})
		}
		if done {
			e.release(j)
		} else {
			alive = append(alive, j)
		}
	}
	clear(e.running[len(alive):])
	e.running = alive
	e.measure(generated)
	e.busy = false
}

// compute gives j what n steps compute and returns the tokens that it got.
func (e *Engine) compute(j *Job, n int, out *Output) (tokens int) {
	advance := j.advance(n)
	if advance == 0 {
		return 0
	}
	j.computed += advance
	if j.computed >= j.known() && j.generated < j.Output {
		tokens = j.computed - j.known() + 1
	}
	j.generated += tokens
	e.store(j, out)
	return tokens
}

// store makes the blocks of j that have become full findable.
func (e *Engine) store(j *Job, out *Output) {
	full := min(j.computed/e.o.BlockSize, len(j.Keys))
	from := j.stored
	for ; j.stored < full; j.stored++ {
		b, isNew := e.pool.name(j.blocks[j.stored], j.Keys[j.stored])
		j.blocks[j.stored] = b
		if !isNew {
			e.changed(j, from, j.stored, out)
			from = j.stored + 1
		}
	}
	e.changed(j, from, full, out)
}

// changed reports a run of blocks, if it is one.
func (e *Engine) changed(j *Job, from, to int, out *Output) {
	if from < to {
		out.Changes = append(out.Changes, Change{Job: j, From: from, To: to})
	}
}

// release gives back the blocks of j, the last first, so that tails are evicted before what they hang from.
func (e *Engine) release(j *Job) {
	for i := len(j.blocks) - 1; i >= 0; i-- {
		e.pool.release(j.blocks[i])
	}
	j.blocks = j.blocks[:0]
}
