package openai

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// decoders by endpoint, as testdata/refused_others.tsv names them.
var decoders = map[string]func([]byte) error{
	"completion": func(b []byte) error { _, err := DecodeCompletion(b); return err },
	"tokenize":   func(b []byte) error { _, err := DecodeTokenize(b); return err },
	"detokenize": func(b []byte) error { _, err := DecodeDetokenize(b); return err },
	"embedding":  func(b []byte) error { _, err := DecodeEmbedding(b); return err },
	"generate":   func(b []byte) error { _, err := DecodeGenerate(b); return err },
	"reasoning":  func(b []byte) error { _, err := DecodeParse(b, "reasoning_parser"); return err },
	"call":       func(b []byte) error { _, err := DecodeParse(b, "tool_call_parser"); return err },
}

func TestOtherBodiesNameTheField(t *testing.T) {
	data, err := os.ReadFile("testdata/refused_others.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		endpoint, code, param, body := parts[0], parts[1], parts[2], parts[3]
		err := decoders[endpoint]([]byte(body))
		var e *Error
		if errors.As(err, &e); (e == nil) != (code == "") || e != nil && (e.Code != code || e.Param != param) {
			t.Errorf("%s %s: got %v, want %s %s", endpoint, body, e, code, param)
		}
	}
}

// A field that takes texts alone does not offer ids, nor the other way round.
func TestAWrongPromptIsToldWhatItMustBe(t *testing.T) {
	for _, c := range []struct{ endpoint, body, want string }{
		{"tokenize", `{"prompt":5}`, "Invalid 'prompt': expected a string or an array of strings, but got a number."},
		{"tokenize", `{"prompt":[5]}`, "Invalid 'prompt[0]': expected a string, but got a number."},
		{"tokenize", `{"prompt":["a",[5]]}`, "Invalid 'prompt[1]': expected a string, but got an array."},
		{"detokenize", `{"tokens":5}`, "Invalid 'tokens': expected an array of token ids or an array of such arrays, but got a number."},
		{"detokenize", `{"tokens":[true]}`, "Invalid 'tokens[0]': expected a token id or an array of token ids, but got a boolean."},
		{"detokenize", `{"tokens":[[1],"a"]}`, "Invalid 'tokens[1]': expected an element of the same kind as the one before it, but got a string."},
		{"completion", `{"model":"m","prompt":[{}]}`, "Invalid 'prompt[0]': expected a string, a token id, or an array of token ids, but got an object."},
	} {
		if err := decoders[c.endpoint]([]byte(c.body)); err == nil || err.Error() != c.want {
			t.Errorf("%s %s: %v", c.endpoint, c.body, err)
		}
	}
}

func TestPromptsComeInFourShapes(t *testing.T) {
	for body, want := range map[string]Prompts{
		`"a"`:          {List: []Prompt{{Text: "a"}}},
		`["a","b"]`:    {List: []Prompt{{Text: "a"}, {Text: "b"}}, Batch: true},
		`[1,2]`:        {List: []Prompt{{Tokens: []uint32{1, 2}}}},
		`[[1],[],[2]]`: {List: []Prompt{{Tokens: []uint32{1}}, {Tokens: []uint32{}}, {Tokens: []uint32{2}}}, Batch: true},
	} {
		r, err := DecodeCompletion([]byte(`{"model":"m","prompt":` + body + `}`))
		if err != nil {
			t.Errorf("%s: %v", body, err)
		} else if !reflect.DeepEqual(r.Prompt, want) {
			t.Errorf("%s: %+v", body, r.Prompt)
		}
	}
}

func TestOfSeveralPromptsOneCounts(t *testing.T) {
	for body, want := range map[string][]string{
		`"text":"a","input_ids":[1]`:              {"text", "input_ids"},
		`"input_ids":[1],"text":"a"`:              {"text", "input_ids"},
		`"prompt":"b","text":"a"`:                 {"text", "prompt"},
		`"text":"a","prompt":"b","input_ids":[1]`: {"text", "input_ids", "prompt"},
		`"text":"a","prompt":null`:                {"text"},
		`"prompt":"b","input_ids":[1]`:            {"input_ids", "prompt"},
		`"prompt":"b","input_ids":null`:           {"prompt"},
	} {
		r, err := DecodeGenerate([]byte("{" + body + "}"))
		if err != nil {
			t.Errorf("%s: %v", body, err)
		} else if got := append([]string{r.Field}, r.Ignored...); !slices.Equal(got, want) || len(r.Prompt.List) != 1 {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestAnswersAreValidJSON(t *testing.T) {
	logprobs := []TokenLogprob{{"你", -1, []TopLogprob{{"你", -1}, {"a", -2}, {"a", -3}}, 0}, {"b", 0, nil, 1}}
	choice := TextChoice{Index: 1, Text: "你b", Logprobs: logprobs, Offset: 4, Finish: "length"}
	for want, got := range map[string][]byte{
		`"token_logprobs":[-1,0],"top_logprobs":[{"你":-1,"a":-2},{"b":0}],"text_offset":[4,5]`:                     Completion{Head: head, Choices: []TextChoice{choice, choice}}.AppendJSON(nil),
		`"choices":[{"text":"x","index":0,"logprobs":null,"finish_reason":null}]}`:                                 NewTextChunks(head).AppendChunk(nil, TextChoice{Text: "x"}, nil),
		`"object":"text_completion","created":7,"model":"m","system_fingerprint":"default","choices":[],"usage":{`: NewTextChunks(head).AppendUsage(nil, Usage{}),
		`{"tokens":[1,2],"count":2,"char_count":3}`:                                                                Tokenized{Tokens: [][]uint32{{1, 2}}, CharCounts: []int{3}}.AppendJSON(nil),
		`{"tokens":[[1,2],[]],"count":[2,0],"char_count":[3,0]}`:                                                   Tokenized{Tokens: [][]uint32{{1, 2}, {}}, CharCounts: []int{3, 0}, Batch: true}.AppendJSON(nil),
		`{"tokens":[],"count":[],"char_count":[]}`:                                                                 Tokenized{Batch: true}.AppendJSON(nil),
		`{"text":["a"]}`: Detokenized{Texts: []string{"a"}, Batch: true}.AppendJSON(nil),
		`"embedding":[0.5,0]}],"model":"m","usage":{"prompt_tokens":3,"total_tokens":3}`: Embeddings{Model: "m", Vectors: [][]float32{{0.5, float32(math.NaN())}}, PromptTokens: 3}.AppendJSON(nil),
		`"embedding":"AACAPw=="`:                       Embeddings{Vectors: [][]float32{{1}}, Base64: true}.AppendJSON(nil),
		`"finish_reason":{"type":"length","length":2}`: Generated{Finish: "length", Completion: 2, Logprobs: []IDLogprob{{-1, 5, "a", true}, {-1, 6, "", false}}}.AppendJSON(nil),
		`"finish_reason":"stop","prompt_tokens":0,"weight_version":"","completion_tokens":0,"cached_tokens":0,"reasoning_tokens":3,"e2e_latency":0.5},"index":1}`:              Generated{Finish: "stop", Reasoning: 3, Seconds: 0.5, Streamed: true, Index: 1}.AppendJSON(nil),
		`"finish_reason":null,"prompt_tokens":0,"weight_version":"","output_token_logprobs":[[-1,6]],"completion_tokens":0,"cached_tokens":0,"reasoning_tokens":0},"index":0}`: Generated{Streamed: true, Logprobs: []IDLogprob{{-1, 6, "", false}}}.AppendJSON(nil),
		`"output_token_logprobs":[[-1,5,"a"]]`:                                      Generated{Logprobs: []IDLogprob{{-1, 5, "a", true}}}.AppendJSON(nil),
		`"tool_calls":[{"function":{"name":"f","arguments":"{}"}}],"success":true}`: AppendParsedCalls(nil, "", []ToolCall{{"", "f", "{}"}}),
		`{"normal_text":"a","reasoning_text":"b","success":true}`:                   AppendParsedReasoning(nil, "a", "b"),
		`{"error":"no","success":false}`:                                            AppendParseFailure(nil, "no"),
	} {
		if !json.Valid(got) || !strings.Contains(string(got), want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// case F16
func TestModelList(t *testing.T) {
	got, err := json.Marshal(ModelList{{ID: "m", MaxModelLen: 4096}, {ID: "n", OwnedBy: "me"}})
	want := `{"object":"list","data":[{"id":"m","object":"model","created":0,"owned_by":"self_hosted","max_model_len":4096},` +
		`{"id":"n","object":"model","created":0,"owned_by":"me"}]}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	if got, _ := json.Marshal(ModelList(nil)); string(got) != `{"object":"list","data":[]}` {
		t.Errorf("empty list is %s", got)
	}
}

// FuzzBodies holds for every endpoint that no body panics and that a refusal is a 400 which can be told to a client.
func FuzzBodies(f *testing.F) {
	for endpoint := range decoders {
		for _, body := range []string{`{"model":"m","prompt":[[1],[]],"stop":"a"}`, `{"input":"a","tokens":[]}`, `{"text":"","sampling_params":{"n":1e0}}`} {
			f.Add(endpoint, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, endpoint string, body []byte) {
		decode, ok := decoders[endpoint]
		if !ok {
			return
		}
		err := decode(body)
		if err == nil {
			if !json.Valid(body) {
				t.Fatalf("%s accepted %q", endpoint, body)
			}
			return
		}
		if e := err.(*Error); e.Status != 400 || e.Code == "" || !json.Valid(e.AppendJSON(nil)) {
			t.Fatalf("%s: %+v", endpoint, e)
		}
	})
}
