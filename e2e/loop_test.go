package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"leeway/routing"
	"leeway/routing/prefix"
	"leeway/workers/sim"
)

// The fleet of this file is eight of the simulator's engines on a clock of its own, so that a run is the same each time:
// a minute of chats whose turns repeat what was said before, loads polled every second, and one worker that reports none.
// Throughput is not reported, as by older servicers, so that the configured 200 tokens a second is what scores divide by.
const (
	loopWorkers     = 8
	loopSilent      = 0 // the worker without loads
	loopThroughput  = 200.0
	loopPrefill     = 8000.0
	loopMeanPrompt  = 1024.0
	loopMeanDecode  = 2048.0
	loopTick        = 10 * time.Millisecond
	loopLength      = 60 * time.Second
	loopBlock       = 16
	loopEventsDelay = 2 // ticks
)

var loopStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// rule chooses a worker for a prompt; nil is the router's own choice.
type rule func(l *loop, tokens []uint32) int

// hybrid is the mistake: a count of requests, as old as the last poll, in place of the score, and the whole cached
// prefix taken from it.
func hybrid(l *loop, tokens []uint32) int {
	best, lowest := 0, math.Inf(1)
	for i, w := range l.fleet {
		requests := w.seen.Running + w.seen.Waiting
		if i == loopSilent {
			requests = w.inFlight
		}
		score := float64(requests)*loopMeanDecode/loopThroughput - w.saving(l, tokens)
		if score < lowest {
			best, lowest = i, score
		}
	}
	return best
}

// outcome is what a run came to.
type outcome struct {
	requests  int
	moved     int     // choices whose score was not the lowest
	small     int     // requests for which nobody could save a tenth of a second
	smallMove int     // of these, moved
	busier    int     // choices whose score was above the lowest by at least what they saved
	silent    int     // requests to the worker without loads
	credited  int     // requests moved to a worker with loads
	imbalance float64 // mean over time of the most requests at an engine over the mean
	waited    float64 // mean seconds to the first token
}

// complaints says what of a run the user would not stand for, given the same arrivals without a preference.
func (o outcome) complaints(off outcome) (all []string) {
	complain := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	complain(o.imbalance > 1.05*off.imbalance, "queues: %.2f times the mean at the fullest, %.2f without a preference", o.imbalance, off.imbalance)
	complain(o.waited > 1.05*off.waited, "first token after %.3f s, %.3f s without a preference", o.waited, off.waited)
	complain(5*o.moved > o.requests, "%d of %d choices moved", o.moved, o.requests)
	complain(10*o.smallMove > o.small, "%d of %d choices moved for savings of milliseconds", o.smallMove, o.small)
	complain(o.busier > 0, "%d requests went to a worker that was busier by more than they saved", o.busier)
	share := float64(o.silent) * loopWorkers / float64(o.requests)
	complain(share < 0.5 || share > 1.5, "the worker without loads got %.2f of a fair share", share)
	return all
}

type loopWorker struct {
	id       string
	engine   *sim.Engine
	feed     *prefix.Feed
	seen     sim.Sample // the last poll
	sent     float64    // prompt tokens since
	inFlight int
	jobs     map[*sim.Job]*loopJob
	sequence uint64
	late     [loopEventsDelay][]prefix.Event // events under way
}

type loopJob struct {
	tokens []uint32 // of prompt and answer
	lease  *routing.Lease
	sent   time.Duration
	begun  bool
}

type loop struct {
	outcome
	t       *testing.T
	router  *routing.Router
	fleet   []*loopWorker
	now     time.Duration
	query   prefix.Query
	samples int
}

func (l *loop) clock() time.Time { return loopStart.Add(l.now) }

// runLoop sends the same chats to a new fleet.
func runLoop(t *testing.T, mode string, choose rule) outcome {
	t.Helper()
	cfg := routing.DefaultConfig()
	cfg.Seed, cfg.CacheMode, cfg.LoadMaxAgeSecs = 1, mode, 3
	cfg.DefaultThroughput, cfg.PrefillThroughput, cfg.MeanDecodeTokens = loopThroughput, loopPrefill, loopMeanDecode
	router, err := routing.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l := &loop{t: t, router: router}
	deployment, _ := sim.DeploymentNamed("L70F2")
	var targets []routing.Target
	for i := range loopWorkers {
		id := fmt.Sprint("w", i)
		targets = append(targets, routing.Target{ID: id, Model: "m", Rank: -1, Ranks: 1, Healthy: true, GRPC: true})
		l.fleet = append(l.fleet, &loopWorker{
			id: id, jobs: map[*sim.Job]*loopJob{},
			engine: sim.NewEngine(sim.EngineOptions{Deployment: deployment, BlockSize: loopBlock}),
		})
	}
	router.Publish(targets)
	for _, w := range l.fleet {
		w.feed = router.Feed(w.id)
		w.feed.Subscribed(0)
	}
	l.run(choose)
	return l.outcome
}

func (l *loop) run(choose rule) {
	chance, turns := rand.New(rand.NewPCG(5, 1)), map[int]int{}
	for ; l.now < loopLength; l.now += loopTick {
		if l.now%time.Second == 0 {
			l.poll()
		}
		for chance.Float64() < 0.28 {
			session := chance.IntN(60)
			turns[session] = turns[session]%12 + 1
			l.send(session, turns[session], choose)
		}
		for _, w := range l.fleet {
			w.advance(l)
		}
	}
	l.imbalance /= float64(l.samples)
	l.waited /= float64(l.requests)
}

// poll takes every worker's load, and the balance as it is.
func (l *loop) poll() {
	most, sum := 0.0, 0.0
	for i, w := range l.fleet {
		s := w.engine.Sample(l.now)
		n := float64(s.Running + s.Waiting)
		most, sum = max(most, n), sum+n
		if i != loopSilent {
			w.seen, w.sent = s, 0
			l.router.Observe(w.id, routing.Load{TakenAt: l.clock(), RankCount: 1, Ranks: []routing.RankLoad{{
				Running: s.Running, Waiting: s.Waiting, Usage: s.Usage,
			}}})
		}
	}
	l.samples++
	l.imbalance += (most + 1) / (sum/loopWorkers + 1)
}

// score is the base's, from what the loop itself has seen and sent.
func (w *loopWorker) score(silent bool) float64 {
	if silent {
		return float64(w.inFlight) * loopMeanPrompt / loopThroughput
	}
	return w.sent/loopThroughput + 0.15*w.seen.Usage/(1-w.seen.Usage)
}

// saving is the prefill seconds that a worker can prove to save.
func (w *loopWorker) saving(l *loop, tokens []uint32) float64 {
	if w == l.fleet[loopSilent] {
		return 0
	}
	l.query.Ask(l.clock(), tokens, []prefix.Source{{Feed: w.feed, Rank: -1}})
	return float64(l.query.Claims[0].Tokens) / loopPrefill
}

// send is one turn of a chat: 200 tokens more than all its turns so far.
func (l *loop) send(session, turn int, choose rule) {
	tokens := make([]uint32, 300+200*turn)
	for i := range tokens {
		tokens[i] = uint32(session<<16 | i)
	}
	prompt := len(tokens) - 100 // the rest is the answer
	lowest := math.Inf(1)
	for i, w := range l.fleet {
		lowest = min(lowest, w.score(i == loopSilent))
	}
	chosen := -1
	j := &loopJob{tokens: tokens, sent: l.now}
	if choose != nil {
		chosen = choose(l, tokens[:prompt])
	} else {
		lease, err := l.router.Pick(l.clock(), routing.Request{Model: "m", Tokens: tokens[:prompt], Chat: true, Streaming: true, PlainText: true})
		if err != nil {
			l.t.Fatal(err)
		}
		j.lease = lease
		for i, w := range l.fleet {
			if w.id == lease.Target().ID {
				chosen = i
			}
		}
	}
	l.count(chosen, lowest, tokens[:prompt])
	w := l.fleet[chosen]
	w.sent, w.inFlight = w.sent+float64(prompt), w.inFlight+1
	job := &sim.Job{Prompt: prompt, Output: 100, Keys: sim.AppendKeys(nil, tokens, loopBlock)}
	w.jobs[job] = j
	if err := w.engine.Submit(l.now, job); err != nil {
		l.t.Fatal(err)
	}
}

func (l *loop) count(chosen int, lowest float64, prompt []uint32) {
	l.requests++
	w, most := l.fleet[chosen], 0.0
	for _, other := range l.fleet {
		most = max(most, other.saving(l, prompt))
	}
	if most < 0.1 {
		l.small++
	}
	costs := w.score(chosen == loopSilent) - lowest
	if chosen == loopSilent {
		l.silent++
	}
	if costs > 1e-9 {
		l.moved++
		if most < 0.1 {
			l.smallMove++
		}
		if costs >= w.saving(l, prompt) {
			l.busier++
		}
		if chosen != loopSilent {
			l.credited++
		}
	}
}

// advance brings the engine to the present and tells the router what came of it.
func (w *loopWorker) advance(l *loop) {
	if due := w.late[0]; len(due) > 0 {
		w.sequence++
		w.feed.Apply(l.clock(), &prefix.Batch{Sequence: w.sequence, Events: due})
	}
	copy(w.late[:], w.late[1:])
	var out sim.Output
	w.engine.Advance(l.now, &out)
	var events []prefix.Event
	for _, c := range out.Changes {
		events = append(events, w.event(&c))
	}
	w.late[loopEventsDelay-1] = events
	for _, p := range out.Progress {
		j := w.jobs[p.Job]
		if !j.begun {
			j.begun = true
			l.waited += (p.At - j.sent).Seconds()
			if j.lease != nil {
				j.lease.FirstToken(loopStart.Add(p.At))
			}
		}
		if p.Done {
			delete(w.jobs, p.Job)
			w.inFlight--
			if j.lease != nil {
				j.lease.Finish(loopStart.Add(p.At), routing.Outcome{PromptTokens: p.Job.Prompt, CachedTokens: p.Job.Cached, CompletionTokens: p.Job.Output})
			}
		}
	}
}

func (w *loopWorker) event(c *sim.Change) prefix.Event {
	if c.Removed != 0 {
		return prefix.Event{Kind: prefix.Removed, Hashes: []int64{int64(c.Removed)}}
	}
	e := prefix.Event{Kind: prefix.Stored}
	if c.From > 0 {
		e.Parent, e.HasParent = int64(c.Job.Keys[c.From-1]), true
	}
	tokens := w.jobs[c.Job].tokens
	for i := c.From; i < c.To; i++ {
		e.Blocks = append(e.Blocks, prefix.Block{Hash: int64(c.Job.Keys[i]), Tokens: tokens[i*loopBlock : (i+1)*loopBlock], Size: loopBlock})
	}
	return e
}

func TestTheUsersFleetIsAsBalancedWithThePreferenceAsWithout(t *testing.T) {
	off := runLoop(t, "off", nil)
	enforce := runLoop(t, "enforce", nil)
	shadow := runLoop(t, "shadow", nil)
	wrong := runLoop(t, "off", hybrid)
	t.Logf("off %+v\nenforce %+v\nhybrid %+v", off, enforce, wrong)
	for _, complaint := range enforce.complaints(off) {
		t.Errorf("the bounded preference: %s", complaint)
	}
	if enforce.credited == 0 {
		t.Error("one worker without loads has switched the preference off for the others")
	}
	if shadow != off {
		t.Errorf("shadow came to %+v, off to %+v", shadow, off)
	}
	complaints := wrong.complaints(off)
	t.Logf("the hybrid rule: %q", complaints)
	if len(complaints) < 3 {
		t.Errorf("of the hybrid rule only this is said: %q", complaints)
	}
}

// case C17
func TestThePreferenceIsNoWorseThanChanceOrTheFewestRequests(t *testing.T) {
	chance := rand.New(rand.NewPCG(9, 1))
	random := func(*loop, []uint32) int { return chance.IntN(loopWorkers) }
	fewest := func(l *loop, _ []uint32) int {
		best := 0
		for i, w := range l.fleet {
			if w.inFlight < l.fleet[best].inFlight {
				best = i
			}
		}
		return best
	}
	enforce := runLoop(t, "enforce", nil)
	for name, other := range map[string]rule{"random": random, "fewest requests": fewest} {
		if o := runLoop(t, "off", other); enforce.waited > o.waited {
			t.Errorf("first token after %.4f s, %.4f s with %s", enforce.waited, o.waited, name)
		}
	}
}
