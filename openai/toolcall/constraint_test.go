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
	var e *BadTool
	if !errors.As(err, &e) || e.Name != "g" {
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
