package routing

import "slices"

// bucketWindow is how many prompts the boundaries between buckets are learnt from.
const bucketWindow = 512

// bucket is the policy bucket: each worker takes prompts of a range of lengths, so that short ones do not wait behind
// long ones. The ranges are such that each had an equal share of the newest prompts' tokens. A crowded worker's
// prompts go to the one with the fewest requests.
type bucket struct {
	factor float64 // of the mean load, and
	number int     // requests beyond the mean: more than both is crowded
	models map[string]*lengths
}

// lengths are the newest prompt lengths of one model.
type lengths struct {
	seen   [bucketWindow]int
	count  int
	sorted []int
	total  int
}

func (p *bucket) choose(d *decision) int {
	l := p.models[d.request.Model]
	if l == nil {
		l = &lengths{}
		p.models[d.request.Model] = l
	}
	n := d.tokens
	if n == 0 {
		n = len(d.request.Text)
	}
	l.add(n)
	chosen := l.share(n, len(d.candidates))
	if d.crowded(chosen, p.factor, p.number) {
		return d.fewest()
	}
	return chosen
}

// add takes a length; the order is worked out anew every few prompts.
func (l *lengths) add(n int) {
	l.seen[l.count%bucketWindow] = n
	if l.count++; l.count%32 != 1 {
		return
	}
	l.sorted = append(l.sorted[:0], l.seen[:min(l.count, bucketWindow)]...)
	slices.Sort(l.sorted)
	l.total = 0
	for _, s := range l.sorted {
		l.total += s
	}
}

// share returns which of some equal shares of all tokens a prompt of n tokens falls into.
func (l *lengths) share(n, shares int) int {
	below := 0
	for _, s := range l.sorted {
		if s >= n {
			break
		}
		below += s
	}
	return min(below*shares/max(l.total, 1), shares-1)
}
