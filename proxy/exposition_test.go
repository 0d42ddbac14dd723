package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestSamplesStandInFamiliesUnderTheirType(t *testing.T) {
	got := string(typed([]byte(`hits_total{a="x y"} 1
depth 2
took_bucket{le="1"} 1
took_sum 1
took_count 1
hits_total{a="}"} 3
pause{quantile="0.5"} 0
pause_sum 0
pause_count 0
calls_count 4

# a comment
depth{of="late"} 5
`)))
	want := `# TYPE hits_total counter
hits_total{a="x y"} 1
hits_total{a="}"} 3
# TYPE depth gauge
depth 2
depth{of="late"} 5
# TYPE took histogram
took_bucket{le="1"} 1
took_sum 1
took_count 1
# TYPE pause summary
pause{quantile="0.5"} 0
pause_sum 0
pause_count 0
# TYPE calls_count gauge
calls_count 4
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

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
		series := (line[:strings.LastIndexByte(line, ' ')])
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
