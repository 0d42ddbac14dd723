package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"leeway/workers/sim"
)

// call sends a request of any method to the bed and decodes the answer's JSON, if it is an object.
func (b *bed) call(t *testing.T, method, path, body string) (int, map[string]json.RawMessage) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]json.RawMessage{}
	json.Unmarshal(text, &out)
	return resp.StatusCode, out
}

func text(raw json.RawMessage) string {
	var s string
	json.Unmarshal(raw, &s)
	return s
}

func TestWorkersComeAndGo(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	late, err := sim.Start(sim.Options{Dialect: "sglang", Model: "other", Canned: true, TokenInterval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	status, accepted := b.call(t, "POST", "/workers", `{"url":"`+late.URL()+`"}`)
	id := text(accepted["worker_id"])
	if status != 202 || text(accepted["status"]) != "accepted" || id == "" || text(accepted["location"]) != "/workers/"+id {
		t.Fatalf("%d %s", status, accepted)
	}
	if status, again := b.call(t, "POST", "/workers", `{"url":"`+late.URL()+`"}`); status != 409 || text(again["code"]) != "WORKER_ALREADY_EXISTS" {
		t.Errorf("%d %s", status, again)
	}
	eventually(t, "ready", func() bool {
		_, w := b.call(t, "GET", "/workers/"+id, "")
		return text(w["status"]) == "ready" && text(w["model_id"]) == "other" && text(w["runtime_type"]) == "sglang"
	})
	b.awaitReady(t)
	if status, _ := b.call(t, "POST", "/v1/chat/completions", `{"model":"other","max_tokens":2,"messages":[{"role":"user","content":"x"}]}`); status != 200 {
		t.Errorf("a chat with the new worker: %d", status)
	}
	if _, list := b.call(t, "GET", "/workers", ""); string(list["total"]) != "2" {
		t.Errorf("%s", list)
	}
	if status, e := b.call(t, "PATCH", "/workers/"+id, `{"priority":7,"labels":{"rack":"a"}}`); status != 202 {
		t.Errorf("%d %s", status, e)
	}
	if _, w := b.call(t, "GET", "/workers/"+id, ""); string(w["priority"]) != "7" || !strings.Contains(string(w["labels"]), `"rack":"a"`) {
		t.Errorf("after the change: %s", w)
	}
	if status, e := b.call(t, "PUT", "/workers/"+id, `{"url":"grpc://127.0.0.1:1"}`); status != 400 {
		t.Errorf("another address: %d %s", status, e)
	}
	if status, e := b.call(t, "PUT", "/workers/"+id, `{"url":"`+late.URL()+`","cost":2}`); status != 202 {
		t.Errorf("%d %s", status, e)
	}
	if status, _ := b.call(t, "DELETE", "/workers/"+id, ""); status != 202 {
		t.Errorf("removing: %d", status)
	}
	if status, gone := b.call(t, "GET", "/workers/"+id, ""); status != 404 || text(gone["code"]) != "WORKER_NOT_FOUND" {
		t.Errorf("%d %s", status, gone)
	}
	eventually(t, "unknown again", func() bool {
		status, _ := b.call(t, "POST", "/v1/chat/completions", `{"model":"other","messages":[{"role":"user","content":"x"}]}`)
		return status == 404
	})
	for bad, why := range map[string]string{
		``: "send an object", `{}`: "url: it is missing", `{"url":"http://x:1"}`: "http://x:1", `{"url":"grpc://x:1","runtime":"no such"}`: "no such",
		`{"url":5}`: "url: it cannot be a number", `[]`: "send an object",
	} {
		if status, e := b.call(t, "POST", "/workers", bad); status != 400 || text(e["code"]) != "BAD_REQUEST" || !strings.Contains(text(e["error"]), why) {
			t.Errorf("%q: %d %s", bad, status, e)
		}
	}
}

func TestModelsAreListedOnceWithTheirLength(t *testing.T) { // case F16
	b := start(t, one(t, "vllm", greeting), one(t, "sglang", greeting))
	status, list := b.call(t, "GET", "/v1/models", "")
	if want := `[{"id":"demo","object":"model","created":0,"owned_by":"self_hosted","max_model_len":32768}]`; status != 200 || string(list["data"]) != want {
		t.Errorf("%d %s", status, list["data"])
	}
	if status, m := b.call(t, "GET", "/v1/models/demo", ""); status != 200 || text(m["id"]) != "demo" {
		t.Errorf("%d %s", status, m)
	}
	if status, _ := b.call(t, "GET", "/v1/models/a/b", ""); status != 404 {
		t.Errorf("a model that nobody serves: %d", status)
	}
}

func TestDecisionsAreShown(t *testing.T) {
	b := start(t, one(t, "vllm", greeting), one(t, "vllm", greeting))
	resp := b.post(t, t.Context(), "/v1/chat/completions", question(""), "X-Request-Id", "mine")
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	eventually(t, "told with its outcome", func() bool {
		status, one := b.call(t, "GET", "/routing/decisions/mine", "")
		return status == 200 && text(one["id"]) == "mine" && one["outcome"] != nil
	})
	if status, list := b.call(t, "GET", "/routing/decisions?limit=1", ""); status != 200 || !strings.Contains(string(list["decisions"]), `"mine"`) {
		t.Errorf("%d %s", status, list)
	}
	for path, want := range map[string]int{"/routing/decisions/unknown": 404, "/routing/decisions?limit=x": 400, "/routing/decisions?changed=perhaps": 400, "/routing/decisions?limits=1": 400} {
		if status, _ := b.call(t, "GET", path, ""); status != want {
			t.Errorf("%s: %d", path, status)
		}
	}
}

// Only what gains from an early first token, and goes by its prompt alone, is weighed.
func TestWhatThePreferenceIsNotForIsIneligible(t *testing.T) { // cases D5 and D14
	b := start(t, one(t, "vllm", greeting), one(t, "vllm", greeting), func(s *setup) { s.routing.CacheMode = "shadow" })
	for i, c := range []struct {
		path, body, why string
	}{
		{"/v1/chat/completions", question(`,"stream":true`), ""},
		{"/v1/chat/completions", question(""), "stream"},
		{"/v1/chat/completions", question(`,"stream":true,"n":2`), "n"},
		{"/v1/chat/completions", question(`,"stream":true,"cache_salt":"x"`), "adapter_or_salt"},
		{"/v1/chat/completions", question(`,"stream":true,"lora_path":"x"`), "adapter_or_salt"},
		{"/v1/completions", `{"model":"demo","prompt":"hello","stream":true}`, "endpoint"},
	} {
		id := fmt.Sprint("r", i)
		resp := b.post(t, t.Context(), c.path, c.body, "X-Request-Id", id)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		status, one := b.call(t, "GET", "/routing/decisions/"+id, "")
		if status != 200 || text(one["ineligible"]) != c.why {
			t.Errorf("%s: %d %s", c.body, status, one["ineligible"])
		}
	}
}

func TestModeIsChangedWhileRunning(t *testing.T) { // case F12
	b := start(t, one(t, "vllm", greeting))
	for _, mode := range []string{"shadow", "enforce", "off"} {
		if status, m := b.call(t, "PUT", "/routing/mode", `{"mode":"`+mode+`"}`); status != 200 || text(m["mode"]) != mode {
			t.Errorf("%d %s", status, m)
		}
	}
	for _, bad := range []string{`{"mode":"enforced "}`, `{}`, `x`, `{"mode":"shadow","for":60}`, `{"mode":"shadow"} x`, `{"mode":"shadow"}}`, `{"mode":"shadow"}]`} {
		if status, _ := b.call(t, "PUT", "/routing/mode", bad); status != 400 {
			t.Errorf("%q: %d", bad, status)
		}
	}
	if _, m := b.call(t, "GET", "/routing/mode", ""); text(m["mode"]) != "off" {
		t.Errorf("%s", m)
	}
}

func TestAModeThatCouldHaveNoEffectIsRefused(t *testing.T) {
	b := start(t, one(t, "vllm", greeting), func(s *setup) { s.routing.Policy, s.routing.CacheMode = "random", "enforce" })
	if _, m := b.call(t, "GET", "/routing/mode", ""); text(m["mode"]) != "off" {
		t.Errorf("%s", m)
	}
	for mode, want := range map[string]int{"off": 200, "shadow": 400, "enforce": 400} {
		status, m := b.call(t, "PUT", "/routing/mode", `{"mode":"`+mode+`"}`)
		if status != want || status == 400 && !strings.Contains(string(m["error"]), `"param":"mode"`) {
			t.Errorf("%s: %d %s", mode, status, m)
		}
	}
}

func TestLoadsAndFlushReachEveryWorker(t *testing.T) {
	b := start(t, one(t, "sglang", greeting), one(t, "tokenspeed", greeting))
	for _, path := range []string{"/loads", "/get_loads?model=demo"} {
		status, loads := b.call(t, "GET", path, "")
		if status != 200 || string(loads["dp_rank_count"]) != "2" || !strings.Contains(string(loads["loads"]), b.workers[1].URL()) {
			t.Errorf("%s: %d %s", path, status, loads)
		}
	}
	if status, loads := b.call(t, "GET", "/loads?model=none", ""); status != 200 || string(loads["loads"]) != "[]" || loads["aggregate"] != nil {
		t.Errorf("loads of no worker: %d %s", status, loads)
	}
	time.Sleep(1100 * time.Millisecond) // what was said is kept for a second
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultLoads, Set: sim.Fields{"token_usage": "NaN", "gen_throughput": "+Inf"}})
	if status, loads := b.call(t, "GET", "/loads", ""); status != 200 || string(loads["dp_rank_count"]) != "2" {
		t.Errorf("loads that are no numbers: %d %s", status, loads)
	}
	if status, f := b.call(t, "POST", "/flush_cache", ""); status != 200 || string(f["workers_flushed"]) != "2" {
		t.Errorf("%d %s", status, f)
	}
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultUnimplemented, Method: "FlushCache"})
	if status, f := b.call(t, "POST", "/flush_cache", ""); status != 206 || text(f["status"]) != "partial_success" || string(f["workers_flushed"]) != "1" {
		t.Errorf("%d %s", status, f)
	}
}

func TestTextBecomesTokensAndTextAgain(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	for _, model := range []string{`"model":"demo",`, ``} {
		status, out := b.call(t, "POST", "/v1/tokenize", `{`+model+`"prompt":"Hello 你好"}`)
		if status != 200 || string(out["char_count"]) != "8" {
			t.Fatalf("%d %s", status, out)
		}
		if status, back := b.call(t, "POST", "/v1/detokenize", `{`+model+`"tokens":`+string(out["tokens"])+`}`); status != 200 || text(back["text"]) != "Hello 你好" {
			t.Errorf("%d %s", status, back)
		}
	}
	if status, _ := b.call(t, "POST", "/v1/tokenize", `{"model":"nobody","prompt":"x"}`); status != 400 {
		t.Errorf("an unknown model: %d", status)
	}
	if status, _ := b.call(t, "POST", "/v1/detokenize", `{"tokens":[4000000]}`); status != 400 {
		t.Errorf("an unknown id: %d", status)
	}
}
