package toolcall

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"leeway/openai"
)

// A schema whose parts name each other again and again is given up, not followed to its end.
func TestSchemasThatReferToEachOtherEnd(t *testing.T) {
	again := func(n int, ref string) string {
		return `{"anyOf":[` + strings.Repeat(`{"$ref":"#/$defs/`+ref+`"},`, n) + `{"type":"string"}]}`
	}
	for parameters, want := range map[string]kind{
		`{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":` + again(40, "a") + `}}`:                                    textKind,
		`{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":` + again(40, "b") + `,"b":` + again(40, "a") + `}}`:         textKind,
		`{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":` + again(maxLooks, "b") + `,"b":{"type":"string"}}}`:        anyKind,
		`{"properties":{"x":{"anyOf":[{"$ref":"#/definitions/a"},{"type":"null"}]}},"definitions":{"a":{"type":"string"}}}`: textKind | nullKind,
	} {
		tools := newTools([]openai.Tool{{Name: "f", Parameters: json.RawMessage(parameters)}})
		if got := tools.of("f").kind("x"); got != want {
			t.Errorf("%.80s: %d, want %d", parameters, got, want)
		}
	}
}

func TestAGrammarDoesNotRepeatASchemaWithoutEnd(t *testing.T) {
	var members []string
	for i := range 2000 {
		members = append(members, fmt.Sprintf(`"p%d":{"$ref":"#/$defs/a"}`, i))
	}
	for _, a := range []string{
		`{"type":"object","properties":{"` + strings.Repeat("x", 50_000) + `":{"type":"integer"}}}`,
		`{"type":"string","enum":["` + strings.Repeat("x", 50_000) + `"]}`,
		`{"type":"array","items":{"enum":["` + strings.Repeat("x", 50_000) + `"]}}`,
	} {
		tool := openai.Tool{Name: "f", Parameters: json.RawMessage(`{"properties":{` + strings.Join(members, ",") + `},"$defs":{"a":` + a + `}}`)}
		for format := range structural {
			got, err := Constrain(format, openai.ToolChoice{Mode: openai.ToolRequired}, []openai.Tool{tool}, 0, false)
			if size := len(got.StructuralTag); err != nil || size == 0 || size > 16*maxCopied {
				t.Errorf("%s: %d bytes, %v", format, size, err)
			}
		}
	}
}
