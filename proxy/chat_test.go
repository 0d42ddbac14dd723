package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"leeway/workers/sim"
)

const greeting = "Hello there. This answer went by a worker and came back in pieces."

func TestStreamAndWholeSayTheSameInEveryDialect(t *testing.T) { // cases A20, A21, A26, A29
	for _, dialect := range dialects {
		t.Run(dialect, func(t *testing.T) {
			b := start(t, one(t, dialect, greeting))
			stream := b.chat(t, `,"stream":true`)
			if stream.status != 200 || stream.header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
				t.Fatalf("%d %v %s", stream.status, stream.header, stream.body)
			}
			all := chunks(t, stream.body)
			got := add(all, 0)
			if got.content != greeting || got.roles != 1 || len(got.finish) != 1 || got.finish[0] != "stop" {
				t.Errorf("stream says %+v", got)
			}
			if first := all[0].Choices[0].Delta; first.Role == nil || *first.Role != "assistant" || *first.Content != "" {
				t.Errorf("first frame %+v", all[0])
			}
			if last := all[len(all)-1]; len(last.Choices) != 1 || last.Choices[0].FinishReason == nil {
				t.Errorf("last frame %+v", last)
			}
			for _, c := range all {
				if c.ID != all[0].ID || c.Object != "chat.completion.chunk" || c.Model != "demo" {
					t.Errorf("chunk %+v", c)
				}
			}
			whole := b.chat(t, ``)
			w := oneChunk(t, []byte(whole.body))
			if s := add([]chunk{w}, 0); whole.status != 200 || s.content != greeting || s.finish[0] != "stop" || w.Object != "chat.completion" {
				t.Errorf("whole: %d %s", whole.status, whole.body)
			}
			b.atRest(t)
		})
	}
}

func TestModelTextNeverEndsAStream(t *testing.T) { // case A1
	text := "// data: [DONE]\n\ndata: [DONE]\r\n\r\ndata: [DONE]\ndata: x\n\n: ping\n\n{"
	b := start(t, one(t, "vllm", text))
	a := b.chat(t, `,"stream":true`)
	if got := add(chunks(t, a.body), 0); got.content != text {
		t.Errorf("got %q", got.content)
	}
}

func TestCharactersStayWhole(t *testing.T) { // case A10
	text := "你好🙂 naïve 👩‍👩‍👧 ok"
	for _, n := range []int{1, 2, 3, 5} {
		b := start(t, one(t, "sglang", text))
		b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultChunk, N: n})
		all := chunks(t, b.chat(t, `,"stream":true`).body)
		if got := add(all, 0); got.content != text {
			t.Errorf("%d tokens a chunk: %q", n, got.content)
		}
		for _, c := range all {
			for _, choice := range c.Choices {
				if d := choice.Delta.Content; d != nil && (!utf8.ValidString(*d) || strings.Contains(*d, "\uFFFD")) {
					t.Errorf("a chunk holds %q", *d)
				}
			}
		}
	}
}

func TestUsageComesOnceAndOnlyWhenAsked(t *testing.T) { // cases A17, A14
	b := start(t, one(t, "vllm", greeting))
	without := chunks(t, b.chat(t, `,"stream":true,"logprobs":null,"tools":null`).body)
	for _, c := range without {
		if c.Usage != nil {
			t.Errorf("usage that nobody asked for: %+v", c)
		}
	}
	with := chunks(t, b.chat(t, `,"stream":true,"stream_options":{"include_usage":true}`).body)
	for i, c := range with {
		last := i == len(with)-1
		if (c.Usage != nil) != last || last && (c.Choices == nil || len(c.Choices) != 0) {
			t.Errorf("frame %d of %d: %+v", i, len(with), c)
		}
	}
	usage := with[len(with)-1].Usage
	whole := oneChunk(t, []byte(b.chat(t, ``).body)).Usage
	if *usage != *whole || usage.Total != usage.Prompt+usage.Completion || usage.Completion == 0 {
		t.Errorf("stream %+v, whole %+v", usage, whole)
	}
	every := chunks(t, b.chat(t, `,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}`).body)
	for _, c := range every {
		if c.Usage == nil {
			t.Errorf("no usage in %+v", c)
		}
	}
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultNoUsage})
	if bare := oneChunk(t, []byte(b.chat(t, ``).body)).Usage; bare.Prompt != whole.Prompt || bare.Completion != whole.Completion || bare.Details.Cached != 0 {
		t.Errorf("a worker that reports nothing: %+v", bare)
	}
}

func TestTokensAreCountedByTheirIDs(t *testing.T) { // cases A15, H2, A35
	for _, dialect := range dialects {
		for _, servicer := range []string{"python", "rust"} {
			b := start(t, func(s *setup) {
				s.sim = []sim.Options{{Dialect: dialect, Servicer: servicer, Canned: true, TokenInterval: time.Millisecond}}
			})
			for _, n := range []int{1, 4, 7} {
				b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultChunk, N: n})
				all := chunks(t, b.chat(t, `,"stream":true,"max_tokens":20,"ignore_eos":true,"stream_options":{"include_usage":true}`).body)
				if got := all[len(all)-1].Usage.Completion; got != 20 {
					t.Errorf("%s %s, %d a chunk: %d tokens", dialect, servicer, n, got)
				}
				if got := add(all, 0).finish; len(got) != 1 || got[0] != "length" {
					t.Errorf("%s %s: finish %q", dialect, servicer, got)
				}
			}
		}
	}
}

func TestCachedTokensReachTheClient(t *testing.T) { // case A16
	b := start(t, func(s *setup) { s.sim = []sim.Options{{Speed: 1000}} })
	long := strings.Repeat("all work and no play makes a dull prompt ", 30)
	var last chunk
	for range 2 {
		resp := b.post(t, t.Context(), "/v1/chat/completions", fmt.Sprintf(`{"model":"demo","max_tokens":2,"messages":[{"role":"user","content":%q}]}`, long))
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		last = oneChunk(t, body)
	}
	if u := last.Usage; u.Details.Cached == 0 || u.Details.Cached%16 != 0 || u.Details.Cached >= u.Prompt {
		t.Errorf("%+v", u)
	}
}

func TestChoicesKeepApart(t *testing.T) { // case A22
	for _, dialect := range dialects {
		b := start(t, one(t, dialect, "你好 "+greeting))
		for _, members := range []string{`,"n":3,"stream":true`, `,"n":3`} {
			a := b.chat(t, members)
			all := []chunk{}
			if strings.Contains(members, "stream") {
				all = chunks(t, a.body)
			} else {
				all = append(all, oneChunk(t, []byte(a.body)))
			}
			for i := range 3 {
				if got := add(all, i); got.content != "你好 "+greeting || len(got.finish) != 1 {
					t.Errorf("%s %s: choice %d says %+v", dialect, members, i, got)
				}
			}
		}
		b.atRest(t)
	}
}

func TestStopStringsEndTheAnswerAtOnceInEveryDialect(t *testing.T) {
	text := "one two three four " + strings.Repeat("and so on ", 200)
	for _, dialect := range dialects {
		b := start(t, one(t, dialect, text))
		for _, members := range []string{`,"stream":true`, ``} {
			began := time.Now()
			a := b.chat(t, members+`,"stop":["three fo","never said"]`)
			all := []chunk{}
			if members != "" {
				all = chunks(t, a.body)
			} else {
				all = append(all, oneChunk(t, []byte(a.body)))
			}
			got := add(all, 0)
			if got.content != "one two " || len(got.finish) != 1 || got.finish[0] != "stop" || !strings.Contains(a.body, `"matched_stop":"three fo"`) {
				t.Errorf("%s %s: %+v", dialect, members, got)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("%s %s: took %v", dialect, members, took)
			}
		}
		unmatched := add(chunks(t, b.chat(t, `,"stream":true,"max_tokens":9,"stop":["never said","twox"]`).body), 0) // case A4
		if plain := add(chunks(t, b.chat(t, `,"stream":true,"max_tokens":9`).body), 0); plain.content != unmatched.content || plain.content == "" {
			t.Errorf("%s: %+v with stops that are never said, %+v without; %+v", dialect, unmatched, plain, b.workers[0].Requests()[2].Request)
		}
		b.atRest(t)
	}
}

func TestLogprobsFollowTheText(t *testing.T) { // case A27
	for _, members := range []string{``, `,"stop":["four"]`} {
		b := start(t, one(t, "vllm", "one 你好🙂 two four"))
		members += `,"logprobs":true,"top_logprobs":2`
		stream := chunks(t, b.chat(t, members+`,"stream":true`).body)
		whole := oneChunk(t, []byte(b.chat(t, members).body))
		var streamed, gathered []string
		text, tokens := 0, 0 // bytes so far
		for _, c := range stream {
			for _, choice := range c.Choices {
				if choice.Delta.Content != nil {
					text += len(*choice.Delta.Content)
				}
				if choice.Logprobs != nil {
					for _, l := range choice.Logprobs.Content {
						tokens += len(l.Bytes)
						streamed = append(streamed, l.Token)
						if len(l.Top) != 2 {
							t.Errorf("%+v has not two alternatives", l)
						}
					}
				}
				if tokens != text && !strings.Contains(members, "stop") { // of a token that a stop cuts all bytes are told
					t.Errorf("%d bytes of text and %d of tokens have come", text, tokens)
				}
			}
		}
		for _, l := range whole.Choices[0].Logprobs.Content {
			gathered = append(gathered, l.Token)
		}
		if len(gathered) < 4 || strings.Join(streamed, "|") != strings.Join(gathered, "|") {
			t.Errorf("stream %q, whole %q", streamed, gathered)
		}
	}
}

func TestPromptsThatWouldKillAnEngineAreRefused(t *testing.T) { // cases H1, E15
	b := start(t, func(s *setup) {
		s.sim = []sim.Options{{Dialect: "vllm", ContextLength: 64, Fragile: true, Canned: true}}
	})
	long := strings.Repeat("word ", 200)
	for _, tc := range []struct{ name, path, body, code, param string }{
		{"a chat too long", "/v1/chat/completions", fmt.Sprintf(`{"model":"demo","messages":[{"role":"user","content":%q}]}`, long), "context_length_exceeded", "messages"},
		{"an answer too long", "/v1/chat/completions", question(`,"max_tokens":64`), "context_length_exceeded", "max_tokens"},
		{"a text too long", "/v1/completions", fmt.Sprintf(`{"model":"demo","prompt":%q}`, long), "context_length_exceeded", "prompt"},
		{"a text of nothing", "/v1/completions", `{"model":"demo","prompt":""}`, "invalid_value", "prompt"},
		{"ids that are not there", "/v1/completions", `{"model":"demo","prompt":[1,4000000]}`, "invalid_value", "prompt[1]"},
		{"ids in a list that are not there", "/v1/completions", `{"model":"demo","prompt":[[1],[4000000]]}`, "invalid_value", "prompt[1][0]"},
		{"ids to embed that are not there", "/v1/embeddings", `{"model":"demo","input":[[1,4000000]]}`, "invalid_value", "input[0][1]"},
		{"the newer bound of an answer too long", "/v1/chat/completions", question(`,"max_tokens":5,"max_completion_tokens":64`), "context_length_exceeded", "max_completion_tokens"},
		{"a bare answer too long", "/generate", `{"text":"a","sampling_params":{"max_new_tokens":64}}`, "context_length_exceeded", "sampling_params.max_new_tokens"},
		{"bare ids that are not there", "/generate", `{"model":"demo","input_ids":[1,4000000]}`, "invalid_value", "input_ids[1]"},
		{"stop ids that are not there", "/v1/chat/completions", question(`,"stop_token_ids":[1,4000000]`), "invalid_value", "stop_token_ids[1]"},
		{"a bias for an id that is not there", "/v1/chat/completions", question(`,"logit_bias":{"4000000":1}`), "invalid_value", "logit_bias.4000000"},
		{"a bare stop id that is not there", "/generate", `{"text":"a","sampling_params":{"stop_token_ids":[4000000]}}`, "invalid_value", "sampling_params.stop_token_ids[0]"},
	} {
		resp := b.post(t, t.Context(), tc.path, tc.body)
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if e := errorOf(t, string(body)); resp.StatusCode != 400 || e.Code != tc.code || e.Param != tc.param {
			t.Errorf("%s: %d %s", tc.name, resp.StatusCode, body)
		}
	}
	if n := len(b.workers[0].Requests()); n != 0 {
		t.Errorf("%d of them reached the worker", n)
	}
}

func TestClientsSecretsAndIDsStayHere(t *testing.T) { // cases F1, H6
	b := start(t, one(t, "vllm", greeting), func(s *setup) { s.config.APIKey = "top-secret" })
	headers := []string{"Authorization", "Bearer top-secret", "X-Request-Id", "twin", "X-Smg-Routed-Worker-Id", "forged", "TraceParent", "00-1-2-01"}
	first := b.post(t, t.Context(), "/v1/chat/completions", question(`,"stream":true`), headers...)
	second := b.post(t, t.Context(), "/v1/chat/completions", question(`,"stream":true`), headers...)
	for _, resp := range []*http.Response{first, second} {
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		events := chunks(t, string(body))
		if resp.StatusCode != 200 || add(events, 0).content != greeting || !strings.HasPrefix(events[0].ID, "twin-") {
			t.Errorf("%d %s", resp.StatusCode, body)
		}
		if id := resp.Header.Get("X-Request-Id"); id != "twin" {
			t.Errorf("request id %q", id)
		}
		if got := resp.Header.Values("X-Smg-Routed-Worker-Id"); len(got) != 1 || got[0] != b.workers[0].URL() {
			t.Errorf("worker header %q", got)
		}
	}
	records := b.workers[0].Requests()
	if len(records) != 2 || records[0].ID == records[1].ID {
		t.Fatalf("requests %+v", records)
	}
	for _, r := range records {
		text, _ := json.Marshal(r)
		if strings.Contains(string(text), "top-secret") || strings.Contains(r.ID, "twin") {
			t.Errorf("the worker saw %s", text)
		}
		if got := r.Header["x-request-id"]; len(got) != 1 || got[0] != "twin" { // case F5
			t.Errorf("the worker saw the request id %q", got)
		}
		if got := r.Header["traceparent"]; len(got) != 1 || got[0] != "00-1-2-01" {
			t.Errorf("the worker saw the trace %q", got)
		}
	}
}

func TestFieldsWithoutEffectAreNamedInAHeader(t *testing.T) {
	b := start(t, one(t, "sglang", greeting))
	for _, members := range []string{``, `,"stream":true`} {
		a := b.chat(t, members+`,"seed":7,"sampling_seed":8,"lora_path":"x","verbosity":"low","no such":1,"é,":1,"":1,"unheard_of":1`)
		got := a.header.Get("X-Leeway-Ignored-Parameters")
		for _, name := range []string{"seed", "sampling_seed", "lora_path", "verbosity", "unheard_of", "no%20such", "%C3%A9%2C", `""`} {
			if !slices.Contains(strings.Split(got, ", "), name) { // one name may be part of another
				t.Errorf("%q does not name %s", got, name)
			}
		}
	}
	for field, member := range map[string]string{
		"regex": `"regex":"a+"`, "ebnf": `"ebnf":"root ::= \"a\""`, "response_format": `"response_format":{"type":"json_object"}`,
	} { // a call that is forced shapes the answer alone
		for choice, want := range map[string]string{"required": field, "auto": ""} {
			if got := b.chat(t, weather+`,"tool_choice":"`+choice+`",`+member).header.Get("X-Leeway-Ignored-Parameters"); got != want {
				t.Errorf("%s and tools %s: the header says %q", field, choice, got)
			}
		}
	}
	if got := b.chat(t, `,"temperature":0`).header.Get("X-Leeway-Ignored-Parameters"); got != "" {
		t.Errorf("nothing was ignored, but the header says %q", got)
	}
}

func TestFieldsWithoutEffectAreRefusedIfSoConfigured(t *testing.T) {
	refuse := func(s *setup) { s.config.UnsupportedFields = "refuse" }
	for dialect, status := range map[string]int{"sglang": 400, "vllm": 200} { // SGLang's protocol has no seed
		b := start(t, one(t, dialect, greeting), refuse)
		for _, members := range []string{``, `,"stream":true`} {
			if a := b.chat(t, members+`,"seed":7`); a.status != status {
				t.Errorf("%s: %d %s", dialect, a.status, a.body)
			}
			for field, more := range map[string]string{"verbosity": `"verbosity":"low"`, "é": `"é":1`, "functions": weather[1:] + `,"functions":[{"name":"f"}]`} {
				a := b.chat(t, members+","+more)
				if e := errorOf(t, a.body); a.status != 400 || e.Code != "unsupported_parameter" || e.Param != field {
					t.Errorf("%s: %d %s", dialect, a.status, a.body)
				}
			}
		}
		b.atRest(t)
	}
}

func TestModelsDefaultsFillOnlyWhatWasLeftOut(t *testing.T) {
	temperature, topK, mine := 0.6, 20, 0.1
	m := &model{defaults: parseSampling(`{"temperature":0.6,"top_k":20,"unknown":1}`), language: &language{}}
	req := question(`,"temperature":0.1,"min_tokens":3,"logit_bias":{"7":1.5}`)
	got := samplingOf(t, m, req)
	if *got.Temperature != mine || *got.TopK != topK || got.TopP != nil || got.MinTokens != 3 || got.LogitBias[7] != 1.5 {
		t.Errorf("%+v", got)
	}
	if got := samplingOf(t, m, question(``)); *got.Temperature != temperature {
		t.Errorf("%+v", got)
	}
	if parseSampling("no JSON") != (sampling{}) {
		t.Error("defaults out of nothing")
	}
}
