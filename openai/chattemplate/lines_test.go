package chattemplate

import (
	"strings"
	"testing"
)

func renderLines(t *testing.T, source, input string, encode func(string) []uint32) (string, error) {
	t.Helper()
	set, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = RenderLines(strings.NewReader(input), &out, LineOptions{Templates: set, Now: goldenNow, Encode: encode})
	return out.String(), err
}

func TestLinesOfVariablesAreRenderedInOrder(t *testing.T) {
	out, err := renderLines(t, `{{ a }} at {{ strftime_now("%Y") }}`, "{\"a\": 1.0}\n\n{\"a\": \"é\\n\"}", nil)
	if want := "{\"text\": \"1.0 at 2025\"}\n{\"text\": \"é\\n at 2025\"}\n"; err != nil || out != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
}

func TestAnEmptyTemplateRendersNothing(t *testing.T) {
	if out, err := renderLines(t, "", "{}", nil); err != nil || out != "{\"text\": \"\"}\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestAFailingLineDoesNotEndTheStream(t *testing.T) {
	out, err := renderLines(t, `{% if a %}{{ raise_exception("no " ~ a) }}{% endif %}ok`, "{\"a\": 1}\n{}\n", nil)
	if want := "{\"error\": \"TemplateError: no 1\"}\n{\"text\": \"ok\"}\n"; err != nil || out != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
}

func TestALineThatIsNoObjectEndsTheStreamByItsNumber(t *testing.T) {
	for _, bad := range []string{"{", "[1]", "nonsense"} {
		out, err := renderLines(t, `x`, "{}\n"+bad+"\n{}\n", nil)
		if err == nil || !strings.HasPrefix(err.Error(), "line 2: not a JSON object") || out != "{\"text\": \"x\"}\n" {
			t.Errorf("%s: got %q, %v", bad, out, err)
		}
	}
}

func TestChatLinesGiveTextAndIDs(t *testing.T) {
	encode := func(s string) []uint32 { return []uint32{uint32(len(s)), 7} }
	out, err := renderLines(t, `{{ messages[0].content }}`, `{"model":"m","messages":[{"role":"user","content":"hello"}]}`+"\n"+`{"model":"m"}`, encode)
	lines := strings.Split(out, "\n")
	if err != nil || lines[0] != `{"text": "hello", "ids": [5, 7]}` || !strings.HasPrefix(lines[1], `{"error": `) {
		t.Errorf("got %q, %v", out, err)
	}
}
