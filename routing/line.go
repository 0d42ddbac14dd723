package routing

import (
	"time"

	"leeway/routing/prefix"
)

// line is the requests of this gateway that wait for a first token at a worker, in the order of their coming.
type line struct{ first, last *Lease }

func (q *line) join(l *Lease) {
	if l.before = q.last; l.before == nil {
		q.first = l
	} else {
		l.before.behind = l
	}
	q.last = l
}

func (q *line) leave(l *Lease) {
	if l.before == nil {
		q.first = l.behind
	} else {
		l.before.behind = l.behind
	}
	if l.behind == nil {
		q.last = l.before
	} else {
		l.behind.before = l.before
	}
	l.before, l.behind = nil, nil
}

// overdue is for how many seconds the first in line has waited beyond what the prompts ahead of it and its own explain:
// for a slot, or for memory. Who comes now will hardly wait for less.
func (s *station) overdue(now time.Time, rate float64) float64 {
	l := s.held.first
	if l == nil {
		return 0
	}
	return max(0, now.Sub(l.receipt.At).Seconds()-float64(l.ahead+int64(l.uncached))/rate)
}

// reconcile works out how much of the queue in a new sample is not this gateway's: what remains when those requests
// are taken off that were sent before it and still wait. A queue of which no tokens are told counts by its requests,
// each a prompt of mean length: that it costs nothing is not proven.
func (s *station) reconcile(mean int) {
	s.others = 0
	if !s.sample.usable {
		return
	}
	tokens, requests := int64(s.sample.uncached), int64(s.sample.waiting)
	for l := s.held.first; l != nil; l = l.behind {
		if prefix.Nanos(l.receipt.At) < s.sample.taken {
			tokens -= int64(l.uncached)
			requests--
		}
	}
	if s.sample.uncached == 0 {
		tokens = requests * int64(mean)
	}
	s.others = max(0, tokens)
}
