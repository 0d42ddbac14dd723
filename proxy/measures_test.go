package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestEveryMetricHasOneTypeAndNoSeriesIsTwice(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	b.post(t, t.Context(), "/v1/chat/completions", question(``)).Body.Close()
	resp, err := http.Get(b.measures)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		series := strings.TrimSpace(line) // "# HELP name"
		if !strings.HasPrefix(line, "# HELP") {
			series = line[:strings.LastIndexByte(line, ' ')] // "# TYPE name", or what has a value
		}
		if seen[series] {
			t.Errorf("%s is there twice", series)
		}
		seen[series] = true
	}
	for _, want := range []string{"# TYPE smg_http_requests_total", "# TYPE leeway_kv_certificate", "# TYPE smg_http_request_duration_seconds"} {
		if !seen[want] {
			t.Errorf("%s is missing", want)
		}
	}
}
