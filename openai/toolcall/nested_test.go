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
