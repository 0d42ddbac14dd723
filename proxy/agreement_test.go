package proxy

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"leeway/workers/sim"
)

// sayings are what the workers of this file answer, each to the prompt "saying" and its number.
var sayings = []string{
	greeting,
	"你好🙂 naïve 👩‍👩‍👧 ok, the END and STOP",
	"<think>\nLet me 想 about it.\n</think>\n\nIt is so, END.",
	"<think>two calls</think>\n \n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Köln 🙂\", \"days\": 3}}\n</tool_call>\n<tool_call>{\"name\": \"clock\", \"arguments\": {}}</tool_call>",
	"Let me look. <tool_call>{\"name\": \"weather\", \"arguments\": {\"city\": \"// data: [DONE]\\n\\n\"",
	"  \n ",
	"[{\"name\": \"weather\", \"parameters\": {\"city\": \"A STOP\"}}]",
}

// fold adds the chunks of a stream up to the answer that they are pieces of: text is joined, lists grow, members of a
// list that have an index meet by it, and the last of anything else stands.
func fold(whole, piece any) any {
	switch p := piece.(type) {
	case map[string]any:
		w, _ := whole.(map[string]any)
		if w == nil {
			w = map[string]any{}
		}
		for key, value := range p {
			if s, ok := value.(string); ok && !strings.Contains(" content reasoning_content text arguments ", " "+key+" ") {
				w[key] = s
			} else if value != nil || w[key] == nil {
				w[key] = fold(w[key], value)
			}
		}
		return w
	case []any:
		w, _ := whole.([]any)
		if w == nil {
			w = []any{}
		}
		for _, value := range p {
			at := len(w)
			if member, ok := value.(map[string]any); ok && member["index"] != nil {
				at = int(member["index"].(float64))
			}
			for len(w) <= at {
				w = append(w, nil)
			}
			w[at] = fold(w[at], value)
		}
		return w
	case string:
		w, _ := whole.(string)
		return w + p
	}
	return piece
}

// settled brings a folded stream and a whole answer to one form: what both say, in the words of the whole. The work that
// was cached depends on what went before, ids are drawn by lot.
func settled(answer map[string]any) map[string]any {
	for _, key := range []string{"id", "created", "object", "service_tier"} {
		delete(answer, key)
	}
	delete(answer["usage"].(map[string]any), "prompt_tokens_details")
	for _, c := range answer["choices"].([]any) {
		choice := c.(map[string]any)
		m, _ := choice["delta"].(map[string]any)
		if m == nil {
			m, _ = choice["message"].(map[string]any)
		}
		delete(choice, "delta")
		choice["message"] = m
		for _, key := range []string{"content", "reasoning_content"} {
			if s, _ := m[key].(string); s == "" {
				delete(m, key)
			}
		}
		if m["refusal"] == nil { // a forced call's first frame does not speak of it
			delete(m, "refusal")
		}
		delete(m, "annotations")
		calls, _ := m["tool_calls"].([]any)
		for _, call := range calls {
			if id, _ := call.(map[string]any)["id"].(string); !strings.HasPrefix(id, "call_") {
				m["bad id"] = id
			}
			delete(call.(map[string]any), "id")
			delete(call.(map[string]any), "index")
		}
	}
	return answer
}

// followNative adds an event of /generate, which has the text so far and the ids and log probabilities that are new.
func followNative(stream any, event map[string]any) any {
	list, _ := stream.([]any)
	at := int(event["index"].(float64))
	for len(list) <= at {
		list = append(list, nil)
	}
	if before, ok := list[at].(map[string]any); ok {
		event["output_ids"] = append(before["output_ids"].([]any), event["output_ids"].([]any)...)
		about, old := event["meta_info"].(map[string]any), before["meta_info"].(map[string]any)
		if more, ok := about["output_token_logprobs"].([]any); ok {
			about["output_token_logprobs"] = append(old["output_token_logprobs"].([]any), more...)
		}
	}
	list[at] = event
	return list
}

// settledNative is settled for /generate, which calls the reason to finish by a word in streams and by an object else.
func settledNative(answer any) any {
	list := answer.([]any)
	for _, one := range list {
		about := one.(map[string]any)["meta_info"].(map[string]any)
		if reason, ok := about["finish_reason"].(map[string]any); ok {
			about["finish_reason"] = reason["type"]
		}
		for _, key := range []string{"id", "e2e_latency", "cached_tokens"} {
			delete(about, key)
		}
		delete(one.(map[string]any), "index")
	}
	return list
}

// agree asks for the same as a stream and whole.
func (b *bed) agree(t *testing.T, path, body string) {
	t.Helper()
	ask := func(more string) string {
		resp := b.post(t, t.Context(), path, strings.TrimSuffix(body, "}")+more+"}")
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%s: %d %s %v", body, resp.StatusCode, text, err)
		}
		return string(text)
	}
	more := fmt.Sprintf(`,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":%v}`, len(body)%2 == 0)
	if path == "/generate" {
		more = `,"stream":true`
	}
	var whole, stream any
	if err := json.Unmarshal([]byte(ask("")), &whole); err != nil {
		t.Fatal(err)
	}
	streamed := ask(more)
	for frame := range strings.SplitSeq(strings.TrimSuffix(streamed, "data: [DONE]\n\n"), "\n\n") {
		var piece any
		if frame == "" {
			continue
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(frame, "data: ")), &piece); err != nil {
			t.Fatalf("%q: %v", frame, err)
		}
		if path == "/generate" {
			stream = followNative(stream, piece.(map[string]any))
		} else {
			stream = fold(stream, piece)
		}
	}
	if path == "/generate" {
		whole, stream = settledNative(whole), settledNative(stream)
	} else {
		whole, stream = settled(whole.(map[string]any)), settled(stream.(map[string]any))
	}
	if !reflect.DeepEqual(stream, whole) {
		s, _ := json.Marshal(stream)
		w, _ := json.Marshal(whole)
		at := 0
		for at < min(len(s), len(w)) && s[at] == w[at] {
			at++
		}
		at = max(0, at-200)
		t.Errorf("%s %s\nstream …%.600s\n whole …%.600s", path, body, s[at:], w[at:])
	}
}

// wishes are the members of which each request gets some; one of each line at most.
var wishes = [][]string{
	{`"n":2`, `"n":3`},
	{`"stop":["END","the END","STOP"]`, `"stop":"🙂"`, `"stop":["never said"]`, `"stop":["STOP"],"no_stop_trim":true`},
	{`"max_tokens":1`, `"max_tokens":7,"min_tokens":4`, `"max_tokens":23`},
	{`"ignore_eos":true,"max_tokens":60`, `"skip_special_tokens":false`},
}

var chatWishes = append([][]string{
	{`"logprobs":true`, `"logprobs":true,"top_logprobs":2`},
	{weather[1:], weather[1:] + `,"tool_choice":"required"`, weather[1:] + `,"parallel_tool_calls":false`, weather[1:] + `,"tool_choice":"none"`},
	{`"separate_reasoning":false`, `"stream_reasoning":false`, `"reasoning_effort":"none"`},
	{`"response_format":{"type":"json_object"}`},
}, wishes...)

var textWishes = append([][]string{{`"logprobs":2`, `"echo":true`, `"logprobs":0`}}, wishes...)

// pick joins some of the wishes; a field that two of them set is set once.
func pickWishes(r *rand.Rand, from [][]string) string {
	out := ""
	for _, line := range from {
		if wish := line[r.IntN(len(line))]; r.IntN(2) == 0 && !(strings.Contains(wish, "max_tokens") && strings.Contains(out, "max_tokens")) {
			out += "," + wish
		}
	}
	return out
}

// Whatever is asked for, and however the worker cuts it, the stream adds up to the whole answer, field by field.
func TestStreamAndWholeAgreeInEveryField(t *testing.T) {
	var lines []byte
	for i := len(sayings) - 1; i >= 0; i-- {
		line, err := json.Marshal(sim.Reply{Match: fmt.Sprint("saying ", i), Text: sayings[i]})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	path := filepath.Join(t.TempDir(), "replies.jsonl")
	if err := os.WriteFile(path, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	for d, dialect := range dialects {
		for k, parsers := range [][2]string{{"", ""}, {"qwen3", "hermes"}, {"deepseek_r1", "json"}} {
			r := rand.New(rand.NewPCG(uint64(d), uint64(k)))
			b := start(t, func(s *setup) {
				s.models.ReasoningParser, s.models.ToolCallParser = parsers[0], parsers[1]
				s.sim = []sim.Options{{Dialect: dialect, Servicer: []string{"python", "rust"}[r.IntN(2)], Speed: 1000, Replies: path}}
			})
			for range 15 {
				b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultChunk, N: 1 + r.IntN(5)})
				what := fmt.Sprint("saying ", r.IntN(len(sayings)))
				b.agree(t, "/v1/chat/completions", fmt.Sprintf(`{"model":"demo","messages":[{"role":"user","content":%q}]%s}`, what, pickWishes(r, chatWishes)))
				prompt := fmt.Sprintf("%q", what)
				if r.IntN(3) == 0 {
					prompt = fmt.Sprintf("[%q,%q]", what, "saying 0")
				}
				b.agree(t, "/v1/completions", fmt.Sprintf(`{"model":"demo","prompt":%s%s}`, prompt, pickWishes(r, textWishes)))
				b.agree(t, "/generate", fmt.Sprintf(`{"text":%s,"return_logprob":%v,"sampling_params":{"max_new_tokens":%d}}`, prompt, r.IntN(2) == 0, 1+r.IntN(40)))
				if t.Failed() {
					return
				}
			}
			b.atRest(t)
		}
	}
}
