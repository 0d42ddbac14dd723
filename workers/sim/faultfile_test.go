package sim

import (
	"strings"
	"testing"
)

func TestFaultsAreReadLineByLineAndNamedWhenWrong(t *testing.T) {
	good := `
# a comment
{"kind":"error","nth":3,"after":2,"code":"unavailable","message":"out of luck"}
{"kind":"delay","for":"250ms"}
{"kind":"loads","set":{"token_usage":"NaN"}}
`
	list, err := ParseFaults(strings.NewReader(good))
	if err != nil || len(list) != 3 || list[0].After != 2 || list[1].For != Duration(250e6) {
		t.Fatalf("%v, %+v", err, list)
	}
	for line, want := range map[string]string{
		`{"kind":"eror"}`:                          `"eror" is no fault`,
		`{"kind":"error","code":"BROKEN"}`:         "BROKEN",
		`{"kind":"stall","four":"2s"}`:             "four",
		`{"kind":"stall","for":"2"}`:               "missing unit",
		`{"kind":"stall","after":-1}`:              "negative",
		`{"kind":"loads","set":{"x":"a lot"}}`:     "not a number",
		`{"kind":"stall"`:                          "unexpected EOF",
		`{"kind":"delay"} {"kind":"unhealthy","x"`: "behind the object",
	} {
		_, err := ParseFaults(strings.NewReader("\n" + line))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v, want line 2 and %q", line, err, want)
		}
	}
}

func TestFaultsStrikeInTheirNumberAndMeasure(t *testing.T) {
	for _, tc := range []struct {
		fault Fault
		want  string // of ten matches
	}{
		{Fault{}, "xxxxxxxxxx"},
		{Fault{Nth: 3}, "..x......."},
		{Fault{Every: 3}, "..x..x..x."},
		{Fault{Times: 2}, "xx........"},
		{Fault{Every: 2, Times: 2}, ".x.x......"},
	} {
		tc.fault.Kind = FaultKVDrop
		var fs faults
		fs.set([]Fault{tc.fault})
		got := ""
		for range 10 {
			if fs.on(FaultKVDrop) {
				got += "x"
			} else {
				got += "."
			}
		}
		if got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.fault, got, tc.want)
		}
	}
}

func FuzzParseFaults(f *testing.F) {
	f.Add(`{"kind":"error","code":"UNAVAILABLE"}`)
	f.Add("# nothing\n\n" + `{"kind":"loads","set":{"a":"Inf"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseFaults(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, fault := range list {
			if err := fault.validate(); err != nil {
				t.Errorf("%+v was read and is not valid: %v", fault, err)
			}
		}
	})
}

func FuzzParseReplies(f *testing.F) {
	f.Add(`{"match":"a","text":"b"}`)
	f.Add("#\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		replies, err := ParseReplies(strings.NewReader(text))
		if err == nil && len(replies) > strings.Count(text, "\n")+1 {
			t.Errorf("%d replies on %d lines", len(replies), strings.Count(text, "\n")+1)
		}
	})
}

func TestRepliesAnswerTheFirstMatchExactly(t *testing.T) {
	replies, err := ParseReplies(strings.NewReader(`{"match":"weather","text":"It rains."}` + "\n" + `{"match":"","text":" <tool_call>\n{}\n</tool_call>"}`))
	if err != nil {
		t.Fatal(err)
	}
	w, m := start(t, Options{})
	w.voice.replies = replies
	for prompt, want := range map[string]string{"what weather?": "It rains.", "anything": " <tool_call>\n{}\n</tool_call>"} {
		all, err := m.generate(brief(t), ask{id: prompt, tokens: w.voice.encode(prompt), stream: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.voice.tokenizer.Decode(tokensOf(all, 0), true); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if _, err := ParseReplies(strings.NewReader(`{"text":1}`)); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("%v", err)
	}
}
