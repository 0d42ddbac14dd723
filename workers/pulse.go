package workers

import (
	"math"
	"time"

	"leeway/workers/engine"
)

const (
	// wedgePile is how many streams without a token are a sign that the engine has stopped, though none comes after.
	wedgePile = 4
	// wedgeLimit bounds what a long prefill may add to the patience with an engine.
	wedgeLimit = 120 * time.Second
	// coldRate is the prefill of a worker that has not been measured yet, in tokens a second.
	coldRate = 10_000
)

// pulse judges whether a worker's engine still moves, which its health check may not know: an engine that has stopped
// answers health and loads, and produces nothing. It has no clock and no lock: the worker's guards it.
type pulse struct {
	patience time.Duration // 0: nothing is judged

	wedged   bool
	moved    time.Time          // when the engine last showed work, or had none
	requests int                // in the pile, at the last look
	accounts map[int32]account  // what each rank last reported
	stuck    map[int32]struct{} // ranks that say themselves that they have stopped
	rate     float64            // of prefill, in tokens a second, as seen from here; 0: not measured
}

// account is the part of a load report that only a working engine changes.
type account struct {
	running, used int
	usage, active uint64 // the bits, since a worker may say that they are no number
}

// pile is what a worker owes at a moment: streams whose reader waits for it, and prompt tokens of requests that have
// not begun. A stream whose client does not read is not waited for, and a whole answer says nothing before its end.
type pile struct{ requests, tokens int }

// look judges the pile. waiting is the queue that a load report tells of, and 0 between reports.
func (p *pulse) look(now time.Time, owed pile, waiting int) {
	grew := owed.requests > p.requests
	p.requests = owed.requests
	if owed.requests == 0 {
		p.moved = now
	}
	silent := now.Sub(p.moved) >= p.bound(owed.tokens)
	switch {
	case p.patience == 0:
	case len(p.stuck) > 0:
		p.wedged = true
	case p.wedged:
		p.wedged = silent
	default:
		p.wedged = silent && (grew || owed.requests >= wedgePile || waiting > 0)
	}
}

// bound is how long an engine may be silent that has so many tokens to prefill.
func (p *pulse) bound(tokens int) time.Duration {
	rate := p.rate
	if rate == 0 {
		rate = coldRate
	}
	return min(max(p.patience, seconds(float64(tokens)/rate)), max(p.patience, wedgeLimit))
}

// move notes a token or a completion.
func (p *pulse) move(now time.Time) {
	p.moved, p.wedged = now, false
	clear(p.stuck)
}

// prefilled measures the rate by a prompt that had so many tokens to compute and got its first one after took. What it
// waited in the queue counts as well: the pile waits in the same.
func (p *pulse) prefilled(tokens int, took time.Duration) {
	const least, weight = 64, 0.3
	if tokens < least || took <= 0 {
		return
	}
	rate := float64(tokens) / took.Seconds()
	if p.rate > 0 {
		rate = weight*rate + (1-weight)*p.rate
	}
	p.rate = rate
}

// report takes what a rank says of itself. Changes in what it runs and holds are work, also where it is not for us;
// that it has not stepped for longer than its prefill can take is its own word that it is stuck.
func (p *pulse) report(now time.Time, load *engine.RankLoad) {
	next := account{running: load.Running, used: load.UsedTokens, usage: math.Float64bits(load.Usage)}
	if load.ActiveUsage != nil {
		next.active = math.Float64bits(*load.ActiveUsage)
	}
	if before, ok := p.accounts[load.Rank]; ok && before != next {
		p.moved = now
	}
	if p.accounts == nil {
		p.accounts, p.stuck = map[int32]account{}, map[int32]struct{}{}
	}
	p.accounts[load.Rank] = next
	if limit, ok := p.allowance(load); ok && load.EngineSilence != nil && *load.EngineSilence >= limit {
		p.stuck[load.Rank] = struct{}{}
	} else {
		delete(p.stuck, load.Rank)
	}
}

// allowance is the silence that a rank may report of itself: twice what its prefill should take. An engine that is
// silent while it prefills is not judged before its rate and its prefill are known.
func (p *pulse) allowance(load *engine.RankLoad) (time.Duration, bool) {
	if load.PrefillPending == nil || p.rate == 0 {
		return p.patience, load.ReportsSteps
	}
	prefill := seconds(2 * float64(*load.PrefillPending) / p.rate)
	return min(max(p.patience, prefill), max(p.patience, wedgeLimit)), true
}

// forget begins anew, with another connection or another process.
func (p *pulse) forget(now time.Time) {
	*p = pulse{patience: p.patience, moved: now}
}
