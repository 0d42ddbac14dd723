package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"leeway/openai"
	"leeway/workers/engine"
)

func TestShapesOfAnAnswerBecomeConstraints(t *testing.T) {
	m := &model{language: &language{}}
	for members, want := range map[string]engine.Constraint{
		``:                                   {},
		`,"regex":"a+"`:                      {Kind: engine.Regex, Text: "a+"},
		`,"ebnf":"root::=a"`:                 {Kind: engine.EBNF, Text: "root::=a"},
		`,"response_format":{"type":"text"}`: {},
		`,"response_format":{"type":"json_object"}`:                                                      {Kind: engine.JSONSchema, Text: `{"type":"object"}`},
		`,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"array"}}}`: {Kind: engine.JSONSchema, Text: `{"type":"array"}`},
	} {
		if got := samplingOf(t, m, question(members)).Constraint; got != want {
			t.Errorf("%s: %+v", members, got)
		}
	}
}

func TestSeedsAndLimitsGoToTheWorker(t *testing.T) {
	m := &model{language: &language{}}
	got := samplingOf(t, m, question(`,"seed":1,"sampling_seed":2,"max_tokens":5,"max_completion_tokens":6,"n":3,"stop_token_ids":[9],"ignore_eos":true`))
	if *got.Seed != 2 || *got.MaxTokens != 6 || got.N != 3 || !slices.Equal(got.StopTokenIDs, []uint32{9}) || !got.IgnoreEOS {
		t.Errorf("%+v", got)
	}
	if got := samplingOf(t, m, question(`,"seed":-1`)); *got.Seed != -1 {
		t.Errorf("%+v", got)
	}
}

func TestOnlySGLangIsSparedStopStrings(t *testing.T) {
	tokens := demoTokens(t)
	p := &prompt{tokens: []uint32{1}, plan: plan{tokens: tokens}}
	p.request.Sampling = engine.Sampling{Stop: []string{".", "never one token"}, StopTokenIDs: []uint32{7}}
	for _, dialect := range []engine.Dialect{engine.VLLM, engine.TokenSpeed} {
		if got := p.requestFor(dialect); !slices.Equal(got.Sampling.Stop, p.request.Sampling.Stop) || got.Stream {
			t.Errorf("%s: %+v", dialect, got)
		}
	}
	got := p.requestFor(engine.SGLang)
	dot := tokens.Encode(".", false)
	if got.Sampling.Stop != nil || !got.Stream || !slices.Equal(got.Sampling.StopTokenIDs, []uint32{7, dot[0]}) {
		t.Errorf("sglang: %+v", got)
	}
	if len(p.request.Sampling.StopTokenIDs) != 1 {
		t.Error("the request itself was changed")
	}
	p.request.Sampling.Stop = nil
	if got := p.requestFor(engine.SGLang); got.Stream {
		t.Error("without stops a whole answer need not be watched")
	}
}

func TestWorkersSeeTheTraceAndNothingElseOfTheHeaders(t *testing.T) {
	h := http.Header{}
	for name, value := range map[string]string{
		"Traceparent": "00-1-2-01", "Tracestate": "bad\nvalue", "Authorization": "Bearer x", "Cookie": "c", "X-Request-Id": "theirs",
	} {
		h.Set(name, value)
	}
	if got := fmt.Sprint(metadata("ours", h)); got != "map[traceparent:00-1-2-01 x-request-id:ours]" {
		t.Error(got)
	}
	h.Set("Traceparent", strings.Repeat("x", 600))
	if got := metadata("ours", h); len(got) != 1 {
		t.Error(got)
	}
}

func TestPromptsAreCheckedAgainstTheModelsLimits(t *testing.T) {
	five := 5
	m := &model{context: 10, vocab: 100, language: &language{}}
	for _, tc := range []struct {
		name   string
		tokens []uint32
		most   *int
		code   string
	}{
		{"fits", []uint32{1, 99}, &five, ""},
		{"fits to the last token", []uint32{1, 2, 3, 4, 5}, &five, ""},
		{"one more", []uint32{1, 2, 3, 4, 5, 6}, &five, "context_length_exceeded"},
		{"nothing", nil, nil, "invalid_value"},
		{"an id that is not there", []uint32{100}, nil, "invalid_value"},
		{"no room for an answer", slices.Repeat([]uint32{1}, 10), nil, "context_length_exceeded"},
		{"room for one token", slices.Repeat([]uint32{1}, 9), nil, ""},
	} {
		p := &prompt{model: m, tokens: tc.tokens}
		p.request.Sampling.MaxTokens = tc.most
		err := p.check()
		code := ""
		if err != nil {
			code = asFailure(err).Code
		}
		if code != tc.code {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestAForcedCallStandsAboveAResponseFormat(t *testing.T) {
	l := &library{}
	req, err := openai.DecodeChat([]byte(question(weather + `,"tool_choice":"required","response_format":{"type":"json_object"}`)))
	if err != nil {
		t.Fatal(err)
	}
	m := &model{name: "demo", language: &language{}}
	p := &prompt{model: m}
	p.request.Sampling = m.sampling(&req.Sampling, 1)
	if err := l.planTools(p, req, false); err != nil {
		t.Fatal(err)
	}
	var schema struct{ Type string }
	if err := json.Unmarshal([]byte(p.request.Sampling.Constraint.Text), &schema); err != nil || schema.Type != "array" || !p.plan.calls.bare {
		t.Errorf("%+v, %v", p.request.Sampling.Constraint, err)
	}
}

func TestAMessageThatDoesNotFitIsNamed(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	a := b.post(t, t.Context(), "/v1/chat/completions",
		`{"model":"demo","messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{"}}]},{"role":"user","content":"x"}]}`)
	defer a.Body.Close()
	var got struct{ Error openai.Error }
	if err := json.NewDecoder(a.Body).Decode(&got); err != nil || a.StatusCode != 400 || got.Error.Param != "messages[0].tool_calls[0].function.arguments" {
		t.Errorf("%d %+v %v", a.StatusCode, got.Error, err)
	}
}
