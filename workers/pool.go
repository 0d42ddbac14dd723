package workers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"leeway/routing"
)

// Pool is the set of workers. Its methods may be called from any goroutine, before, during and after Run.
type Pool struct {
	cfg    Config
	router *routing.Router
	log    zerolog.Logger

	// targets finds the worker behind a routing.Target's ID. It is replaced, never edited.
	targets atomic.Pointer[map[string]target]
	wake    chan struct{} // tells Run that the membership has changed

	mu      sync.Mutex // guards what follows, and the order of fleets; taken before a worker's own
	members []*worker  // in the order in which they joined
	epoch   uint64
	changed chan struct{}
	sizes   poolSizes
	former  former
}

// target is a worker, or one rank of it.
type target struct {
	worker *worker
	rank   *int32
}

// New returns a pool with the configured workers, none of them connected.
func New(cfg Config, router *routing.Router, log zerolog.Logger) (*Pool, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &Pool{cfg: cfg, router: router, log: log, wake: make(chan struct{}, 1), changed: make(chan struct{})}
	p.targets.Store(&map[string]target{})
	specs, err := cfg.specs()
	if err != nil {
		return nil, err
	}
	for _, spec := range specs {
		if _, err := p.Add(spec); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Run keeps the workers connected and the router informed until ctx ends, and returns when all it started has ended.
func (p *Pool) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { p.sweep(ctx) })
	if p.cfg.DiscoveryFile != "" {
		running.Go(func() { p.discover(ctx) })
	} else if len(p.cfg.URLs) == 0 {
		p.log.Warn().Msg("no workers are configured: name some with --worker-urls or --discovery-file, or add them with POST /workers")
	}
	for {
		for _, w := range p.unstarted() {
			running.Go(func() { w.run(ctx) })
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
			return nil
		}
	}
}

// unstarted hands out each member once.
func (p *Pool) unstarted() []*worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	var fresh []*worker
	for _, w := range p.members {
		if !w.started {
			w.started = true
			fresh = append(fresh, w)
		}
	}
	return fresh
}

// Add takes a worker into the pool. It joins the fleet once it has answered.
func (p *Pool) Add(spec Spec) (Status, error) {
	if err := spec.check(); err != nil {
		return Status{}, err
	}
	spec.Priority = cmp.Or(spec.Priority, 50)
	spec.Cost = cmp.Or(spec.Cost, 1)
	var w *worker
	p.publish(func() {
		if p.member(spec.URL) < 0 {
			p.epoch++
			w = newWorker(p, spec, p.epoch)
			p.members = append(p.members[:len(p.members):len(p.members)], w)
		}
	})
	if w == nil {
		return Status{}, fmt.Errorf("%w: %s", ErrWorkerExists, spec.URL)
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return w.status(), nil
}

// Remove takes a worker, by id or address, out of the fleet at once. Answers that have begun are let finish.
func (p *Pool) Remove(id string) (Status, error) {
	var w *worker
	p.publish(func() {
		if i := p.member(id); i >= 0 {
			w = p.members[i]
			w.retire()
			p.members = slices.Delete(slices.Clone(p.members), i, i+1)
			if !w.started { // nothing of it is left to end
				p.gone(w)
			}
		}
	})
	if w == nil {
		return Status{}, fmt.Errorf("%w: %s", ErrUnknownWorker, id)
	}
	return w.status(), nil
}

// member is the place of a worker by id or address, or -1. p.mu is held.
func (p *Pool) member(id string) int {
	return slices.IndexFunc(p.members, func(w *worker) bool { return w.id == id || w.spec.URL == id })
}

// Update changes what is asked of a worker, by id or address. Its address, dialect and instance cannot change: that
// would be another worker.
func (p *Pool) Update(id string, change func(*Spec)) (Status, error) {
	var w *worker
	var err error
	p.publish(func() {
		if i := p.member(id); i >= 0 {
			w = p.members[i]
			err = w.change(change)
		}
	})
	if w == nil {
		return Status{}, fmt.Errorf("%w: %s", ErrUnknownWorker, id)
	}
	return w.status(), err
}

// Workers returns what is known of each worker, in the order in which they joined.
func (p *Pool) Workers() []Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]Status, len(p.members))
	for i, w := range p.members {
		list[i] = w.status()
	}
	return list
}

// Worker returns what is known of one worker, by id, address or target.
func (p *Pool) Worker(id string) (Status, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.find(id); w != nil {
		return w.status(), true
	}
	return Status{}, false
}

// find returns a worker by id, address or target, or nil. p.mu is held.
func (p *Pool) find(id string) *worker {
	if t, ok := (*p.targets.Load())[id]; ok {
		return t.worker
	}
	if i := p.member(id); i >= 0 {
		return p.members[i]
	}
	return nil
}

// Changed returns a channel that is closed when anything about any worker next changes.
func (p *Pool) Changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

// publish makes a change and replaces the router's fleet by what the workers are then. Whoever asks the pool sees
// both or neither.
func (p *Pool) publish(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	var fleet []routing.Target
	targets := map[string]target{}
	fit := map[string]bool{}
	for _, w := range p.members {
		fit[w.fitFor()] = true
	}
	for _, w := range p.members {
		for _, t := range w.seat(fit) {
			fleet = append(fleet, t)
			to := target{worker: w}
			if t.Rank >= 0 {
				to.rank = &t.Rank
			}
			targets[t.ID] = to
		}
	}
	p.targets.Store(&targets)
	p.router.Publish(fleet)
	p.sizes.report(p.members)
	close(p.changed)
	p.changed = make(chan struct{})
}
