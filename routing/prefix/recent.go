package prefix

import "sync/atomic"

// remembered is how many blocks a view remembers to have been evicted; 16 KiB.
const remembered = 2048

// recent is the prefixes that have left a view last. Its view's lock guards it, but for the count.
type recent struct {
	count atomic.Uint64 // so many have left since the view began
	ring  []uint64
}

func (r *recent) add(prefix uint64) {
	at := r.count.Load()
	if len(r.ring) < remembered {
		r.ring = append(r.ring, prefix)
	} else {
		r.ring[at%remembered] = prefix
	}
	r.count.Store(at + 1)
}

// left says whether a prefix has left since so many had. It does not know if too many have left meanwhile.
func (r *recent) left(prefix, since uint64) bool {
	now := r.count.Load()
	if now-since > remembered {
		return false
	}
	for ; since < now; since++ {
		if r.ring[since%remembered] == prefix {
			return true
		}
	}
	return false
}
