package routing

import (
	"strings"
	"time"
)

// maxKeys bounds the keys that a manual policy remembers, and maxKeyBytes what it tells them apart by.
const (
	maxKeys     = 1 << 16
	maxKeyBytes = 256
)

// manual is the policy manual, and sticky sessions on any other: a key is assigned to a worker once and stays with it
// while it is available and the key is in use. A request without a key goes where the policy under it says.
type manual struct {
	under   policy
	assign  string // how a new key gets its worker: random, min_load, min_group, or delegate to the policy under it
	maxIdle time.Duration
	keys    map[string]assignment
	groups  map[string]int // keys by worker
}

type assignment struct {
	worker string
	used   time.Time
}

func newManual(under policy, assign string, maxIdle time.Duration) *manual {
	return &manual{under: under, assign: assign, maxIdle: maxIdle, keys: map[string]assignment{}, groups: map[string]int{}}
}

func (p *manual) choose(d *decision) int {
	key := short(d.request.Key)
	if key == "" {
		return p.under.choose(d)
	}
	if a, ok := p.keys[key]; ok && d.now.Sub(a.used) < p.maxIdle {
		for i, worker := range d.names {
			if worker == a.worker {
				d.pinned = true
				return i
			}
		}
		d.movedFrom = a.worker
	}
	switch p.assign {
	case "min_load":
		return d.fewest()
	case "min_group":
		return d.least(func(i int) int { return p.groups[d.names[i]] })
	case "delegate":
		return p.under.choose(d)
	}
	return random{}.choose(d)
}

// pin remembers where a key's request went in the end.
func (p *manual) pin(key, worker string, now time.Time) {
	if key = short(key); key == "" {
		return
	}
	if p.keys[key].worker != worker {
		key = strings.Clone(key) // it may be a piece of something long
		p.forget(key)
		p.makeRoom(now)
		p.groups[worker]++
	}
	p.keys[key] = assignment{worker, now}
}

func short(key string) string { return key[:min(len(key), maxKeyBytes)] }

func (p *manual) forget(key string) {
	if a, ok := p.keys[key]; ok {
		delete(p.keys, key)
		if p.groups[a.worker]--; p.groups[a.worker] == 0 {
			delete(p.groups, a.worker)
		}
	}
}

// makeRoom in a full table: the idle keys go, and others until an eighth is free, so that the next full table is as
// many new keys away.
func (p *manual) makeRoom(now time.Time) {
	if len(p.keys) < maxKeys {
		return
	}
	for key, a := range p.keys {
		if now.Sub(a.used) >= p.maxIdle {
			p.forget(key)
		}
	}
	for key := range p.keys {
		if len(p.keys) <= maxKeys/8*7 {
			return
		}
		p.forget(key)
	}
}
