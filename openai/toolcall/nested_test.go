package toolcall

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"leeway/openai"
)

// nestingTool takes what tags in tags may hold.
var nestingTool = openai.Tool{Name: "f", Parameters: json.RawMessage(`{"type":"object","properties":{
	"a":{"type":"integer"},"b":{"type":"string"},
	"o":{"type":"object","properties":{"k":{"type":"string"},"n":{"type":"integer"}}},
	"l":{"type":"array","items":{"type":"integer"}},
	"lo":{"type":"array","items":{"type":"object","properties":{"s":{"type":"string"}}}}}}`)}

func TestTagsInTagsAreTypedByTheirSchema(t *testing.T) {
	for body, want := range map[string]string{
		`{<a>1{</a>{<b>x y{</b>`:                                                  `{"a":1,"b":"x y"}`,
		`{<o>{<k>5{</k>{<n>2{</n>{</o>`:                                           `{"o":{"k":"5","n":2}}`,
		`{<l>{<item>1{</item>{<item>2{</item>{</l>`:                               `{"l":[1,2]}`,
		"\n{<lo>\n{<item>{<s>1{</s>{</item>\n{<item>{<s>q{</s>{</item>\n{</lo>\n": `{"lo":[{"s":"1"},{"s":"q"}]}`,
		`{<u>{<x>5{</x>{<x>6{</x>{</u>{<l>3{</l>{<e>{</e>`:                        `{"u":{"x":[5,6]},"l":3,"e":""}`,
		``: `{}`,
	} {
		text := strings.ReplaceAll(`{<tool_call>{<invoke name="f">`+body+`{</invoke>{</tool_call>`, "{", m3Mark)
		for _, pieces := range [][]string{{text}, bytewise(text)} {
			got := parse(t, "minimax_m3", []openai.Tool{nestingTool}, pieces...)
			if len(got.Calls) != 1 || got.Calls[0].Arguments != want || got.Content != "" {
				t.Errorf("%s\n got %+v\nwant %s", body, got, want)
			}
		}
	}
}

func TestWhereverTagsInTagsAreCutOffStreamAndWholeAgree(t *testing.T) {
	text := strings.ReplaceAll(`Hi.{<tool_call>{<invoke name="f">{<b>x<y{</b>{<o>{<k>5{</k>{</z>{</o>{<lo>{<item>{</lo>{</invoke> tail`, "{", m3Mark)
	for end := range len(text) {
		whole := parse(t, "minimax_m3", []openai.Tool{nestingTool}, text[:end])
		if got := parse(t, "minimax_m3", []openai.Tool{nestingTool}, bytewise(text[:end])...); !reflect.DeepEqual(got, whole) {
			t.Fatalf("%q\n got %+v\nwant %+v", text[:end], got, whole)
		}
	}
}

// What a model leaves open, or closes by another name, stays under the key that it stands in.
func TestTagsInTagsThatAreLeftOpenStayInTheirPlace(t *testing.T) {
	for body, want := range map[string]string{
		`{<a>3`:                                      `{"a":3}`,
		`{<o>{<k>5{</k>{<n>2{</n>`:                   `{"o":{"k":"5","n":2}}`,
		`{<o>{<k>5{<n>2{</n>{</o>{<a>1{</a>`:         `{"o":{"k":"5","n":2},"a":1}`,
		`{<l>{<item>1{</item>{<item>2`:               `{"l":[1,2]}`,
		`{<l>{<item>1{<item>2{<item>3{</l>`:          `{"l":[1,2,3]}`,
		`{<lo>{<item>{<s>1{</s>{<item>{<s>2`:         `{"lo":[{"s":"1"},{"s":"2"}]}`,
		`{<a>3{</b>{<b>x{</b>`:                       `{"a":3,"b":"x"}`,
		`{<o>{<k>5{</k>{</O>{<a>1{</a>`:              `{"o":{"k":"5"},"a":1}`,
		`{<a>3{<b>x{</b>{<u>{<x>1`:                   `{"a":3,"b":"x","u":{"x":1}}`,
		`{<b>x{</c>{<a>1{</a>`:                       `{"b":"x","a":1}`,
		`{<u>use {<x>1{</x> here{</u>{<a>1{</a>`:     `{"u":"use <x>1</x> here","a":1}`,
		`{<o>{<k>say {<x>y{</x>{</k>{<n>2{</n>{</o>`: `{"o":{"k":"say <x>y</x>","n":2}}`,
		`{<o>{<k>say {that{</k>{</o>`:                `{"o":{"k":"say that"}}`,
		`{<u>{<x>1{</x> and more`:                    `{"u":"<x>1</x> and more"}`,
		`{<o>`:                                       `{"o":{}}`,
		`{</o>{{<a>1{</a>`:                           `{"a":1}`,
		strings.Repeat(`{<u>`, 2*maxLiteral):         strings.Repeat(`{"u":`, maxLiteral) + `{"u":"` + strings.Repeat(`<u>`, maxLiteral-1) + `"}` + strings.Repeat("}", maxLiteral),
	} {
		text := strings.ReplaceAll(`{<tool_call>{<invoke name="f">`+body+`{</invoke>{</tool_call>`, "{", m3Mark)
		for _, pieces := range [][]string{{text}, bytewise(text)} {
			got := parse(t, "minimax_m3", []openai.Tool{nestingTool}, pieces...)
			if len(got.Calls) != 1 || got.Calls[0].Arguments != want || got.Content != "" {
				t.Errorf("%s\n got %+v\nwant %s", body, got, want)
			}
		}
	}
}

// Cut off anywhere, arguments are the beginning of what they would have been, and no tag is content.
func TestTagsInTagsThatAreCutOffLiftNothing(t *testing.T) {
	text := strings.ReplaceAll(`{<tool_call>{<invoke name="f">{<b>x y{</b>{<o>{<k>5{</k>{<n>27{</n>{</o>{<lo>{<item>{<s>1{</s>{</item>{</lo>`+
		`{<u>{<x>5{</x>{<item>{<y>6{</y>{</item>{</u>{<l>{<item>12{</item>{<item>34{</item>{</l>{<a>31{</a>{</invoke>{</tool_call>`, "{", m3Mark)
	keys := []string{"b", "o", "lo", "u", "l", "a"}
	for end := strings.Index(text, `f">`) + 3; end < len(text); end++ {
		whole := parse(t, "minimax_m3", []openai.Tool{nestingTool}, text[:end])
		if len(whole.Calls) != 1 || strings.TrimPrefix(whole.Content, "]") != "" {
			t.Fatalf("%q\n%+v", text[:end], whole)
		}
		arguments := whole.Calls[0].Arguments
		if strings.Contains(arguments, m3Mark[:2]) {
			t.Fatalf("%q\n%s", text[:end], arguments)
		}
		d := json.NewDecoder(strings.NewReader(arguments))
		d.Token()
		for n := 0; d.More(); n++ {
			if key, err := d.Token(); err == nil && key != keys[n] {
				t.Fatalf("%q\n%s: key %v", text[:end], arguments, key)
			}
			var value any
			if d.Decode(&value) != nil {
				break
			}
		}
		if got := parse(t, "minimax_m3", []openai.Tool{nestingTool}, bytewise(text[:end])...); !reflect.DeepEqual(got, whole) {
			t.Fatalf("%q\n got %+v\nwant %+v", text[:end], got, whole)
		}
	}
}

// Whatever stands in a call, closed it has arguments that are JSON.
func FuzzNested(f *testing.F) {
	for _, body := range []string{`{<o>{<k>5{<n>2{</n>{</o>`, `{<l>{<item>1{</item>{<item>2`, `{<b>x{</b>{<u>{<x>1{</y>t`} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		text := strings.ReplaceAll(`{<tool_call>{<invoke name="f">`+body+`{</invoke>`, "{", m3Mark)
		whole := parse(t, "minimax_m3", []openai.Tool{nestingTool}, text)
		if got := parse(t, "minimax_m3", []openai.Tool{nestingTool}, bytewise(text)...); !reflect.DeepEqual(got, whole) {
			t.Fatalf("%q\n got %+v\nwant %+v", text, got, whole)
		}
		if len(whole.Calls) == 0 || !json.Valid([]byte(whole.Calls[0].Arguments)) {
			t.Fatalf("%q\n%+v", text, whole)
		}
	})
}
