package workers

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"leeway/workers/engine"
	"leeway/workers/wire"
)

// Config is the [workers] table of config.toml. Keys that SMG has are SMG's, with its meanings.
type Config struct {
	// URLs lists the workers: grpc://host:port or grpcs://host:port, each perhaps followed by ?runtime=vllm&model=NAME.
	URLs    []string `toml:"worker_urls" flag:"worker-urls"`
	Backend string   `toml:"backend" flag:"backend,runtime"`
	DPAware bool     `toml:"dp_aware" flag:"dp-aware"`

	LoadInterval       float64 `toml:"load_monitor_interval_secs" flag:"load-monitor-interval"`
	DisableLoads       bool    `toml:"disable_load_monitoring" flag:"disable-load-monitoring"`
	HealthInterval     float64 `toml:"health_check_interval_secs" flag:"health-check-interval-secs"`
	HealthTimeout      float64 `toml:"health_check_timeout_secs" flag:"health-check-timeout-secs"`
	FailureThreshold   int     `toml:"health_failure_threshold" flag:"health-failure-threshold"`
	SuccessThreshold   int     `toml:"health_success_threshold" flag:"health-success-threshold"`
	DisableHealthCheck bool    `toml:"disable_health_check" flag:"disable-health-check"`
	StallTime          float64 `toml:"worker_stall_secs" flag:"worker-stall-secs"`
	WedgeTime          float64 `toml:"worker_wedge_secs" flag:"worker-wedge-secs"`
	StaleTime          float64 `toml:"worker_stale_secs" flag:"worker-stale-secs"`

	BreakerFailures  int     `toml:"cb_failure_threshold" flag:"cb-failure-threshold"`
	BreakerSuccesses int     `toml:"cb_success_threshold" flag:"cb-success-threshold"`
	BreakerTimeout   float64 `toml:"cb_timeout_duration_secs" flag:"cb-timeout-duration-secs"`
	// BreakerWindow changes nothing: only failures in a row count, however long that takes.
	BreakerWindow  float64 `toml:"cb_window_duration_secs" flag:"cb-window-duration-secs"`
	DisableBreaker bool    `toml:"disable_circuit_breaker" flag:"disable-circuit-breaker"`

	DiscoveryFile     string  `toml:"discovery_file" flag:"discovery-file"`
	DiscoveryInterval float64 `toml:"discovery_check_interval_secs" flag:"discovery-check-interval-secs"`
}

// DefaultConfig returns SMG's defaults.
func DefaultConfig() Config {
	return Config{
		LoadInterval:      10,
		HealthInterval:    60,
		HealthTimeout:     5,
		FailureThreshold:  3,
		SuccessThreshold:  2,
		StallTime:         2,
		WedgeTime:         3,
		StaleTime:         15,
		BreakerFailures:   10,
		BreakerSuccesses:  3,
		BreakerTimeout:    60,
		BreakerWindow:     120,
		DiscoveryInterval: 30,
	}
}

// Validate names every key whose value cannot be used, and what may stand there.
func (c Config) Validate() error {
	errs := []error{
		between("load_monitor_interval_secs", c.LoadInterval, 0.05, 86400),
		between("health_check_interval_secs", c.HealthInterval, 0.05, 86400),
		between("health_check_timeout_secs", c.HealthTimeout, 0.05, 3600),
		between("health_failure_threshold", float64(c.FailureThreshold), 1, 1000),
		between("health_success_threshold", float64(c.SuccessThreshold), 1, 1000),
		between("worker_stall_secs", c.StallTime, 0, 3600),
		between("worker_wedge_secs", c.WedgeTime, 0, 3600),
		between("worker_stale_secs", c.StaleTime, 0, 3600),
		between("cb_failure_threshold", float64(c.BreakerFailures), 1, 1e6),
		between("cb_success_threshold", float64(c.BreakerSuccesses), 1, 1e6),
		between("cb_timeout_duration_secs", c.BreakerTimeout, 0, 86400),
		between("cb_window_duration_secs", c.BreakerWindow, 0, 86400),
		between("discovery_check_interval_secs", c.DiscoveryInterval, 0.1, 86400),
	}
	if _, err := parseDialect(c.Backend); err != nil {
		errs = append(errs, fmt.Errorf("backend: %w", err))
	}
	_, err := c.specs()
	return errors.Join(append(errs, err)...)
}

// specs reads the static list.
func (c Config) specs() ([]Spec, error) {
	var specs []Spec
	var errs []error
	for _, address := range c.URLs {
		spec, err := ParseSpec(address)
		if err == nil && slices.ContainsFunc(specs, func(s Spec) bool { return s.URL == spec.URL }) {
			err = fmt.Errorf("%q stands in the list twice", spec.URL)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("worker_urls: %w", err))
			continue
		}
		specs = append(specs, spec)
	}
	return specs, errors.Join(errs...)
}

// Spec is what is asked of a worker before anything is known of it. Only URL is required.
type Spec struct {
	URL     string
	Dialect engine.Dialect // "": found out by probing
	Model   string         // "": the name that the worker gives
	Role    string         // "", "regular", "prefill" or "decode"
	// Instance tells apart workers that hold the same address one after the other.
	Instance string
	Labels   map[string]string
	Priority int     // 0 is 50
	Cost     float64 // 0 is 1
}

// ParseSpec reads a worker's address, with ?runtime= and ?model= where the worker is not to be asked for them.
func ParseSpec(address string) (Spec, error) {
	base, query, _ := strings.Cut(address, "?")
	spec := Spec{URL: strings.TrimSuffix(base, "/")}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Spec{}, fmt.Errorf("worker address %q: %w", address, err)
	}
	for key := range values {
		switch key {
		case "runtime":
			if spec.Dialect, err = parseDialect(values.Get(key)); err != nil {
				return Spec{}, fmt.Errorf("worker address %q: %w", address, err)
			}
		case "model":
			spec.Model = values.Get(key)
		default:
			return Spec{}, fmt.Errorf("worker address %q: %q is not one of runtime, model", address, key)
		}
	}
	return spec, spec.check()
}

// check says what is wrong with a spec, wherever it comes from: config, REST or a file.
func (s Spec) check() error {
	if strings.Contains(s.URL, "@") {
		return fmt.Errorf("worker address %q: a rank is not part of an address", s.URL)
	}
	if err := wire.CheckAddress(s.URL); err != nil {
		return err
	}
	if !slices.Contains([]string{"", "regular", "prefill", "decode"}, s.Role) {
		return fmt.Errorf("worker %s: type %q is not one of regular, prefill, decode", s.URL, s.Role)
	}
	_, err := parseDialect(string(s.Dialect))
	return err
}

// parseDialect reads a runtime's name as SMG writes it; "" means that the worker is to be probed.
func parseDialect(name string) (engine.Dialect, error) {
	switch d := engine.Dialect(strings.ToLower(name)); d {
	case "", "unspecified", "none":
		return "", nil
	case engine.SGLang, engine.VLLM, engine.TokenSpeed:
		return d, nil
	}
	return "", fmt.Errorf("%q is not one of sglang, vllm, tokenspeed", name)
}

func between(key string, value, low, high float64) error {
	if !math.IsNaN(value) && value >= low && value <= high {
		return nil
	}
	return fmt.Errorf("%s: %v is not between %v and %v", key, value, low, high)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
