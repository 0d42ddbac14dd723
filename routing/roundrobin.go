package routing

// roundRobin is the policy round_robin: the candidates in turn, model by model.
type roundRobin struct{ next map[string]int }

func (p *roundRobin) choose(d *decision) int {
	turn := p.next[d.request.Model]
	p.next[d.request.Model] = turn + 1
	return turn % len(d.candidates)
}
