package proxy

import (
	"fmt"
	"io"
	"net/http"
	"testing"
)

// chosenWorker asks "question" with headers and returns which worker answered.
func chosenWorker(t *testing.T, b *bed, members string, headers ...string) string {
	t.Helper()
	resp := b.post(t, t.Context(), "/v1/chat/completions", question(members), headers...)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%v: status %d", headers, resp.StatusCode)
	}
	return resp.Header.Get("X-Smg-Routed-Worker-Id")
}

func threeWorkers(t *testing.T) func(*setup) {
	return func(s *setup) {
		for range 3 {
			one(t, "vllm", greeting)(s)
		}
	}
}

func TestARoutingKeyStaysWithAWorker(t *testing.T) {
	b := start(t, threeWorkers(t), func(s *setup) {
		s.routing.Policy, s.routing.StickySessions = "round_robin", true
		s.config.RoutingKeyHeaders = []string{"x-session", "x-smg-routing-key"}
	})
	homes := map[string]bool{}
	for i := range 3 {
		key := fmt.Sprint("key", i)
		home := chosenWorker(t, b, ``, "X-Session", key)
		homes[home] = true
		for _, again := range [][]string{{"X-Session", key}, {"X-SMG-Routing-Key", key}, {"X-Session", key, "X-SMG-Routing-Key", "other"}} {
			if got := chosenWorker(t, b, ``, again...); got != home {
				t.Errorf("%v went to %s; the key lives on %s", again, got, home)
			}
		}
		if got := chosenWorker(t, b, fmt.Sprintf(`,"prompt_cache_key":%q`, key)); got != home {
			t.Errorf("the prompt's cache key %s went to %s, not %s", key, got, home)
		}
		for _, by := range [][]string{{"user", key}, {"user", "other", "X-Session", key}} {
			resp := b.post(t, t.Context(), "/v1/embeddings", fmt.Sprintf(`{"model":"demo","input":"a","user":%q}`, by[1]), by[2:]...)
			resp.Body.Close()
			if got := resp.Header.Get("X-Smg-Routed-Worker-Id"); got != home {
				t.Errorf("the embedding for %v came from %s; the key %s lives on %s", by, got, key, home)
			}
		}
	}
	if len(homes) != 3 {
		t.Errorf("three new keys were to live on three workers, as round_robin has it: %v", homes)
	}
}

func TestAClientsHeaderSteersNothingUnlessAsked(t *testing.T) {
	b := start(t, threeWorkers(t), func(s *setup) { s.routing.Policy = "round_robin" })
	seen := map[string]bool{}
	for range 3 {
		seen[chosenWorker(t, b, ``, "X-SMG-Routing-Key", "mine")] = true
	}
	if len(seen) != 3 {
		t.Errorf("a routing key kept requests on %v without sticky sessions", seen)
	}
}

func TestAnAliasIsAnotherNameOfAModel(t *testing.T) {
	b := start(t, one(t, "vllm", greeting), func(s *setup) { s.models.ModelAliases = []string{"gpt-4=demo", "old/name=demo"} })
	for _, name := range []string{"gpt-4", "old/name", "demo"} {
		resp := b.post(t, t.Context(), "/v1/chat/completions", fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"question"}]}`, name))
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if c := oneChunk(t, body); resp.StatusCode != 200 || c.Model != "demo" {
			t.Errorf("%s: status %d, model %q", name, resp.StatusCode, c.Model)
		}
		if status, body := b.call(t, "GET", "/v1/models/"+name, ""); status != 200 || string(body["id"]) != `"demo"` {
			t.Errorf("/v1/models/%s: %d %s", name, status, body)
		}
	}
	if resp := b.post(t, t.Context(), "/v1/chat/completions", `{"model":"gpt-5","messages":[{"role":"user","content":"x"}]}`); resp.StatusCode != 404 {
		t.Errorf("a name that is none: status %d", resp.StatusCode)
	}
}
