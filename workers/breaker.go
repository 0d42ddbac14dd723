package workers

import "time"

// Breaker is the state of a worker's circuit breaker, which keeps requests from a worker that fails them while its
// health checks pass.
type Breaker string

// The states, named as SMG names them.
const (
	Closed   Breaker = "closed"    // requests pass
	Open     Breaker = "open"      // none do
	HalfOpen Breaker = "half_open" // as many do at a time as it takes to close it again
)

// outcome is what a request says of the worker that had it.
type outcome uint32

const (
	neutral outcome = iota // nothing: the client's fault, or its leaving, or a worker that is busy
	success                // a whole answer
	failure
	unreached // there was no connection: it failed, until there is one again
	severed   // the connection broke under it: a failure, one for all that it broke under
)

// breaker judges a worker by its requests. It has no clock and no lock: the worker's guards it.
type breaker struct {
	failures  int // in a row, that open it
	successes int // in a row, that close it
	rest      time.Duration
	off       bool

	state  Breaker
	until  time.Time // when an open one lets the first requests through
	failed int       // in a row
	missed int       // of these, those that never reached the worker
	passed int       // in a row
	trials int       // under way while half open
	change int       // counts changes, so that a request that began before the last one is known
}

func newBreaker(c *Config) breaker {
	return breaker{
		failures: c.BreakerFailures, successes: c.BreakerSuccesses, rest: seconds(c.BreakerTimeout), off: c.DisableBreaker,
		state: Closed,
	}
}

// ticket is a request's place in a breaker's life.
type ticket int

// admit lets a request through, or not. A half-open breaker lets no more through at a time than would close it, unless
// there is nobody else to ask.
func (b *breaker) admit(last bool) (ticket, bool) {
	switch {
	case b.state == Open:
		return 0, false
	case b.state == HalfOpen:
		if b.trials >= b.successes && !last {
			return 0, false
		}
		b.trials++
	}
	return ticket(b.change), true
}

// busy says whether a half-open breaker is occupied with requests enough.
func (b *breaker) busy() bool { return b.state == HalfOpen && b.trials >= b.successes }

// end takes what came of a request that was let through. Of one that began under another state only the number is of
// interest.
func (b *breaker) end(now time.Time, t ticket, o outcome) {
	if b.off || int(t) != b.change || b.state == Open {
		return
	}
	if b.state == HalfOpen {
		b.trials--
	}
	switch o {
	case success:
		b.failed, b.missed = 0, 0
		if b.passed++; b.state == HalfOpen && b.passed >= b.successes {
			b.enter(Closed)
		}
	case failure, unreached:
		if b.passed = 0; o == unreached {
			b.missed++
		}
		if b.failed++; b.state == HalfOpen || b.failed >= b.failures {
			b.enter(Open)
			b.until = now.Add(b.rest)
		}
	}
}

// tick half opens a breaker that has been open for long enough.
func (b *breaker) tick(now time.Time) {
	if b.state == Open && !now.Before(b.until) {
		b.enter(HalfOpen)
	}
}

// contact says that there is a connection, and the worker passes its checks. What failed for want of one is forgotten,
// and if that was what opened the breaker, it is closed.
func (b *breaker) contact() (closed bool) {
	missed := b.missed
	b.failed, b.missed = b.failed-missed, 0
	if closed = missed > 0 && b.state == Open && b.failed < b.failures; closed {
		b.enter(Closed)
	}
	return closed
}

// reset closes it, because the worker is another process or was out of contact: what failed was not this.
func (b *breaker) reset() {
	b.failed, b.missed, b.passed = 0, 0, 0
	if b.state != Closed {
		b.enter(Closed)
	}
}

func (b *breaker) enter(s Breaker) {
	b.state, b.trials = s, 0
	b.change++
	if s != Open {
		b.failed, b.missed, b.passed = 0, 0, 0
	}
}
