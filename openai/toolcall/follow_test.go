package toolcall

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"leeway/openai"
	"leeway/openai/reasoning"
)

// behind runs a parser of thoughts in front of one of calls and returns what both say, and the text that the second read.
func behind(t testing.TB, family, format string, tools []openai.Tool, pieces ...string) (thought, said string, a Answer) {
	t.Helper()
	p := heeding(t, family, format, tools)
	for _, piece := range pieces {
		r, c := p.Add(piece)
		thought, said = thought+r, said+c
	}
	r, c := p.Flush()
	return thought + r, said + c, parse(t, format, tools, said+c)
}

// heeding is a parser of thoughts that heeds the calls of a format.
func heeding(t testing.TB, family, format string, tools []openai.Tool) *reasoning.Parser {
	t.Helper()
	thoughts, err := reasoning.New(family, false)
	if err != nil {
		t.Fatal(err)
	}
	calls, err := New(format, tools)
	if err != nil {
		t.Fatal(err)
	}
	thoughts.Heed(Follow(calls))
	return thoughts
}

// checkBehind fails unless all cuts come to the same and nothing is lost.
func checkBehind(t *testing.T, family, format string, tools []openai.Tool, text string, cuts ...[]string) (string, Answer) {
	t.Helper()
	thought, said, whole := behind(t, family, format, tools, text)
	if family == "qwen3" && len(thought)+len(said)+len("<think></think>") < len(strings.TrimSpace(text)) {
		t.Fatalf("%s: %q lost text: %q and %q", format, text, thought, said)
	}
	for _, pieces := range cuts {
		if r, c, got := behind(t, family, format, tools, pieces...); r != thought || c != said || !reflect.DeepEqual(got, whole) {
			t.Fatalf("%s: %q\n got %q %+v\nwant %q %+v", format, pieces, r, got, thought, whole)
		}
	}
	return thought, whole
}

// allCuts are a text in two pieces, cut anywhere, and byte by byte.
func allCuts(text string) [][]string {
	cuts := [][]string{bytewise(text)}
	for i := range len(text) {
		cuts = append(cuts, []string{text[:i], text[i:]})
	}
	return cuts
}

// A thought stands before a call and behind it, but not in it.
func TestThoughtsStandAroundCalls(t *testing.T) {
	tools := declared(t)
	for _, x := range []struct{ format, text, thought, content, arguments string }{
		{"json", `{"name":"search","arguments":{"q":"a <think>b</think> c"}}`, "", "", `{"q":"a <think>b</think> c"}`},
		{"json", `{"arguments":{"q":"a <think>b</think> c"},"name":"search"} <think>d</think>e`, "d", " e", `{"q":"a <think>b</think> c"}`},
		{"json", `<think>{"name":"search"}</think>{"name":"search","arguments":{"q":"<think>"}}`, `{"name":"search"}`, "", `{"q":"<think>"}`},
		{"json", `See [1], {"a": 1} and {x: <think>d</think>e}`, "d", `See [1], {"a": 1} and {x: e}`, ""},
		{"json", `{"name": <think>d</think>e`, "d", `{"name": e`, ""},
		{"json", `[<think>d</think>e`, "d", `[e`, ""},
		{"llama", `{"name":"search","parameters":{"q":"<think>b"}} <think>d</think>e`, "d", " e", `{"q":"<think>b"}`},
		{"pythonic", `[search(q="a <think>b</think> c")] <think>d</think>`, "d", "", `{"q":"a <think>b</think> c"}`},
		{"pythonic", `[search(<think>d</think>e`, "d", "[search(e", ""},
		{"xlam", `[{"name":"search","arguments":{"q":"<think>b"}}]<think>d`, "d", "", `{"q":"<think>b"}`},
		{"sarashina", `[{'name':'search','arguments':{'q':'a <think>b</think> c'}}]<think>d</think>`, "d", "", `{"q":"a <think>b</think> c"}`},
		{"qwen", `<tool_call>{"name":"search","arguments":{"q":"<think>b"}}</tool_call>` + "\n<think>d</think>\ne", "d", "\n\ne", `{"q":"<think>b"}`},
		{"qwen", "A <tool_call> is a mark. <think>d</think>e", "d", "A <tool_call> is a mark. e", ""},
		{"qwen", "A <tool_call> <think>d</think>e", "d", "A <tool_call> e", ""},
		{"qwen", "a <tool_<think>d</think>e", "d", "a <tool_e", ""},
		{"qwen_xml", "<tool_call>\n<function=search>\n<parameter=q>\n<think>b</think>\n</parameter>\n</function>\n</tool_call><think>d</think>", "d", "", `{"q":"<think>b</think>"}`},
		{"qwen_xml", "The <function=search> tag <think>d</think>e", "d", "The <function=search> tag e", ""},
		{"glm45_moe", "<tool_call>search\n<arg_key>q</arg_key>\n<arg_value><think>b</arg_value>\n</tool_call><think>d</think>e", "d", "e", `{"q":"<think>b"}`},
		{"passthrough", "<tool_call><think>d</think>e", "d", "<tool_call>e", ""},
	} {
		thought, a := checkBehind(t, "qwen3", x.format, tools, x.text, allCuts(x.text)...)
		var want []openai.ToolCall
		if x.arguments != "" {
			want = []openai.ToolCall{{Name: "search", Arguments: x.arguments}}
		}
		if thought != x.thought || a.Content != x.content || !reflect.DeepEqual(a.Calls, want) {
			t.Errorf("%s: %s\n got %q, %+v", x.format, x.text, thought, a)
		}
	}
}

// A thought counts right behind a call whose head was long in doubt, and where its marker ends as a call's may begin.
func TestAThoughtCountsAsSoonAsTheCallHasEnded(t *testing.T) {
	tools := declared(t)
	text := strings.Repeat("word ", 2000) + `{"arguments":{"q":"<think>"},"name":"search"}`
	if thought, a := checkBehind(t, "qwen3", "json", tools, text+"<think>d</think>"); thought != "d" || len(a.Calls) != 1 {
		t.Errorf("%q and %d calls", thought, len(a.Calls))
	}
	if thought, _ := checkBehind(t, "gemma4", "deepseek_v4", tools, "a<|channel>thought\nd<channel|>"); thought != "d" {
		t.Errorf("%q", thought)
	}
}

// In any format, the text in arguments may look like a thought.
func TestAllArgumentsMayHoldTheMarksOfThoughts(t *testing.T) {
	const mark, tail = "<think>b</think>", "<think>d</think>"
	tools, seen := declared(t), make(map[*format]bool)
	for _, x := range transcripts(t) {
		word := argument(x)
		if word == "" {
			continue
		}
		marked := strings.NewReplacer(word, word+mark)
		text := marked.Replace(x.Text)
		p, _ := New(x.Format, tools)
		if Follow(p).Settle(text, tail) { // the last call has not ended
			continue
		}
		seen[formats[x.Format]] = true
		thought, a := checkBehind(t, "qwen3", x.Format, tools, text+tail, allCuts(text+tail)...)
		for i := range x.Calls {
			x.Calls[i].Arguments = marked.Replace(x.Calls[i].Arguments)
		}
		if thought != "d" || !reflect.DeepEqual(a.Calls, x.Calls) {
			t.Errorf("%s: %s\n got %q, %+v\nwant %+v", x.Format, text, thought, a.Calls, x.Calls)
		}
	}
	for _, name := range Names() {
		if f := formats[name]; !seen[f] && f != plainFormat {
			t.Errorf("%s has no such transcript", name)
		}
	}
}

// marked is a call in a format, if there is a transcript of one, with a thought in its arguments and one behind it.
func marked(t testing.TB, format string) string {
	for _, x := range transcripts(t) {
		if word := argument(x); word != "" && formats[x.Format] == formats[format] {
			return strings.ReplaceAll(x.Text, word, word+"<think>b</think>") + "<think>d</think>e"
		}
	}
	return "<think>d</think>e"
}

// argument returns a word that stands once in a transcript, as a string in a call's arguments, "" if there is none.
func argument(x transcript) string {
	for _, call := range x.Calls {
		var members map[string]any
		if json.Unmarshal([]byte(call.Arguments), &members) != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			s, _ := members[name].(string)
			if s = strings.TrimSpace(s); len(s) > 3 && strings.Count(x.Text, s) == 1 && strings.Count(call.Arguments, s) == 1 && !strings.ContainsAny(s, `<>&\"'`) {
				return s
			}
		}
	}
	return ""
}

// Thoughts in texts that are broken in any way come to the same for every cut.
func TestThoughtsInSplicedTranscripts(t *testing.T) {
	tools, list := declared(t), transcripts(t)
	for _, x := range list {
		for range splices / 4 {
			text := splice(list, x) + "<think>" + splice(list, x) + "</think>" + splice(list, x)
			checkBehind(t, "qwen3", x.Format, tools, text, bytewise(text), randomly(text))
			text = strings.NewReplacer("<think>", "<|channel>thought\n", "</think>", "<channel|>").Replace(text)
			checkBehind(t, "gemma4", x.Format, tools, text, bytewise(text), randomly(text))
		}
	}
}

// What is asked about without end costs time in proportion to its length, too.
func TestEndlessMarksInACallAreReadInLinearTime(t *testing.T) {
	const size = 200_000
	tools := declared(t)
	list := append(longTexts, longText{"json", `{"arguments":{"q":"`, ""}, longText{"deepseek", deepseekCall, ""}, longText{"gemma4", gemma4.call + `call:search{q:`, ""})
	for format, start := range openTags {
		list = append(list, longText{format, start, ""})
	}
	for _, x := range list {
		for family, mark := range map[string]string{"qwen3": "<think>", "k2_horizon": "<ifm|think>"} {
			text := x.start + strings.Repeat(x.again+mark, size/len(x.again+mark))
			p := heeding(t, family, x.format, tools)
			begin := time.Now()
			p.Add(text)
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("%s, %s: %s%s… took %v", family, x.format, x.start, x.again, took)
			}
		}
	}
}
