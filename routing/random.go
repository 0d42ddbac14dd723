package routing

// random is the policy random.
type random struct{}

func (random) choose(d *decision) int {
	return d.router.chance.source.IntN(len(d.candidates))
}
