package sim

import (
	"math"
	"time"
)

// Sample is an engine's true load at the time of the last Advance.
type Sample struct {
	Running, Waiting int
	Uncached         int     // prompt tokens that wait and are not cached
	Queued           int     // prompt tokens that wait
	Pending          int     // prompt tokens admitted and not computed
	Usage            float64 // blocks in use
	Filled           float64 // blocks in use or cached
	UsedTokens       int     // of the blocks in use
	MaxTokens        int
	Throughput       float64 // tokens generated a second
	HitRate          float64
	MaxRunning       int
}

// Estimate is what an engine that does not look reports as Uncached: what waits, less its usual share of hits.
func (s Sample) Estimate() int { return int(float64(s.Queued) * (1 - s.HitRate)) }

// rateWindow is the time over which throughput is averaged.
const rateWindow = time.Second

// Sample takes the load at now, which is not before the last Advance.
func (e *Engine) Sample(now time.Duration) Sample {
	s := Sample{
		Running: len(e.running), Waiting: len(e.waiting), MaxRunning: e.o.MaxRunning,
		UsedTokens: e.pool.inUse() * e.o.BlockSize, MaxTokens: e.pool.size() * e.o.BlockSize,
		Usage:      float64(e.pool.inUse()) / float64(e.pool.size()),
		Filled:     float64(e.pool.size()-len(e.pool.free)) / float64(e.pool.size()),
		Throughput: e.rate,
	}
	if !e.busy && now > e.rateAt {
		s.Throughput *= decay(now - e.rateAt)
	}
	if s.Throughput < 1 {
		s.Throughput = 0
	}
	for _, j := range e.waiting {
		blocks, _ := e.match(j)
		s.Uncached += j.known() - blocks*e.o.BlockSize
		s.Queued += j.known()
	}
	for _, j := range e.running {
		if !j.decoding() {
			s.Pending += j.known() - j.computed
		}
	}
	if e.asked > 0 {
		s.HitRate = float64(e.hit) / float64(e.asked)
	}
	return s
}

// measure enters the tokens of the steps that just ended into the throughput.
func (e *Engine) measure(tokens int) {
	if idle := e.began - e.rateAt; idle > 0 {
		e.rate *= decay(idle)
	}
	span := e.ends - e.began
	keep := decay(span)
	e.rate = e.rate*keep + float64(tokens)/span.Seconds()*(1-keep)
	e.rateAt = e.ends
}

// decay is the weight that an average keeps over a span.
func decay(span time.Duration) float64 { return math.Exp(-span.Seconds() / rateWindow.Seconds()) }
