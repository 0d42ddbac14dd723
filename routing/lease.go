package routing

import (
	"time"

	"leeway/routing/prefix"
)

// Lease is one request's hold on a worker, from the choice to the end of the answer. The worker is given back exactly
// once, however often Release and Finish are called.
type Lease struct {
	router  *Router
	target  Target
	station *station
	shadow  *station // the one that the preference would have chosen
	feed    *prefix.Feed
	claim   prefix.Claim // what the chosen worker claimed
	plain   bool

	uncached, shadowUncached int
	ahead                    int64 // tokens to be computed before this request's

	// The router's lock guards the rest.
	receipt  Receipt
	before   *Lease // in the station's line
	behind   *Lease
	first    time.Time
	released bool // the worker is free of it
	returned bool // and so is the caller
}

// Target returns the chosen worker.
func (l *Lease) Target() Target { return l.target }

// Receipt returns why it was chosen, and the outcome as far as it is known. It is to be asked for before Release.
func (l *Lease) Receipt() Receipt {
	l.router.mu.Lock()
	defer l.router.mu.Unlock()
	return l.receipt.clone()
}

// FirstToken notes that the answer has begun. Only the first call counts.
func (l *Lease) FirstToken(now time.Time) {
	l.router.mu.Lock()
	defer l.router.mu.Unlock()
	if l.first.IsZero() && !l.released {
		l.first = now
		l.answered()
	}
}

// Finish notes how the request ended and releases the lease. FirstToken and Duration of the outcome are filled in.
// What the engine counted is held against what was claimed for it.
func (l *Lease) Finish(now time.Time, o Outcome) {
	if !l.end(now, &o) || o.Error != "" || o.PromptTokens == 0 {
		return
	}
	if l.plain && l.receipt.PromptTokens > 0 {
		l.feed.CountPrompt(o.PromptTokens, l.receipt.PromptTokens)
		l.feed.Served(l.target.Rank, o.PromptTokens-o.CachedTokens)
	}
	l.claim.Audit(o.CachedTokens)
}

func (l *Lease) end(now time.Time, o *Outcome) (first bool) {
	l.router.mu.Lock()
	defer l.router.mu.Unlock()
	if l.released {
		return false
	}
	o.Duration = now.Sub(l.receipt.At).Seconds()
	if !l.first.IsZero() {
		o.FirstToken = l.first.Sub(l.receipt.At).Seconds()
		l.learn(o)
	}
	l.receipt.Outcome = o
	l.release()
	return true
}

// Release ends the caller's use of the lease, and gives the worker back if Finish has not.
func (l *Lease) Release() {
	l.router.mu.Lock()
	defer l.router.mu.Unlock()
	l.release()
	l.returned = true
}

func (l *Lease) release() {
	if l.released {
		return
	}
	l.released = true
	if l.first.IsZero() {
		l.answered()
	}
	l.station.inFlight--
}

// answered takes the prompt off the backlogs: it is computed, or never will be.
func (l *Lease) answered() {
	l.station.sent.answered(l.uncached)
	l.shadow.shadow.answered(l.shadowUncached)
	l.station.held.leave(l)
}
