package routing

import (
	"cmp"
	"errors"
	"fmt"
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
	pins       *manual    // the policy, if it remembers keys
	scorer     *leastLoad // the policy, or the one under it, if it is that one
	cacheAware bool       // it is that one, which goes by claims whatever the mode
	calibrated bool
	index      *prefix.Index
	fleet      atomic.Pointer[fleet]
	mode       atomic.Uint32
	spare      sync.Pool // of *decision

	mu           sync.Mutex // guards everything below and every station
	chance       chance
	shadowChance chance // so that the base draws the same numbers in every mode
	decisions    ring
	meters       meters
}

// policy makes the base choice.
type policy interface {
	// choose returns the index of a candidate, or -1 if none may take the request. The router's lock is held.
	choose(d *decision) int
}

// fleet is a snapshot of the workers. It is replaced, never edited.
type fleet struct {
	models map[string]*pool
	byID   map[string]*seat
}

// pool is the healthy workers of one model.
type pool struct {
	seats   []*seat
	names   []string // of the same order, as all that follow
	sources []prefix.Source
	// whole says that each does the whole work itself, on a connection that tells us of its cache.
	whole bool
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
	others   int64  // uncached prompt tokens waiting in the sample that this gateway did not send
	sent     ledger // what was really sent
	shadow   ledger // what would have been sent had the preference been enforced; requests in flight are facts to both
	rate     rate
	held     line
	// overloaded is until when it is left out while others can be chosen, in Unix nanoseconds. It is read without the lock.
	overloaded atomic.Int64
}

// decision is one choice in the making. Its memory is used again; the candidates' stays with the receipt.
type decision struct {
	router  *Router
	now     time.Time
	request Request
	mode    Mode
	scorer  *leastLoad // nil under other policies
	*pool
	candidates []Candidate // of the same order as the pool's seats
	query      prefix.Query
	tokens     int  // of the prompt
	claimed    bool // the query has the candidates' claims
	asked      bool // and the preference is to be computed from them
	pinned     bool // the base choice is where the request's key belongs
	movedFrom  string
	preference preference
	chosen     int                                       // once it is charged
	recorded   struct{ base, against, preferred string } // of a replay: who won a tie
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
		meters: newMeters(),
	}
	base := r.policy
	if r.pins, _ = base.(*manual); r.pins != nil {
		base = r.pins.under
	}
	r.scorer, _ = base.(*leastLoad)
	_, r.cacheAware = base.(*cacheAware)
	r.fleet.Store(&fleet{})
	r.SetMode(mode)
	return r, nil
}

func newPolicy(c *Config) policy {
	maxIdle := seconds(c.MaxIdleSecs)
	switch {
	case c.Policy == "manual" && c.AssignmentMode == "delegate":
		return newManual(newLeastLoad(c), c.AssignmentMode, maxIdle)
	case c.Policy == "manual":
		return newManual(random{}, c.AssignmentMode, maxIdle)
	case c.StickySessions:
		return newManual(plainPolicy(c), cmp.Or(c.AssignmentMode, "delegate"), maxIdle)
	}
	return plainPolicy(c)
}

func plainPolicy(c *Config) policy {
	switch c.Policy {
	case "round_robin":
		return &roundRobin{next: map[string]int{}}
	case "random":
		return random{}
	case "power_of_two":
		return powerOfTwo{}
	case "consistent_hashing":
		return consistentHash{}
	case "prefix_hash":
		return &prefixHash{tokens: c.PrefixTokens, factor: c.PrefixFactor, number: c.PrefixAbs}
	case "cache_aware":
		return &cacheAware{factor: c.BalanceRel, number: c.BalanceAbs}
	case "passthrough":
		return passthrough{}
	case "bucket":
		return &bucket{factor: c.BalanceRel, number: c.BalanceAbs, models: map[string]*lengths{}}
	}
	return newLeastLoad(c)
}

func newLeastLoad(c *Config) *leastLoad {
	if c.LoadScore == "v2" {
		return &leastLoad{form: formV2}
	}
	return &leastLoad{form: formV1}
}

// Mode returns what the cache preference may do at present.
func (r *Router) Mode() Mode {
	if !r.Prefers() {
		return Off
	}
	return Mode(r.mode.Load())
}

// Prefers says whether a mode has any effect: the preference goes by the score of least_load.
func (r *Router) Prefers() bool { return r.scorer != nil }

// Unused returns the settings that have no effect as the others stand, and are not the defaults, and why.
func (r *Router) Unused() map[string]string {
	c, usual, unused := &r.cfg, DefaultConfig(), map[string]string{}
	if c.MeanDecodeTokens != usual.MeanDecodeTokens {
		unused["least_load_mean_remaining_decode_tokens"] = "no decision goes by it"
	}
	if Mode(r.mode.Load()) != Off && !r.Prefers() {
		unused["least_load_cache_mode"] = "the policy knows no seconds of load to weigh savings against"
	}
	if c.AssignmentMode != usual.AssignmentMode && r.pins == nil {
		unused["assignment_mode"] = "nothing is assigned but by the policy manual and by sticky_sessions"
	}
	if r.calibrated && r.Prefers() && c.PollSecs >= maxCalibratedAge && !c.Unmonitored {
		unused["least_load_cache_cost"] = "calibrated weighs no load that is a second old: lower load_monitor_interval_secs"
	}
	return unused
}

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
	if prefix.Nanos(load.TakenAt) < s.sample.taken {
		return
	}
	s.sample = summed(load)
	s.overloaded.Store(r.overload(&s.sample))
	s.sent.retire(load.TakenAt)
	s.shadow.retire(load.TakenAt)
	s.reconcile(r.cfg.MeanPrefillTokens)
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
	s.overloaded.Store(0)
}

// Pick chooses a worker for a request and charges it, in one step. The caller owes the lease a Release.
func (r *Router) Pick(now time.Time, req Request) (*Lease, error) {
	p, err := r.available(now, &req)
	if err != nil {
		return nil, err
	}
	d, _ := r.spare.Get().(*decision)
	if d == nil {
		d = new(decision)
	}
	defer d.end()
	d.router, d.now, d.request, d.mode, d.scorer, d.pool = r, now, req, r.Mode(), r.scorer, p
	d.tokens = len(req.Tokens)
	d.ask()
	lease, err := d.take()
	if err != nil {
		return nil, err
	}
	d.watch(lease)
	return lease, nil
}

// take chooses and charges, under the lock.
func (d *decision) take() (*Lease, error) {
	r := d.router
	r.mu.Lock()
	defer r.mu.Unlock()
	d.look()
	base := r.policy.choose(d)
	if base < 0 {
		return nil, fmt.Errorf("%w: model %q", ErrSaturated, d.request.Model)
	}
	d.prefer(base)
	lease := d.reserve(base)
	r.decisions.add(lease)
	r.meters.count(d, &lease.receipt)
	return lease, nil
}

// watch has the chosen worker make a claim although none was asked for the choice, so that its answer is an audit like
// any other: what claims are worth is known before they decide anything.
func (d *decision) watch(l *Lease) {
	q := &d.request
	if d.claimed || !q.Chat || q.N > 1 || !q.PlainText || d.tokens == 0 {
		return
	}
	d.query.Ask(d.now, q.Tokens, d.sources[d.chosen:d.chosen+1])
	l.claim = d.query.Claims[0]
}

// end gives a decision's memory back.
func (d *decision) end() {
	r := d.router
	*d = decision{query: d.query}
	r.spare.Put(d)
}

// look writes down what is known of each candidate at this moment.
func (d *decision) look() {
	now, maxAge := prefix.Nanos(d.now), d.router.cfg.loadMaxAge()
	d.candidates = d.router.decisions.candidates(len(d.seats))
	for i := range d.seats {
		s, x := d.seats[i], &d.candidates[i]
		x.InFlight = int32(s.inFlight)
		x.Ledger, x.Shadow = s.sent.account(), s.shadow.account()
		x.PrefillRate = s.rate.tokens(d.router.cfg.PrefillThroughput)
		if s.sample.fresh(now, maxAge) {
			x.sampled(&s.sample, now)
			x.OthersBacklog = s.others
		}
		x.Overdue = s.overdue(d.now, x.PrefillRate)
		if d.scorer != nil {
			d.scorer.form.terms(&d.router.cfg, x)
		}
	}
	d.holds()
}

func (x *Candidate) sampled(s *sample, now int64) {
	x.Sampled = true
	x.SampleAge = float64(now-s.taken) / 1e9
	x.Running, x.Waiting, x.Uncached = int32(s.running), int32(s.waiting), int64(s.uncached)
	x.Throughput, x.Usage, x.ActiveUsage = s.throughput, s.usage, s.active
}

// reserve charges the chosen worker, and on the shadow's books the one that the preference would have chosen.
func (d *decision) reserve(base int) *Lease {
	p, r := &d.preference, d.router
	d.chosen = base
	if d.mode == Enforce {
		d.chosen = p.preferred
	}
	tokens := d.tokens
	if tokens == 0 {
		tokens = r.cfg.MeanPrefillTokens
	}
	to, shadow := d.seats[d.chosen], d.seats[p.preferred]
	if r.pins != nil {
		r.pins.pin(d.request.Key, to.target.ID, d.now)
	}
	l := &Lease{
		router: r, target: to.target, station: to.station, shadow: shadow.station, feed: to.source.Feed,
		plain:          d.request.PlainText,
		uncached:       tokens - int(d.candidates[d.chosen].Cached),
		shadowUncached: tokens - int(d.candidates[p.preferred].Cached),
		ahead:          to.sent.prefill + d.candidates[d.chosen].OthersBacklog,
		receipt:        Receipt{ID: d.request.ID, At: d.now, Model: d.request.Model, PromptTokens: d.tokens, Tried: d.request.Exclude},
	}
	d.describe(&l.receipt, base)
	if d.claimed {
		l.claim = d.query.Claims[d.chosen]
	}
	to.inFlight++
	to.sent.send(d.now, tokens, l.uncached)
	shadow.shadow.send(d.now, tokens, l.shadowUncached)
	to.station.held.join(l)
	return l
}
