package routing

import "math/rand/v2"

// chance is a seeded source of numbers. The router's lock guards it.
type chance struct{ source *rand.Rand }

// newChance seeds a source; stream separates sources of one seed. Seed 0 is a random seed.
func newChance(seed, stream uint64) chance {
	if seed == 0 {
		seed = rand.Uint64()
	}
	return chance{rand.New(rand.NewPCG(seed, stream))}
}

// draw begins a uniform choice among candidates that are offered one after another.
func (c *chance) draw() draw { return draw{chance: c, taken: -1} }

// draw is a reservoir of one. A choice between less than two uses no random number.
type draw struct {
	chance  *chance
	offered int
	taken   int
}

func (d *draw) offer(i int) {
	d.offered++
	if d.offered == 1 || d.chance.source.IntN(d.offered) == 0 {
		d.taken = i
	}
}
