package routing

import "time"

// maxKeys bounds the keys that a manual policy remembers.
const maxKeys = 1 << 16

// manual is the policy manual: a key is assigned to a worker once and stays with it while it is healthy and the key
// is in use. A request without a key goes anywhere.
type manual struct {
	assign  string // how a new key gets its worker: random, min_load or min_group
	maxIdle time.Duration
	keys    map[string]assignment
	groups  map[string]int // keys by worker
}

type assignment struct {
	worker string
	used   time.Time
}

func newManual(assign string, maxIdle time.Duration) *manual {
	return &manual{assign: assign, maxIdle: maxIdle, keys: map[string]assignment{}, groups: map[string]int{}}
}

func (p *manual) choose(d *decision) int {
	key := d.request.Key
	if key == "" {
		return random{}.choose(d)
	}
	if a, ok := p.keys[key]; ok && d.now.Sub(a.used) < p.maxIdle {
		for i, worker := range d.names {
			if worker == a.worker {
				p.keys[key] = assignment{a.worker, d.now}
				return i
			}
		}
	}
	chosen := p.home(d)
	p.forget(key)
	p.makeRoom(d.now)
	p.keys[key] = assignment{d.names[chosen], d.now}
	p.groups[d.names[chosen]]++
	return chosen
}

// home chooses where a new key lives.
func (p *manual) home(d *decision) int {
	switch p.assign {
	case "min_load":
		return d.fewest()
	case "min_group":
		return d.least(func(i int) int { return p.groups[d.names[i]] })
	}
	return random{}.choose(d)
}

func (p *manual) forget(key string) {
	if a, ok := p.keys[key]; ok {
		delete(p.keys, key)
		if p.groups[a.worker]--; p.groups[a.worker] == 0 {
			delete(p.groups, a.worker)
		}
	}
}

// makeRoom in a full table: the idle keys go, or all if none is idle.
func (p *manual) makeRoom(now time.Time) {
	for _, keepBusy := range []bool{true, false} {
		if len(p.keys) < maxKeys {
			return
		}
		for key, a := range p.keys {
			if !keepBusy || now.Sub(a.used) >= p.maxIdle {
				p.forget(key)
			}
		}
	}
}
