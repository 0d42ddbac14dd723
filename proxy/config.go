package proxy

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Config is the [proxy] table: the listeners, what they let in and how long they wait.
type Config struct {
	Host           string `toml:"host" flag:"host"`
	Port           int    `toml:"port" flag:"port"`
	PrometheusHost string `toml:"prometheus_host" flag:"prometheus-host"`
	PrometheusPort int    `toml:"prometheus_port" flag:"prometheus-port"`
	TLSCertPath    string `toml:"tls_cert_path" flag:"tls-cert-path"`
	TLSKeyPath     string `toml:"tls_key_path" flag:"tls-key-path"`
	// HealthPort is a port of its own for health checks, without TLS or keys; 0: there is none.
	HealthPort int `toml:"health_check_port" flag:"health-check-port"`
	// HTTP2 also accepts HTTP/2 without TLS from clients that know; with TLS it is always offered.
	HTTP2 bool `toml:"http2_cleartext" flag:"http2-cleartext"`

	APIKey             string   `toml:"api_key" flag:"api-key" secret:"true"`
	CORSAllowedOrigins []string `toml:"cors_allowed_origins" flag:"cors-allowed-origins"`
	RequestIDHeaders   []string `toml:"request_id_headers" flag:"request-id-headers"`
	// RoutingKeyHeaders are request headers that may carry what sticky policies go by; the first that is present counts.
	RoutingKeyHeaders []string `toml:"routing_key_headers" flag:"routing-key-headers"`
	// WorkerHeader is the response header that names the chosen worker's address; "" sends none.
	WorkerHeader string `toml:"worker_header" flag:"worker-header"`
	// UnsupportedFields is what becomes of a request with a field that has no effect: "report" or "refuse".
	UnsupportedFields string `toml:"unsupported_fields" flag:"unsupported-fields"`

	MaxPayloadSize        int64   `toml:"max_payload_size" flag:"max-payload-size"`
	MaxConcurrentRequests int     `toml:"max_concurrent_requests" flag:"max-concurrent-requests"`
	RateLimit             int     `toml:"rate_limit_tokens_per_second" flag:"rate-limit-tokens-per-second"`
	QueueSize             int     `toml:"queue_size" flag:"queue-size"`
	QueueTimeout          float64 `toml:"queue_timeout_secs" flag:"queue-timeout-secs"`

	HeaderReadTimeout float64 `toml:"header_read_timeout_secs" flag:"header-read-timeout-secs"`
	IdleTimeout       float64 `toml:"idle_connection_timeout_secs" flag:"idle-connection-timeout-secs"`
	BodyStallTimeout  float64 `toml:"stream_body_stall_timeout_secs" flag:"stream-body-stall-timeout-secs"`
	WriteTimeout      float64 `toml:"write_timeout_secs" flag:"write-timeout-secs"`
	SSEKeepAlive      float64 `toml:"sse_keepalive_secs" flag:"sse-keepalive-secs"`
	ShutdownGrace     float64 `toml:"shutdown_grace_period_secs" flag:"shutdown-grace-period-secs"`
	ShutdownAccept    float64 `toml:"shutdown_accept_secs" flag:"shutdown-accept-secs"`

	RetryMaxRetries        int     `toml:"retry_max_retries" flag:"retry-max-retries"`
	RetryInitialBackoff    float64 `toml:"retry_initial_backoff_ms" flag:"retry-initial-backoff-ms"`
	RetryMaxBackoff        float64 `toml:"retry_max_backoff_ms" flag:"retry-max-backoff-ms"`
	RetryBackoffMultiplier float64 `toml:"retry_backoff_multiplier" flag:"retry-backoff-multiplier"`
	RetryJitterFactor      float64 `toml:"retry_jitter_factor" flag:"retry-jitter-factor"`
	DisableRetries         bool    `toml:"disable_retries" flag:"disable-retries"`

	// DecisionLog is a file that gets a line for every decision; "" writes none.
	DecisionLog      string `toml:"decision_log" flag:"decision-log"`
	DecisionLogBytes int64  `toml:"decision_log_bytes" flag:"decision-log-bytes"`

	LogLevel string `toml:"log_level" flag:"log-level"`
	LogJSON  bool   `toml:"log_json" flag:"log-json"`
}

// ModelConfig is the [openai] table: how text becomes tokens and tokens become an answer.
type ModelConfig struct {
	ModelPath     string `toml:"model_path" flag:"model-path,model"`
	TokenizerPath string `toml:"tokenizer_path" flag:"tokenizer-path"`
	// ModelAliases are other names of models, each NAME=MODEL.
	ModelAliases             []string `toml:"model_aliases" flag:"model-alias"`
	ChatTemplate             string   `toml:"chat_template" flag:"chat-template"`
	ReasoningParser          string   `toml:"reasoning_parser" flag:"reasoning-parser"`
	ToolCallParser           string   `toml:"tool_call_parser" flag:"tool-call-parser"`
	DisableTokenizerAutoload bool     `toml:"disable_tokenizer_autoload" flag:"disable-tokenizer-autoload"`
	// TokenizerCache is how many bytes a tokenizer may keep of the beginnings of prompts; 0: none.
	TokenizerCache int64 `toml:"tokenizer_cache_bytes" flag:"tokenizer-cache-l1-max-memory"`
}

// DefaultConfig holds the defaults of an SMG gateway, so that a replacement in place changes nothing unasked.
func DefaultConfig() Config {
	return Config{
		Host: "0.0.0.0", Port: 30000, PrometheusHost: "0.0.0.0", PrometheusPort: 29000, HTTP2: true,
		RequestIDHeaders:  []string{"x-request-id", "x-correlation-id", "x-trace-id", "request-id"},
		RoutingKeyHeaders: []string{"x-smg-routing-key"},
		WorkerHeader:      "x-smg-routed-worker-id", UnsupportedFields: "report",
		MaxPayloadSize: 512 << 20, MaxConcurrentRequests: -1, QueueSize: 100, QueueTimeout: 60,
		HeaderReadTimeout: 30, IdleTimeout: 90, BodyStallTimeout: 300, WriteTimeout: 60, SSEKeepAlive: 15, ShutdownGrace: 180, ShutdownAccept: 5,
		RetryMaxRetries: 5, RetryInitialBackoff: 50, RetryMaxBackoff: 30000, RetryBackoffMultiplier: 1.5, RetryJitterFactor: 0.2,
		DecisionLogBytes: 256 << 20, LogLevel: "info",
	}
}

// DefaultModelConfig finds everything out from the workers.
func DefaultModelConfig() ModelConfig { return ModelConfig{TokenizerCache: 50 << 20} }

// Validate reports every value that cannot work, one error a key.
func (c Config) Validate() error {
	rules := []rule{
		{validPort(c.Port), "port", fmt.Sprintf("%d is no TCP port; use 0 to 65535 (0: any free one)", c.Port)},
		{validPort(c.PrometheusPort), "prometheus_port", fmt.Sprintf("%d is no TCP port; use 0 to 65535 (0: any free one)", c.PrometheusPort)},
		{validPort(c.HealthPort), "health_check_port", fmt.Sprintf("%d is no TCP port; use 1 to 65535, or 0 for none", c.HealthPort)},
		{(c.TLSCertPath == "") == (c.TLSKeyPath == ""), "tls_cert_path", "a certificate needs its key: set both tls_cert_path and tls_key_path, or neither"},
		{c.MaxPayloadSize > 0, "max_payload_size", fmt.Sprintf("%d bytes let nothing in; use at least 1", c.MaxPayloadSize)},
		{c.MaxConcurrentRequests >= -1, "max_concurrent_requests", fmt.Sprintf("%d; use -1 for a bound by cores, 0 for none, or a count", c.MaxConcurrentRequests)},
		{c.RateLimit >= 0 && c.RateLimit <= 1e9, "rate_limit_tokens_per_second", fmt.Sprintf("%d; use a number of requests a second, or 0 for no bound", c.RateLimit)},
		{c.QueueSize >= 0, "queue_size", fmt.Sprintf("%d is less than 0; use 0 for no queue", c.QueueSize)},
		inSeconds("queue_timeout_secs", c.QueueTimeout),
		inSeconds("header_read_timeout_secs", c.HeaderReadTimeout),
		inSeconds("idle_connection_timeout_secs", c.IdleTimeout),
		inSeconds("stream_body_stall_timeout_secs", c.BodyStallTimeout),
		inSeconds("write_timeout_secs", c.WriteTimeout),
		inSeconds("sse_keepalive_secs", c.SSEKeepAlive),
		inSeconds("shutdown_grace_period_secs", c.ShutdownGrace),
		inSeconds("shutdown_accept_secs", c.ShutdownAccept),
		{c.RetryMaxRetries >= 0 && c.RetryMaxRetries <= 100, "retry_max_retries", fmt.Sprintf("%d attempts; use 0 to 100 (0 counts as 1)", c.RetryMaxRetries)},
		{c.RetryInitialBackoff >= 0 && c.RetryInitialBackoff <= 3.6e6, "retry_initial_backoff_ms", fmt.Sprintf("%v; use 0 to 3600000", c.RetryInitialBackoff)},
		{c.RetryMaxBackoff >= c.RetryInitialBackoff && c.RetryMaxBackoff <= 3.6e6, "retry_max_backoff_ms", fmt.Sprintf("%v; use at least retry_initial_backoff_ms and at most 3600000", c.RetryMaxBackoff)},
		{c.RetryBackoffMultiplier >= 1 && c.RetryBackoffMultiplier <= 1000, "retry_backoff_multiplier", fmt.Sprintf("%v; use 1 to 1000", c.RetryBackoffMultiplier)},
		{c.RetryJitterFactor >= 0 && c.RetryJitterFactor <= 1, "retry_jitter_factor", fmt.Sprintf("%v; use 0 to 1", c.RetryJitterFactor)},
		{c.WorkerHeader == "" || isToken(c.WorkerHeader), "worker_header", fmt.Sprintf("%q is no header name", c.WorkerHeader)},
		{slices.Contains([]string{"report", "refuse"}, c.UnsupportedFields), "unsupported_fields", fmt.Sprintf("%q; use report or refuse", c.UnsupportedFields)},
		{c.DecisionLogBytes >= 1<<16, "decision_log_bytes", fmt.Sprintf("%d; use at least 65536", c.DecisionLogBytes)},
		{isLevel(c.LogLevel), "log_level", fmt.Sprintf("%q; use debug, info, warn or error", c.LogLevel)},
	}
	for key, headers := range map[string][]string{"request_id_headers": c.RequestIDHeaders, "routing_key_headers": c.RoutingKeyHeaders} {
		for _, h := range headers {
			rules = append(rules, rule{isToken(h), key, fmt.Sprintf("%q is no header name", h)})
		}
	}
	var errs []error
	for _, r := range rules {
		if !r.holds {
			errs = append(errs, fmt.Errorf("%s: %s", r.key, r.complaint))
		}
	}
	return errors.Join(errs...)
}

// Validate reports every value that cannot work. Whether the files exist is found out when they are opened.
func (c ModelConfig) Validate() error {
	var errs []error
	if c.TokenizerCache < 0 || c.TokenizerCache > 1<<40 {
		errs = append(errs, fmt.Errorf("tokenizer_cache_bytes: %d; use 0 for none, up to 2^40", c.TokenizerCache))
	}
	for _, alias := range c.ModelAliases {
		if name, model, _ := strings.Cut(alias, "="); name == "" || model == "" {
			errs = append(errs, fmt.Errorf("model_aliases: %q; write NAME=MODEL, as in gpt-4=qwen3", alias))
		}
	}
	return errors.Join(append(errs, c.checkParsers())...)
}

// aliases returns the models by their other names.
func (c ModelConfig) aliases() map[string]string {
	models := map[string]string{}
	for _, alias := range c.ModelAliases {
		name, model, _ := strings.Cut(alias, "=")
		models[name] = model
	}
	return models
}

type rule struct {
	holds          bool
	key, complaint string
}

func validPort(p int) bool { return p >= 0 && p <= 65535 }

func isLevel(s string) bool { return slices.Contains([]string{"debug", "info", "warn", "error"}, s) }

// inSeconds also refuses NaN, which no comparison accepts.
func inSeconds(key string, v float64) rule {
	return rule{v >= 0 && v <= 365*24*3600, key, fmt.Sprintf("%v is not a time in seconds; use 0 to 31536000", v)}
}

// concurrency is how many requests may be served at once; 0 means no bound.
func (c Config) concurrency() int {
	if c.MaxConcurrentRequests < 0 {
		return max(1024*runtime.GOMAXPROCS(0), 4096)
	}
	return c.MaxConcurrentRequests
}

// attempts is how often a request may be tried in all.
func (c Config) attempts() int {
	if c.DisableRetries {
		return 1
	}
	return max(1, c.RetryMaxRetries)
}

// backoff is the pause after the k-th failed attempt, k from 1; spread, in [0, 1), is where in the jitter it falls.
func (c Config) backoff(k int, spread float64) time.Duration {
	ms := min(c.RetryInitialBackoff*math.Pow(c.RetryBackoffMultiplier, float64(k-1)), c.RetryMaxBackoff)
	return time.Duration(ms * (1 + c.RetryJitterFactor*(2*spread-1)) * float64(time.Millisecond))
}

func secs(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// isToken reports whether s may be the name of a header.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || slices.Contains([]byte(`"(),/:;<=>?@[\]{}`), c) {
			return false
		}
	}
	return s != ""
}
