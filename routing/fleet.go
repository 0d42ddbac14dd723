package routing

import "leeway/routing/prefix"

// Publish replaces the fleet. A target that stays, by ID and Epoch, keeps its sample and its accounts. A worker that
// leaves, or comes back as another, loses everything that was known of its cache; one that turns unhealthy, too, and
// gets it back only from a new subscription.
func (r *Router) Publish(targets []Target) {
	old := r.fleet.Load()
	next := &fleet{models: map[string][]seat{}, byID: make(map[string]seat, len(targets))}
	stay := map[string]bool{}
	for _, t := range targets {
		before, ok := old.byID[t.ID]
		if ok && before.target.Epoch == t.Epoch {
			stay[t.worker()] = true
		}
	}
	for _, s := range old.byID {
		if !stay[s.target.worker()] {
			r.index.Remove(s.target.worker())
		}
	}
	for _, t := range targets {
		before, ok := old.byID[t.ID]
		s := seat{target: t, source: prefix.Source{
			Feed: r.index.Feed(t.worker()), Rank: t.Rank, Shared: t.Rank < 0 && t.Ranks > 1,
		}}
		if ok && before.target.Epoch == t.Epoch {
			s.station = before.station
			if before.target.Healthy && !t.Healthy {
				s.source.Feed.Drop(prefix.Unhealthy)
			}
		} else {
			s.station = &station{}
		}
		next.byID[t.ID] = s
		next.models[t.Model] = append(next.models[t.Model], s)
	}
	r.fleet.Store(next)
}

// Feed returns the KV-event feed of a worker in the fleet. It is the worker's for as long as it stays; a worker that
// is published anew has another.
func (r *Router) Feed(worker string) *prefix.Feed { return r.index.Feed(worker) }

func (t *Target) worker() string {
	if t.Worker != "" {
		return t.Worker
	}
	return t.ID
}
