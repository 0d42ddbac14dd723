package chattemplate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The goldens are the output of the code that comes with Kimi K2.5's tokenizer, on schemas of our own.
func TestToolsInTypeScriptAgreeWithKimi(t *testing.T) {
	for _, path := range append(filepath.SplitList(os.Getenv("LEEWAY_TYPESCRIPT")), "testdata/typescript.json") {
		bad := 0
		cases := get(t, readGolden(t, path), "cases").(*List).items
		for _, c := range cases {
			got, err := typeScriptTools(get(t, c, "tools").(*List).items)
			failure := ""
			if err != nil {
				failure = err.Error()
			}
			if !agrees(t, c, got, failure) {
				if bad++; bad < 10 {
					t.Errorf("%.700s\n got %s, %v\nwant %.2000s", dumpJSON(compactJSON, get(t, c, "tools")), got, err, dumpJSON(compactJSON, c))
				}
			}
		}
		t.Logf("%s: %d of %d agree", path, len(cases)-bad, len(cases))
	}
}

func TestATemplateThatAsksForTypeScriptGetsIt(t *testing.T) {
	set, err := Parse(`{% if tools_ts_str %}{{ tools_ts_str }}{% else %}{{ tools|tojson }}{% endif %}`)
	if err != nil {
		t.Fatal(err)
	}
	good := strings.Replace(weather, `{"z":1.0,"a":{}}`, `{"type":"object","properties":{"b":{"type":"integer"},"a":{"type":"string"}},"required":["b"]}`, 1)
	got, err := set.Render(chat(t, hello+","+good), Special{}, goldenNow)
	if want := "# Tools\n\n## functions\nnamespace functions {\ntype w = (_: {\n  b: number,\n  a?: string\n}) => any;\n}\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	bad := strings.Replace(weather, `{"z":1.0,"a":{}}`, `{"properties":{"x":{"title":"no type"}},"a":1}`, 1)
	got, err = set.Render(chat(t, hello+","+bad), Special{}, goldenNow)
	if want := `[{"function": {"name": "w", "parameters": {"a": 1, "properties": {"x": {"title": "no type"}}}}, "type": "function"}]`; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}
