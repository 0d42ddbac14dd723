package openai

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestWhatIsAcceptedIsUnderstood reads testdata/accepted.tsv: the fields of a request, and a piece of the request that
// they decode to, written as JSON.
func TestWhatIsAcceptedIsUnderstood(t *testing.T) {
	data, err := os.ReadFile("testdata/accepted.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		fields, want, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		body := `{"model":"m","messages":[{"role":"user","content":"hi"}]` + fields + `}`
		if strings.Contains(fields, `"messages"`) {
			body = `{"model":"m"` + fields + `}`
		}
		r, err := DecodeChat([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", fields, err)
			continue
		}
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(got), want) {
			t.Errorf("%s: want %s in\n%s", fields, want, got)
		}
	}
}
