package routing

import (
	"math/rand/v2"
	"testing"
	"time"

	"leeway/routing/prefix"
)

// The fleet of this file is a handful of engines that prefill one prompt after another, report their loads once a
// second, and keep every block. It is enough to show what a rule does to queues when the loop is closed.
const (
	engines     = 8
	prefillRate = 8000 // tokens a second
	tick        = 10 * time.Millisecond
	pollEvery   = 100 // ticks
	decoding    = 400 // ticks an answer takes after its first token
)

type miniEngine struct {
	feed     *prefix.Feed
	sequence uint64
	hash     int64
	held     map[string]int // tokens cached, by session
	queue    []*miniJob
	running  map[*miniJob]int // ticks left
	waited   *float64         // sum of the fleet's times to first token
}

type miniJob struct {
	lease   *Lease
	session string
	tokens  []uint32
	left    float64 // tokens to compute; negative: not begun
	cached  int
}

// step computes for one tick.
func (e *miniEngine) step(now time.Time) {
	for j, left := range e.running {
		if e.running[j] = left - 1; left == 1 {
			j.lease.Finish(now, Outcome{PromptTokens: len(j.tokens), CachedTokens: j.cached, CompletionTokens: decoding})
			delete(e.running, j)
		}
	}
	budget := prefillRate * tick.Seconds()
	for len(e.queue) > 0 && budget > 0 {
		j := e.queue[0]
		if j.left < 0 {
			j.cached = min(e.held[j.session], (len(j.tokens)-1)/16*16)
			j.left = float64(len(j.tokens) - j.cached)
		}
		spent := min(budget, j.left)
		if j.left, budget = j.left-spent, budget-spent; j.left > 0 {
			return
		}
		j.lease.FirstToken(now)
		*e.waited += now.Sub(j.lease.receipt.At).Seconds()
		e.queue, e.running[j] = e.queue[1:], decoding
		e.keep(now, j)
	}
}

// keep caches a prompt's blocks and says so.
func (e *miniEngine) keep(now time.Time, j *miniJob) {
	whole := len(j.tokens) / 16 * 16
	if whole <= e.held[j.session] {
		return
	}
	e.held[j.session] = whole
	e.sequence++
	e.hash += 1 << 20
	e.feed.Apply(now, stored(e.sequence, e.hash, j.tokens[:whole], 16))
}

// waitingTokens is the true backlog.
func (e *miniEngine) waitingTokens() (n int) {
	for _, j := range e.queue {
		if j.left >= 0 {
			n += int(j.left)
		} else {
			n += len(j.tokens) - min(e.held[j.session], len(j.tokens)-1)
		}
	}
	return n
}

// loop is what a run of the fleet came to.
type loop struct {
	requests, changed int
	firstToken        float64 // mean seconds to it
	imbalance         float64 // mean over time of the longest backlog over the mean one, in seconds more than 0.1
	newest, since     int     // requests that the last engine got since it joined, and the requests before
	longest           float64 // the last engine's longest backlog since, in seconds
	regretted         int     // changes for which the owner's extra load was more than it saved
}

// rule is what a run is under: a mode and a cost, or another policy.
type rule struct {
	mode, cost string
	instead    policy
	join       int // the tick at which the last engine joins the fleet, cold; 0: it is there from the start
}

// run sends the same multi-turn chats to a fleet under a rule.
func run(t *testing.T, under rule) (l loop) {
	r := newRouter(t, engines, func(c *Config) {
		c.CacheMode, c.CacheCost = under.mode, under.cost
		c.DefaultThroughput, c.PrefillThroughput, c.MeanDecodeTokens = 200, 8000, 2048
	})
	if under.instead != nil {
		r.policy, r.scorer, r.cacheAware = under.instead, nil, true
	}
	if under.join > 0 {
		r.Publish(fleetOf(engines - 1))
	}
	fleet := make([]*miniEngine, engines)
	for i := range fleet {
		fleet[i] = &miniEngine{feed: r.Feed(name(i)), held: map[string]int{}, running: map[*miniJob]int{}, waited: &l.firstToken}
	}
	chance, turns := rand.New(rand.NewPCG(11, 1)), map[int]int{}
	samples := 0
	for n := range 6000 { // a minute
		now := start.Add(time.Duration(n) * tick)
		if n == under.join && n > 0 {
			r.Publish(fleetOf(engines))
			fleet[engines-1].feed = r.Feed(name(engines - 1))
			l.newest, l.since, l.longest = 0, l.requests, 0
		}
		if n%pollEvery == 0 {
			longest, sum := 0.0, 0.0
			for i, e := range fleet {
				if i < engines-1 || under.join > 0 { // else the last reports nothing, and keeps ordinary duty
					r.Observe(name(i), Load{TakenAt: now, RankCount: 1, Ranks: []RankLoad{{
						Running: len(e.running), Waiting: len(e.queue), WaitingUncached: e.waitingTokens(),
					}}})
				}
				backlog := float64(e.waitingTokens()) / prefillRate
				longest, sum = max(longest, backlog), sum+backlog
			}
			l.imbalance += (longest + .1) / (sum/engines + .1)
			l.longest = max(l.longest, float64(fleet[engines-1].waitingTokens())/prefillRate)
			samples++
		}
		for chance.Float64() < 0.25 {
			s := chance.IntN(60)
			if turns[s]++; turns[s] > 30 {
				turns[s] = 1
			}
			l.send(t, r, fleet, now, s, turns[s])
		}
		for _, e := range fleet {
			e.step(now)
		}
	}
	l.imbalance /= float64(samples)
	l.firstToken /= float64(l.requests)
	return l
}

// send is one turn of a chat: all its turns so far, and 100 tokens more.
func (l *loop) send(t *testing.T, r *Router, fleet []*miniEngine, now time.Time, session, turn int) {
	tokens := make([]uint32, 200+100*turn)
	for i := range tokens {
		tokens[i] = uint32(session<<16 | i)
	}
	lease := pick(t, r, now, Request{Tokens: tokens, Chat: true, Streaming: true, PlainText: true})
	receipt := lease.Receipt()
	l.requests++
	if receipt.Chosen == name(engines-1) {
		l.newest++
	}
	if receipt.Chosen != receipt.Base {
		l.changed++
		o, _ := receipt.Candidate(receipt.Chosen)
		b, _ := receipt.Candidate(receipt.Base)
		if o.Saving-b.Saving <= o.Ledger.Score-b.Ledger.Score {
			l.regretted++
		}
	}
	for i, e := range fleet {
		if name(i) == receipt.Chosen {
			e.queue = append(e.queue, &miniJob{lease: lease, session: string(rune('A' + session)), tokens: tokens, left: -1})
		}
	}
}

// hybrid is the rule that made this project: a count of requests replaces the score, and the whole cached prefix is
// taken from it, with nothing that a choice adds to what the next one sees.
type hybrid struct{}

func (hybrid) choose(d *decision) int {
	best, lowest := 0, 0.0
	for i := range d.candidates {
		x := &d.candidates[i]
		score := float64(x.Running+x.Waiting)*2048/200 - float64(x.Cached)/200
		if i == 0 || score < lowest {
			best, lowest = i, score
		}
	}
	return best
}

func TestThePreferenceKeepsQueuesAsBalancedAsTheBase(t *testing.T) {
	off := run(t, rule{mode: "off", cost: "least_load"})
	enforce := run(t, rule{mode: "enforce", cost: "least_load"})
	wrong := run(t, rule{mode: "off", cost: "least_load", instead: hybrid{}})
	calibrated := run(t, rule{mode: "enforce", cost: "calibrated"})
	t.Logf("off %+v\nenforce %+v\nhybrid %+v\ncalibrated %+v", off, enforce, wrong, calibrated)
	if enforce.imbalance > 1.05*off.imbalance {
		t.Errorf("imbalance %.2f, without the preference %.2f", enforce.imbalance, off.imbalance)
	}
	if enforce.changed == 0 || 4*enforce.changed > enforce.requests {
		t.Errorf("%d of %d choices changed; a few were to", enforce.changed, enforce.requests)
	}
	if enforce.regretted > 0 {
		t.Errorf("%d owners won that were busier by more than they saved", enforce.regretted)
	}
	if wrong.imbalance < 1.25*off.imbalance {
		t.Errorf("the hybrid rule's imbalance is %.2f, the base's %.2f: this test would not notice it", wrong.imbalance, off.imbalance)
	}
	if calibrated.changed <= enforce.changed || calibrated.firstToken > 0.8*off.firstToken {
		t.Errorf("first token after %.3f s on calibrated cost, %.3f s without the preference", calibrated.firstToken, off.firstToken)
	}
}

// case C16
func TestAColdWorkerIsNeitherStarvedNorFlooded(t *testing.T) {
	l := run(t, rule{mode: "enforce", cost: "least_load", join: 3000})
	got, fair := float64(l.newest), float64(l.requests-l.since)/engines
	if got < 0.67*fair || got > 1.5*fair || l.longest > 1 {
		t.Errorf("%.0f requests, a fair share is %.0f; longest backlog %.2f s", got, fair, l.longest)
	}
}
