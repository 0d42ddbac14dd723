package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// streamOf is a stream of frames with these choices.
func streamOf(choices ...string) answer {
	var text strings.Builder
	for _, choice := range choices {
		fmt.Fprintf(&text, "data: {\"choices\":[%s]}\n\n", choice)
	}
	return answer{status: 200, events: decodeEvents(text.String() + "data: [DONE]\n\n")}
}

func wholeOf(choice string) answer {
	return answer{status: 200, body: decode(`{"choices":[` + choice + `]}`)}
}

func places(found []difference) (at []string) {
	for _, d := range found {
		at = append(at, d.at)
	}
	return at
}

func TestDifferencesAreNamedByTheirPlace(t *testing.T) {
	json := func(text string) answer { return answer{status: 200, body: decode(text)} }
	for _, tc := range []struct {
		name         string
		ours, theirs answer
		want         []string
	}{
		{"nothing", json(`{"a":1}`), json(`{"a":1}`), nil},
		{"a value", json(`{"a":{"b":[1,2]}}`), json(`{"a":{"b":[1,3]}}`), []string{"body.a.b.1"}},
		{"a type", json(`{"a":1}`), json(`{"a":"1"}`), []string{"body.a"}},
		{"null is not absence", json(`{"a":null}`), json(`{}`), []string{"body.a"}},
		{"the length of a list", json(`[1]`), json(`[1,2]`), []string{"body"}},
		{"text", json(`not json`), json(`{"a":1}`), []string{"body"}},
		{"arguments spelt otherwise", json(`{"arguments":"{\"a\": 1}"}`), json(`{"arguments":"{\"a\":1}"}`), []string{"body.arguments (spelling)"}},
		{"a header", answer{headers: map[string]string{"A": "1"}}, answer{headers: map[string]string{"B": "1"}}, []string{"header A", "header B"}},
		{"a status, and nothing else", answer{status: 400, body: "a"}, answer{status: 200, body: "b"}, []string{"status"}},
		{"an event", streamOf(`{"index":0,"delta":{"content":"a"}}`), streamOf(), []string{"events", "stream.choice 0 delta.content", "stream.choice 0 index"}},
		{"a frame's shape", streamOf(`{"index":0,"delta":{"content":"a"},"logprobs":null}`), streamOf(`{"index":0,"delta":{"content":"a"}}`),
			[]string{"frame content.choices.0.logprobs"}},
		{"how text is cut", streamOf(`{"index":0,"delta":{"content":"ab"}}`), streamOf(`{"index":0,"delta":{"content":"a"}}`, `{"index":0,"delta":{"content":"b"}}`), nil},
		{"how choices are mixed", streamOf(`{"index":0,"delta":{"content":"a"}}`, `{"index":1,"delta":{"content":"b"}}`),
			streamOf(`{"index":1,"delta":{"content":"b"}}`, `{"index":0,"delta":{"content":"a"}}`), nil},
		{"what is no event", answer{status: 200, events: decodeEvents("oops\n\n")}, streamOf(), []string{"events"}},
	} {
		if got := places(differences(tc.ours, tc.theirs)); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestAStreamSaysWhatTheWholeAnswerSays(t *testing.T) {
	whole := wholeOf(`{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"reasoning_content":"why","tool_calls":[
		{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}}`)
	stream := streamOf(
		`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`,
		`{"index":0,"delta":{"reasoning_content":"wh"}}`, `{"index":0,"delta":{"reasoning_content":"y"}}`,
		`{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f"}}]}}`,
		`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}}`,
		`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}`,
		`{"index":0,"delta":{},"finish_reason":"tool_calls"}`)
	if found := fields("says", says(stream), says(whole)); found != nil {
		t.Errorf("%q", found)
	}
	if got := outline(stream.events); got != "0: role reasoning_content call arguments finish; end: [DONE]" {
		t.Errorf("%s", got)
	}
	var unlike tally
	unlike.agree("a", says(whole), says(streamOf(`{"index":0,"delta":{"content":"why"}}`)))
	if unlike.unknown == 0 {
		t.Error("a stream that says something else was taken")
	}
}

func TestOnlyDifferencesWithAReasonPass(t *testing.T) {
	all := []known{
		{Reason: "words", General: true, Where: [][2]string{{"*", "body.error.message"}}},
		{Reason: "own", Where: [][2]string{{"a/*", "status"}}},
		{Reason: "elsewhere", Where: [][2]string{{"*", "*"}}, Dialect: "vllm"},
	}
	count := tally{known: inDialect(all, "sglang")}
	count.add("a/whole", nil)
	count.add("a/stream", []difference{{at: "body.error.message"}})
	count.add("a/whole", []difference{{at: "status"}, {at: "body.error.message"}})
	if count.report("sglang", false) != nil || count.compared != 3 || count.equal != 1 || count.alike != 1 || count.differ != 1 {
		t.Errorf("%+v", count)
	}
	count.add("b", []difference{{at: "status"}})
	if count.report("sglang", false) == nil || count.differ != 1 {
		t.Errorf("%+v", count)
	}
}
