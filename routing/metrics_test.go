package routing

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestMetricsSayWhatDecisionsDid(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode = "shadow" })
	r.Observe("w0", waiting(start, 1, 500))
	r.Observe("w1", idle(start))
	r.Feed("w0").Apply(start, stored(1, 0, prompt(16000), 16))
	r.Feed("w1").Apply(start, stored(1, 1<<20, make([]uint32, 16), 16))
	l := pick(t, r, start, Request{Tokens: prompt(16000), Chat: true, Streaming: true, PlainText: true})
	l.Finish(start.Add(time.Second), Outcome{PromptTokens: 16000})
	pick(t, r, start, Request{Tokens: prompt(16000), Chat: true, PlainText: true})
	pick(t, r, start, Request{Tokens: prompt(3), Chat: true, Streaming: true, PlainText: true})
	r.Feed("w0").Apply(start, stored(9, 0, prompt(16), 16))
	r.Feed("w0").NoResume()
	r.Feed("w0").Apply(start, stored(19, 0, prompt(16), 16))

	var text bytes.Buffer
	r.WriteMetrics(&text, start.Add(2*time.Second))
	for _, want := range []string{
		`smg_least_load_cache_credit_decisions_total{mode="shadow",model="m",result="complete",changed="true"} 1`,
		`smg_least_load_cache_credit_decisions_total{mode="shadow",model="m",result="fallback",changed="false"} 1`,
		`smg_least_load_cache_credit_skips_total{mode="shadow",model="m",reason="ineligible"} 1`,
		`smg_least_load_cache_credit_skips_total{mode="shadow",model="m",reason="no_content_blocks"} 1`,
		`smg_least_load_cache_savings_seconds_count{mode="shadow",model="m"} 1`,
		`leeway_shadow_regret_seconds_count{model="m"} 1`,
		fmt.Sprintf(`leeway_shadow_regret_seconds_sum{model="m"} %v`, l.Receipt().Slack),
		`leeway_bound_violations_total 0`,
		`leeway_kv_certificate{worker="w0"} 1`,
		`leeway_kv_certificate_losses_total{worker="w0",reason="gap"} 1`,
		`leeway_kv_claims_audited_total{worker="w1",result="exact"} 1`,
		`leeway_kv_index_blocks{worker="w0"} 1`,
		`leeway_load_sample_age_seconds{worker="w1"} 2`,
		`leeway_prefill_rate_tokens{worker="w1"} 8000`,
	} {
		if !strings.Contains(text.String(), want+"\n") {
			t.Errorf("missing %s", want)
		}
	}
	if t.Failed() {
		t.Log(text.String())
	}
}

func TestABrokenBoundIsCounted(t *testing.T) {
	for saving, want := range map[float64]uint64{0.3: 0, 0.2: 1, 0.1: 1} { // against 0.2 s of extra cost
		r := newRouter(t, 2, nil)
		d := &decision{router: r, candidates: []Candidate{{Cost: 1}, {Cost: 1.25, Saving: saving + 0.05}}}
		d.preference = preference{result: Complete, preferred: 1}
		r.meters.count(d, &Receipt{Model: "m", Result: Complete, Mode: Enforce})
		if got := r.meters.violations.Get(); got != want {
			t.Errorf("saving %v s: %d violations, want %d", saving, got, want)
		}
		d.preference.preferred = 0
		if r.meters.count(d, &Receipt{Model: "m", Result: Complete, Mode: Enforce}); r.meters.violations.Get() != want {
			t.Error("the base choice broke the bound")
		}
	}
}

func TestModelsBeyondABoundShareALabel(t *testing.T) {
	r := newRouter(t, 2, nil)
	d := &decision{router: r, candidates: make([]Candidate, 2)}
	for n := range maxModelLabels + 10 {
		r.meters.count(d, &Receipt{Model: strconv.Itoa(n), Result: Complete, Mode: Enforce})
	}
	var text bytes.Buffer
	r.WriteMetrics(&text, start)
	if n := len(r.meters.models); n > maxModelLabels+1 || !strings.Contains(text.String(), `model="other",result="complete",changed="false"} 10`) {
		t.Errorf("%d models are told apart", n)
	}
	if strings.Contains(text.String(), "leeway_shadow_regret_seconds_count{model=\"1\"} 1") {
		t.Error("enforcing costs no regret")
	}
}
