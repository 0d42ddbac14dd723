package routing

import "slices"

// rate is a worker's prefill rate as its answers show it. The zero value has learnt nothing.
//
// It is the median of the newest answers, because single ones lie in both directions: a cold start, a stalled
// client, a prompt that waited behind another gateway's.
type rate struct {
	count  int
	median float64
	seen   [rateWindow]float64 // tokens a second, a ring
}

const (
	rateWindow = 31
	// Fewer answers than this say nothing yet.
	rateMinimum = 5
	// A prompt with less to compute is mostly overhead.
	rateTokens = 512
)

// tokens returns the rate, or the configured one while too little is known.
func (r *rate) tokens(configured float64) float64 {
	if r.count < rateMinimum {
		return configured
	}
	return r.median
}

// learn takes one answer: tokens computed in a number of seconds.
func (r *rate) learn(tokens int, seconds float64) {
	if tokens < rateTokens || seconds <= 0 {
		return
	}
	r.seen[r.count%rateWindow] = float64(tokens) / seconds
	r.count++
	known := r.seen
	sorted := known[:min(r.count, rateWindow)]
	slices.Sort(sorted)
	r.median = sorted[len(sorted)/2]
}

// learn takes a request's answer, if what it had to wait for before its own prefill was little.
func (l *Lease) learn(o *Outcome) {
	computed := o.PromptTokens - o.CachedTokens
	configured := l.router.cfg.PrefillThroughput
	wait := float64(l.ahead) / l.station.rate.tokens(configured)
	switch {
	case o.Error != "":
		return
	case o.Queue > 0:
		wait = o.Queue
	case l.ahead > int64(computed/2):
		return
	}
	l.station.rate.learn(computed, o.FirstToken-wait)
}
