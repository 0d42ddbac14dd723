package toolcall

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"leeway/openai"
)

// typed is what a call with one parameter comes to, which must not depend on how its text is cut.
func typed(t *testing.T, parameters, key, text string) string {
	t.Helper()
	tools := []openai.Tool{{Name: "f", Parameters: json.RawMessage(parameters)}}
	call := "<tool_call>f\n<arg_key>" + key + "</arg_key>\n<arg_value>" + text + "</arg_value>\n</tool_call>"
	whole := parse(t, "glm45_moe", tools, call)
	if cut := parse(t, "glm45_moe", tools, strings.Split(call, "")...); !reflect.DeepEqual(cut, whole) {
		t.Errorf("%s: cut %+v, whole %+v", parameters, cut, whole)
	}
	if len(whole.Calls) != 1 || !json.Valid([]byte(whole.Calls[0].Arguments)) {
		t.Fatalf("%s: %q gives %+v", parameters, text, whole)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(whole.Calls[0].Arguments), &members); err != nil {
		t.Fatal(err)
	}
	return string(members[key])
}

func TestAValueIsWhatItsSchemaAllowsOrElseAString(t *testing.T) {
	for schema, values := range map[string]map[string]string{
		`{"type":["string","integer"]}`: {"5": "5", "5.0": "5.0", "1.5": `"1.5"`, "true": `"true"`, "True": `"True"`, "null": `"null"`,
			"None": `"None"`, "[1, 2]": `"[1, 2]"`, `{"a": 1}`: `"{\"a\": 1}"`, "007": `"007"`, `"5"`: `"5"`, "x": `"x"`, " 5 ": "5"},
		`{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}`: {"5": `"5"`, `["a"]`: `["a"]`, "['a']": `["a"]`, "[": `"["`},
		`{"anyOf":[{"type":"string"},{"type":"object"}]}`:                          {"{'k': None}": `{"k":null}`, "[1]": `"[1]"`},
		`{"type":["string","number"]}`:                                             {"1.5": "1.5", "1e400": "1e400", "+5": `"+5"`, "true": `"true"`},
		`{"type":["string","boolean"]}`:                                            {"True": "true", "1": `"1"`},
		`{"type":["string","null"]}`:                                               {"null": "null", "None": "null", `"q"`: `"\"q\""`, "5": `"5"`},
		`{"type":"string","nullable":true}`:                                        {"null": "null", "5": `"5"`},
		`{"type":"string","nullable":false}`:                                       {"null": `"null"`},
		`{"nullable":true}`:                                                        {"5": "5", "x": `"x"`},
		`{"type":["integer","boolean"]}`:                                           {"+5": "5", "true": "true", "x": `"x"`, "null": "null"},
		`{"type":"array"}`:                                                         {"5": "5", "[1, 2]": "[1,2]", "": `""`},
		`{"anyOf":[{"type":"string"},{}]}`:                                         {"5": "5", "true": "true"},
		`{"oneOf":[{"type":"string"},{"const":5}]}`:                                {"5": "5", "x": `"x"`},
		`{"type":"string","anyOf":[{"minLength":1},{"pattern":"x"}]}`:              {"5": `"5"`},
		`{"allOf":[{"type":"string"},{"description":"of what"}]}`:                  {"5": `"5"`},
		`{"type":["string","any"]}`:                                                {"5": "5"},
	} {
		for text, want := range values {
			if got := typed(t, `{"properties":{"x":`+schema+`}}`, "x", text); got != want {
				t.Errorf("%s: %q gives %s, want %s", schema, text, got, want)
			}
		}
	}
}

func TestASchemaIsFollowedToWhatItRefersTo(t *testing.T) {
	const text = `{"type":"object","properties":{"x":{"type":"string"}}}`
	for _, parameters := range []string{
		`{"$ref":"#/$defs/R","$defs":{"R":` + text + `}}`,
		`{"$ref":"#/definitions/R","definitions":{"R":{"$ref":"#/definitions/S"},"S":` + text + `}}`,
		`{"$ref":"#/$defs/R","properties":{"x":{"type":"string"}},"$defs":{"R":{"properties":{"y":{}}}}}`,
		`{"allOf":[` + text + `]}`,
		`{"properties":{"y":{}},"allOf":[{"$ref":"#/$defs/R"},{"properties":{"x":{"type":"integer"}}}],"$defs":{"R":` + text + `}}`,
		`{"allOf":[{"allOf":[{"allOf":[` + text + `]}]}]}`,
		`{"properties":{"x":{"$ref":"#/properties/s"},"s":{"type":"string"}}}`,
		`{"properties":{"x":{"$ref":"#/properties/o/anyOf/1/properties/a~1b%20~01"},"o":{"anyOf":[{},{"properties":{"a/b ~1":{"type":"string"}}}]}}}`,
		`{"properties":{"x":{"$ref":"#/definitions/Page%5BItem%5D"}},"definitions":{"Page[Item]":{"type":"string"}}}`,
		`{"additionalProperties":{"type":"string"}}`,
		`{"properties":{"y":{}},"allOf":[{"additionalProperties":{"$ref":"#/$defs/S"}}],"$defs":{"S":{"type":"string"}}}`,
	} {
		if got := typed(t, parameters, "x", "5"); got != `"5"` {
			t.Errorf("%s: %s", parameters, got)
		}
	}
	for _, parameters := range []string{
		`{"$ref":"#"}`, `{"$ref":"#/$defs/R","$defs":{"R":{"$ref":"#/$defs/R"}}}`, `{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`,
		`{"properties":{"x":{"$ref":"#/properties/x"}}}`, `{"properties":{"x":{"$ref":"#/properties/z/0/-1"}}}`, `{"$ref":"other.json#/x"}`,
		`{"properties":{"x":{"$ref":"#/allOf/7"}},"allOf":[true]}`, `{"additionalProperties":false}`, `{"additionalProperties":true,"allOf":[5,null]}`,
	} {
		if got := typed(t, parameters, "x", "5"); got != "5" {
			t.Errorf("%s: %s", parameters, got)
		}
	}
}

// An engine knows nothing of what stands around the schema of one value.
func TestAGrammarRefersToNothingOutsideItsSchema(t *testing.T) {
	for _, member := range []string{
		`{"$ref":"#/properties/n"}`, `{"type":"object","properties":{"a":{"$ref":"#/properties/n"}}}`, `{"$ref":"#/$defs/far"}`,
	} {
		parameters := `{"properties":{"x":` + member + `,"n":{"type":"integer"}},"$defs":{"far":{"type":"array","items":{"$ref":"#"}}}}`
		tool := openai.Tool{Name: "f", Parameters: json.RawMessage(parameters)}
		for _, format := range []string{"kimi_k3", "minimax_m3"} {
			got, err := Constrain(format, openai.ToolChoice{Mode: openai.ToolRequired}, []openai.Tool{tool}, 0, false)
			if err != nil || got.StructuralTag == "" || strings.Contains(got.StructuralTag, `"#`) {
				t.Errorf("%s: %s: %s, %v", format, member, got.StructuralTag, err)
			}
		}
	}
}

func TestReferencesAreNotSoughtWithoutEnd(t *testing.T) {
	var members []string
	for i := range 2000 {
		members = append(members, fmt.Sprintf(`"p%d":{"allOf":[{"$ref":"#/properties/p%d"},{"$ref":"#/properties/p%d"}]}`, i, (i+1)%2000, (i+7)%2000))
	}
	parameters := `{"properties":{"x":{"type":"string"},` + strings.Join(members, ",") + `}}`
	if got := typed(t, parameters, "x", "5"); got != `"5"` {
		t.Error(got)
	}
}

// A value that was cut off begins as the whole would have.
func TestAValueThatWasCutOffIsTypedAsFarAsItGoes(t *testing.T) {
	for _, x := range []struct{ schema, text, want string }{
		{`{"type":["string","integer"]}`, "12", "12"},
		{`{"type":["string","integer"]}`, "1.5", `"1.5`},
		{`{"type":["string","integer"]}`, "true", `"true`},
		{`{"type":["string","integer"]}`, "[1, 2", `"[1, 2`},
		{`{"type":["string","array"]}`, "[1, 2", "[1,2"},
		{`{"type":["string","null"]}`, "abc", `"abc`},
		{`{"type":"integer"}`, "[1, 2", "[1,2"},
		{`{}`, "", ""},
	} {
		tools := []openai.Tool{{Name: "f", Parameters: json.RawMessage(`{"properties":{"x":` + x.schema + `}}`)}}
		got := parse(t, "glm45_moe", tools, "<tool_call>f\n<arg_key>x</arg_key>\n<arg_value>"+x.text)
		if want := `{"x":` + x.want; len(got.Calls) != 1 || got.Calls[0].Arguments != want {
			t.Errorf("%s: %q gives %+v, want %s", x.schema, x.text, got.Calls, want)
		}
	}
}
