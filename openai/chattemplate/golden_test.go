package chattemplate

import (
	"os"
	"os/exec"
	"testing"
)

// The goldens are Python's; testdata/goldens.py makes them.
func TestExpressionsAgreeWithPython(t *testing.T) { microSuite(t, "testdata/expressions.json") }

// python finds an interpreter that has jinja2, or skips.
func python(t testing.TB) string {
	t.Helper()
	path := os.Getenv("LEEWAY_PYTHON")
	if path == "" {
		path = "python3"
	}
	if out, err := exec.Command(path, "-c", "import jinja2").CombinedOutput(); err != nil {
		t.Logf("SKIPPED: %s has no jinja2 (set LEEWAY_PYTHON): %v %s", path, err, out)
		t.SkipNow()
	}
	return path
}
