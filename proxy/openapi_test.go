package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
)

func TestTheDocumentKnowsEveryRouteAndNoOther(t *testing.T) {
	g := empty(t, nil)
	a := ask(t, g.Handler(), "GET", "/openapi.json", "")
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(a.body), &document); err != nil || a.status != 200 {
		t.Fatalf("%d, %v", a.status, err)
	}
	told := map[string]bool{}
	for path, methods := range document.Paths {
		for method := range methods {
			told[strings.ToUpper(method)+" "+path] = true
		}
	}
	served := map[string]bool{}
	err := chi.Walk(g.Handler().(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		route = strings.Replace(route, "/v1/models/*", "/v1/models/{id}", 1)
		switch route {
		case "/health_generate", "/get_server_info", "/get_model_info": // stand for what is not served
			return nil
		}
		if method != http.MethodHead {
			served[method+" "+route] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for route := range served {
		if !told[route] {
			t.Errorf("%s is served and not told", route)
		}
	}
	for route := range told {
		if !served[route] {
			t.Errorf("%s is told and not served", route)
		}
	}
}

// every is one request of each kind that the document describes the answer of.
var every = []struct{ method, path, body string }{
	{"POST", "/v1/chat/completions", question(``)},
	{"POST", "/v1/chat/completions", question(`,"n":2,"logprobs":true,"top_logprobs":2,"stop":"there"`)},
	{"POST", "/v1/chat/completions", question(weather + `,"tool_choice":"required"`)},
	{"POST", "/v1/chat/completions", question(`,"n":0`)},
	{"POST", "/v1/completions", `{"model":"demo","prompt":"a question","logprobs":2,"max_tokens":4}`},
	{"POST", "/v1/completions", `{"model":"demo","prompt":["a question","b"],"echo":true}`},
	{"POST", "/v1/completions", `{"model":"nobody","prompt":"a"}`},
	{"POST", "/generate", `{"text":"a question","return_logprob":true,"return_text_in_logprobs":true,"sampling_params":{"max_new_tokens":4}}`},
	{"POST", "/generate", `{"text":["a question","b"],"sampling_params":{"stop":"there"}}`},
	{"POST", "/v1/embeddings", `{"model":"demo","input":["a","b"]}`},
	{"POST", "/v1/embeddings", `{"model":"demo","input":"a","encoding_format":"base64"}`},
	{"POST", "/v1/embeddings", `{"model":"demo","input":"a","dimensions":3}`},
	{"GET", "/v1/models", ``},
	{"GET", "/v1/models/demo", ``},
	{"POST", "/v1/tokenize", `{"prompt":"a b"}`},
	{"POST", "/v1/tokenize", `{"prompt":["a b",""]}`},
	{"POST", "/v1/detokenize", `{"tokens":[5,6]}`},
	{"POST", "/v1/detokenize", `{"tokens":[[5],[6]]}`},
	{"POST", "/parse/function_call", `{"text":"a<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>","tool_call_parser":"hermes"}`},
	{"POST", "/parse/function_call", `{"text":"a","tool_call_parser":"none such"}`},
	{"POST", "/parse/reasoning", `{"text":"<think>a</think>b","reasoning_parser":"qwen3"}`},
	{"POST", "/parse/reasoning", `{"reasoning_parser":"qwen3"}`},
	{"GET", "/readiness", ``},
	{"GET", "/workers", ``},
	{"GET", "/workers/{id}", ``},
	{"DELETE", "/workers/none", ``},
	{"PATCH", "/workers/{id}", `{"priority":7}`},
	{"POST", "/workers", `{"url":"http://x"}`},
	{"GET", "/routing/mode", ``},
	{"PUT", "/routing/mode", `{"mode":"shadow"}`},
}

func TestAnswersAreAsTheDocumentSays(t *testing.T) {
	s := documented(t, true)
	for _, text := range []string{greeting, sayings[1], sayings[3]} {
		b := start(t, one(t, "sglang", text), func(s *setup) { s.models.ReasoningParser, s.models.ToolCallParser = "qwen3", "hermes" })
		id := b.pool.Workers()[0].ID
		for _, r := range every {
			route := strings.NewReplacer("none", "{id}", "/models/demo", "/models/{id}").Replace(r.path)
			operation := []string{"paths", route, strings.ToLower(r.method)}
			a := ask(t, b.Handler(), r.method, strings.Replace(r.path, "{id}", id, 1), r.body)
			status := fmt.Sprint(a.status)
			if a.status >= 400 {
				status = "default"
			}
			schema := s.at(append(operation, "responses", status, "content", "application/json", "schema")...)
			if err := s.fits(r.path, schema, value(t, a.body)); err != nil {
				t.Errorf("%s %s %s: %v\n%s", r.method, r.path, r.body, err, a.body)
			}
			events := s.at(append(operation, "responses", "200", "content", "text/event-stream", "schema", "properties", "data")...)
			if events == nil || a.status != 200 {
				continue
			}
			event, _ := members(events["anyOf"])[1]["contentSchema"].(map[string]any)
			frames, err := framesOf(ask(t, b.Handler(), r.method, r.path, strings.TrimSuffix(r.body, "}")+`,"stream":true}`).body)
			if err != nil || len(frames) < 2 {
				t.Fatal(len(frames), err)
			}
			for _, frame := range frames {
				if err := s.fits(r.path, event, value(t, frame)); err != nil {
					t.Errorf("%s %s: %v\n%s", r.path, r.body, err, frame)
				}
			}
		}
	}
}

func value(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// What decoding takes, and what the tests above ask for in vain, the document allows, or it would turn clients away.
func TestTheDocumentRefusesNothingThatIsTaken(t *testing.T) {
	s := documented(t, false)
	data, err := os.ReadFile("../openai/testdata/accepted.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		members, _, _ := strings.Cut(line, "\t")
		body := question(members)
		if strings.Contains(members, `"messages"`) {
			body = `{"model":"m"` + members + `}`
		}
		if err := s.fits("chat", s.at("components", "schemas", "ChatRequest"), value(t, body)); err != nil {
			t.Errorf("%s: %v", members, err)
		}
	}
	for _, r := range every {
		schema := s.at("paths", r.path, strings.ToLower(r.method), "requestBody", "content", "application/json", "schema")
		if schema == nil || strings.Contains(r.body, `"n":0`) || strings.Contains(r.body, "dimensions") || r.body == `{"reasoning_parser":"qwen3"}` {
			continue
		}
		if err := s.fits(r.path, schema, value(t, r.body)); err != nil {
			t.Errorf("%s: %v", r.body, err)
		}
	}
}
