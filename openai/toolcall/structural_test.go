package toolcall

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"leeway/openai"
)

// writer writes an answer that a grammar allows, as a model that is held to it would.
type writer struct {
	strings.Builder
	few bool // leaves out what may be left out, and repeats nothing
}

func (w *writer) write(t *testing.T, g grammar) {
	t.Helper()
	again := 2
	if w.few {
		again = 1
	}
	switch g.Type {
	case "const_string":
		w.WriteString(*g.Value)
	case "regex":
		w.WriteString(map[string]string{"[1-9][0-9]*": "1", `[^"]+`: "key"}[g.Pattern])
	case "any_text":
		w.WriteString("some text")
	case "json_schema":
		w.schema(g)
	case "sequence":
		for _, e := range g.Elements {
			w.write(t, e)
		}
	case "or":
		if w.few {
			w.write(t, g.Elements[0])
		} else {
			w.write(t, g.Elements[len(g.Elements)-1])
		}
	case "optional":
		if !w.few {
			w.write(t, *g.Content)
		}
	case "star", "plus":
		for range again {
			w.write(t, *g.Content)
		}
	case "tag":
		w.WriteString(*g.Begin)
		w.write(t, *g.Content)
		w.WriteString(*g.End)
	case "triggered_tags":
		w.write(t, g.Tags[0])
	case "tags_with_separator":
		for i := range again {
			if i > 0 {
				w.WriteString(*g.Separator)
			}
			w.write(t, g.Tags[i%len(g.Tags)])
		}
	default:
		t.Fatalf("unknown type %q", g.Type)
	}
}

// schema writes a value of a schema, which in GLM's style is an object's members in tags.
func (w *writer) schema(g grammar) {
	s := readShape(g.Schema)
	switch {
	case g.Style == "glm_xml":
		for _, name := range s.Properties.names {
			w.WriteString("<arg_key>" + name + "</arg_key><arg_value>7</arg_value>")
		}
	case s.only() == "integer" || s.only() == "number":
		w.WriteString("7")
	case s.only() == "array":
		w.WriteString("[]")
	case s.only() == "boolean":
		w.WriteString("true")
	default:
		w.WriteString("{}")
	}
}

// What a structural tag forces is what the format's parser reads: whole calls, of declared tools, and nothing of them
// as content.
func TestStructuralTagsAreReadByTheirParser(t *testing.T) {
	tools := declared(t)
	for format := range structural {
		for _, start := range []Start{AnyStart, InThought, BehindThought} {
			for _, few := range []bool{false, true} {
				c, err := Constrain(format, openai.ToolChoice{Mode: openai.ToolRequired}, tools, start, few)
				if err != nil || c.Schema != "" {
					t.Fatalf("%s: %+v, %v", format, c, err)
				}
				var tag struct{ Format grammar }
				if err := json.Unmarshal([]byte(c.StructuralTag), &tag); err != nil {
					t.Fatal(err)
				}
				w := writer{few: few}
				w.write(t, tag.Format)
				got := parse(t, format, tools, w.String())
				if len(got.Calls) == 0 || few && len(got.Calls) > 1 {
					t.Fatalf("%s: %q makes %+v", format, w.String(), got)
				}
				for _, call := range got.Calls {
					if (call.Name != "get_weather" && call.Name != "search") || !json.Valid([]byte(call.Arguments)) {
						t.Errorf("%s: %q makes %+v", format, w.String(), call)
					}
				}
				if rest := strings.NewReplacer("some text", "", "<mm:think>", "", "</mm:think>", "", "</think>", "").Replace(got.Content); rest != "" {
					t.Errorf("%s: %q leaves %q", format, w.String(), rest)
				}
			}
		}
	}
}

// The shapes are those that engines get from the published gateway, but for Harmony's, which XGrammar was seen to take.
func TestStructuralTagsHaveTheirShape(t *testing.T) {
	data, err := os.ReadFile("testdata/structural.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	tools := []openai.Tool{tool("f", `{"type":"object","properties":{"s":{"type":"string"},"n":{"type":"integer"},"u":{"type":["string","null"]},`+
		`"l":{"type":"array","items":{"$ref":"#/$defs/o"}},"e":{"type":"string","enum":["x","y"]}},"required":["n"],`+
		`"$defs":{"o":{"type":"object","properties":{"b":{"type":"boolean"},"o":{"$ref":"#/$defs/o"}}}}}`), tool("g", `{}`)}
	seen := 0
	for line := range strings.Lines(string(data)) {
		var x struct {
			Format string
			Start  Start
			Tag    any
		}
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		c, err := Constrain(x.Format, openai.ToolChoice{Mode: openai.ToolRequired}, tools, x.Start, false)
		var got any
		if err != nil || json.Unmarshal([]byte(c.StructuralTag), &got) != nil || !reflect.DeepEqual(got, x.Tag) {
			t.Errorf("%s from %d: %v\n%s", x.Format, x.Start, err, c.StructuralTag)
		}
		seen++
	}
	if seen < len(structural) {
		t.Errorf("%d shapes for %d formats", seen, len(structural))
	}
}

// Schemas that refer to each other over and over end in a grammar of bounded size.
func TestAGrammarIsBounded(t *testing.T) {
	var defs []string
	for i := range 40 {
		defs = append(defs, fmt.Sprintf(`"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%[2]d"}}}`, i, i+1))
	}
	many := tool("f", `{"type":"object","properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`+strings.Join(defs, ",")+`}}`)
	for format := range structural {
		c, err := Constrain(format, openai.ToolChoice{Mode: openai.ToolRequired}, []openai.Tool{many}, AnyStart, false)
		if err != nil || len(c.StructuralTag) > 1<<20 {
			t.Errorf("%s: %d bytes, %v", format, len(c.StructuralTag), err)
		}
	}
}

func TestAToolThatIsNoJSONIsRefused(t *testing.T) {
	_, err := Constrain("glm47_moe", openai.ToolChoice{Mode: openai.ToolRequired}, []openai.Tool{tool("f", `{`)}, AnyStart, false)
	if err == nil {
		t.Error("it is not")
	}
}
