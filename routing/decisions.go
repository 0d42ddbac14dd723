package routing

import (
	"slices"
	"strings"
)

// ring keeps the newest decisions.
type ring struct {
	leases []*Lease
	next   int
}

func newRing(size int) ring { return ring{leases: make([]*Lease, size)} }

func (r *ring) add(l *Lease) {
	r.leases[r.next] = l
	r.next = (r.next + 1) % len(r.leases)
}

// candidates returns zeroed ones for a decision about to be made: those of the decision that it will push out, if
// nobody holds its lease any more. At hundreds of workers they are most of what a decision would allocate.
func (r *ring) candidates(n int) []Candidate {
	l := r.leases[r.next]
	if l == nil || !l.returned || cap(l.receipt.Candidates) < n {
		return make([]Candidate, n)
	}
	r.leases[r.next] = nil
	xs := l.receipt.Candidates[:n]
	l.receipt.Candidates, l.receipt.Workers = nil, nil
	clear(xs)
	return xs
}

// newest calls visit with each kept decision, newest first, until it returns false.
func (r *ring) newest(visit func(*Lease) bool) {
	for i := 1; i <= len(r.leases); i++ {
		l := r.leases[(r.next-i+len(r.leases))%len(r.leases)]
		if l == nil || !visit(l) {
			return
		}
	}
}

// Decisions returns up to limit of the newest receipts, newest first: those that concern a worker ("": any), and if
// changed is set only those where the preference differs from the base choice.
func (r *Router) Decisions(limit int, worker string, changed bool) []Receipt {
	var leases []*Lease
	r.mu.Lock()
	r.decisions.newest(func(l *Lease) bool {
		if len(leases) >= limit {
			return false
		}
		if (!changed || l.receipt.Preferred != l.receipt.Against) && (worker == "" || l.receipt.concerns(worker)) {
			leases = append(leases, l)
		}
		return true
	})
	r.mu.Unlock()
	var found []Receipt
	for _, l := range leases { // one at a time: all at once, at hundreds of workers, would hold requests up
		r.mu.Lock()
		if l.receipt.Candidates != nil { // it has not left the ring meanwhile
			found = append(found, l.receipt.clone())
		}
		r.mu.Unlock()
	}
	return found
}

// Decision returns the newest receipt of a request.
func (r *Router) Decision(id string) (receipt Receipt, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.decisions.newest(func(l *Lease) bool {
		if ok = l.receipt.ID == id; ok {
			receipt = l.receipt.clone()
		}
		return !ok
	})
	return receipt, ok
}

// clone returns a receipt that lasts: a decision's memory is used again when it leaves the ring.
func (r *Receipt) clone() Receipt {
	c := *r
	c.Candidates = slices.Clone(r.Candidates)
	return c
}

// concerns says whether a worker, or one of its ranks, was chosen or would have been.
func (r *Receipt) concerns(worker string) bool {
	for _, id := range []string{r.Chosen, r.Base, r.Preferred} {
		if rest, ok := strings.CutPrefix(id, worker); ok && (rest == "" || rest[0] == '@') {
			return true
		}
	}
	return false
}
