package chattemplate

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// goldenNow is the clock of every golden.
var goldenNow = time.Date(2025, 7, 26, 13, 4, 5, 0, time.UTC)

// sharedDir finds the larger, uncommitted test data, or skips.
func sharedDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("LEEWAY_SHARED")
	if dir == "" {
		dir = "../../../shared"
	}
	dir = filepath.Join(dir, "templates")
	if _, err := os.Stat(dir); err != nil {
		t.Logf("SKIPPED: the full template suite needs %s (set LEEWAY_SHARED): %v", dir, err)
		t.SkipNow()
	}
	return dir
}

// readGolden reads a JSON object, gzipped or not.
func readGolden(t testing.TB, path string) *Dict {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(path) == ".gz" {
		zr, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(zr); err != nil {
			t.Fatal(err)
		}
	}
	v, err := ParseJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	return v.(*Dict)
}

func get(t testing.TB, v Value, path ...string) Value {
	t.Helper()
	for _, key := range path {
		item, ok := v.(*Dict).Get(key)
		if !ok {
			t.Fatalf("no %q in the golden", key)
		}
		v = item
	}
	return v
}

// renderGolden renders as the goldens were made: an error's text is its Python type and message.
func renderGolden(source string, vars *Dict) (string, string) {
	tpl, err := Compile(source)
	if err != nil {
		return "", errorText(err)
	}
	out, err := tpl.Render(vars, RenderOptions{Now: goldenNow})
	if err != nil {
		return "", errorText(err)
	}
	return out, ""
}

func errorText(err error) string {
	if e, ok := err.(*Error); ok {
		return e.Type + ": " + e.Message
	}
	return "not an *Error: " + err.Error()
}

// agrees compares a render with its golden, which has "ok" or "err": the same text, or an error where Python raises.
func agrees(t testing.TB, golden Value, out, failure string) bool {
	want, ok := golden.(*Dict).Get("ok")
	if ok {
		return failure == "" && out == string(want.(Str))
	}
	return failure != ""
}

func TestEveryPublishedTemplateRendersAsPythonDoes(t *testing.T) {
	dir := sharedDir(t)
	templateSuite(t, dir, filepath.Join(dir, "conversations.json.gz"), filepath.Join(dir, "goldens.json.gz"))
}

// TestMoreConversations runs the templates on the conversations and goldens that LEEWAY_CONVERSATIONS names.
func TestMoreConversations(t *testing.T) {
	paths := filepath.SplitList(os.Getenv("LEEWAY_CONVERSATIONS"))
	if len(paths) != 2 {
		t.Skip("LEEWAY_CONVERSATIONS names no further conversations and goldens")
	}
	templateSuite(t, sharedDir(t), paths[0], paths[1])
}

func templateSuite(t *testing.T, dir, conversationsPath, goldensPath string) {
	conversations, goldens := readGolden(t, conversationsPath), readGolden(t, goldensPath)
	cases, bad, otherError := 0, 0, 0
	for i, name := range goldens.keys {
		source, err := os.ReadFile(filepath.Join(dir, string(name.(Str))))
		if err != nil {
			continue
		}
		for j, conversation := range conversations.keys {
			golden := get(t, goldens.values[i], string(conversation.(Str)))
			out, failure := renderGolden(string(source), conversations.values[j].(*Dict))
			cases++
			if !agrees(t, golden, out, failure) {
				if bad++; bad <= 20 {
					reportDifference(t, string(name.(Str))+" / "+string(conversation.(Str)), golden, out, failure)
				}
			} else if failure != "" && failure != string(get(t, golden, "err").(Str)) {
				otherError++
				t.Logf("%s / %s: error %q, Python's is %q", name, conversation, failure, get(t, golden, "err"))
			}
		}
	}
	t.Logf("%d of %d renders agree; %d errors are worded differently", cases-bad, cases, otherError)
}

func reportDifference(t *testing.T, name string, golden Value, out, failure string) {
	t.Helper()
	if failure != "" {
		t.Errorf("%s fails: %s", name, failure)
		return
	}
	want, ok := golden.(*Dict).Get("ok")
	if !ok {
		t.Errorf("%s renders, but Python raises %q", name, get(t, golden, "err"))
		return
	}
	w := string(want.(Str))
	at := 0
	for at < len(w) && at < len(out) && w[at] == out[at] {
		at++
	}
	from := max(at-40, 0)
	t.Errorf("%s differs at byte %d:\n got %q\nwant %q", name, at, out[from:min(at+80, len(out))], w[from:min(at+80, len(w))])
}

func TestMicroSuiteAgreesWithPython(t *testing.T) {
	microSuite(t, filepath.Join(sharedDir(t), "micro.json.gz"))
}

func microSuite(t *testing.T, path string) {
	suite := readGolden(t, path)
	vars := get(t, suite, "ctx").(*Dict)
	cases, bad, otherError := 0, 0, 0
	for _, c := range get(t, suite, "cases").(*List).items {
		source := string(get(t, c, "t").(Str))
		out, failure := renderGolden(source, vars)
		cases++
		if !agrees(t, c, out, failure) {
			if bad++; bad <= 60 {
				reportDifference(t, source, c, out, failure)
			}
		} else if failure != "" {
			if want := string(get(t, c, "err").(Str)); want[:min(len(want), 60)] != failure[:min(len(failure), 60)] {
				otherError++
				t.Logf("%s: error %q, Python's is %q", source, failure, want)
			}
		}
	}
	t.Logf("%d of %d cases agree; %d errors are worded differently", cases-bad, cases, otherError)
}

// TestMoreMicroSuites runs suites that LEEWAY_MICRO names, made with other expressions than the shared one.
func TestMoreMicroSuites(t *testing.T) {
	paths := os.Getenv("LEEWAY_MICRO")
	if paths == "" {
		t.Skip("LEEWAY_MICRO names no further suites")
	}
	for _, path := range filepath.SplitList(paths) {
		microSuite(t, path)
	}
}
