package workers

import (
	"context"
	"errors"
	"time"

	"leeway/workers/engine"
)

// sweepInterval is how often the workers are looked at without a cause.
const sweepInterval = 250 * time.Millisecond

// standing says how a worker may be chosen.
type standing uint8

const (
	barred  standing = iota // not at all
	reserve                 // where its model has no other: it seems wedged, or its breaker is half open and busy
	fit                     // as any other
)

// judgement is what is thought of a worker beside its health.
type judgement struct {
	breaker      Breaker
	busy, wedged bool
}

// judgement is asked for with mu held, as are the two that follow.
func (w *worker) judgement() judgement {
	return judgement{w.breaker.state, w.breaker.busy(), w.pulse.wedged}
}

func (w *worker) standing() standing {
	switch {
	case w.state != Ready || w.breaker.state == Open:
		return barred
	case w.pulse.wedged || w.breaker.busy():
		return reserve
	}
	return fit
}

// owed is the pile of what the worker has been asked for and not given.
func (w *worker) owed() (p pile) {
	for s := range w.streams {
		if s.streamed && s.waits.Load() {
			p.requests++
		}
		if !s.begun.Load() {
			p.tokens += s.tokens
		}
	}
	return p
}

// judged makes a change with mu held. If it changes what is thought of the worker, that is told, and the fleet is
// published anew.
func (w *worker) judged(change func(now time.Time)) {
	if w.rejudged(change) {
		w.pool.publish(func() {})
	}
}

// rejudged is judged, but leaves it to the caller to publish.
func (w *worker) rejudged(change func(now time.Time)) bool {
	w.mu.Lock()
	before := w.judgement()
	change(time.Now())
	after := w.judgement()
	failed, passed, cause := w.breaker.failed, w.breaker.passed, w.blamed
	w.mu.Unlock()
	w.gauges.inARow(failed, passed)
	if before == after {
		return false
	}
	if before.breaker != after.breaker {
		w.gauges.broke(before.breaker, after.breaker)
		event := w.log.Info()
		if after.breaker == Open {
			event = w.log.Warn().Str("last_failure", cause).Float64("rest_secs", w.pool.cfg.BreakerTimeout)
		}
		event.Str("from", string(before.breaker)).Str("to", string(after.breaker)).Msg("circuit breaker changed")
	}
	if before.wedged != after.wedged {
		w.gauges.stalled("wedged", after.wedged)
		if after.wedged {
			w.log.Warn().Msg("worker seems wedged: requests are waiting and nothing comes; new ones go elsewhere")
			w.askSoon()
		} else {
			w.log.Info().Msg("worker moves again")
		}
	}
	return true
}

// sweep looks at all workers now and then, until ctx ends.
func (p *Pool) sweep(ctx context.Context) {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		members := p.members
		p.mu.Unlock()
		changed := false
		for _, w := range members {
			changed = w.rejudged(w.swept) || changed
		}
		if changed {
			p.publish(func() {})
		}
	}
}

// swept is what time alone changes.
func (w *worker) swept(now time.Time) {
	w.breaker.tick(now)
	if w.state != Ready {
		return
	}
	if w.spoke.Swap(false) {
		w.contact = now
		w.pulse.move(now)
	}
	w.pulse.look(now, w.owed(), 0)
	if stale := seconds(w.pool.cfg.StaleTime); stale > 0 && len(w.pushed) > 0 && now.Sub(w.contact) >= stale {
		w.askSoon() // one that used to tell its loads and has fallen silent is asked before it is given up
	}
}

// reported judges a worker by its load report.
func (w *worker) reported(ranks ...engine.RankLoad) {
	w.judged(func(now time.Time) {
		waiting := 0
		for i := range ranks {
			waiting += max(ranks[i].Waiting, 0)
			w.pulse.report(now, &ranks[i])
		}
		if w.state == Ready {
			w.pulse.look(now, w.owed(), waiting)
		}
	})
}

// blame says what a failed call says of the worker: nothing where the request was at fault, or the worker is only busy.
func blame(err error) outcome {
	var e *engine.Error
	switch {
	case errors.As(err, &e) && e.Unsent:
		return unreached
	case isTransport(err):
		return severed
	}
	switch codeOf(err) {
	case engine.Unavailable, engine.Internal, engine.Unknown, engine.DataLoss, engine.DeadlineExceeded, engine.Canceled,
		engine.Unauthenticated, engine.PermissionDenied:
		return failure
	}
	return neutral
}

// charge is what the breaker hears of a request's outcome. mu is held.
func (w *worker) charge(now time.Time, s *Stream, o outcome) outcome {
	if o != severed {
		return o
	}
	if s != nil && s.sent.Before(w.severed) {
		return neutral
	}
	w.severed = now
	return failure
}
