package routing

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leeway/routing/prefix"
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
	cfg        Config
	policy     policy
	scorer     *leastLoad // the policy, if it is that one
	calibrated bool
	index      *prefix.Index
	fleet      atomic.Pointer[fleet]
	mode       atomic.Uint32
	queries    sync.Pool // of *query

	mu           sync.Mutex // guards everything below and every station
	chance       chance
	shadowChance chance // so that the base draws the same numbers in every mode
	decisions    ring
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
	source prefix.Source
	*station
}

// station is what the router remembers of a target for as long as it stays.
type station struct {
	sample   sample
	inFlight int    // requests with a lease
	sent     ledger // what was really sent
	shadow   ledger // what would have been sent had the preference been enforced; requests in flight are facts to both
	rate     rate
	others   int64    // uncached prompt tokens waiting in the sample that this gateway did not send
	held     []*Lease // those that wait for a first token
}

// decision is one choice in the making.
type decision struct {
	router     *Router
	now        time.Time
	request    *Request
	mode       Mode
	scorer     *leastLoad // nil under other policies
	seats      []seat
	candidates []Candidate // of the same order
	query      *query      // nil: the preference was not asked for
	preference preference
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
	r := &Router{
		cfg: cfg, policy: newPolicy(&cfg), calibrated: cfg.CacheCost == "calibrated",
		index:  prefix.NewIndex(prefix.Config{Bytes: cfg.IndexBytes, MaxAge: seconds(cfg.KVEventMaxAge)}),
		chance: newChance(cfg.Seed, 1), shadowChance: newChance(cfg.Seed, 2), decisions: newRing(cfg.DecisionRing),
	}
	r.scorer, _ = r.policy.(*leastLoad)
	r.queries.New = func() any { return new(query) }
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
	s.reconcile()
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
	d := decision{router: r, now: now, request: &req, mode: r.Mode(), scorer: r.scorer}
	if err := d.seek(r.fleet.Load()); err != nil {
		return nil, err
	}
	d.ask()
	if d.query != nil {
		defer r.queries.Put(d.query)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	d.look()
	base := r.policy.choose(&d)
	if base < 0 {
		return nil, fmt.Errorf("%w: model %q", ErrSaturated, req.Model)
	}
	d.prefer(base)
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
	for i := range d.seats {
		s, x := &d.seats[i], &d.candidates[i]
		x.Worker = s.target.ID
		x.Ledger, x.Shadow = s.sent.account(s.inFlight), s.shadow.account(s.inFlight)
		x.PrefillRate, x.OthersBacklog = s.rate.tokens(d.router.cfg.PrefillThroughput), s.others
		if s.sample.fresh(d.now, maxAge) {
			x.sampled(&s.sample, d.now)
		}
		if d.scorer != nil {
			d.scorer.form.terms(&d.router.cfg, x)
		}
	}
	d.holds()
}

func (x *Candidate) sampled(s *sample, now time.Time) {
	x.Sampled = true
	x.SampleAge = now.Sub(s.taken).Seconds()
	x.Running, x.Waiting, x.Uncached = s.running, s.waiting, s.uncached
	x.Throughput, x.Usage, x.ActiveUsage = s.throughput, s.usage, s.active
}

// reserve charges the chosen worker, and on the shadow's books the one that the preference would have chosen.
func (d *decision) reserve(base int) *Lease {
	p, r := &d.preference, d.router
	chosen := base
	if d.mode == Enforce {
		chosen = p.preferred
	}
	tokens := len(d.request.Tokens)
	if tokens == 0 {
		tokens = r.cfg.MeanPrefillTokens
	}
	to, shadow := d.seats[chosen], d.seats[p.preferred]
	l := &Lease{
		router: r, target: to.target, station: to.station, shadow: shadow.station, feed: to.source.Feed,
		plain:          d.request.PlainText,
		uncached:       tokens - d.candidates[chosen].Cached,
		shadowUncached: tokens - d.candidates[p.preferred].Cached,
		ahead:          to.sent.prefill + to.others,
		receipt: Receipt{
			ID: d.request.ID, At: d.now, Model: d.request.Model, PromptTokens: len(d.request.Tokens),
			Policy: r.cfg.Policy, Mode: d.mode, Cost: r.cfg.CacheCost, Candidates: d.candidates,
			Base: d.candidates[base].Worker, Preferred: d.candidates[p.preferred].Worker, Chosen: to.target.ID,
			Result: p.result, Reasons: p.reasons, Saving: p.saving, Slack: p.slack,
		},
	}
	if d.query != nil {
		l.claim = d.query.Claims[chosen]
	}
	to.inFlight++
	to.sent.send(d.now, tokens, l.uncached)
	shadow.shadow.send(d.now, tokens, l.shadowUncached)
	to.station.hold(l)
	return l
}
