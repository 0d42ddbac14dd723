package reasoning

import (
	"strings"
	"testing"
)

// spared are answers with calls, and what they come to.
var spared = []struct {
	family, open, end        string
	text, reasoning, content string
}{
	{"qwen3", "<tool_call>", "</tool_call>", `<tool_call>{"a":"<think>b</think>"}</tool_call> <think>c`, "", `<tool_call>{"a":"<think>b</think>"}</tool_call> <think>c`},
	{"qwen3", "<tool_call>", "</tool_call>", "\n<think>a</think>b<tool_call><think>", "a", "b<tool_call><think>"},
	{"qwen3", "<tool_call>", "</tool_call>", "b <tool_<think>a</think>", "a", "b <tool_"},
	{"qwen3", "<tool_call>", "</tool_call>", "<think><tool_call></think>b", "<tool_call>", "b"},
	{"qwen3", "{", "", ` {"a":"<think>"}`, "", ` {"a":"<think>"}`},
	{"gemma4", "<|tool_call>", "<tool_call|>", "a<|tool_call><|channel>thought\nb<channel|><tool_call|><channel|><|channel>thought\nc<channel|>d<|tool_call><channel|>", "c",
		"a<|tool_call><|channel>thought\nb<channel|><tool_call|>d<|tool_call><channel|>"},
	{"cohere_cmd", "<|START_ACTION|>", "<|END_ACTION|>", "<|START_THINKING|>a<|END_THINKING|><|START_ACTION|><|START_TEXT|><|END_AC<|END_ACTION|><|START_TEXT|>b<|START_",
		"a", "<|START_ACTION|><|START_TEXT|><|END_AC<|END_ACTION|>b<|START_"},
	{"cohere_cmd", "<|START_ACTION|>", "<|END_ACTION|>", "<|START_TEXT<|START_ACTION|>{}", "", "<|START_TEXT<|START_ACTION|>{}"},
}

func TestNoThoughtBeginsInACall(t *testing.T) {
	for _, x := range spared {
		check := func(pieces ...string) {
			p, _ := New(x.family, false)
			p.Spare([]string{x.open}, strings.Fields(x.end))
			reasoning, content := "", ""
			for _, piece := range pieces {
				r, c := p.Add(piece)
				reasoning, content = reasoning+r, content+c
			}
			r, c := p.Flush()
			if reasoning, content = reasoning+r, content+c; reasoning != x.reasoning || content != x.content {
				t.Errorf("%s: %q gives %q and %q", x.family, pieces, reasoning, content)
			}
		}
		check(x.text)
		for i := range len(x.text) {
			check(x.text[:i], x.text[i:])
		}
		check(bytewise(x.text)...)
	}
}
