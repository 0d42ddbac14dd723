package routing

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"leeway/routing/prefix"
)

func TestAFirstTokenAfterTheEndChangesNothing(t *testing.T) {
	r := newRouter(t, 1, nil)
	l := pick(t, r, start, Request{Tokens: prompt(10)})
	l.Release()
	l.FirstToken(start)
	l.Finish(start, Outcome{PromptTokens: 10})
	if s := r.fleet.Load().byID["w0"]; s.inFlight != 0 || s.sent.prefill != 0 || s.shadow.prefill != 0 {
		t.Errorf("not at rest: %+v", s.station)
	}
}

// two returns a router that enforces, over an owner that is a little busier and an idle worker that owns something else.
func two(t *testing.T) *Router {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode = "enforce" })
	r.Observe("w0", waiting(start, 1, 100))
	r.Observe("w1", idle(start))
	r.Feed("w0").Apply(start, stored(1, 0, prompt(1600), 16))
	r.Feed("w1").Apply(start, stored(1, 1<<20, prompt(160)[:16], 16))
	return r
}

func audits(r *Router, worker string) [3]uint64 {
	for _, s := range r.index.Stats(start) {
		if s.Worker == worker {
			return s.Audits
		}
	}
	return [3]uint64{}
}

func TestTheClaimAuditedIsTheChosenWorkers(t *testing.T) { // row 16
	r := two(t)
	l := pick(t, r, start, eligible(1601))
	if receipt := l.Receipt(); receipt.Chosen != "w0" || receipt.Base != "w1" {
		t.Fatalf("the owner was to win: %+v", receipt)
	}
	l.Finish(start, Outcome{PromptTokens: 1601, CachedTokens: 1600})
	if w0, w1 := audits(r, "w0"), audits(r, "w1"); w0 != [3]uint64{1, 0, 0} || w1 != [3]uint64{} {
		t.Errorf("w0 %v, w1 %v", w0, w1)
	}
}

func TestAnAnswerThatCountsNothingAuditsNothing(t *testing.T) { // rows 16 and 17
	for what, ask := range map[string]struct {
		plain   bool
		outcome Outcome
	}{
		"no usage was reported":           {true, Outcome{}},
		"the prompt is not its tokens":    {false, Outcome{PromptTokens: 1700}},
		"the engine counts as we do":      {true, Outcome{PromptTokens: 1601, CachedTokens: 1600}},
		"no usage of an unplain request ": {false, Outcome{}},
	} {
		r := two(t)
		q := eligible(1601)
		q.PlainText, q.Exclude = ask.plain, []string{"w1"}
		pick(t, r, start, q).Finish(start, ask.outcome)
		if x := find(pick(t, r, start, eligible(1601)).Receipt(), "w0"); x.Certificate != prefix.Certified || x.Cached != 1600 {
			t.Errorf("%s: %s for %d tokens", what, x.Certificate, x.Cached)
		}
	}
}

func TestAnswersAuditClaimsThatDecidedNothing(t *testing.T) { // row 16
	whole := eligible(1601)
	whole.Streaming = false
	several := whole
	several.N = 2
	for what, ask := range map[string]struct {
		mode string
		q    Request
		want [3]uint64 // exact, under, over
	}{
		"nobody asks for a preference": {"off", eligible(1601), [3]uint64{0, 0, 1}},
		"a whole answer":               {"enforce", whole, [3]uint64{0, 0, 1}},
		"several answers":              {"enforce", several, [3]uint64{}},
	} {
		r := newRouter(t, 1, func(c *Config) { c.CacheMode = ask.mode })
		r.Feed("w0").Apply(start, stored(1, 0, prompt(1600), 16))
		pick(t, r, start, ask.q).Finish(start, Outcome{PromptTokens: 1601})
		s := r.index.Stats(start)[0]
		if s.Audits != ask.want || s.Certified != (ask.want[2] == 0) {
			t.Errorf("%s: %v, certified %v", what, s.Audits, s.Certified)
		}
	}
}

func TestAClaimThatChangesBeforeTheChoiceIsVoid(t *testing.T) { // row 15
	r := two(t)
	p, err := r.available(start, &Request{Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	d := &decision{router: r, now: start, request: eligible(1601), mode: Enforce, scorer: r.scorer, pool: p, tokens: 1601}
	d.ask()
	r.Feed("w0").Disconnected()
	r.Feed("w0").Subscribed(0)
	r.Feed("w0").Apply(start, stored(2, 1<<30, prompt(160)[16:32], 16))
	d.look()
	d.prefer(1)
	if x := d.candidates[0]; x.Certificate != prefix.Stale || x.Cached != 0 || d.preference.preferred != 1 || x.Reasons != StaleKV.only() {
		t.Errorf("%+v, preferred %d", x, d.preference.preferred)
	}
}

func TestEquallyGoodOwnersAreDrawn(t *testing.T) { // case C14
	got := map[string]int{}
	r := newRouter(t, 3, func(c *Config) { c.CacheMode = "enforce" })
	r.Feed("w0").Apply(start, stored(1, 0, prompt(1600), 16))
	r.Feed("w1").Apply(start, stored(1, 0, prompt(1600), 16))
	for n := range 600 {
		now := start.Add(time.Duration(n) * time.Millisecond)
		for i := range 3 {
			r.Observe(name(i), waiting(now, 1, []int{50, 50, 0}[i]))
		}
		l := pick(t, r, now, eligible(1601))
		got[l.Target().ID]++
		if again := replay(t, l.Receipt(), r.Settings()); again.Preferred != l.Target().ID {
			t.Fatalf("chose %s, replayed %s", l.Target().ID, again.Preferred)
		}
		l.Release()
	}
	if got["w0"] < 250 || got["w1"] < 250 {
		t.Errorf("%v", got)
	}
}

func TestAnOwnerWhoseQueueIsFullIsNotPreferred(t *testing.T) {
	s := settings()
	s.MaxWaiting = 3
	fleet := snapshot(1000, []int{0, 100}, []int{0, 2000})
	for waiting, want := range map[int32]string{2: "w1", 3: "w0"} {
		if got := replay(t, change(fleet, "w1", func(x *Candidate) { x.Waiting = waiting }), s); got.Chosen != want {
			t.Errorf("%d waiting at the owner: chose %s, want %s", waiting, got.Chosen, want)
		}
	}
}

func TestAScoreThatIsNoNumberCostsTheRequestNothing(t *testing.T) {
	fleet := change(snapshot(1000, []int{0, 100, 0}, []int{0, 2000, 0}), "w2", func(x *Candidate) { x.Uncached, x.Throughput = 1<<30, 1e-308 })
	got := replay(t, fleet, settings())
	if got.Chosen != "w0" || got.Result != Fallback || got.Reasons != ScorerError.only() || got.Slack != 0 {
		t.Errorf("%+v", got)
	}
}

func TestReceiptsSayWhichWorkersWereGivenNoCreditAndWhy(t *testing.T) {
	s := calibrated()
	fleet := snapshot(1000, []int{0, 0, 0, 0, 0}, []int{2000, 2000, 2000, 0, 0})
	fleet = change(fleet, "w1", func(x *Candidate) { x.SampleAge = 2 })
	fleet = change(fleet, "w2", func(x *Candidate) {
		*x = Candidate{Certificate: prefix.Certified, BlockSize: 16, Cached: 2000, PrefillRate: 8000}
	})
	fleet = change(fleet, "w4", func(x *Candidate) { x.Certificate = prefix.Stale })
	got := replay(t, fleet, s)
	for i, want := range []string{"", "stale_load", "missing_load", "no_prefix", "stale_kv"} {
		if words := strings.Join(got.Candidates[i].Reasons.Names(), " "); words != want {
			t.Errorf("w%d: %q, want %q", i, words, want)
		}
	}
	if words := strings.Join(got.Reasons.Names(), " "); words != "stale_kv missing_load stale_load" {
		t.Errorf("all together: %q", words)
	}
}

func TestADecisionThatFindsNobodyLeavesNoReceiptWithoutCandidates(t *testing.T) {
	r := newRouter(t, 1, func(c *Config) { c.MaxWaiting, c.DecisionRing = 2, 2 })
	r.Observe("w0", waiting(start, 0, 0))
	for n := range 2 {
		pick(t, r, start, Request{ID: fmt.Sprint(n)}).Release()
	}
	if _, err := r.Pick(start, Request{Model: "m"}); err == nil {
		t.Fatal("the queue was to be full")
	}
	all := r.Decisions(9, "", false)
	if slices.ContainsFunc(all, func(r Receipt) bool { return len(r.Candidates) != 1 }) || len(all) == 0 {
		t.Errorf("%+v", all)
	}
	if got, ok := r.Decision("0"); ok && len(got.Candidates) == 0 {
		t.Errorf("%+v", got)
	}
}

func TestMemoryUsedAgainRemembersNothing(t *testing.T) {
	r := two(t)
	for range len(r.decisions.leases) {
		pick(t, r, start, eligible(1601)).Release()
	}
	r.SetMode(Off)
	r.Forget("w0")
	l := pick(t, r, start, eligible(1601))
	if x := find(l.Receipt(), "w0"); x.Sampled || x.Cached != 0 || x.Certificate != prefix.None || x.Saving != 0 || x.Queue != 0 {
		t.Errorf("%+v", x)
	}
}

func TestARecordHasTheModeOfItsDecision(t *testing.T) {
	r := two(t)
	receipt := pick(t, r, start, eligible(1601)).Receipt()
	r.SetMode(Off)
	line, err := r.AppendRecord(nil, receipt)
	if err != nil {
		t.Fatal(err)
	}
	record, err := ParseRecord(line)
	if err != nil || record.Settings.Mode != Enforce || replay(t, record.Receipt, record.Settings).Chosen != "w0" {
		t.Errorf("%v: %+v", err, record.Settings)
	}
}

func TestAReplayUnderOtherSettingsKeepsNothingOfTheOldPreference(t *testing.T) {
	off := settings()
	off.Mode = Off
	enforced := replay(t, snapshot(1000, []int{0, 100}, []int{0, 2000}), settings())
	if x := find(replay(t, enforced, off), "w1"); x.Saving != 0 || x.Net != 0 || x.Reasons != 0 {
		t.Errorf("%+v", x)
	}
}
