package toolcall

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"leeway/openai"
)

func tool(name, parameters string) openai.Tool {
	return openai.Tool{Name: name, Parameters: json.RawMessage(parameters)}
}

func TestOnlyAForcedCallIsConstrained(t *testing.T) {
	tools := []openai.Tool{tool("f", `{"type":"object"}`)}
	for _, mode := range []openai.ToolMode{openai.ToolNone, openai.ToolAuto} {
		c, err := Constrain("qwen", openai.ToolChoice{Mode: mode}, tools, AnyStart, false)
		if err != nil || c != (Constraint{}) {
			t.Errorf("%s: %+v, %v", mode, c, err)
		}
	}
	c, err := Constrain("qwen", openai.ToolChoice{Mode: openai.ToolNamed, Name: "f"}, tools, AnyStart, false)
	if err != nil || c.Schema != `{"type":"object"}` {
		t.Errorf("named: %+v, %v", c, err)
	}
}

func TestRequiredIsASchemaOfCalls(t *testing.T) {
	tools := []openai.Tool{
		tool("f", `{"type":"object","properties":{"b":{"$ref":"#/$defs/x"},"a":{}},"$defs":{"x":{"type":"string"}}}`),
		tool("g", `{"$defs":{"x":{"type": "string"},"y":{}}}`),
		tool("h", `{}`),
	}
	c, err := Constrain("qwen", openai.ToolChoice{Mode: openai.ToolRequired}, tools, AnyStart, true)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"array","minItems":1,"maxItems":1,"$defs":{"x":{"type":"string"},"y":{}},"items":{"type":"object","anyOf":[
		{"properties":{"name":{"type":"string","enum":["f"]},"parameters":{"type":"object","properties":{"b":{"$ref":"#/$defs/x"},"a":{}}}},"required":["name","parameters"]},
		{"properties":{"name":{"type":"string","enum":["g"]},"parameters":{"type":"object"}},"required":["name","parameters"]},
		{"properties":{"name":{"type":"string","enum":["h"]},"parameters":{"type":"object"}},"required":["name","parameters"]}]}}`
	var a, b any
	if json.Unmarshal([]byte(c.Schema), &a) != nil || json.Unmarshal([]byte(want), &b) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("got %s", c.Schema)
	}
	if strings.Index(c.Schema, `"b"`) > strings.Index(c.Schema, `"a"`) {
		t.Error("the order of properties is lost")
	}
	tools[1] = tool("g", `{"$defs":{"x":{"type":"integer"}}}`)
	_, err = Constrain("qwen", openai.ToolChoice{Mode: openai.ToolRequired}, tools, AnyStart, false)
	var e *openai.Error
	if !errors.As(err, &e) || e.Code != openai.CodeInvalidTools || e.Param != "tools" {
		t.Errorf("clashing definitions: %v", err)
	}
}

func TestAToolThatSaysNothingOfItsParametersTakesAnObject(t *testing.T) {
	for _, parameters := range []string{"", "{}", " { } ", "null"} {
		for _, format := range []string{"qwen", "harmony", "mistral", "kimik2", "kimi_k3", "inkling", "glm47_moe", "hy_v4", "minimax_m3", "deepseek_v41"} {
			for _, mode := range []openai.ToolMode{openai.ToolRequired, openai.ToolNamed} {
				c, err := Constrain(format, openai.ToolChoice{Mode: mode, Name: "f"}, []openai.Tool{tool("f", parameters)}, AnyStart, false)
				text := c.Schema + c.StructuralTag
				if err != nil || text == "" || strings.Contains(text, `"json_schema":{}`) || strings.Contains(text, `"parameters":{}`) {
					t.Errorf("%s, %s, %q: %s, %v", format, mode, parameters, text, err)
				}
			}
		}
	}
}

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
		`<|channel|>commentary to=functions.get_weather`:                                                            {openai.ToolRequired, "harmony", `<|channel|>commentary to=functions.get_weather`, nil},
	} {
		for _, pieces := range [][]string{{text}, bytewise(text)} {
			p := NewForced(want.format, openai.ToolChoice{Mode: want.mode, Name: "get_weather"}, tools)
			var a Answer
			for _, piece := range pieces {
				a.Collect(p.Add(piece))
			}
			a.Collect(p.Flush())
			for i := range a.Calls {
				a.Calls[i].ID = ""
			}
			if a.Content != want.content || !reflect.DeepEqual(a.Calls, want.calls) {
				t.Errorf("%q: %+v", pieces, a)
			}
		}
	}
}
