package toolcall

import (
	"strings"
	"testing"

	"leeway/openai"
)

func TestAttributesStandInAnyOrder(t *testing.T) {
	for tag, want := range map[string]string{
		`tool="f"`: "f", ` index="1"  tool = "f" `: "f", "tool=\n\"f\" tool=\"g\"": "f", `tool=""`: "",
		`x="tool=&quot;g&quot;" tool="a&amp;quot;b&quot;"`: `a&quot;b"`,
	} {
		if got, ok := attribute(tag, "tool"); got != want || !ok {
			t.Errorf("%s: %q, %v", tag, got, ok)
		}
	}
	for _, tag := range []string{"", "tool", "tool=", "tool=f", `tool="f`, `tools="f"`, `tool="f" tool`} {
		if got, ok := attribute(tag, "index"); ok {
			t.Errorf("%s: %q", tag, got)
		}
	}
}

// What a call is forced to be is what is read of it.
func TestForcedAttributesAreEscaped(t *testing.T) {
	tool := openai.Tool{Name: `a&b`, Parameters: []byte(`{"type":"object","properties":{"k\"&":{"type":"string"}}}`)}
	c, err := Constrain("kimi_k3", openai.ToolChoice{Mode: openai.ToolRequired}, []openai.Tool{tool}, AnyStart, true)
	if err != nil || !strings.Contains(c.StructuralTag, `tool=\"a&amp;b\"`) || !strings.Contains(c.StructuralTag, `key=\"k&quot;&amp;\"`) {
		t.Errorf("%v: %s", err, c.StructuralTag)
	}
}
