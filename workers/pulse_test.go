package workers

import (
	"math"
	"testing"
	"time"

	"leeway/workers/engine"
)

// look is a moment of a pulse's life: what is owed then, and what a report says, if there is one.
type moment struct {
	at       float64 // seconds
	requests int
	tokens   int
	token    bool // one has come just now
	load     *engine.RankLoad
}

func quiet(waiting int) *engine.RankLoad { return &engine.RankLoad{Running: 3, Waiting: waiting} }

func says(silent time.Duration, steps bool, pending int) *engine.RankLoad {
	l := quiet(0)
	l.EngineSilence, l.ReportsSteps = &silent, steps
	if pending >= 0 {
		l.PrefillPending = &pending
	}
	return l
}

func (p *pulse) live(m moment) {
	now := time.Unix(0, 0).Add(seconds(m.at))
	waiting := 0
	if m.token {
		p.move(now)
	}
	if m.load != nil {
		waiting = m.load.Waiting
		p.report(now, m.load)
	}
	p.look(now, pile{m.requests, m.tokens}, waiting)
}

func TestAnEngineIsWedgedThatOwesAndDoesNotMove(t *testing.T) {
	for _, c := range []struct {
		why   string
		rate  float64
		life  []moment
		wedge bool
	}{
		{"four streams and no token for three seconds", 0, []moment{{at: 0, requests: 4}, {at: 3, requests: 4}}, true},
		{"less than three seconds", 0, []moment{{at: 0, requests: 4}, {at: 2.9, requests: 4}}, false},
		{"one silent stream may be in prefill", 0, []moment{{at: 0, requests: 1}, {at: 60, requests: 1}}, false},
		{"another one comes after a silence", 0, []moment{{at: 0, requests: 1}, {at: 4, requests: 1}, {at: 4.2, requests: 2}}, true},
		{"the clock starts with the first of them", 0, []moment{{at: 0}, {at: 100}, {at: 100.2, requests: 4}, {at: 102, requests: 4}}, false},
		{"a token", 0, []moment{{at: 0, requests: 4}, {at: 2, requests: 4, token: true}, {at: 4, requests: 4}}, false},
		{"a queue behind one silent stream", 0, []moment{{at: 0, requests: 1, load: quiet(2)}, {at: 4, requests: 1, load: quiet(2)}}, true},
		{"a queue of others, and nothing of ours", 0, []moment{{at: 0, load: quiet(2)}, {at: 4, load: quiet(2)}}, false},
		{"a queue, and an engine that works on it", 0, []moment{
			{at: 0, requests: 4, load: quiet(2)}, {at: 2, requests: 4, load: &engine.RankLoad{Running: 3, UsedTokens: 16, Waiting: 2}}, {at: 4, requests: 4},
		}, false},
		{"the same, and then it stops", 0, []moment{
			{at: 0, requests: 4, load: quiet(2)}, {at: 2, requests: 4, load: &engine.RankLoad{Running: 4}}, {at: 6, requests: 4, load: &engine.RankLoad{Running: 4}},
		}, true},
		{"a growing queue is no work", 0, []moment{{at: 0, requests: 1, load: quiet(2)}, {at: 4, requests: 1, load: quiet(9)}}, true},
		{"long prompts, for as long as a cold worker may take", 0, []moment{{at: 0, requests: 9, tokens: 100_000}, {at: 9, requests: 9, tokens: 100_000}}, false},
		{"and no longer", 0, []moment{{at: 0, requests: 9, tokens: 100_000}, {at: 10, requests: 9, tokens: 100_000}}, true},
		{"long prompts on a slow worker", 2000, []moment{{at: 0, requests: 9, tokens: 100_000}, {at: 49, requests: 9, tokens: 100_000}}, false},
		{"but never above two minutes", 1, []moment{{at: 0, requests: 9, tokens: 100_000}, {at: 120, requests: 9, tokens: 100_000}}, true},
		{"it stays so with a smaller pile", 0, []moment{{at: 0, requests: 4}, {at: 3, requests: 4}, {at: 4, requests: 1}}, true},
		{"until a token", 0, []moment{{at: 0, requests: 4}, {at: 3, requests: 4}, {at: 4, requests: 4, token: true}}, false},
		{"or until nothing is owed", 0, []moment{{at: 0, requests: 4}, {at: 3, requests: 4}, {at: 4}}, false},
		{"the engine's own word, with nothing of ours", 0, []moment{{at: 0, load: says(3*time.Second, true, -1)}}, true},
		{"its word before that", 0, []moment{{at: 0, load: says(2*time.Second, true, -1)}}, false},
		{"its word, taken back", 0, []moment{{at: 0, load: says(3*time.Second, true, -1)}, {at: 1, load: says(0, true, -1)}}, false},
		{"the word of one that is silent in prefill, whose rate is unknown", 0, []moment{{at: 0, load: says(time.Hour, false, 100)}}, false},
		{"or whose prefill is unknown", 1000, []moment{{at: 0, load: says(time.Hour, false, -1)}}, false},
		{"twice the prefill is allowed", 1000, []moment{{at: 0, load: says(9*time.Second, false, 5000)}}, false},
		{"and no more", 1000, []moment{{at: 0, load: says(10*time.Second, false, 5000)}}, true},
		{"also to one that reports steps", 1000, []moment{{at: 0, load: says(9*time.Second, true, 5000)}}, false},
		{"a usage that is no number is the same each time", 0, []moment{
			{at: 0, requests: 4, load: &engine.RankLoad{Usage: math.NaN()}}, {at: 2, requests: 4, load: &engine.RankLoad{Usage: math.NaN()}}, {at: 3, requests: 4},
		}, true},
	} {
		p := pulse{patience: 3 * time.Second, rate: c.rate, moved: time.Unix(0, 0)}
		off := pulse{rate: c.rate}
		for _, m := range c.life {
			p.live(m)
			off.live(m)
		}
		if p.wedged != c.wedge {
			t.Errorf("%s: wedged %v", c.why, p.wedged)
		}
		if off.wedged {
			t.Errorf("%s: wedged although it is not judged", c.why)
		}
	}
}

func TestThePrefillRateIsMeasuredByPromptsLongEnough(t *testing.T) {
	var p pulse
	p.prefilled(63, time.Millisecond)
	p.prefilled(1000, 0)
	if p.rate != 0 {
		t.Errorf("measured %v by nothing", p.rate)
	}
	p.prefilled(1000, time.Second)
	if p.rate != 1000 {
		t.Errorf("measured %v", p.rate)
	}
	p.prefilled(2000, time.Second)
	if math.Abs(p.rate-1300) > 1e-9 {
		t.Errorf("measured %v", p.rate)
	}
}
