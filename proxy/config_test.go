package proxy

import (
	"math"
	"net"
	"strings"
	"testing"
	"time"
)

func TestDefaultsAreValid(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	if err := DefaultModelConfig().Validate(); err != nil {
		t.Error(err)
	}
}

func TestEveryBadValueIsNamed(t *testing.T) { // case F11
	for key, change := range map[string]func(*Config){
		"port":                         func(c *Config) { c.Port = 65536 },
		"prometheus_port":              func(c *Config) { c.PrometheusPort = -1 },
		"tls_cert_path":                func(c *Config) { c.TLSKeyPath = "key.pem" },
		"max_payload_size":             func(c *Config) { c.MaxPayloadSize = 0 },
		"max_concurrent_requests":      func(c *Config) { c.MaxConcurrentRequests = -2 },
		"health_check_port":            func(c *Config) { c.HealthPort = -1 },
		"rate_limit_tokens_per_second": func(c *Config) { c.RateLimit = -1 },
		"unsupported_fields":           func(c *Config) { c.UnsupportedFields = "ignore" },
		"queue_size":                   func(c *Config) { c.QueueSize = -1 },
		"queue_timeout_secs":           func(c *Config) { c.QueueTimeout = math.NaN() },
		"sse_keepalive_secs":           func(c *Config) { c.SSEKeepAlive = math.Inf(1) },
		"retry_max_retries":            func(c *Config) { c.RetryMaxRetries = -1 },
		"retry_max_backoff_ms":         func(c *Config) { c.RetryMaxBackoff = 1 },
		"retry_backoff_multiplier":     func(c *Config) { c.RetryBackoffMultiplier = 0.5 },
		"retry_jitter_factor":          func(c *Config) { c.RetryJitterFactor = math.NaN() },
		"request_id_headers":           func(c *Config) { c.RequestIDHeaders = []string{"x request"} },
		"routing_key_headers":          func(c *Config) { c.RoutingKeyHeaders = []string{"x key"} },
		"worker_header":                func(c *Config) { c.WorkerHeader = "x:worker" },
		"log_level":                    func(c *Config) { c.LogLevel = "info " },
	} {
		c := DefaultConfig()
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+": ") {
			t.Errorf("%s: got %v", key, err)
		}
	}
}

func TestBackoffGrowsToItsMaximumAndJitters(t *testing.T) {
	c := DefaultConfig()
	for k, want := range map[int]time.Duration{1: 50 * time.Millisecond, 2: 75 * time.Millisecond, 40: 30 * time.Second} {
		if got := c.backoff(k, 0.5); got != want {
			t.Errorf("after attempt %d: %v, want %v", k, got, want)
		}
		if low, high := c.backoff(k, 0), c.backoff(k, 1); low != want*8/10 || high != want*12/10 {
			t.Errorf("after attempt %d: %v to %v", k, low, high)
		}
	}
}

func TestBusyPortSaysWhichKey(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	c := DefaultConfig()
	c.Host, c.PrometheusHost, c.Port = "127.0.0.1", "127.0.0.1", 0
	c.PrometheusPort = taken.Addr().(*net.TCPAddr).Port
	if _, err := c.Listen(); err == nil || !strings.HasPrefix(err.Error(), "prometheus_port: ") {
		t.Errorf("got %v", err)
	}
}
