// Package prefix knows which worker holds which prompt prefix in its KV cache, and how well that is proved.
//
// A Feed takes one worker's KV events and keeps a view per rank: the blocks that the rank holds, each named by a
// hash of all tokens from the prompt's first to the block's last. A view's certificate says that it is true as far
// as it goes; it is lost with the first sign that an event was missed, that the engine started anew, or that events
// contradict each other (see Word). Nothing is claimed without one.
//
// A Query asks, for one prompt, what each of many views can claim. It hashes the prompt once for each block size and
// walks the blocks once for up to 64 views together, without a lock. Claims count an unbroken chain of blocks from
// the first, whatever the order in which an engine evicts. A claim is checked again at the moment of choice, with
// Holds.
package prefix

import (
	"sync"
	"sync/atomic"
	"time"
)

// Config bounds an index.
type Config struct {
	// Bytes is the most memory that blocks may take. A batch may overrun it until it is applied; then whole views go,
	// the largest first.
	Bytes int64
	// MaxAge is how long a rank may be quiet before its claims are stale.
	MaxAge time.Duration
}

// Index is all that is known of who holds what.
type Index struct {
	cfg   Config
	bytes atomic.Int64

	mu    sync.Mutex // guards feeds; taken before a feed's lock
	feeds map[string]*Feed

	lanesMu sync.Mutex // guards lanes; taken after a feed's lock
	lanes   []*lane
}

// NewIndex returns an index of no workers.
func NewIndex(cfg Config) *Index {
	return &Index{cfg: cfg, feeds: map[string]*Feed{}}
}

// Feed returns a worker's feed, a new one if there is none.
func (ix *Index) Feed(worker string) *Feed {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	f := ix.feeds[worker]
	if f == nil {
		f = &Feed{index: ix, worker: worker}
		ix.feeds[worker] = f
	}
	return f
}

// Remove forgets a worker. Its feed takes no more events; a worker of the same name gets a new one.
func (ix *Index) Remove(worker string) {
	ix.mu.Lock()
	f := ix.feeds[worker]
	delete(ix.feeds, worker)
	ix.mu.Unlock()
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, v := range f.all() {
		v.empty(Warming)
		v.lane.give(v.bit)
	}
	f.views.Store(nil)
}

// seat gives a new view its place: the first free bit of the first lane that has one.
func (ix *Index) seat() (*lane, uint64) {
	ix.lanesMu.Lock()
	defer ix.lanesMu.Unlock()
	for _, l := range ix.lanes {
		if bit, ok := l.take(); ok {
			return l, bit
		}
	}
	l := newLane(&ix.bytes)
	ix.lanes = append(ix.lanes, l)
	bit, _ := l.take()
	return l, bit
}

// keepBound drops the largest views until the blocks fit into memory again.
func (ix *Index) keepBound() {
	if ix.bytes.Load() <= ix.cfg.Bytes {
		return
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for ix.bytes.Load() > ix.cfg.Bytes {
		if !ix.evictLargest() {
			return
		}
	}
}

func (ix *Index) evictLargest() bool {
	var owner *Feed
	var largest *view
	size := int64(0)
	for _, f := range ix.feeds {
		f.mu.Lock()
		for _, v := range f.all() {
			if n := v.blocks.bytes(); n > size {
				owner, largest, size = f, v, n
			}
		}
		f.mu.Unlock()
	}
	if owner == nil {
		return false
	}
	owner.mu.Lock()
	defer owner.mu.Unlock()
	owner.lose(largest, Evicted)
	owner.abandon(Evicted)
	return true
}

// Stats describes a worker's part of the index.
type Stats struct {
	Worker    string
	Certified bool // all its ranks, and there is one
	Silent    bool // it, or one of its ranks, computes prompts and tells of no blocks
	Blocks    int
	Bytes     int64
	Lag       time.Duration
	Losses    [words]uint64    // certificates lost, by Word
	Audits    [findings]uint64 // answers held against claims, by Finding
}

// Stats returns the state of every worker, in no order.
func (ix *Index) Stats(now time.Time) []Stats {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	all := make([]Stats, 0, len(ix.feeds))
	for _, f := range ix.feeds {
		all = append(all, f.stats(now))
	}
	return all
}

// Bytes returns the memory that blocks take.
func (ix *Index) Bytes() int64 { return ix.bytes.Load() }
