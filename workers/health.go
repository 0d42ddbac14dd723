package workers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leeway/routing/prefix"
	"leeway/workers/engine"
)

// recheck is the pause before a failed probe is repeated, where the failure was an answer and not silence.
const recheck = 500 * time.Millisecond

// watch probes a ready worker until it is lost or ctx ends.
func (w *worker) watch(ctx context.Context) {
	interval := seconds(w.pool.cfg.HealthInterval)
	wait, failures := interval, 0
	var failing, last time.Time // since when probes have failed; when the last was
	for {
		alarmed := false
		select {
		case <-ctx.Done():
			return
		case <-w.alarm:
			alarmed = true
			// Some engines answer a probe with a whole step of work: a storm of failures must not become one of probes.
			if !sleep(ctx, recheck-time.Since(last)) {
				return
			}
		case <-time.After(wait):
			if w.pool.cfg.DisableHealthCheck && failing.IsZero() {
				continue
			}
		}
		err := w.probe(ctx)
		last = time.Now()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			wait, failures, failing = interval, 0, time.Time{}
			continue
		}
		if !alarmed || !isLate(err) { // lateness that we went looking for is load, until it lasts
			failures++
		}
		if failing.IsZero() {
			failing = time.Now()
		}
		if w.isLost(err, failures, time.Since(failing)) {
			w.lose(err)
			return
		}
		// An overloaded engine answers a probe late, and asking it more often makes it no better. One that has answered
		// that it is not well is asked until it is, for nothing of its cache is believed before.
		if wait = interval; !isLate(err) || w.feed().Unwell() {
			wait = min(recheck, interval)
		}
	}
}

// isLost judges a failed probe: a lost connection by its time, a late answer by how long there has been no sign of life
// at all, anything else by how often it came.
func (w *worker) isLost(err error, failures int, lasting time.Duration) bool {
	cfg := &w.pool.cfg
	switch {
	case errors.Is(err, errRanks), errors.Is(err, errAnew):
		return true
	case isTransport(err):
		return lasting >= seconds(cfg.StallTime)
	case isLate(err) && cfg.StaleTime > 0 && w.silence() >= seconds(cfg.StaleTime):
		return true
	}
	return failures >= cfg.FailureThreshold
}

// probe asks for health, and whether the process is still the same one.
func (w *worker) probe(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, seconds(w.pool.cfg.HealthTimeout))
	defer cancel()
	w.conn.ResetConnectBackoff()
	err := w.currentClient().Health(limited)
	w.gauges.probed(err == nil)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		w.feed().Well()
	case isUnwell(err): // its streams may stay open, and nothing that they say is to be believed
		w.feed().Drop(prefix.Unhealthy)
	}
	if err != nil {
		return err
	}
	w.judged(func(time.Time) {
		if w.breaker.contact() {
			count("smg_worker_cb_health_readmissions_total", "worker", w.spec.URL)
		}
	})
	if _, err := w.recognise(ctx); err != nil {
		return err
	}
	return w.serves(ctx)
}

// feed is what is known of the worker's cache.
func (w *worker) feed() *prefix.Feed { return w.pool.router.Feed(w.spec.URL) }

// errAnew ends a session: the process there may be a new one and does not serve yet.
var errAnew = errors.New("it may have restarted")

// serves asks a process that may have replaced another one under way whether it serves already.
func (w *worker) serves(ctx context.Context) error {
	if !w.anew.Swap(false) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, seconds(w.pool.cfg.HealthTimeout))
	defer cancel()
	if err := w.currentClient().Serving(ctx); err != nil {
		return fmt.Errorf("%w: %w", errAnew, err)
	}
	return nil
}

// suspect asks for a probe that finds out whether the process there, which may be another one, serves.
func (w *worker) suspect() {
	w.anew.Store(true)
	w.askSoon()
}

// errRanks ends a session: targets, loads and views are all by rank, and so begin anew.
var errRanks = errors.New("the number of ranks behind the address has changed")

// recognise asks the worker anew what it is, and publishes a change. Another process has another cache; it reports
// whether it is proved to be the same.
func (w *worker) recognise(ctx context.Context) (same bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, seconds(w.pool.cfg.HealthTimeout))
	defer cancel()
	before := w.status()
	asked := time.Now()
	info, err := w.currentClient().Info(ctx)
	if err != nil {
		return false, err
	}
	if before.Info.Ranks != info.Ranks {
		return false, errRanks
	}
	restarted, same := w.learn(info, asked)
	if restarted {
		w.log.Warn().Msg("worker restarted")
		w.gauges.resynced("publisher_restart")
		w.feed().Drop(prefix.Restart)
		w.judged(func(now time.Time) {
			w.breaker.reset()
			w.pulse.forget(now)
		})
		w.suspect()
	}
	if restarted || w.status().Model != before.Model {
		w.pool.publish(func() {})
	}
	return same, nil
}

// currentClient is nil until the worker has answered once.
func (w *worker) currentClient() engine.Client {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.client
}

// sleep waits, and says false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// heard notes a sign of life.
func (w *worker) heard() {
	now := time.Now()
	w.mu.Lock()
	w.contact = now
	w.mu.Unlock()
}

// silence is how long the worker has shown no sign of life. Tokens leave a mark only, which the sweep makes a time of:
// there are many.
func (w *worker) silence() time.Duration {
	if w.spoke.Load() {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.contact)
}

// doubt asks for a probe soon because a call to the worker failed in a way that puts its health in question.
func (w *worker) doubt(err error) {
	switch code := codeOf(err); {
	case isTransport(err), code == engine.Unavailable, code == engine.Internal, code == engine.Unknown, code == engine.Aborted, code == engine.DeadlineExceeded:
		w.askSoon()
	}
}

// askSoon asks for a probe, unless one is asked for already.
func (w *worker) askSoon() {
	select {
	case w.alarm <- struct{}{}:
	default:
	}
}

// isTransport says whether the connection failed, and not the worker.
func isTransport(err error) bool {
	var e *engine.Error
	return errors.As(err, &e) && e.Transport
}

// isUnwell says whether a failed probe was an answer, rather than a lost connection or a silence.
func isUnwell(err error) bool {
	return !isTransport(err) && !isLate(err)
}

// isLate says whether there was no answer in time, which an overloaded worker and a dead one have in common.
func isLate(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || codeOf(err) == engine.DeadlineExceeded
}

// codeOf is the error's gRPC code; an error that did not come from a call is Unknown.
func codeOf(err error) engine.Code {
	var e *engine.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return engine.Unknown
}
