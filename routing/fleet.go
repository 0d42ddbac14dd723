package routing

import (
	"fmt"
	"slices"

	"leeway/routing/prefix"
)

// Publish replaces the fleet. A target that stays, by ID and Epoch, keeps its sample and its accounts. A worker that
// leaves, or comes back as another, loses everything that was known of its cache; one that turns unhealthy, too, and
// gets it back only from a new subscription. One that is only out of contact claims nothing until a new subscription
// shows that nothing was missed. One goroutine publishes.
func (r *Router) Publish(targets []Target) {
	old := r.fleet.Load()
	next := &fleet{models: map[string]*pool{}, byID: make(map[string]*seat, len(targets))}
	stay := map[string]bool{}
	for _, t := range targets {
		stay[t.worker()] = true
	}
	for _, s := range old.byID {
		if !stay[s.target.worker()] {
			r.index.Remove(s.target.worker())
		}
	}
	for _, t := range targets {
		before, ok := old.byID[t.ID]
		s := &seat{target: t, source: prefix.Source{
			Feed: r.index.Feed(t.worker()), Rank: t.Rank, Shared: t.Rank < 0 && t.Ranks > 1,
		}}
		s.source.Feed.EachRank(t.pinned())
		s.station = &station{}
		switch {
		case ok && before.target.Epoch != t.Epoch:
			s.source.Feed.Renew()
		case ok:
			s.station = before.station
			if before.target.Healthy && !t.Healthy {
				unwell(s.source.Feed, t.Lost)
			}
		}
		next.byID[t.ID] = s
		next.add(s)
	}
	r.fleet.Store(next)
}

// unwell withdraws a worker's claims: until the next stream proves them, or for good.
func unwell(feed *prefix.Feed, lost bool) {
	if lost {
		feed.Disconnected()
		return
	}
	feed.Drop(prefix.Unhealthy)
}

// add gives a seat its place among the workers of its model.
func (f *fleet) add(s *seat) {
	p := f.models[s.target.Model]
	if p == nil {
		p = &pool{whole: true}
		f.models[s.target.Model] = p
	}
	if s.target.Healthy {
		p.add(s)
	}
}

func (p *pool) add(s *seat) {
	p.seats = append(p.seats, s)
	p.names = append(p.names, s.target.ID)
	p.sources = append(p.sources, s.source)
	p.whole = p.whole && s.target.GRPC && !s.target.Split
}

// pool returns the healthy workers of the request's model, without those that it was tried on while another is left.
func (f *fleet) pool(q *Request) (*pool, error) {
	all := f.models[q.Model]
	switch {
	case all == nil:
		return nil, fmt.Errorf("%w: %q", ErrNoTarget, q.Model)
	case len(all.seats) == 0:
		return nil, fmt.Errorf("%w: %q", ErrNoHealthy, q.Model)
	case len(q.Exclude) == 0:
		return all, nil
	}
	left := all.without(func(s *seat) bool { return slices.Contains(q.Exclude, s.target.ID) })
	if len(left.seats) == 0 {
		return all, nil
	}
	return left, nil
}

// without returns the pool of those workers that out does not say to leave out: the same one if that is all.
func (p *pool) without(out func(*seat) bool) *pool {
	if !slices.ContainsFunc(p.seats, out) {
		return p
	}
	left := &pool{whole: true}
	for _, s := range p.seats {
		if !out(s) {
			left.add(s)
		}
	}
	return left
}

// Feed returns a worker's KV-event feed. It is good until the worker leaves the fleet.
func (r *Router) Feed(worker string) *prefix.Feed { return r.index.Feed(worker) }

func (t *Target) worker() string {
	if t.Worker != "" {
		return t.Worker
	}
	return t.ID
}

// pinned is how many ranks of its worker are targets of their own.
func (t *Target) pinned() int {
	if t.Rank < 0 {
		return 0
	}
	return max(t.Ranks, 1)
}
