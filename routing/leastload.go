package routing

import "math"

// maxUsage keeps the pressure term finite on a full cache.
const maxUsage = 0.999

// book selects one of a candidate's two accounts: what was really sent, or what shadow would have sent.
type book func(*Candidate) *Account

func realBook(c *Candidate) *Account   { return &c.Ledger }
func shadowBook(c *Candidate) *Account { return &c.Shadow }

// form is one form of the least-load score. Lower is better; a score is in seconds, except that a fleet of which
// nothing is known is compared by requests in flight.
type form struct {
	// backlog is the work ahead of a new request, in tokens, besides what was sent since the sample.
	backlog func(c *Config, x *Candidate, a *Account) float64
	usage   func(x *Candidate) float64
	// estimateQueue: a queue of requests without a count of tokens is always estimated, not only when configured.
	estimateQueue bool
	// peerBaseline: a worker without a sample starts from the best score among those that have one, not from zero.
	peerBaseline bool
	// tie is the difference in score that is none.
	tie float64
}

// formV1 is the score that SMG had when its cache credit was tried: waiting and sent work over throughput.
var formV1 = form{
	backlog: func(_ *Config, x *Candidate, _ *Account) float64 { return x.Queue },
	usage:   func(x *Candidate) float64 { return x.Usage },
}

// formV2 is SMG 1.13's: running requests count too, and so do requests of ours that the sample does not show.
var formV2 = form{
	backlog: func(c *Config, x *Candidate, a *Account) float64 {
		unseen := max(0, x.InFlight-x.Running-x.Waiting-a.Requests)
		return x.Queue + float64(x.Running+unseen)*float64(c.MeanPrefillTokens)
	},
	usage:         func(x *Candidate) float64 { return x.ActiveUsage },
	estimateQueue: true,
	peerBaseline:  true,
	tie:           1e-6,
}

// terms fills in what a score takes from the load sample: Q, T and k.
func (f *form) terms(c *Config, x *Candidate) {
	if !x.Sampled {
		return
	}
	x.Queue = float64(x.Uncached)
	if x.Uncached == 0 && (f.estimateQueue || c.EstimateQueue) {
		x.Queue = float64(x.Waiting) * float64(c.MeanPrefillTokens)
	}
	x.Rate = x.Throughput
	if x.Rate <= 0 {
		x.Rate = c.DefaultThroughput
	}
	x.Pressure = min(max(f.usage(x), 0), maxUsage)
}

// score fills in every candidate's score on one book.
func (f *form) score(c *Config, xs []Candidate, of book) {
	nominal, sampled := nominalThroughput(c, xs)
	best := math.Inf(1)
	for i := range xs {
		x, a := &xs[i], of(&xs[i])
		if x.Sampled {
			work := f.backlog(c, x, a) + float64(a.Tokens)
			a.Score = work/x.Rate + c.KVPressureWeight*x.Pressure/(1-x.Pressure)
			best = min(best, a.Score)
		}
	}
	if !f.peerBaseline {
		best = 0
	}
	for i := range xs {
		x, a := &xs[i], of(&xs[i])
		switch {
		case !sampled:
			a.Score = float64(x.InFlight)
		case !x.Sampled:
			a.Score = best + float64(x.InFlight)*float64(c.MeanPrefillTokens)/nominal
		}
	}
}

// nominalThroughput is the mean of the throughputs that candidates report, and whether any has a sample at all.
func nominalThroughput(c *Config, xs []Candidate) (nominal float64, sampled bool) {
	sum, n := 0.0, 0
	for i := range xs {
		sampled = sampled || xs[i].Sampled
		if xs[i].Sampled && xs[i].Throughput > 0 {
			sum, n = sum+xs[i].Throughput, n+1
		}
	}
	if n == 0 {
		return c.DefaultThroughput, sampled
	}
	return sum / float64(n), sampled
}

// full says that a worker's queue has reached the configured cap. What is not sampled is never full.
func (f *form) full(c *Config, x *Candidate, a *Account) bool {
	if c.MaxWaiting == 0 || !x.Sampled {
		return false
	}
	waiting := x.Waiting + a.Requests
	if f.peerBaseline {
		waiting += max(0, x.InFlight-x.Running-waiting)
	}
	return int(waiting) >= c.MaxWaiting
}

// leastLoad is the policy least_load.
type leastLoad struct{ form form }

func (p *leastLoad) choose(d *decision) int {
	return p.best(d, realBook, &d.router.chance, d.recorded.base)
}

// best scores the candidates on a book and draws one of the lowest, or takes the recorded one if it is among them; -1
// if every queue is full.
func (p *leastLoad) best(d *decision, of book, chance *chance, recorded string) int {
	p.form.score(&d.router.cfg, d.candidates, of)
	lowest := math.Inf(1)
	for i := range d.candidates {
		x, a := &d.candidates[i], of(&d.candidates[i])
		if a.Full = p.form.full(&d.router.cfg, x, a); !a.Full {
			lowest = min(lowest, a.Score)
		}
	}
	draw := chance.draw()
	for i := range d.candidates {
		a := of(&d.candidates[i])
		if a.Full || a.Score > lowest+p.form.tie {
			continue
		}
		if draw.offer(i); d.names[i] == recorded {
			return i
		}
	}
	return draw.taken
}
