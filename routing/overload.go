package routing

import (
	"cmp"
	"errors"
	"time"

	"leeway/routing/prefix"
)

// ErrOverloaded says that all of a request's workers report long queues or full caches, and that it is to be refused.
var ErrOverloaded = errors.New("every worker that serves this model is overloaded")

// What overload protection goes by where no thresholds are set: SMG's.
const (
	protectedWaiting = 8
	protectedUsage   = 0.8
)

// thresholds returns the waiting requests and the KV usage from which on a worker is overloaded; 0: never.
func (c *Config) thresholds() (waiting int, usage float64) {
	waiting, usage = c.OverloadWaiting, c.OverloadUsage
	if c.OverloadProtection {
		waiting, usage = cmp.Or(waiting, protectedWaiting), cmp.Or(usage, protectedUsage)
	}
	return waiting, usage
}

// overload says until when a worker counts as overloaded by its sample, in Unix nanoseconds; 0: it is not.
func (r *Router) overload(s *sample) int64 {
	waiting, usage := r.cfg.thresholds()
	if s.usable && (waiting > 0 && s.waiting >= waiting || usage > 0 && s.active >= usage) {
		return s.taken + int64(r.cfg.loadMaxAge())
	}
	return 0
}

// available returns the workers that a request may go to: those that are overloaded are left out while another is
// not. If all are, nobody is left out, or the request is refused where so configured.
func (r *Router) available(now time.Time, q *Request) (*pool, error) {
	all, err := r.fleet.Load().pool(q)
	if waiting, usage := r.cfg.thresholds(); err != nil || waiting == 0 && usage == 0 {
		return all, err
	}
	calm := all.without(func(s *seat) bool { return prefix.Nanos(now) < s.overloaded.Load() })
	switch {
	case len(calm.seats) > 0:
		return calm, nil
	case r.cfg.OverloadShed:
		r.meters.shed.Inc()
		return nil, ErrOverloaded
	}
	r.meters.overloadFallback.Inc()
	return all, nil
}
