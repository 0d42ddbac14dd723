package proxy

import (
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"leeway/workers/sim"
)

type generatedBody struct {
	Text string
	IDs  []uint32 `json:"output_ids"`
	Meta struct {
		Finish     any     `json:"finish_reason"`
		Prompt     int     `json:"prompt_tokens"`
		Completion int     `json:"completion_tokens"`
		Logprobs   [][]any `json:"output_token_logprobs"`
	} `json:"meta_info"`
}

func TestNativeGenerateTellsTextAndIDs(t *testing.T) {
	b := start(t, one(t, "sglang", greeting))
	read := func(body string) string {
		resp := b.post(t, t.Context(), "/generate", body)
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 200 {
			t.Fatalf("%d %s", resp.StatusCode, text)
		}
		return string(text)
	}
	var list []generatedBody
	if err := json.Unmarshal([]byte(read(`{"text":"a question","return_logprob":true,"sampling_params":{"max_new_tokens":100}}`)), &list); err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	whole := list[0]
	if whole.Text != greeting || len(whole.IDs) != whole.Meta.Completion || whole.Meta.Finish.(map[string]any)["type"] != "stop" || len(whole.Meta.Logprobs) != len(whole.IDs) {
		t.Errorf("%+v", whole)
	}
	stream := read(`{"text":"a question","stream":true,"return_logprob":true,"sampling_params":{"max_new_tokens":100}}`)
	frames := strings.Split(strings.TrimSuffix(stream, "data: [DONE]\n\n"), "\n\n")
	var streamed struct {
		generatedBody
		finish string
	}
	for _, frame := range frames[:len(frames)-1] {
		var g generatedBody
		if err := json.Unmarshal([]byte(strings.TrimPrefix(frame, "data: ")), &g); err != nil || !strings.HasPrefix(g.Text, streamed.Text) {
			t.Fatalf("%q after %q: %v", frame, streamed.Text, err)
		}
		streamed.Text = g.Text
		streamed.IDs = append(streamed.IDs, g.IDs...)
		streamed.Meta.Logprobs = append(streamed.Meta.Logprobs, g.Meta.Logprobs...)
		if g.Meta.Finish != nil {
			streamed.finish, _ = g.Meta.Finish.(string)
		}
	}
	if streamed.Text != greeting || !slices.Equal(streamed.IDs, whole.IDs) || !reflect.DeepEqual(streamed.Meta.Logprobs, whole.Meta.Logprobs) || streamed.finish != "stop" {
		t.Errorf("the stream says %+v, the whole answer %+v", streamed, whole)
	}
	if err := json.Unmarshal([]byte(read(`{"text":["a question","a question"],"sampling_params":{"n":2}}`)), &list); err != nil || len(list) != 4 || list[3].Text != greeting {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestEmbeddingsComeInOrder(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	status, one := b.call(t, "POST", "/v1/embeddings", `{"model":"demo","input":"a"}`)
	if status != 200 {
		t.Fatalf("%d %s", status, one)
	}
	status, two := b.call(t, "POST", "/v1/embeddings", `{"model":"demo","input":["b","a"]}`)
	var first, both []struct {
		Index     int
		Embedding []float32
	}
	json.Unmarshal(one["data"], &first)
	json.Unmarshal(two["data"], &both)
	if status != 200 || len(both) != 2 || both[1].Index != 1 || len(first[0].Embedding) == 0 || first[0].Embedding[0] != both[1].Embedding[0] {
		t.Errorf("%s\n%s", one, two)
	}
	resp := b.post(t, t.Context(), "/v1/embeddings", `{"model":"demo","input":"a"}`)
	resp.Body.Close()
	if got := resp.Header.Get("X-Smg-Routed-Worker-Id"); got != b.workers[0].URL() {
		t.Errorf("worker header %q", got)
	}
	b.atRest(t)
}

func TestAskingForEmbeddingsWhereThereAreNoneSaysSo(t *testing.T) {
	b := start(t, one(t, "tokenspeed", greeting))
	resp := b.post(t, t.Context(), "/v1/embeddings", `{"model":"demo","input":"a","dimension":3}`)
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if e := errorOf(t, string(body)); resp.StatusCode != 501 || e.Code != "unsupported_backend" || resp.Header.Get("X-Leeway-Ignored-Parameters") != "dimension" {
		t.Errorf("%d %s %v", resp.StatusCode, body, resp.Header)
	}
	b.atRest(t)
}

func TestAFieldThatTheEngineCannotTakeIsNamed(t *testing.T) {
	b := start(t, one(t, "tokenspeed", greeting))
	status, m := b.call(t, "POST", "/v1/chat/completions", question(`,"seed":-1`))
	if status != 400 || !strings.Contains(string(m["error"]), `"param":"seed"`) {
		t.Errorf("%d %s", status, m)
	}
}

func TestEmbeddingsAreMadeByThoseWhoCan(t *testing.T) {
	b := start(t, func(s *setup) {
		s.sim = []sim.Options{{Dialect: "tokenspeed"}, {Dialect: "tokenspeed"}, {Dialect: "vllm"}}
	})
	for range 12 {
		if status, body := b.call(t, "POST", "/v1/embeddings", `{"model":"demo","input":"a"}`); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	b.atRest(t)
}

func TestTextIsParsedOnDemand(t *testing.T) {
	g := empty(t, nil)
	a := ask(t, g.Handler(), "POST", "/parse/function_call", `{"text":"Look: <tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>","tool_call_parser":"hermes","tools":[{"type":"function","function":{"name":"f"}}]}`)
	if want := `{"remaining_text":"Look: ","tool_calls":[{"function":{"name":"f","arguments":"{}"}}],"success":true}`; a.status != 200 || a.body != want {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = ask(t, g.Handler(), "POST", "/parse/reasoning", `{"text":"<think>hm</think>yes","reasoning_parser":"qwen3"}`)
	if want := `{"normal_text":"yes","reasoning_text":"hm","success":true}`; a.status != 200 || a.body != want {
		t.Errorf("%d %s", a.status, a.body)
	}
	a = ask(t, g.Handler(), "POST", "/parse/reasoning", `{"text":"x","reasoning_parser":"no such"}`)
	if a.status != 400 || !strings.Contains(a.body, `"success":false`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}
