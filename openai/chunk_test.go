package openai

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

var head = Head{ID: "chatcmpl-1", Model: "m", Fingerprint: "default", Created: 7}

// frames is one chunk of each kind, in the order of the lines of testdata/frames.jsonl.
func frames() []Chunk {
	usage := Usage{PromptTokens: 3, CompletionTokens: 2, CachedTokens: 1}
	return []Chunk{
		{Delta: Delta{Role: true}},
		{Delta: Delta{Role: true, ForcedCall: true}},
		{Delta: Delta{Reasoning: "hm"}},
		{Index: 1, Delta: Delta{Content: "你\n\"🙂\" data: [DONE]\r\n"}},
		{Delta: Delta{Call: CallDelta{ID: "call_1", Name: "f"}}},
		{Delta: Delta{Call: CallDelta{Index: 1, Arguments: `{"a":`}}},
		{Delta: Delta{Call: CallDelta{ID: "call_1", Name: "f", Arguments: "{}"}}},
		{Delta: Delta{Content: "x"}, Logprobs: []TokenLogprob{{"x", -0.5, []TopLogprob{{"x", -0.5}, {"\xe4", float32(math.Inf(-1))}}, 0}}},
		{Finish: "stop"},
		{Finish: "stop", MatchedStop: MatchedStop{Set: true, Text: "END"}},
		{Finish: "stop", MatchedStop: MatchedStop{Set: true, Token: 2}, Usage: &usage},
	}
}

func TestFramesAreTheGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/frames.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(data)), "\n")
	c := NewChunks(head)
	var got []string
	for _, f := range frames() {
		got = append(got, string(c.AppendChunk(nil, f)))
	}
	got = append(got, string(c.AppendUsage(nil, Usage{PromptTokens: 3, CompletionTokens: 2, ReasoningTokens: 1})))
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("frame %d:\n got %v\nwant %v", i, got[i:], want[i:])
		}
	}
}

func TestContentIsTheUsualChunk(t *testing.T) {
	c := NewChunks(head)
	text := "a\x00\"\xff\u2028b"
	want := string(c.AppendChunk(nil, Chunk{Index: 2, Delta: Delta{Content: text}}))
	if got := string(c.AppendContent(nil, 2, []byte(text))); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// case A1, case A2, case A10
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "data: [DONE]\n\n", "\u2028\u2029\r", "\xff\xc3", "é\x7f\x00", "\uFFFD"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := AppendString(nil, s)
		for _, c := range out {
			if c < 0x20 {
				t.Fatalf("control byte %x in %q", c, out)
			}
		}
		var back string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for _, r := range s { // a byte that is no UTF-8 is ranged over as U+FFFD
			want.WriteRune(r)
		}
		if back != want.String() {
			t.Errorf("%q came back as %q", s, back)
		}
		if string(AppendString(nil, []byte(s))) != string(out) {
			t.Errorf("bytes and string differ for %q", s)
		}
	})
}

func TestWholeAnswer(t *testing.T) {
	a := ChatAnswer{Head: head, Usage: Usage{PromptTokens: 1, CompletionTokens: 2}, Choices: []ChatChoice{
		{Content: "hi", Reasoning: "hm", Finish: "stop", Logprobs: []TokenLogprob{}},
		{Index: 1, Finish: "tool_calls", ToolCalls: []ToolCall{{"call_1", "f", `{"a":1}`}}},
	}}
	want, err := os.ReadFile("testdata/answer.json")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(a.AppendJSON(nil)); got != strings.TrimSpace(string(want)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestErrorsAreTheOpenAIShape(t *testing.T) {
	e := Invalid("n", CodeInvalidValue, "a \"quoted\"\nline")
	want := `{"error":{"message":"a \"quoted\"\nline","type":"invalid_request_error","param":"n","code":"invalid_value"}}`
	if got := string(e.AppendJSON(nil)); got != want {
		t.Errorf("got %s", got)
	}
	if got := fmt.Sprint(&Error{Message: "m"}); got != "m" {
		t.Errorf("got %s", got)
	}
}

func TestChunksDoNotAllocate(t *testing.T) {
	c := NewChunks(head)
	buf := make([]byte, 0, 4096)
	all := frames()
	text := []byte("你好 \"x\"\n")
	n := testing.AllocsPerRun(100, func() {
		for i := range all {
			buf = c.AppendChunk(buf[:0], all[i])
		}
		buf = c.AppendContent(buf[:0], 0, text)
		buf = c.AppendUsage(buf[:0], Usage{})
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkChunk(b *testing.B) {
	c := NewChunks(head)
	buf := make([]byte, 0, 4096)
	text := []byte(" token")
	b.Run("content", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = c.AppendContent(buf[:0], 0, text)
		}
	})
	b.Run("call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = c.AppendChunk(buf[:0], Chunk{Delta: Delta{Call: CallDelta{Arguments: `"key": "va`}}})
		}
	})
}
