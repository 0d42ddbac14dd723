package prefix

import "sync/atomic"

// remembered is how many blocks a view remembers to have been evicted: up to 64 KiB, beside what the index bounds.
const remembered = 8192

// recent is the prefixes that have left a view last. Its view's lock guards it, but for the count.
type recent struct {
	count atomic.Uint64 // so many have left since the view began
	ring  []uint64
}

func (r *recent) add(prefixes []uint64) {
	at := r.count.Load()
	for _, prefix := range prefixes {
		if len(r.ring) < remembered {
			r.ring = append(r.ring, prefix)
		} else {
			r.ring[at%remembered] = prefix
		}
		at++
	}
	r.count.Store(at)
}

// left says whether a prefix is known to have left since so many had, among at least as many as are asked for.
func (r *recent) left(prefix, since uint64, among int) bool {
	now := r.count.Load()
	if now-since < uint64(among) {
		return false
	}
	for since = max(since, now-uint64(len(r.ring))); since < now; since++ {
		if r.ring[since%remembered] == prefix {
			return true
		}
	}
	return false
}
