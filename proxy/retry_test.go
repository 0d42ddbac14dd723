package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"leeway/workers/sim"
)

// roundRobin makes the order of workers certain.
func roundRobin(s *setup) { s.routing.Policy = "round_robin" }

func TestAWorkerThatFailsBeforeItAnswersIsReplaced(t *testing.T) { // case E1
	for _, dialect := range dialects {
		for name, fault := range map[string]sim.Fault{
			"unavailable":       {Kind: sim.FaultError, Code: "UNAVAILABLE"},
			"connection broken": {Kind: sim.FaultReset},
			"ends with nothing": {Kind: sim.FaultEnd},
		} {
			t.Run(dialect+" "+name, func(t *testing.T) {
				b := start(t, one(t, dialect, greeting), one(t, dialect, greeting), roundRobin)
				for _, w := range b.workers[:1] {
					w.SetFaults(fault)
				}
				for _, members := range []string{`,"stream":true`, ``, `,"stream":true`} {
					a := b.chat(t, members)
					var got said
					if members == "" {
						got = add([]chunk{oneChunk(t, []byte(a.body))}, 0)
					} else {
						got = add(chunks(t, a.body), 0)
					}
					if a.status != 200 || got.content != greeting {
						t.Errorf("%d %s", a.status, a.body)
					}
				}
				b.atRest(t)
			})
		}
	}
}

func TestAFailedWorkerIsNotTriedAgainWhileAnotherIsLeft(t *testing.T) { // case E1
	b := start(t, one(t, "vllm", greeting), one(t, "vllm", greeting), func(s *setup) { s.routing.Policy = "consistent_hashing" })
	b.chat(t, `,"user":"sticky"`)
	owner, other := b.workers[0], b.workers[1]
	if len(owner.Requests()) == 0 {
		owner, other = other, owner
	}
	owner.SetFaults(sim.Fault{Kind: sim.FaultError, Code: "UNAVAILABLE"})
	if a := b.chat(t, `,"user":"sticky"`); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if len(owner.Requests()) != 2 || len(other.Requests()) != 1 {
		t.Errorf("%d requests to the worker that failed, want 2; %d to the other, want 1", len(owner.Requests()), len(other.Requests()))
	}
}

func TestAttemptsAreBoundedAndSpread(t *testing.T) {
	b := start(t, one(t, "vllm", greeting), one(t, "vllm", greeting), one(t, "vllm", greeting), roundRobin)
	for _, w := range b.workers {
		w.SetFaults(sim.Fault{Kind: sim.FaultError, Code: "RESOURCE_EXHAUSTED"})
	}
	if a := b.chat(t, ``); a.status != 429 || errorOf(t, a.body).Type != "rate_limit_error" {
		t.Errorf("%d %s", a.status, a.body)
	}
	total := 0
	for _, w := range b.workers {
		n := len(w.Requests())
		if total += n; n < 1 || n > 2 {
			t.Errorf("%s was tried %d times", w.URL(), n)
		}
	}
	if total != 5 {
		t.Errorf("%d attempts, want 5", total)
	}
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultError, Code: "INVALID_ARGUMENT", Message: "bad grammar"})
	b.workers[1].SetFaults(sim.Fault{Kind: sim.FaultError, Code: "INVALID_ARGUMENT", Message: "bad grammar"})
	b.workers[2].SetFaults(sim.Fault{Kind: sim.FaultError, Code: "INVALID_ARGUMENT", Message: "bad grammar"})
	if a := b.chat(t, ``); a.status != 400 || !strings.Contains(a.body, "bad grammar") { // case A31
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestAnAnswerThatBreaksOffEndsInAnErrorEventAndIsNotTriedAgain(t *testing.T) { // cases A2, A3, E2, E10, H7, H8
	for _, dialect := range dialects {
		for _, tc := range []struct {
			name, reason string
			fault        sim.Fault
		}{
			{"an error", "upstream_error", sim.Fault{Kind: sim.FaultError, After: 3, Code: "INTERNAL", Message: "a \"quoted\"\nline"}},
			{"a reset", "upstream_reset", sim.Fault{Kind: sim.FaultReset, After: 2}},
			{"an end without a word", "upstream_incomplete", sim.Fault{Kind: sim.FaultEnd, After: 3}},
			{"an abort that nobody asked for", "upstream_incomplete", sim.Fault{Kind: sim.FaultFinish, After: 3, Reason: "abort"}},
			{"an error in place of a reason", "upstream_incomplete", sim.Fault{Kind: sim.FaultFinish, After: 3, Reason: "error"}},
		} {
			t.Run(dialect+" "+tc.name, func(t *testing.T) {
				b := start(t, one(t, dialect, greeting), one(t, dialect, greeting))
				before := b.metric(t, `leeway_answers_cut_total{reason="`+tc.reason+`"}`)
				for _, w := range b.workers {
					w.SetFaults(tc.fault, sim.Fault{Kind: sim.FaultTokenDelay, For: sim.Duration(20 * time.Millisecond)})
				}
				a := b.chat(t, `,"stream":true,"stream_options":{"include_usage":true}`)
				all := chunks(t, a.body)
				last := all[len(all)-1]
				if last.Error == nil || last.Error.Type != "stream_error" || last.Error.Code == "" || strings.Contains(a.body, "quoted") {
					t.Errorf("last frame %+v", last)
				}
				if got := add(all, 0); len(got.finish) != 0 || got.content == "" || !strings.HasPrefix(greeting, got.content) {
					t.Errorf("the client got %+v", got)
				}
				for _, c := range all {
					if c.Usage != nil {
						t.Errorf("usage of a broken answer: %+v", c)
					}
				}
				if n := len(b.workers[0].Requests()) + len(b.workers[1].Requests()); n != 1 {
					t.Errorf("%d attempts", n)
				}
				b.atRest(t)
				eventually(t, "counted", func() bool { return b.metric(t, `leeway_answers_cut_total{reason="`+tc.reason+`"}`) != before })
			})
		}
	}
}

// metric returns the value of a series as text, "" if there is none.
func (b *bed) metric(t *testing.T, series string) string {
	t.Helper()
	resp, err := http.Get(b.measures)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

func TestDrainLetsStreamsEndAndSaysSo(t *testing.T) { // case E11
	b := start(t, one(t, "vllm", strings.Repeat("on and on ", 60)), func(s *setup) { s.config.ShutdownGrace = 20 })
	resp := b.post(t, t.Context(), "/v1/chat/completions", question(`,"stream":true`))
	defer resp.Body.Close()
	b.stop()
	eventually(t, "draining", func() bool {
		r, err := http.Get(b.url + "/readiness")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		body, _ := io.ReadAll(r.Body)
		return r.StatusCode == 503 && strings.Contains(string(body), `"reason":"draining"`)
	})
	if a := b.chat(t, `,"max_tokens":1`); a.status != 200 {
		t.Errorf("a late request: %d %s", a.status, a.body)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || add(chunks(t, string(body)), 0).finish[0] != "stop" {
		t.Errorf("the stream was cut: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := <-b.ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestDrainEndsWhatOutlivesItsGrace(t *testing.T) { // case E11
	b := start(t, one(t, "vllm", greeting), func(s *setup) { s.config.ShutdownGrace = 0.4 })
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultStall, After: 2})
	resp := b.post(t, t.Context(), "/v1/chat/completions", question(`,"stream":true`))
	defer resp.Body.Close()
	began := time.Now()
	b.stop()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	all := chunks(t, string(body))
	if last := all[len(all)-1]; last.Error == nil {
		t.Errorf("last frame %+v", last)
	}
	if err := <-b.ended; err != nil || time.Since(began) > 3*time.Second {
		t.Errorf("Serve: %v after %v", err, time.Since(began))
	}
}

func TestAModelWithoutAUsableWorkerIs503AndComesBack(t *testing.T) { // cases E4, E7
	b := start(t, one(t, "vllm", greeting), func(s *setup) { s.workers.HealthInterval = 0.1 })
	b.workers[0].Kill()
	eventually(t, "lost", func() bool {
		a := b.chat(t, ``)
		return a.status == 503 && errorOf(t, a.body).Code == "no_available_workers" && a.header.Get("Retry-After") == "1"
	})
	if a := b.chat(t, `,"stream":true`); a.status != 503 || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("streamed: %d %v", a.status, a.header)
	}
	if err := b.workers[0].Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "back", func() bool { return b.chat(t, ``).status == 200 })
}

func TestAWorkerThatFailsFastDoesNotDrawTheTraffic(t *testing.T) {
	b := start(t, one(t, "vllm", greeting), one(t, "vllm", greeting), func(s *setup) { s.workers.BreakerFailures = 3 })
	bad, good := b.workers[0], b.workers[1]
	bad.SetFaults(sim.Fault{Kind: sim.FaultError, Code: "INTERNAL"})
	for range 30 {
		if a := b.chat(t, ``); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if n := len(bad.Requests()); n != 3 {
		t.Errorf("the worker that fails was asked %d times", n)
	}
	if _, body := b.call(t, "GET", "/workers", ""); !strings.Contains(string(body["workers"]), `"circuit_breaker":"open"`) || !strings.Contains(string(body["workers"]), "its requests fail") {
		t.Errorf("workers: %s", body["workers"])
	}
	for series, want := range map[string]string{
		"smg_worker_cb_state{worker=%q}":                                         "1",
		"smg_worker_cb_transitions_total{worker=%q,from=\"closed\",to=\"open\"}": "1",
		"smg_worker_cb_outcomes_total{worker=%q,outcome=\"failure\"}":            "3",
	} {
		if got := b.metric(t, fmt.Sprintf(series, bad.URL())); got != want {
			t.Errorf("%s is %q, want %s", series, got, want)
		}
	}
	good.SetFaults(sim.Fault{Kind: sim.FaultError, Code: "UNAVAILABLE"})
	eventually(t, "refused", func() bool {
		a := b.chat(t, ``)
		return a.status == 503 && errorOf(t, a.body).Code == "no_available_workers" && a.header.Get("Retry-After") == "1"
	})
	if status, _ := b.call(t, "GET", "/readiness", ""); status != 200 {
		t.Errorf("readiness: %d", status)
	}
	b.atRest(t)
}

func TestAnEnginesInternalErrorIsNotTriedOnItAgain(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultError, Code: "INTERNAL"})
	if a := b.chat(t, ``); a.status != 500 || errorOf(t, a.body).Code != "start_generation_failed" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if n := len(b.workers[0].Requests()); n != 1 {
		t.Errorf("%d attempts", n)
	}
	b.atRest(t)
}

func TestAWorkerThatRefusesTheGatewayIsNoFaultOfTheClient(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	for _, code := range []string{"UNAUTHENTICATED", "PERMISSION_DENIED"} {
		b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultError, Code: code})
		if a := b.chat(t, ``); a.status != 502 || !strings.Contains(errorOf(t, a.body).Message, "gateway's own credentials") {
			t.Errorf("%s: %d %s", code, a.status, a.body)
		}
	}
}

func TestAWorkerThatIsDownAtTheStartJoinsLater(t *testing.T) { // cases E7, E8
	late, err := sim.New(sim.Options{Dialect: "vllm", Port: freePort(t), Speed: 10})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { late.Close() })
	b := launch(t, func(s *setup) { s.workers.URLs, s.workers.HealthInterval = []string{late.URL()}, 0.1 })
	if a := b.chat(t, ``); a.status != 503 || errorOf(t, a.body).Code != "no_available_workers" {
		t.Errorf("before: %d %s", a.status, a.body)
	}
	if status, _ := b.call(t, "GET", "/readiness", ""); status != 503 {
		t.Errorf("readiness: %d", status)
	}
	if err := late.Start(); err != nil {
		t.Fatal(err)
	}
	b.awaitReady(t)
	if a := b.chat(t, ``); a.status != 200 {
		t.Errorf("after: %d %s", a.status, a.body)
	}
	if a := b.complete(t, `{"model":"another","prompt":"x"}`); a.status != 404 {
		t.Errorf("another model: %d %s", a.status, a.body)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
