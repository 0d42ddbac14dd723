package routing

import "github.com/zeebo/xxh3"

// consistentHash is the policy consistent_hashing: requests with one key go to one worker for as long as it is
// healthy, and a worker that comes or goes moves only its own share of keys. A request without a key goes anywhere.
//
// Each worker's claim on a key is a hash of both; the highest wins. Every gateway computes the same.
type consistentHash struct{}

func (consistentHash) choose(d *decision) int {
	if d.request.Key == "" {
		return random{}.choose(d)
	}
	return d.highest(xxh3.HashString(d.request.Key), func(int) bool { return true })
}

// highest returns the candidate with the highest claim on a key among those that qualify; -1 if none does.
func (d *decision) highest(key uint64, qualifies func(i int) bool) int {
	best, claim := -1, uint64(0)
	for i, worker := range d.names {
		if c := xxh3.HashStringSeed(worker, key); qualifies(i) && (best < 0 || c > claim) {
			best, claim = i, c
		}
	}
	return best
}
