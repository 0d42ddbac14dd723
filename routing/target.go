package routing

import (
	"math"
	"time"

	"leeway/routing/prefix"
)

// Target is a worker, or one data-parallel rank of a worker, as the pool publishes it. It is a value; a change is a
// new fleet.
type Target struct {
	ID     string // what receipts call it: the worker's URL, or url@rank
	Worker string // the worker whose KV events it holds; "" means ID
	Model  string
	// Epoch tells one membership from the next: a target that left and came back has another one, and starts afresh.
	Epoch uint64
	// Rank is the rank that requests are pinned to; -1: none is pinned.
	Rank int32
	// Ranks is how many ranks answer behind the address. More than one and Rank -1: it cannot claim a cache.
	Ranks   int
	Healthy bool
	// Lost says that the target is not healthy because it is out of contact, and for no other reason: its cache may be
	// as it was.
	Lost bool
	GRPC bool
	// Split says that the worker does prefill or decode only.
	Split bool
	// Connection names how the worker is reached, for the pool and the proxy; routing does not read it.
	Connection string
}

// Load is what a worker reported of its queues.
type Load struct {
	// TakenAt is when it was true: when the poll was sent, or for a pushed record its receipt less its age. Requests
	// sent to the worker later than this are not in it.
	TakenAt time.Time
	// RankCount is the number that the worker reported; a list of another length makes the sample unusable.
	RankCount int
	Ranks     []RankLoad
	Pushed    bool
}

// RankLoad is one rank's part of a Load.
type RankLoad struct {
	Running, Waiting int
	WaitingUncached  int     // prompt tokens waiting and not cached; 0 where not reported
	Usage            float64 // of the KV cache, 0 to 1
	ActiveUsage      float64 // the part that running requests hold
	HasActiveUsage   bool    // whether ActiveUsage was reported
	GenThroughput    float64 // tokens a second; 0: not reported
}

// sample is a Load summed over its ranks; the zero value is no sample.
type sample struct {
	taken      int64 // Unix nanoseconds
	usable     bool
	running    int
	waiting    int
	uncached   int
	throughput float64
	usage      float64
	active     float64
}

// summed adds up a load's ranks. A sample that contradicts itself is kept as unusable, and says nothing of others.
func summed(l Load) sample {
	s := sample{taken: prefix.Nanos(l.TakenAt)}
	if l.RankCount != len(l.Ranks) || len(l.Ranks) == 0 {
		return s
	}
	for _, r := range l.Ranks {
		if !countable(r.Running) || !countable(r.Waiting) || !countable(r.WaitingUncached) ||
			!measurable(r.GenThroughput) || !measurable(r.Usage) || !measurable(r.ActiveUsage) {
			return sample{taken: s.taken}
		}
		s.running += r.Running
		s.waiting += r.Waiting
		s.uncached += r.WaitingUncached
		s.throughput += r.GenThroughput
		s.usage += r.Usage
		if r.HasActiveUsage {
			s.active += r.ActiveUsage
		} else {
			s.active += r.Usage
		}
	}
	const most = 1 << 28 // so that what is added up with them fits 32 bits
	s.running, s.waiting = min(s.running, most), min(s.waiting, most)
	s.usage /= float64(len(l.Ranks))
	s.active /= float64(len(l.Ranks))
	s.usable = s.throughput < 1e9 // more than any engine makes
	return s
}

// countable says whether a number can be a count of requests or tokens: no engine has 2³⁰ of either in a rank.
func countable(n int) bool { return n >= 0 && n < 1<<30 }

// measurable says whether a number can be a rate or a share: nothing that is worked out with it is infinite.
func measurable(x float64) bool {
	x = math.Abs(x)
	return x == 0 || x > 1e-99 && x < 1e99
}

// fresh says whether the sample may be used at a moment, in Unix nanoseconds.
func (s *sample) fresh(now int64, maxAge time.Duration) bool {
	return s.usable && now-s.taken < int64(maxAge)
}
