package proxy

import (
	"strconv"
	"strings"
	"testing"
)

// count returns the value of a series, 0 if there is none.
func (b *bed) count(t *testing.T, series string) float64 {
	t.Helper()
	text := b.metric(t, series)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestMetricsHaveThePublishedNamesAndLabels(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	const router = `router_type="grpc",backend_type="regular",model="demo",endpoint="chat"`
	series := map[string]float64{ // how much each grows by a stream and an unknown path
		`smg_http_requests_total{method="POST",path="/v1/chat/completions"}`:                                         1,
		`smg_http_responses_total{path="/v1/chat/completions",status_code="200",error_code=""}`:                      1,
		`smg_http_requests_total{method="GET",path="other"}`:                                                         1,
		`smg_http_responses_total{path="other",status_code="404",error_code="unknown_url"}`:                          1,
		`smg_router_requests_total{` + router + `,connection_mode="grpc",streaming="true"}`:                          1,
		`smg_router_request_duration_seconds_count{` + router + `,connection_mode="grpc"}`:                           1,
		`smg_router_ttft_seconds_count{` + router + `}`:                                                              1,
		`smg_router_tpot_seconds_count{` + router + `}`:                                                              1,
		`smg_router_generation_duration_seconds_count{` + router + `}`:                                               1,
		`smg_router_stage_duration_seconds_count{router_type="grpc",stage="WorkerSelection"}`:                        1,
		`smg_router_stage_duration_seconds_count{router_type="grpc",stage="RequestExecution"}`:                       1,
		`smg_http_request_duration_seconds_bucket{method="POST",path="/v1/chat/completions",le="7200"}`:              1,
		`smg_router_request_errors_total{` + router + `,connection_mode="grpc",error_type="validation_error"}`:       0,
		`smg_http_rate_limit_total{result="allowed"}`:                                                                1,
		`smg_router_requests_total{` + router + `,connection_mode="grpc",streaming="false"}`:                         0,
		`smg_router_tokens_total{` + router + `,token_type="input"}`:                                                 -1,
		`smg_router_tokens_total{` + router + `,token_type="output"}`:                                                -2,
		`smg_http_responses_total{path="/v1/chat/completions",status_code="499",error_code="client_closed_request"}`: 0,
	}
	before := map[string]float64{}
	for name := range series {
		before[name] = b.count(t, name)
	}
	all := chunks(t, b.chat(t, `,"stream":true,"stream_options":{"include_usage":true}`).body)
	usage := all[len(all)-1].Usage
	b.call(t, "GET", "/nowhere", "")
	b.atRest(t)
	for name, want := range series {
		switch want {
		case -1:
			want = float64(usage.Prompt)
		case -2:
			want = float64(usage.Completion)
		}
		eventually(t, name+" as it should be", func() bool { return b.count(t, name)-before[name] == want })
	}
	if n := b.count(t, "smg_admission_inflight"); n != 0 {
		t.Errorf("%v requests inside at rest", n)
	}
}

func TestModelsThatNobodyServesAreOneLabel(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	const series = `smg_router_request_errors_total{router_type="grpc",backend_type="regular",model="other",endpoint="chat",connection_mode="grpc",error_type="no_workers"}`
	before := b.count(t, series)
	for _, name := range []string{"a", "b", `c\"d`} {
		b.call(t, "POST", "/v1/chat/completions", strings.Replace(question(""), "demo", name, 1))
	}
	if got := b.count(t, series) - before; got != 3 {
		t.Errorf("counted %v of 3", got)
	}
}

func TestHTTPMethodsOfOnesOwnAreOneLabel(t *testing.T) {
	countResponse("BREW", "other", 405, "method_not_allowed", 0)
	b := start(t, one(t, "vllm", greeting))
	if b.count(t, `smg_http_requests_total{method="other",path="other"}`) == 0 {
		t.Error("not counted as other")
	}
	if b.metric(t, `smg_http_requests_total{method="BREW",path="other"}`) != "" {
		t.Error("a client can make up labels")
	}
}
