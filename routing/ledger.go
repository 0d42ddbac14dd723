package routing

import (
	"time"

	"leeway/routing/prefix"
)

// maxCredits bounds a ledger between two samples; beyond it the newest credits share a stamp.
const maxCredits = 8192

// credit is work sent to a worker at a moment.
type credit struct {
	at       int64 // Unix nanoseconds
	tokens   int64
	requests int64
}

// ledger is what this gateway has sent to one worker that the load sample in use cannot have seen. The zero value is
// an idle worker's.
type ledger struct {
	tokens   int64
	requests int64
	prefill  int64    // tokens sent, not cached as far as we knew, and not answered by a first token yet
	credits  []credit // oldest first
}

// send charges one request, of whose tokens some are to be computed. No end of a request takes its tokens back: the
// worker had them, and only a sample can say otherwise.
func (l *ledger) send(now time.Time, tokens, uncached int) {
	l.prefill += int64(uncached)
	l.tokens += int64(tokens)
	l.requests++
	if n := len(l.credits); n == maxCredits {
		last := &l.credits[n-1]
		last.at, last.tokens, last.requests = prefix.Nanos(now), last.tokens+int64(tokens), last.requests+1
		return
	}
	l.credits = append(l.credits, credit{prefix.Nanos(now), int64(tokens), 1})
}

// answered takes a request's prompt off the backlog.
func (l *ledger) answered(uncached int) { l.prefill -= int64(uncached) }

// retire drops what was sent before a sample was taken. What was sent while the poll was under way stays.
func (l *ledger) retire(taken time.Time) {
	at, n := prefix.Nanos(taken), 0
	for n < len(l.credits) && l.credits[n].at < at {
		l.tokens -= l.credits[n].tokens
		l.requests -= l.credits[n].requests
		n++
	}
	l.credits = l.credits[:copy(l.credits, l.credits[n:])]
}

func (l *ledger) account() Account {
	return Account{Requests: int32(l.requests), Tokens: l.tokens, Backlog: l.prefill}
}
