package routing

// powerOfTwo is the policy power_of_two: of two candidates drawn at random, the one with fewer requests in flight.
type powerOfTwo struct{}

func (powerOfTwo) choose(d *decision) int {
	n := len(d.candidates)
	if n == 1 {
		return 0
	}
	source := d.router.chance.source
	a := source.IntN(n)
	b := (a + 1 + source.IntN(n-1)) % n
	if d.candidates[b].InFlight < d.candidates[a].InFlight {
		return b
	}
	return a
}

// fewest draws one of the candidates with the fewest requests in flight.
func (d *decision) fewest() int {
	return d.least(func(i int) int { return int(d.candidates[i].InFlight) })
}

// least draws one of the candidates for which a number is lowest.
func (d *decision) least(number func(i int) int) int {
	lowest := number(0)
	for i := range d.candidates {
		lowest = min(lowest, number(i))
	}
	draw := d.router.chance.draw()
	for i := range d.candidates {
		if number(i) == lowest {
			draw.offer(i)
		}
	}
	return draw.taken
}

// mean returns the candidates' mean of requests in flight.
func (d *decision) mean() float64 {
	sum := 0
	for i := range d.candidates {
		sum += int(d.candidates[i].InFlight)
	}
	return float64(sum) / float64(len(d.candidates))
}

// crowded says that a candidate's requests in flight exceed the mean by both a factor and a number.
func (d *decision) crowded(i int, factor float64, number int) bool {
	mean, load := d.mean(), float64(d.candidates[i].InFlight)
	return load > factor*mean && load > mean+float64(number)
}
