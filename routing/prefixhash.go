package routing

import (
	"unsafe"

	"github.com/zeebo/xxh3"
)

// prefixHash is the policy prefix_hash: prompts that begin alike go to one worker, unless it is crowded.
type prefixHash struct {
	tokens int     // that count as the beginning
	factor float64 // of the mean load, and
	number int     // requests beyond the mean: more than both is crowded
}

func (p *prefixHash) choose(d *decision) int {
	key := p.key(&d.request)
	if best := d.highest(key, func(i int) bool { return !d.crowded(i, p.factor, p.number) }); best >= 0 {
		return best
	}
	return d.fewest()
}

func (p *prefixHash) key(q *Request) uint64 {
	if len(q.Tokens) == 0 {
		return xxh3.HashString(q.Text[:min(len(q.Text), 4*p.tokens)])
	}
	head := q.Tokens[:min(len(q.Tokens), p.tokens)]
	return xxh3.Hash(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(head))), 4*len(head)))
}
