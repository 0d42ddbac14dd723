package routing

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Why a request found no worker.
var (
	ErrNoTarget  = errors.New("no worker serves this model")
	ErrNoHealthy = errors.New("no worker that serves this model is healthy")
	ErrSaturated = errors.New("every worker's queue is full")
)

// Request is what a choice depends on.
type Request struct {
	ID     string
	Model  string
	Tokens []uint32 // the prompt; nil where the gateway does not know it
	Text   string   // the prompt's text, for the policies that go by it
	Key    string   // what sticky policies go by

	Chat      bool // a chat completion, not another endpoint
	Streaming bool
	N         int  // answers asked for; 0 is 1
	PlainText bool // no adapter, no image, no cache salt: the tokens say it all
	// Exclude lists targets that this request has already failed on. They are avoided while another is left.
	Exclude []string
}

// Router chooses workers. All methods may be called from any goroutine.
type Router struct {
	cfg    Config
	policy policy
	fleet  atomic.Pointer[fleet]
	mode   atomic.Uint32

	mu        sync.Mutex // guards everything below and every station
	chance    chance
	decisions ring
}

// policy makes the base choice.
type policy interface {
	// choose returns the index of a candidate, or -1 if none may take the request. The router's lock is held.
	choose(d *decision) int
}

// fleet is a snapshot of the workers. It is replaced, never edited.
type fleet struct {
	models map[string][]seat
	byID   map[string]seat
}

// seat is a target's place in a fleet; the station outlives the snapshot.
type seat struct {
	target Target
	*station
}

// station is what the router remembers of a target for as long as it stays.
type station struct {
	sample sample
	sent   ledger // what was really sent
	shadow ledger // what would have been sent had the preference been enforced
}

// decision is one choice in the making.
type decision struct {
	router     *Router
	now        time.Time
	request    *Request
	seats      []seat
	candidates []Candidate // of the same order
}

// New returns a router with an empty fleet.
func New(cfg Config) (*Router, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	mode, err := ParseMode(cfg.CacheMode)
	if err != nil {
		return nil, err
	}
	r := &Router{cfg: cfg, policy: newPolicy(&cfg), chance: newChance(cfg.Seed, 1), decisions: newRing(cfg.DecisionRing)}
	r.fleet.Store(&fleet{})
	r.SetMode(mode)
	return r, nil
}

func newPolicy(cfg *Config) policy {
	switch cfg.Policy {
	case "round_robin":
		return &roundRobin{next: map[string]int{}}
	case "random":
		return random{}
	}
	if cfg.LoadScore == "v2" {
		return &leastLoad{form: formV2}
	}
	return &leastLoad{form: formV1}
}

// Mode returns what the cache preference may do at present.
func (r *Router) Mode() Mode { return Mode(r.mode.Load()) }

// SetMode changes it for every decision that begins from now on.
func (r *Router) SetMode(m Mode) { r.mode.Store(uint32(m)) }

// Publish replaces the fleet. A target that stays, by ID and Epoch, keeps its sample and its accounts.
func (r *Router) Publish(targets []Target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.fleet.Load()
	next := &fleet{models: map[string][]seat{}, byID: make(map[string]seat, len(targets))}
	for _, t := range targets {
		s := seat{target: t}
		if before, ok := old.byID[t.ID]; ok && before.target.Epoch == t.Epoch {
			s.station = before.station
		} else {
			s.station = &station{}
		}
		next.byID[t.ID] = s
		next.models[t.Model] = append(next.models[t.Model], s)
	}
	r.fleet.Store(next)
}

// Observe takes a worker's load. A sample older than the one in use is ignored.
func (r *Router) Observe(id string, load Load) {
	s, ok := r.fleet.Load().byID[id]
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if load.TakenAt.Before(s.sample.taken) {
		return
	}
	s.sample = summed(load)
	s.sent.retire(load.TakenAt)
	s.shadow.retire(load.TakenAt)
}

// Forget takes back a worker's sample because a poll has failed. What was sent to it stays on its account.
func (r *Router) Forget(id string) {
	s, ok := r.fleet.Load().byID[id]
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.sample.usable = false
}

// Pick chooses a worker for a request and charges it, in one step. The caller owes the lease a Release.
func (r *Router) Pick(now time.Time, req Request) (*Lease, error) {
	d := decision{router: r, now: now, request: &req}
	if err := d.seek(r.fleet.Load()); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d.look()
	base := r.policy.choose(&d)
	if base < 0 {
		return nil, fmt.Errorf("%w: model %q", ErrSaturated, req.Model)
	}
	lease := d.reserve(base)
	r.decisions.add(lease)
	return lease, nil
}

// seek finds the healthy targets of the request's model that it has not been tried on.
func (d *decision) seek(f *fleet) error {
	all, ok := f.models[d.request.Model]
	if !ok {
		return fmt.Errorf("%w: %q", ErrNoTarget, d.request.Model)
	}
	healthy := 0
	for _, s := range all {
		if !s.target.Healthy {
			continue
		}
		healthy++
		if !slices.Contains(d.request.Exclude, s.target.ID) {
			d.seats = append(d.seats, s)
		}
	}
	if healthy == 0 {
		return fmt.Errorf("%w: %q", ErrNoHealthy, d.request.Model)
	}
	if len(d.seats) > 0 {
		return nil
	}
	for _, s := range all { // all were tried: better a second time than not at all
		if s.target.Healthy {
			d.seats = append(d.seats, s)
		}
	}
	return nil
}

// look writes down what is known of each candidate at this moment.
func (d *decision) look() {
	maxAge := seconds(d.router.cfg.LoadMaxAgeSecs)
	d.candidates = make([]Candidate, len(d.seats))
	for i, s := range d.seats {
		x := &d.candidates[i]
		x.Worker = s.target.ID
		x.Ledger = s.sent.account()
		x.Shadow = s.shadow.account()
		if s.sample.fresh(d.now, maxAge) {
			x.sampled(&s.sample, d.now)
		}
	}
	if p, ok := d.router.policy.(*leastLoad); ok {
		for i := range d.candidates {
			p.form.terms(&d.router.cfg, &d.candidates[i])
		}
	}
}

func (x *Candidate) sampled(s *sample, now time.Time) {
	x.Sampled = true
	x.SampleAge = now.Sub(s.taken).Seconds()
	x.Running, x.Waiting, x.Uncached = s.running, s.waiting, s.uncached
	x.Throughput, x.Usage, x.ActiveUsage = s.throughput, s.usage, s.active
}

func (l *ledger) account() Account {
	return Account{InFlight: l.inFlight, Requests: l.requests, Tokens: l.tokens}
}

// reserve charges the chosen worker, and the one that the preference would have chosen.
func (d *decision) reserve(chosen int) *Lease {
	tokens := len(d.request.Tokens)
	if tokens == 0 {
		tokens = d.router.cfg.MeanPrefillTokens
	}
	to := d.seats[chosen]
	to.sent.send(d.now, tokens)
	to.shadow.send(d.now, tokens)
	return &Lease{
		router: d.router, target: to.target, station: to.station, shadow: to.station,
		receipt: Receipt{
			ID: d.request.ID, At: d.now, Model: d.request.Model, PromptTokens: len(d.request.Tokens),
			Policy: d.router.cfg.Policy, Mode: d.router.Mode(),
			Base: to.target.ID, Preferred: to.target.ID, Chosen: to.target.ID, Candidates: d.candidates,
		},
	}
}
