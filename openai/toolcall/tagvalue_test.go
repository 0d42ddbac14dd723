package toolcall

import (
	"reflect"
	"strings"
	"testing"

	"leeway/openai"
)

// What stands behind a mark in a value is held back until it is known whether the value has ended there, but not without
// bound.
func TestTextBehindAMarkInAValueIsHeldWithinABound(t *testing.T) {
	tools := declared(t)
	const start, end = "<minimax:tool_call><invoke name=\"search\"><parameter name=\"q\">a", "</parameter></invoke></minimax:tool_call>"
	mark := "</invoke>"
	for _, x := range []struct {
		behind int
		end    string
		want   string
	}{
		{maxHeld / 2, end, `{"q":"a` + mark + strings.Repeat("x", maxHeld/2) + `"}`},
		{maxHeld / 2, "", `{"q":"a"}`},
		{maxHeld + 10, end, `{"q":"a` + mark + strings.Repeat("x", maxHeld+10) + `"}`},
		{maxHeld + 10, "", `{"q":"a` + mark + strings.Repeat("x", maxHeld+10)},
	} {
		text := start + mark + strings.Repeat("x", x.behind) + x.end
		var pieces []string
		for rest := text; rest != ""; rest = rest[len(pieces[len(pieces)-1]):] {
			pieces = append(pieces, rest[:min(7, len(rest))])
		}
		for _, got := range []Answer{parse(t, "minimax_m2", tools, text), parse(t, "minimax_m2", tools, pieces...)} {
			if want := []openai.ToolCall{{Name: "search", Arguments: x.want}}; !reflect.DeepEqual(got.Calls, want) {
				t.Errorf("%d bytes, %q: %d calls, %.80s…", x.behind, x.end, len(got.Calls), got.Calls[0].Arguments)
			}
		}
	}
}

// Where tags stand on lines of their own, one in the middle of a line ends no value; a model that forgets the line does.
func TestAnEndInTheMiddleOfALineIsText(t *testing.T) {
	const start, end = "<tool_call>\n<function=get_weather>\n<parameter=", "\n</function>\n</tool_call>"
	for value, want := range map[string]string{
		"city>\nuse </parameter> here\n</parameter>":                           `{"city":"use </parameter> here"}`,
		"city>\n</parameter\n</parameter>":                                     `{"city":"</parameter"}`,
		"opts>\n[\"</parameter> a\", \"b\"]\n</parameter>":                     `{"opts":["</parameter> a","b"]}`,
		"city>\na</parameter>":                                                 `{"city":"a"}`,
		"city>\na</parameter> \n<parameter=days>\n2</parameter><parameter=z>1": `{"city":"a","days":2,"z":1}`,
		"city>a</parameter> b":                                                 `{"city":"a"}`,
		"city>\na </parameter>, b":                                             `{"city":"a </parameter>, b"}`,
	} {
		text := start + value + end
		whole := parse(t, "qwen_xml", declared(t), text)
		if len(whole.Calls) != 1 || whole.Calls[0].Arguments != want {
			t.Errorf("%s\n got %+v\nwant %s", value, whole, want)
		}
		for cut := range len(text) {
			whole := parse(t, "qwen_xml", declared(t), text[:cut])
			if got := parse(t, "qwen_xml", declared(t), bytewise(text[:cut])...); !reflect.DeepEqual(got, whole) {
				t.Errorf("%s\n got %+v\nwant %+v", text[:cut], got, whole)
			}
		}
	}
}
