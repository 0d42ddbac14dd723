package toolcall

import (
	"reflect"
	"testing"

	"leeway/openai"
)

func TestForcedAnswersAreBareJSON(t *testing.T) {
	tools := declared(t)
	weather := []openai.ToolCall{{Name: "get_weather", Arguments: `{"city":"Paris"}`}}
	for text, want := range map[string]struct {
		mode    openai.ToolMode
		format  string
		content string
		calls   []openai.ToolCall
	}{
		` {"city": "Paris"}`:           {openai.ToolNamed, "", "", weather},
		`{"city": "Pa`:                 {openai.ToolNamed, "", "", []openai.ToolCall{{Name: "get_weather", Arguments: `{"city":"Pa`}}},
		`I cannot`:                     {openai.ToolNamed, "", "I cannot", nil},
		`I see [1]: {"city": "Paris"}`: {openai.ToolNamed, "", "I see [1]: ", weather},
		`[{"name": "search", "parameters": {"q": "x"}}, {"name": "get_weather", "parameters": {}}]`: {openai.ToolRequired, "", "",
			[]openai.ToolCall{{Name: "search", Arguments: `{"q":"x"}`}, {Name: "get_weather", Arguments: "{}"}}},
		// where the engine did not hold the model to the schema
		`[{"name": "get_weather", "parameters": {"city": "Paris"}}]`:                                                {openai.ToolNamed, "", "", weather},
		`<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city":"Paris"}<|call|>`:       {openai.ToolNamed, "harmony", "", weather},
		`<|start|>assistant<|channel|>commentary to=functions.get_weather<|message|>{"city":"Paris"}<|call|>`:       {openai.ToolRequired, "harmony", "", weather},
		`<|channel|>final<|message|>[{"name": "get_weather", "parameters": {"city": "Paris"}}]<|return|>`:           {openai.ToolRequired, "harmony", "", weather},
		`<|channel|>final<|message|>{"city": "Paris"}<|return|>`:                                                    {openai.ToolNamed, "harmony", "", weather},
		"Let me see.\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>": {openai.ToolNamed, "qwen", "Let me see.\n", weather},
		"<|python_tag|>{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Paris\"}}":                          {openai.ToolRequired, "llama", "", weather},
		`[get_weather(city="Paris")]`:                                 {openai.ToolNamed, "pythonic", "", weather},
		` [get_weather(city="Paris")]`:                                {openai.ToolRequired, "pythonic", "", weather},
		`{"name": "get_weather", "arguments": {"city": "Paris"}}`:     {openai.ToolNamed, "json", "", weather},
		`{"function": "get_weather", "tool_call_id": 28, "type": 66}`: {openai.ToolNamed, "json", "", []openai.ToolCall{{Name: "get_weather", Arguments: `{"function":"get_weather","tool_call_id":28,"type":66}`}}},
		`{"tool_name": "get_weather"}`:                                {openai.ToolNamed, "", "", []openai.ToolCall{{Name: "get_weather", Arguments: `{"tool_name":"get_weather"}`}}},
		`{"name": "get_weather"}`:                                     {openai.ToolNamed, "qwen", "", []openai.ToolCall{{Name: "get_weather", Arguments: `{"name":"get_weather"}`}}},
		`{"name": "get_weather", "arguments": 3}`:                     {openai.ToolNamed, "", "", []openai.ToolCall{{Name: "get_weather", Arguments: `{"name":"get_weather","arguments":3}`}}},
		`{"name": "search", "arguments": {"q": "x"}}`:                 {openai.ToolNamed, "", "", []openai.ToolCall{{Name: "get_weather", Arguments: `{"name":"search","arguments":{"q":"x"}}`}}},
		`{"name": "get_weather", "arguments": "{\"city\": \"A\"}"}`:   {openai.ToolNamed, "", "", []openai.ToolCall{{Name: "get_weather", Arguments: `{"city":"A"}`}}},
		`{"function": "get_weather", "arguments": {"city":"A"}}`:      {openai.ToolNamed, "", "", []openai.ToolCall{{Name: "get_weather", Arguments: `{"city":"A"}`}}},
		"```json\n[{\"name\": \"search\", \"arguments\": {\"q\": \"x\"}}, {\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}]": {openai.ToolNamed, "", "", weather},
		`<|channel|>commentary to=functions.get_weather`: {openai.ToolRequired, "harmony", `<|channel|>commentary to=functions.get_weather`, nil},
	} {
		for _, pieces := range [][]string{{text}, bytewise(text)} {
			a := forced(want.format, want.mode, tools, pieces...)
			if a.Content != want.content || !reflect.DeepEqual(a.Calls, want.calls) {
				t.Errorf("%q: %+v", pieces, a)
			}
		}
	}
}

// forced reads a text as an answer that was to be a call, without the ids that are the parser's own.
func forced(name string, mode openai.ToolMode, tools []openai.Tool, pieces ...string) (a Answer) {
	p := NewForced(name, openai.ToolChoice{Mode: mode, Name: "get_weather"}, tools)
	for _, piece := range pieces {
		a.Collect(p.Add(piece))
	}
	a.Collect(p.Flush())
	for i := range a.Calls {
		a.Calls[i].ID = ""
	}
	return a
}

func checkForced(t *testing.T, name string, mode openai.ToolMode, tools []openai.Tool, text string, cuts ...[]string) {
	t.Helper()
	whole := forced(name, mode, tools, text)
	if own := formats[name]; len(whole.Calls) == 0 && (own == nil || own.drop == nil) && whole.Content != text {
		t.Fatalf("%s, %s: %q came out as %q", name, mode, text, whole.Content)
	}
	for _, pieces := range cuts {
		if got := forced(name, mode, tools, pieces...); !reflect.DeepEqual(got, whole) {
			t.Fatalf("%s, %s: %q\n got %+v\nwant %+v", name, mode, pieces, got, whole)
		}
	}
}

func TestForcedAnswersDoNotDependOnTheCuts(t *testing.T) {
	tools, list := declared(t), transcripts(t)
	for _, x := range list {
		for _, mode := range []openai.ToolMode{openai.ToolRequired, openai.ToolNamed} {
			for range splices / 4 {
				text := splice(list, x)
				checkForced(t, x.Format, mode, tools, text, bytewise(text), randomly(text))
			}
		}
	}
}

func FuzzForced(f *testing.F) {
	names := append(Names(), "")
	for _, x := range transcripts(f) {
		for i, name := range names {
			if name == x.Format {
				f.Add(uint8(i), x.Text, false)
				f.Add(uint8(i), x.Text, true)
			}
		}
	}
	tools := declared(f)
	f.Fuzz(func(t *testing.T, n uint8, text string, named bool) {
		mode := openai.ToolRequired
		if named {
			mode = openai.ToolNamed
		}
		checkForced(t, names[int(n)%len(names)], mode, tools, text, bytewise(text))
	})
}

// What is put around a named function's arguments is none of them, and none of the content, wherever it is cut off.
func TestWhatWrapsANamedFunctionsArguments(t *testing.T) {
	tools := declared(t)
	for text, want := range map[string]string{
		`{"id": "call_1", "type": "function", "name": "get_weather", "arguments": {"city": "Paris"}}`:   `{"city":"Paris"}`,
		`{"parameters": {"city": "Paris"}, "name": "get_weather"}`:                                      `{"city":"Paris"}`,
		`[{"index": 0, "parameters": {"city": "Paris"}, "name": "get_weather"}]`:                        `{"city":"Paris"}`,
		`[{"name": "search", "parameters": {"q": "]"}}, {"name": "get_weather", "arguments": {"a":1}}]`: `{"a":1}`,
		"```json\n{\"city\": \"Paris\"}\n```":                                                           `{"city":"Paris"}`,
		"```\n[{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Paris\"}}]\n```":                `{"city":"Paris"}`,
		`[{"city": "Paris"}]`:                    `{"city":"Paris"}`,
		`{"name": "get_weather", "city": "x"}`:   `{"name":"get_weather","city":"x"}`,
		`{"arguments": {"name": "get_weather"}}`: `{"arguments":{"name":"get_weather"}}`,
		`{"arguments": {}, "name": "Bob"}`:       `{"arguments":{},"name":"Bob"}`,
		`{"id": "get_weather", "type": "x"}`:     `{"id":"get_weather","type":"x"}`,
	} {
		for cut := range len(text) + 1 {
			checkForced(t, "json", openai.ToolNamed, tools, text[:cut], bytewise(text[:cut]))
		}
		got := forced("json", openai.ToolNamed, tools, text)
		if len(got.Calls) != 1 || got.Calls[0] != (openai.ToolCall{Name: "get_weather", Arguments: want}) || got.Content != "" {
			t.Errorf("%s\n got %+v\nwant %s", text, got, want)
		}
	}
	for _, text := range []string{`[{"name": "get_weather", "argu`, `{"name": "get_weather"`, "```json\n{\"id\": 1, \"name\": \"get_wea", `[{"name": "get_weather", "arguments": `} {
		got := forced("json", openai.ToolNamed, tools, text)
		if len(got.Calls) != 1 || got.Calls[0] != (openai.ToolCall{Name: "get_weather"}) || got.Content != "" {
			t.Errorf("%s\n%+v", text, got)
		}
	}
	named := []openai.Tool{{Name: "get_weather", Parameters: []byte(`{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}}}`)}}
	for _, text := range []string{`{"name":"get_weather","arguments":{"x":1}}`, `{"arguments":{"x":1},"name":"get_weather"}`, `{"name":"get_weather","argu`} {
		if got := forced("json", openai.ToolNamed, named, text); len(got.Calls) != 1 || got.Calls[0].Arguments != text {
			t.Errorf("%s\n%+v", text, got)
		}
	}
}
