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

// hold notes a request that waits for its first token.
func (s *station) hold(l *Lease) {
	l.place = len(s.held)
	s.held = append(s.held, l)
}

// let takes it off again.
func (s *station) let(l *Lease) {
	last := len(s.held) - 1
	s.held[l.place] = s.held[last]
	s.held[l.place].place = l.place
	s.held[last] = nil
	s.held = s.held[:last]
}

// reconcile works out how much of the queue in a new sample is not this gateway's: what remains when those requests
// are taken off that were sent before it and still wait. A queue of which no tokens are told counts by its requests,
// each a prompt of mean length: that it costs nothing is not proven.
func (s *station) reconcile(mean int) {
	s.others = 0
	if !s.sample.usable {
		return
	}
	tokens, requests := int64(s.sample.uncached), int64(s.sample.waiting)
	for _, l := range s.held {
		if l.receipt.At.UnixNano() < s.sample.taken {
			tokens -= int64(l.uncached)
			requests--
		}
	}
	if s.sample.uncached == 0 {
		tokens = requests * int64(mean)
	}
	s.others = max(0, tokens)
}
