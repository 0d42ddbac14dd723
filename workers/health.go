package workers

import (
	"context"
	"errors"
	"time"

	"leeway/workers/engine"
)

const (
	// patience is how long a worker whose connection failed may stay silent before it is out of selection.
	patience = 2 * time.Second
	// recheck is the pause before a failed probe is repeated, where the failure was an answer and not silence.
	recheck = 500 * time.Millisecond
)

// watch probes a ready worker until it is lost or ctx ends.
func (w *worker) watch(ctx context.Context) {
	interval := seconds(w.pool.cfg.HealthInterval)
	wait, failures := interval, 0
	var failing, last time.Time // since when probes have failed; when the last was
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.alarm:
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
		if failures++; failing.IsZero() {
			failing = time.Now()
		}
		silent := isTransport(err) && time.Since(failing) >= patience
		if silent || failures >= w.pool.cfg.FailureThreshold && !isTransport(err) {
			w.lose(err)
			return
		}
		// An overloaded engine answers a probe late, and asking it more often makes it no better.
		if wait = interval; !errors.Is(err, context.DeadlineExceeded) && codeOf(err) != engine.DeadlineExceeded {
			wait = min(recheck, interval)
		}
	}
}

// probe asks for health, and whether the process is still the same one.
func (w *worker) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, seconds(w.pool.cfg.HealthTimeout))
	defer cancel()
	w.conn.ResetConnectBackoff()
	client := w.currentClient()
	err := client.Health(ctx)
	w.gauges.probed(err == nil)
	if err != nil {
		return err
	}
	return w.refresh(ctx, client)
}

// refresh asks the worker anew what it is, and publishes a change.
func (w *worker) refresh(ctx context.Context, client engine.Client) error {
	before := w.status()
	asked := time.Now()
	info, err := client.Info(ctx)
	if err != nil {
		return err
	}
	restarted := w.learn(info, asked)
	if restarted {
		w.log.Warn().Msg("worker restarted")
	}
	if restarted || before.Model != w.model(info) || before.Info.Ranks != info.Ranks {
		w.pool.publish()
	}
	return nil
}

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

// doubt asks for a probe soon because a call to the worker failed in a way that puts its health in question.
func (w *worker) doubt(err error) {
	switch code := codeOf(err); {
	case isTransport(err), code == engine.Unavailable, code == engine.Internal, code == engine.Unknown, code == engine.Aborted:
	default:
		return
	}
	select {
	case w.alarm <- struct{}{}:
	default:
	}
}

func isTransport(err error) bool {
	var e *engine.Error
	return errors.As(err, &e) && e.Transport
}

func codeOf(err error) engine.Code {
	var e *engine.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return engine.Unknown
}
