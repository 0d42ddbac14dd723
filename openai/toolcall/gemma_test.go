package toolcall

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// However Gemma's arguments are written, a call that is closed has arguments that are JSON, and what follows is found.
func TestGemmasArgumentsAreJSON(t *testing.T) {
	for arguments, want := range map[string]string{
		`a:1,`:                  `{"a":1}`,
		`a:[1,],b:{c:2,},`:      `{"a":[1],"b":{"c":2}}`,
		`,a:1,,b:[,2,,]`:        `{"a":1,"b":[2]}`,
		`a:,b`:                  `{"a":"","b":""}`,
		`a:{b:[1}`:              `{"a":{"b":[1]}}`,
		`a:[1]],b:2`:            `{"a":[1],"b":2}`,
		`a:"x, \"y}",'b' :"z"`:  `{"a":"x, \"y}","'b'":"z"}`,
		`"a:b":1`:               `{"a:b":1}`,
		`a:"x\q"`:               `{"a":"\"x\\q\""}`,
		`a:<q>x<q>,b`:           `{"a":"x","b":""}`,
		`<q>a<q> {<q>b<q>:c}`:   `{"a":{"b":"c"}}`,
		`<q>a:1`:                `{"a":1}`,
		`a:<q>x<tool_call|><q>`: `{"a":"x<tool_call|>"}`,
	} {
		text := "<|tool_call>call:search{" + strings.ReplaceAll(arguments, "<q>", gemma4.quote) + "}<tool_call|> so"
		for _, pieces := range [][]string{{text}, bytewise(text)} {
			a := parse(t, "gemma4", declared(t), pieces...)
			content := " so"
			if arguments == `a:[1]],b:2` {
				content = "] so"
			}
			if len(a.Calls) != 1 || a.Calls[0].Arguments != want || a.Content != content {
				t.Errorf("%s\n got %+v\nwant %s", arguments, a, want)
			}
		}
	}
}

// What is left open ends with the call.
func TestGemmasArgumentsEndWithTheCall(t *testing.T) {
	for arguments, want := range map[string]string{
		`{a:{b:[1,2`:                     `{"a":{"b":[1,2]}}`,
		`{a:`:                            `{"a":""}`,
		`{a:1,`:                          `{"a":1}`,
		`{`:                              `{}`,
		`{a:` + gemma4.quote + `x`:       `{"a":"x"}`,
		`{a:1}}]`:                        `{"a":1}`,
		`{` + gemma4.quote + `a`:         `{"a":""}`,
		`{a:` + gemma4.quote + `x"} <|"`: `{"a":"x\"} <|\""}`,
	} {
		for _, end := range []string{gemma4.end, gemma4.end + gemma4.call + "call:get_weather{}" + gemma4.end, gemma4.call + "call:get_weather{}" + gemma4.end} {
			text := gemma4.call + "call:search" + arguments + end
			whole := parse(t, "gemma4", declared(t), text)
			if want := 1 + strings.Count(end, "get_weather"); len(whole.Calls) != want || whole.Content != "" {
				t.Fatalf("%s\n%+v", text, whole)
			}
			if whole.Calls[0].Arguments != want {
				t.Errorf("%s\n got %s\nwant %s", text, whole.Calls[0].Arguments, want)
			}
			if got := parse(t, "gemma4", declared(t), bytewise(text)...); !reflect.DeepEqual(got, whole) {
				t.Errorf("%s\n got %+v\nwant %+v", text, got, whole)
			}
		}
	}
}

// Cut off anywhere, they are the beginning of JSON, and neither half a key nor half a mark is in it.
func TestGemmasArgumentsMayBeCutOff(t *testing.T) {
	const start = "<|tool_call>call:search{"
	text := start + strings.ReplaceAll(`key:true,<q>other<q>:[1,<q>x<q>,{w:-2.5}],z:{},last:<q>y<q>}<tool_call|>`, "<q>", gemma4.quote)
	all := parse(t, "gemma4", declared(t), text).Calls[0].Arguments
	for end := len(start); end < len(text); end++ {
		whole := parse(t, "gemma4", declared(t), text[:end])
		if len(whole.Calls) != 1 || strings.TrimPrefix(whole.Content, "<") != "" {
			t.Fatalf("%q\n%+v", text[:end], whole)
		}
		got := strings.TrimSuffix(whole.Calls[0].Arguments, "<") // a byte alone may be text
		if !strings.HasPrefix(all, strings.TrimSuffix(got, `"<"`)) {
			t.Errorf("%q\n%s", text[:end], got)
		}
		if streamed := parse(t, "gemma4", declared(t), bytewise(text[:end])...); !reflect.DeepEqual(streamed, whole) {
			t.Errorf("%q\n got %+v\nwant %+v", text[:end], streamed, whole)
		}
	}
}

func FuzzGemma(f *testing.F) {
	for _, x := range transcripts(f) {
		if _, arguments, found := strings.Cut(x.Text, gemma4.call+"call:search{"); found {
			f.Add(strings.ReplaceAll(arguments, gemma4.quote, "`"))
		}
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		text := gemma4.call + "call:search{" + strings.ReplaceAll(arguments, "`", gemma4.quote) + gemma4.end
		whole := parse(t, "gemma4", nil, text)
		if len(whole.Calls) == 0 || !json.Valid([]byte(whole.Calls[0].Arguments)) {
			t.Fatalf("%q\n%+v", text, whole)
		}
		if got := parse(t, "gemma4", nil, bytewise(text)...); !reflect.DeepEqual(got, whole) {
			t.Fatalf("%q\n got %+v\nwant %+v", text, got, whole)
		}
	})
}
