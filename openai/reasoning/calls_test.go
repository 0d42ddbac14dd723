package reasoning

import (
	"slices"
	"testing"

	"leeway/openai"
	"leeway/openai/toolcall"
)

// heeded are answers with calls in a format, and what they come to.
var heeded = []struct {
	family, format           string
	text, reasoning, content string
}{
	{"qwen3", "qwen", `<tool_call>{"name":"f","arguments":{"a":"<think>b</think>"}}</tool_call> <think>c`, "c",
		`<tool_call>{"name":"f","arguments":{"a":"<think>b</think>"}}</tool_call> `},
	{"qwen3", "qwen", "\n<think>a</think>b<tool_call><think>", "a", "b<tool_call><think>"},
	{"qwen3", "qwen", "b <tool_<think>a</think>", "a", "b <tool_"},
	{"qwen3", "qwen", "<think><tool_call></think>b", "<tool_call>", "b"},
	{"qwen3", "qwen", "Say <tool_call> first. <think>a</think>b", "a", "Say <tool_call> first. b"},
	{"qwen3", "qwen", `<tool_call>{"name":"f","arguments":{"a":"<think>`, "", `<tool_call>{"name":"f","arguments":{"a":"<think>`},
	{"qwen3", "json", `{"name":"f","arguments":{"a":"<think>b</think>"}}<think>c</think>d`, "c", `{"name":"f","arguments":{"a":"<think>b</think>"}}d`},
	{"qwen3", "json", `{"arguments":{"a":"<think>b</think>"},"name":"f"}`, "", `{"arguments":{"a":"<think>b</think>"},"name":"f"}`},
	{"qwen3", "llama", `{"name":"f","parameters":{"a":"<think>b"}} `, "", `{"name":"f","parameters":{"a":"<think>b"}} `},
	{"qwen3", "xlam", `[{"name":"f","arguments":{"a":"<think>b"}}]`, "", `[{"name":"f","arguments":{"a":"<think>b"}}]`},
	{"qwen3", "pythonic", `[f(a="<think>b</think>")]<think>c`, "c", `[f(a="<think>b</think>")]`},
	{"qwen3", "pythonic", `a list [1, 2] <think>c`, "c", `a list [1, 2] `},
	{"gemma4", "gemma4", "a<|tool_call>call:f{a:<|\"|><|channel>thought\nb<channel|><|\"|>}<tool_call|><channel|><|channel>thought\nc<channel|>d<channel|>", "c",
		"a<|tool_call>call:f{a:<|\"|><|channel>thought\nb<channel|><|\"|>}<tool_call|>d"},
	{"cohere_cmd", "cohere", `<|START_THINKING|>a<|END_THINKING|><|START_ACTION|>[{"tool_name":"f","parameters":{"a":"<|START_TEXT|><|END_AC"}}]<|END_ACTION|><|START_TEXT|>b<|START_`,
		"a", `<|START_ACTION|>[{"tool_name":"f","parameters":{"a":"<|START_TEXT|><|END_AC"}}]<|END_ACTION|>b<|START_`},
	{"cohere_cmd", "cohere", "<|START_TEXT<|START_ACTION|>{}", "", "<|START_TEXT<|START_ACTION|>{}"},
}

// heed is part for an answer in which a format's calls may stand.
func heed(t *testing.T, family, format string, pieces ...string) (reasoning, content string) {
	t.Helper()
	p, err := New(family, false)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := toolcall.New(format, []openai.Tool{{Name: "f"}})
	if err != nil {
		t.Fatal(err)
	}
	p.Heed(toolcall.Follow(tools))
	for _, piece := range pieces {
		r, c := p.Add(piece)
		reasoning, content = reasoning+r, content+c
	}
	r, c := p.Flush()
	return reasoning + r, content + c
}

func TestNoThoughtBeginsInACall(t *testing.T) {
	for _, x := range heeded {
		check := func(pieces ...string) {
			if r, c := heed(t, x.family, x.format, pieces...); r != x.reasoning || c != x.content {
				t.Errorf("%s, %s: %q gives %q and %q", x.family, x.format, pieces, r, c)
			}
		}
		check(x.text)
		for i := range len(x.text) {
			check(x.text[:i], x.text[i:])
		}
		check(bytewise(x.text)...)
	}
}

func FuzzCalls(f *testing.F) {
	families, formats := Names(), toolcall.Names()
	for _, x := range heeded {
		f.Add(uint8(slices.Index(families, x.family)), uint8(slices.Index(formats, x.format)), x.text, uint8(2))
	}
	f.Fuzz(func(t *testing.T, n, m uint8, text string, cut uint8) {
		family, format := families[int(n)%len(families)], formats[int(m)%len(formats)]
		reasoning, content := heed(t, family, format, text)
		size := 1 + int(cut)%7
		var pieces []string
		for rest := text; rest != ""; rest = rest[min(size, len(rest)):] {
			pieces = append(pieces, rest[:min(size, len(rest))])
		}
		if r, c := heed(t, family, format, pieces...); r != reasoning || c != content {
			t.Fatalf("%s, %s: %q gives %q and %q, whole %q and %q", family, format, pieces, r, c, reasoning, content)
		}
	})
}
