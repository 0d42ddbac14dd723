package routing

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Config is the [routing] table of config.toml. Keys that SMG has are SMG's, with its meanings.
type Config struct {
	Policy string `toml:"policy" flag:"policy"`

	LoadScore         string  `toml:"least_load_score" flag:"least-load-score"`
	KVPressureWeight  float64 `toml:"least_load_kv_pressure_weight" flag:"least-load-kv-pressure-weight"`
	DefaultThroughput float64 `toml:"least_load_default_throughput" flag:"least-load-default-throughput"`
	MeanPrefillTokens int     `toml:"least_load_mean_prefill_tokens" flag:"least-load-mean-prefill-tokens"`
	MaxWaiting        int     `toml:"least_load_max_waiting_requests" flag:"least-load-max-waiting-requests"`
	EstimateQueue     bool    `toml:"least_load_estimate_queue" flag:"least-load-estimate-queue"`
	// Overloaded workers are left out while another is not. 0: not by this measure.
	OverloadProtection bool    `toml:"worker_overload_protection" flag:"worker-overload-protection"`
	OverloadWaiting    int     `toml:"worker_overload_waiting_requests" flag:"worker-overload-waiting-requests"`
	OverloadUsage      float64 `toml:"worker_overload_token_usage" flag:"worker-overload-token-usage"`
	OverloadShed       bool    `toml:"worker_overload_shed" flag:"worker-overload-shed"`
	// LoadMaxAgeSecs 0 means three poll intervals, which are 30 s where nobody says otherwise.
	LoadMaxAgeSecs float64 `toml:"load_max_age_secs" flag:"load-max-age-secs"`
	// PollSecs is how often loads are asked for.
	PollSecs float64 `toml:"-"`
	// Unmonitored says that nobody asks for loads: then it is no worker's fault that its load is missing.
	Unmonitored bool `toml:"-"`

	CacheMode         string  `toml:"least_load_cache_mode" flag:"least-load-cache-mode"`
	CacheCost         string  `toml:"least_load_cache_cost" flag:"least-load-cache-cost"`
	PrefillThroughput float64 `toml:"least_load_cache_prefill_throughput" flag:"least-load-cache-prefill-throughput"`
	// MeanDecodeTokens is accepted because production configs carry it; no decision uses it. 0: they do not.
	MeanDecodeTokens int     `toml:"least_load_mean_remaining_decode_tokens" flag:"least-load-mean-remaining-decode-tokens"`
	KVEventMaxAge    float64 `toml:"kv_event_max_age_secs" flag:"kv-event-max-age-secs"`
	IndexBytes       int64   `toml:"prefix_index_bytes" flag:"prefix-index-bytes"`

	// What the other policies go by.
	BalanceAbs     int     `toml:"balance_abs_threshold" flag:"balance-abs-threshold,spill-abs-threshold"`
	BalanceRel     float64 `toml:"balance_rel_threshold" flag:"balance-rel-threshold,spill-rel-threshold"`
	PrefixTokens   int     `toml:"prefix_token_count" flag:"prefix-token-count"`
	PrefixFactor   float64 `toml:"prefix_hash_load_factor" flag:"prefix-hash-load-factor"`
	PrefixAbs      int     `toml:"prefix_hash_balance_abs_threshold" flag:"prefix-hash-balance-abs-threshold"`
	AssignmentMode string  `toml:"assignment_mode" flag:"assignment-mode"`
	MaxIdleSecs    float64 `toml:"max_idle_secs" flag:"max-idle-secs,sticky-key-idle-secs"`
	StickySessions bool    `toml:"sticky_sessions" flag:"sticky-sessions,routing-key-override"`

	DecisionRing int    `toml:"decision_ring_size" flag:"decision-ring-size"`
	Seed         uint64 `toml:"seed" flag:"routing-seed"`
}

// The words of Config's closed choices.
var (
	policyNames = []string{
		"least_load", "round_robin", "random", "power_of_two", "consistent_hashing", "prefix_hash", "cache_aware", "manual",
		"passthrough", "bucket",
	}
	assignNames = []string{"random", "min_load", "min_group", "delegate", ""}
	scoreNames  = []string{"v1", "v2"}
	modeNames   = []string{"off", "shadow", "enforce"}
	costNames   = []string{"least_load", "calibrated"}
)

// DefaultConfig returns SMG's defaults where SMG has the key.
func DefaultConfig() Config {
	return Config{
		Policy:            "least_load",
		LoadScore:         "v1",
		KVPressureWeight:  0.15,
		DefaultThroughput: 2000,
		MeanPrefillTokens: 1024,
		CacheMode:         "off",
		CacheCost:         "least_load",
		PrefillThroughput: 8000,
		KVEventMaxAge:     30,
		IndexBytes:        512 << 20,
		BalanceAbs:        64,
		BalanceRel:        1.5,
		PrefixTokens:      256,
		PrefixFactor:      1.25,
		PrefixAbs:         10,
		MaxIdleSecs:       14400,
		DecisionRing:      512,
	}
}

// Validate names every key whose value cannot be used, and what may stand there.
func (c Config) Validate() error {
	return errors.Join(
		oneOf("policy", c.Policy, policyNames),
		oneOf("least_load_score", c.LoadScore, scoreNames),
		oneOf("least_load_cache_mode", c.CacheMode, modeNames),
		oneOf("least_load_cache_cost", c.CacheCost, costNames),
		between("least_load_kv_pressure_weight", c.KVPressureWeight, 0, 1e6),
		between("least_load_default_throughput", c.DefaultThroughput, 1e-3, 1e9),
		between("least_load_mean_prefill_tokens", float64(c.MeanPrefillTokens), 1, 1e7),
		between("least_load_max_waiting_requests", float64(c.MaxWaiting), 0, 1e6),
		between("worker_overload_waiting_requests", float64(c.OverloadWaiting), 0, 1e6),
		between("worker_overload_token_usage", c.OverloadUsage, 0, 1),
		between("least_load_cache_prefill_throughput", c.PrefillThroughput, 1e-3, 1e9),
		between("least_load_mean_remaining_decode_tokens", float64(c.MeanDecodeTokens), 0, 1e7),
		between("load_max_age_secs", c.LoadMaxAgeSecs, 0, 86400),
		between("kv_event_max_age_secs", c.KVEventMaxAge, 0.1, 86400),
		between("prefix_index_bytes", float64(c.IndexBytes), 1<<20, 1<<40),
		between("balance_abs_threshold", float64(c.BalanceAbs), 0, 1e6),
		between("balance_rel_threshold", c.BalanceRel, 1, 1e6),
		between("prefix_token_count", float64(c.PrefixTokens), 1, 1e7),
		between("prefix_hash_load_factor", c.PrefixFactor, 1, 1e6),
		between("prefix_hash_balance_abs_threshold", float64(c.PrefixAbs), 0, 1e6),
		oneOf("assignment_mode", c.AssignmentMode, assignNames),
		between("max_idle_secs", c.MaxIdleSecs, 1, 1e9),
		between("decision_ring_size", float64(c.DecisionRing), 1, 1<<16),
	)
}

// loadMaxAge is how old a sample may be.
func (c *Config) loadMaxAge() time.Duration {
	return seconds(cmp.Or(c.LoadMaxAgeSecs, 3*c.PollSecs, 30))
}

func oneOf(key, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s: %q is not one of %s", key, value, strings.Join(allowed, ", "))
}

func between(key string, value, low, high float64) error {
	if !math.IsNaN(value) && value >= low && value <= high {
		return nil
	}
	return fmt.Errorf("%s: %v is not between %v and %v", key, value, low, high)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
