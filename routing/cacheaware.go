package routing

// cacheAware is the policy cache_aware: the worker that holds most of the prompt, of several the one with fewer
// requests in flight; if it is crowded, or nobody holds anything, the one with the fewest.
//
// It believes the same certified claims as the bounded preference and, unlike it, knows no price: it is here because
// fleets run it.
type cacheAware struct {
	factor float64 // of the mean load, and
	number int     // requests beyond the mean: more than both is crowded
}

func (p *cacheAware) choose(d *decision) int {
	most := int32(1)
	for i := range d.candidates {
		most = max(most, d.candidates[i].Cached)
	}
	var lowest int32
	draw := d.router.chance.draw()
	for i := range d.candidates {
		x := &d.candidates[i]
		if x.Cached != most {
			continue
		}
		if draw.taken < 0 || x.InFlight < lowest {
			lowest, draw = x.InFlight, d.router.chance.draw()
		}
		if x.InFlight == lowest {
			draw.offer(i)
		}
	}
	if draw.taken < 0 || d.crowded(draw.taken, p.factor, p.number) {
		return d.fewest()
	}
	return draw.taken
}
