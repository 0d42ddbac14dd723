package routing

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"leeway/routing/prefix"
)

func TestAReceiptReadsAsASentence(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode = "enforce" })
	r.Observe("w0", waiting(start, 1, 240))
	r.Observe("w1", idle(start))
	r.Feed("w0").Apply(start, stored(1, 0, prompt(2000), 16))
	l := pick(t, r, start.Add(time.Second/2), Request{ID: "r1", Tokens: prompt(2001), Chat: true, Streaming: true, PlainText: true})
	l.FirstToken(start.Add(time.Second))
	l.Finish(start.Add(2*time.Second), Outcome{PromptTokens: 2001, CachedTokens: 2000, CompletionTokens: 7})
	text, err := json.Marshal(l.Receipt())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"id":"r1"`, `"model":"m"`, `"prompt_tokens":2001`, `"policy":"least_load"`, `"mode":"enforce"`, `"cost":"least_load"`,
		`"base":"w1"`, `"preferred":"w0"`, `"chosen":"w0"`, `"result":"partial"`, `"reasons":[]`, `"saving":0.25`, `"slack":0.01`,
		`"worker":"w0"`, `"sample_age":0.5`, `"queue":240`, `"rate":1000`, `"certificate":"certified"`, `"cached":2000`,
		`"worker":"w1"`, `"certificate":"warming"`, `"first_token":0.5`, `"duration":1.5`, `"cached_tokens":2000`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if x, ok := l.receipt.Candidate("w0"); !ok || x.Certificate != prefix.Certified {
		t.Errorf("candidate w0: %+v", x)
	}
	if _, ok := l.receipt.Candidate("w9"); ok {
		t.Error("a candidate that was none")
	}
}

func TestTheNewestDecisionsAreKept(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.DecisionRing = 4; c.Policy = "round_robin" })
	for i := range 10 {
		pick(t, r, start, Request{ID: fmt.Sprint(i)})
	}
	ids := func(all []Receipt) (ids string) {
		for i := range all {
			ids += all[i].ID
		}
		return ids
	}
	for _, c := range []struct {
		limit  int
		worker string
		want   string
	}{{100, "", "9876"}, {2, "", "98"}, {100, "w1", "97"}, {100, "w9", ""}, {0, "", ""}} {
		if got := ids(r.Decisions(c.limit, c.worker, false)); got != c.want {
			t.Errorf("limit %d, worker %q: %s, want %s", c.limit, c.worker, got, c.want)
		}
	}
	if got := r.Decisions(100, "", true); len(got) != 0 {
		t.Errorf("%d changed decisions of a policy that has no preference", len(got))
	}
	if _, ok := r.Decision("5"); ok {
		t.Error("a decision that is no longer kept was found")
	}
	if got, ok := r.Decision("8"); !ok || got.ID != "8" {
		t.Errorf("decision 8: %v, %v", got.ID, ok)
	}
}

func TestADecisionConcernsAWorkerByItsRanks(t *testing.T) {
	r := Receipt{Chosen: "grpc://a:1@0", Base: "grpc://a:1@1", Preferred: "grpc://a:1@0"}
	for worker, want := range map[string]bool{
		"grpc://a:1": true, "grpc://a:1@0": true, "grpc://a:1@1": true, "grpc://a:1@2": false, "grpc://a:": false, "grpc://a:11": false,
	} {
		if r.concerns(worker) != want {
			t.Errorf("%s: %t", worker, !want)
		}
	}
}

func TestAReceiptNamesWhatWasTried(t *testing.T) {
	r := newRouter(t, 3, nil)
	l := pick(t, r, start, Request{ID: "a", Exclude: []string{"w0", "w2"}})
	if got, _ := r.Decision("a"); got.Chosen != "w1" || !slices.Equal(got.Tried, []string{"w0", "w2"}) {
		t.Errorf("%+v", got)
	}
	l.Release()
}

func TestReasonsAreAClosedSetOfWords(t *testing.T) {
	all := Reasons(1<<(ScorerError+1) - 1)
	if n := len(all.Names()); n != len(reasonNames) {
		t.Fatalf("%d names for %d reasons", len(reasonNames), n)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var back Reasons
	if err := json.Unmarshal(text, &back); err != nil || back != all {
		t.Errorf("%s reads back as %b", text, back)
	}
	if err := json.Unmarshal([]byte(`["no_prefix","of a later version"]`), &back); err != nil || back != NoPrefix.only() {
		t.Errorf("an unknown word: %b, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`7`), &back); err == nil {
		t.Error("a number was read as reasons")
	}
}

func TestModesAndResultsReadAsTheyWrite(t *testing.T) {
	for _, m := range []Mode{Off, Shadow, Enforce} {
		var back Mode
		if text, _ := m.MarshalText(); back.UnmarshalText(text) != nil || back != m {
			t.Errorf("%s reads back as %s", m, back)
		}
	}
	if _, err := ParseMode("on"); err == nil || !strings.Contains(err.Error(), "off, shadow, enforce") {
		t.Errorf("the error does not say what may stand there: %v", err)
	}
	for i := range resultNames {
		var back Result
		if text, _ := Result(i).MarshalText(); back.UnmarshalText(text) != nil || back != Result(i) {
			t.Errorf("%s reads back as %s", Result(i), back)
		}
	}
}

// FuzzParseRecord: no line of a log makes a replay panic.
func FuzzParseRecord(f *testing.F) {
	r := newRouter(f, 2, func(c *Config) { c.CacheMode = "enforce" })
	r.Observe("w0", idle(start))
	line, err := r.AppendRecord(nil, pick(f, r, start, Request{Tokens: prompt(100), Chat: true, Streaming: true, PlainText: true}).Receipt())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(line)
	f.Add([]byte(`{"v":1,"settings":{"mode":"enforce"},"receipt":{"candidates":[{"worker":"w0","cached":-1,"prefill_rate":-0}]}}`))
	f.Add([]byte(`{"v":1,"receipt":{"result":"complete"}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if record, err := ParseRecord(line); err == nil {
			Replay(record.Receipt, record.Settings)
		}
	})
}

func TestADecisionsMemoryIsUsedAgainOnlyWhenNobodyHoldsIt(t *testing.T) {
	r := newRouter(t, 3, func(c *Config) { c.DecisionRing = 2; c.Policy = "round_robin" })
	pick := func(id string) *Lease {
		lease, err := r.Pick(start, Request{ID: id, Model: "m", Tokens: prompt(100)})
		if err != nil {
			t.Fatal(err)
		}
		return lease
	}
	kept, given := pick("kept"), pick("given")
	kept.Finish(start, Outcome{PromptTokens: 100})
	given.Release()
	shown, _ := r.Decision("given")
	asShown := slices.Clone(shown.Candidates)
	pick("third")
	pick("fourth")
	if got := kept.Receipt(); len(got.Candidates) != 3 || got.Outcome == nil {
		t.Errorf("a held lease has lost its receipt: %+v", got)
	}
	if got := given.Receipt(); len(got.Candidates) != 0 {
		t.Error("a lease that was given back keeps its candidates beyond the ring")
	}
	if len(shown.Candidates) != 3 || !slices.Equal(shown.Candidates, asShown) {
		t.Errorf("a receipt that was handed out has changed: %+v", shown.Candidates)
	}
	if all := r.Decisions(10, "", false); len(all) != 2 || all[0].ID != "fourth" || len(all[0].Candidates) != 3 {
		t.Errorf("the ring holds %+v", all)
	}
}
