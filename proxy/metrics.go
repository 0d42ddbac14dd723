package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"leeway/openai"
)

// durationBuckets are the bounds, in seconds, of every histogram of a duration.
var durationBuckets = []float64{
	0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 45, 60, 90, 120, 180, 240, 300, 480, 900,
	1200, 1800, 2700, 3600, 5400, 7200,
}

var (
	connectionsActive  = metrics.NewGauge("smg_http_connections_active", nil)
	admissionInflight  = metrics.NewGauge("smg_admission_inflight", nil)
	admissionQueue     = metrics.NewGauge("smg_admission_queue_depth", nil)
	admissionAllowed   = metrics.NewCounter(`smg_http_rate_limit_total{result="allowed"}`)
	admissionRejected  = metrics.NewCounter(`smg_http_rate_limit_total{result="rejected"}`)
	admissionFull      = metrics.NewCounter(`smg_admission_queue_rejected_total{reason="full"}`)
	admissionTimeout   = metrics.NewCounter(`smg_admission_queue_rejected_total{reason="timeout"}`)
	upstreamResets     = metrics.NewCounter(`leeway_answers_cut_total{reason="upstream_reset"}`)
	upstreamErrors     = metrics.NewCounter(`leeway_answers_cut_total{reason="upstream_error"}`)
	upstreamIncomplete = metrics.NewCounter(`leeway_answers_cut_total{reason="upstream_incomplete"}`)
	clientsGone        = metrics.NewCounter(`leeway_answers_cut_total{reason="client_gone"}`)
	configGeneration   = metrics.NewCounter("leeway_config_generation")
	decisionsDropped   = metrics.NewCounter("leeway_decision_log_dropped_total")
	reloadFailures     = metrics.NewCounter("leeway_config_reload_failures_total")
	localStops         = metrics.NewCounter(`leeway_stops_matched_total`)
)

func observeSeconds(name string, took time.Duration) {
	metrics.GetOrCreatePrometheusHistogramExt(name, durationBuckets).Update(took.Seconds())
}

// countResponse counts a request when its response has ended.
func countResponse(method, path string, status int, code string, took time.Duration) {
	if status == 0 {
		status = http.StatusOK
	}
	switch method {
	case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS":
	default:
		method = "other"
	}
	labels := fmt.Sprintf(`{method=%q,path=%q}`, method, path)
	metrics.GetOrCreateCounter("smg_http_requests_total" + labels).Inc()
	observeSeconds("smg_http_request_duration_seconds"+labels, took)
	metrics.GetOrCreateCounter(fmt.Sprintf(`smg_http_responses_total{path=%q,status_code="%d",error_code=%q}`, path, status, code)).Inc()
}

func countAdmission(err error) {
	switch {
	case err == nil:
		admissionAllowed.Inc()
		return
	case errors.Is(err, errQueueFull):
		admissionFull.Inc()
	case errors.Is(err, errQueueTimeout):
		admissionTimeout.Inc()
	}
	admissionRejected.Inc()
}

// countConnection is the server's ConnState hook.
func countConnection(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		connectionsActive.Inc()
	case http.StateClosed, http.StateHijacked:
		connectionsActive.Dec()
	}
}

// routed is what the router's metrics tell requests apart by.
type routed struct {
	model, endpoint string
	stream          bool
}

func (r routed) labels() string {
	return fmt.Sprintf(`router_type="grpc",backend_type="regular",model=%q,endpoint=%q`, r.model, r.endpoint)
}

// counted counts a request around what it does.
func (g *Gateway) counted(r routed, serve func(routed) error) error {
	start := time.Now()
	metrics.GetOrCreateCounter("smg_router_requests_total{" + r.labels() + `,connection_mode="grpc",streaming="` + strconv.FormatBool(r.stream) + `"}`).Inc()
	err := serve(r)
	r.countEnd(time.Since(start), err)
	return err
}

// countEnd counts how a request ended: took since it was decoded, and why it failed, if it did.
func (r routed) countEnd(took time.Duration, err error) {
	labels := "{" + r.labels() + `,connection_mode="grpc"`
	observeSeconds("smg_router_request_duration_seconds"+labels+"}", took)
	if err == nil {
		return
	}
	if kind := asFailure(err).kind; kind != kindGone {
		metrics.GetOrCreateCounter("smg_router_request_errors_total" + labels + `,error_type="` + kind + `"}`).Inc()
	}
}

// countAnswer counts a complete answer: its tokens, and for a stream its times from dispatch to first delta and to the end.
func (r routed) countAnswer(u openai.Usage, ttft, total time.Duration) {
	input, output := u.PromptTokens, u.CompletionTokens
	labels := "{" + r.labels()
	metrics.GetOrCreateCounter("smg_router_tokens_total" + labels + `,token_type="input"}`).Add(input)
	metrics.GetOrCreateCounter("smg_router_tokens_total" + labels + `,token_type="output"}`).Add(output)
	if !r.stream {
		return
	}
	observeSeconds("smg_router_ttft_seconds"+labels+"}", ttft)
	observeSeconds("smg_router_generation_duration_seconds"+labels+"}", total)
	if output > 1 {
		observeSeconds("smg_router_tpot_seconds"+labels+"}", (total-ttft)/time.Duration(output-1))
	}
}

func observeStage(stage string, since time.Time) {
	observeSeconds(`smg_router_stage_duration_seconds{router_type="grpc",stage="`+stage+`"}`, time.Since(since))
}

func countRetry(endpoint string, pause time.Duration, attempt int) {
	metrics.GetOrCreateCounter(`smg_worker_retries_total{worker_type="regular",endpoint="` + endpoint + `"}`).Inc()
	observeSeconds(`smg_worker_retry_backoff_seconds{attempt="`+strconv.Itoa(attempt)+`"}`, pause)
}

func countExhausted(endpoint string) {
	metrics.GetOrCreateCounter(`smg_worker_retries_exhausted_total{worker_type="regular",endpoint="` + endpoint + `"}`).Inc()
}
