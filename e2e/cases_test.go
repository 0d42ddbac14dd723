package e2e

import (
	"context"
	"testing"
	"time"

	"leeway/workers/sim"
)

// cases C9, C11: requests are counted in flight at gRPC workers under every policy, on every endpoint.
func TestRequestsInFlightAreFollowedUnderEveryPolicy(t *testing.T) {
	for _, policy := range []string{"least_load", "round_robin", "cache_aware", "passthrough"} {
		t.Run(policy, func(t *testing.T) {
			_, urls := crew(t, 2, sim.Options{Canned: true, TokenInterval: 5 * time.Millisecond})
			h := open(t, urls, "--policy", policy)
			ctx, leave := context.WithCancel(t.Context())
			left := make(chan struct{}, 6)
			for range 3 {
				go func() { h.stream(ctx, turn(1, 10, 5000)); left <- struct{}{} }()
				go func() {
					if response, err := h.post(ctx, "/v1/completions", `{"model":"demo","prompt":"on","stream":true,"max_tokens":5000,"ignore_eos":true}`); err == nil {
						<-ctx.Done()
						response.Body.Close()
					}
					left <- struct{}{}
				}()
			}
			eventually(t, 5*time.Second, "six requests in flight", func() bool { return h.sum("smg_worker_requests_active", "") == 6 })
			if r := h.decisions(1)[0]; r.Candidates[0].InFlight+r.Candidates[1].InFlight != 5 {
				t.Errorf("the sixth decision saw %d and %d in flight", r.Candidates[0].InFlight, r.Candidates[1].InFlight)
			}
			leave()
			for range 6 {
				<-left
			}
			eventually(t, 5*time.Second, "none in flight", func() bool { return h.sum("smg_worker_requests_active", "") == 0 })
		})
	}
}

// case D25: tools are part of the prompt, so they are part of what a cache holds of it.
func TestClaimsCoverTheWholeRenderedPrompt(t *testing.T) {
	_, urls := crew(t, 2, sim.Options{Dialect: "sglang", Servicer: string(sim.Rust), Speed: 20})
	h := open(t, urls, "--least-load-cache-mode", "enforce")
	ask := func(tool string) (claimed, found int) {
		fields := `"stream":true,"max_tokens":4,"ignore_eos":true,"tools":[{"type":"function","function":{"name":"` + tool +
			`","description":"Says what the weather will be at a place that is named, today or on one of the next ten days."}}],`
		if !h.stream(t.Context(), chat(fields, question)) {
			t.Fatal("the chat failed")
		}
		time.Sleep(200 * time.Millisecond) // its events
		r := h.decisions(1)[0]
		x, _ := r.Candidate(r.Chosen)
		return int(x.Cached), r.Outcome.CachedTokens
	}
	ask("forecast")
	var claimed, found int
	eventually(t, 10*time.Second, "a claim on the same prompt", func() bool { claimed, found = ask("forecast"); return claimed > 0 })
	if claimed != found || claimed < 48 {
		t.Errorf("the same tools: %d tokens claimed, %d found", claimed, found)
	}
	if other, found := ask("prophecy"); other >= claimed || other != found {
		t.Errorf("other tools: %d tokens claimed, %d found; %d of the same tools", other, found, claimed)
	}
}

// case D22: a gateway that starts in front of warm workers knows nothing, claims nothing, and then certifies each.
func TestAGatewayThatStartsAnewClaimsNothingUntilItKnows(t *testing.T) {
	_, urls := crew(t, 2, sim.Options{Dialect: "vllm", Speed: 20})
	before := open(t, urls, "--least-load-cache-mode", "enforce")
	for range 6 {
		before.stream(t.Context(), turn(1, 100, 4))
	}
	after := open(t, urls, "--least-load-cache-mode", "enforce")
	if !after.stream(t.Context(), turn(1, 100, 4)) {
		t.Fatal("the chat failed")
	}
	r := after.decisions(1)[0]
	for i, x := range r.Candidates {
		if x.Certificate.String() != "warming" || x.Cached != 0 || r.Chosen != r.Base {
			t.Errorf("%s: %s with %d tokens at the first decision", r.Workers[i], x.Certificate, x.Cached)
		}
	}
	session := 10
	eventually(t, 10*time.Second, "both workers are certified", func() bool {
		session++ // words that no engine has cached make events
		after.stream(t.Context(), turn(session, 100, 4))
		return after.sum("leeway_kv_certificate", "") == 2
	})
}
