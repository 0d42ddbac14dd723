package routing

import "time"

// Lease is one request's hold on a worker, from the choice to the end of the answer. It is released exactly once,
// however often Release and Finish are called.
type Lease struct {
	router  *Router
	target  Target
	station *station
	shadow  *station

	// The router's lock guards the rest.
	receipt  Receipt
	first    time.Time
	released bool
}

// Target returns the chosen worker.
func (l *Lease) Target() Target { return l.target }

// Receipt returns why it was chosen, and the outcome as far as it is known.
func (l *Lease) Receipt() Receipt {
	l.router.mu.Lock()
	defer l.router.mu.Unlock()
	return l.receipt
}

// FirstToken notes that the answer has begun. Only the first call counts.
func (l *Lease) FirstToken(now time.Time) {
	l.router.mu.Lock()
	defer l.router.mu.Unlock()
	if l.first.IsZero() && !l.released {
		l.first = now
	}
}

// Finish notes how the request ended and releases the lease. FirstToken and Duration of the outcome are filled in.
func (l *Lease) Finish(now time.Time, o Outcome) {
	l.router.mu.Lock()
	defer l.router.mu.Unlock()
	if l.released {
		return
	}
	o.Duration = now.Sub(l.receipt.At).Seconds()
	if !l.first.IsZero() {
		o.FirstToken = l.first.Sub(l.receipt.At).Seconds()
	}
	l.receipt.Outcome = &o
	l.release()
}

// Release gives the worker back without an outcome. After Finish it does nothing.
func (l *Lease) Release() {
	l.router.mu.Lock()
	defer l.router.mu.Unlock()
	l.release()
}

func (l *Lease) release() {
	if l.released {
		return
	}
	l.released = true
	l.station.sent.done()
	l.shadow.shadow.done()
}
