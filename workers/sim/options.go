package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"leeway/workers/engine"
)

// Servicer says which program between engine and network a worker imitates. They differ in what a stream's counters
// mean and in how much of the KV events they keep.
type Servicer string

// The servicers.
const (
	Python Servicer = "python" // the usual one: live events only, load records pushed
	Rust   Servicer = "rust"   // history, snapshots and resumption
	Bridge Servicer = "bridge" // older ones: events and nothing else, loads as sparse as they were
)

// Options says what worker to simulate. A zero value means the default that its help names.
type Options struct {
	Dialect       string        `flag:"dialect" help:"sglang, vllm or tokenspeed (default sglang)"`
	Servicer      string        `flag:"servicer" help:"which program to imitate: python, rust or bridge (default python)"`
	Host          string        `flag:"host" help:"address to listen on (default 127.0.0.1)"`
	Port          int           `flag:"port" help:"first port; 0 takes any (default 0)"`
	Count         int           `flag:"count" help:"workers, on consecutive ports (default 1)"`
	Model         string        `flag:"model" help:"name of the model (default demo)"`
	TokenizerPath string        `flag:"tokenizer-path" help:"directory of the tokenizer (default: the embedded one)"`
	Engine        string        `flag:"engine" help:"deployment whose pace to keep: L8B, Q32B, L70F4, L70F2 or L70H4 (default L8B)"`
	Speed         float64       `flag:"speed" help:"how much faster than life the engine runs (default 1)"`
	Canned        bool          `flag:"canned" help:"send tokens at a fixed rate, with no engine behind"`
	TokenInterval time.Duration `flag:"token-interval" help:"time between canned tokens (default 20ms)"`
	OutputTokens  int           `flag:"output-tokens" help:"canned tokens for a request that sets no maximum (default 128)"`
	Replies       string        `flag:"replies" help:"file of JSON lines {match, text}: what to answer to which prompt"`
	Faults        string        `flag:"faults" help:"file of JSON lines: what to do wrong, and when"`
	Journal       string        `flag:"journal" help:"file to record every request, abort and cancellation in"`
	BlockSize     int           `flag:"block-size" help:"tokens in a KV block (default 16)"`
	KVTokens      int           `flag:"kv-tokens" help:"tokens of KV memory (default: the deployment's)"`
	MaxRunning    int           `flag:"max-running" help:"requests computed at once (default 256)"`
	ContextLength int           `flag:"context-length" help:"tokens of prompt and answer (default 32768)"`
	Ranks         int           `flag:"ranks" help:"data-parallel ranks, each with an engine of its own (default 1)"`
	FirstSequence int           `flag:"first-sequence" help:"number of the first KV batch (default 0)"`
	History       int           `flag:"history" help:"KV batches that a rust servicer keeps (default 10000)"`
	NoKVEvents    bool          `flag:"no-kv-events" help:"have no KV events"`
	Fragile       bool          `flag:"fragile" help:"let a prompt that should be refused kill the engine core"`
	Defaults      string        `flag:"default-sampling" help:"JSON object: sampling defaults that the model is said to have"`
	HealthDelay   time.Duration `flag:"health-delay" help:"time that a health check takes (default 0)"`
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	set(&o.Dialect, string(engine.SGLang))
	set(&o.Servicer, string(Python))
	set(&o.Host, "127.0.0.1")
	set(&o.Count, 1)
	set(&o.Model, "demo")
	set(&o.Engine, deployments[0].Name)
	set(&o.Speed, 1)
	set(&o.TokenInterval, 20*time.Millisecond)
	set(&o.BlockSize, 16)
	set(&o.MaxRunning, 256)
	set(&o.OutputTokens, 128)
	set(&o.Ranks, 1)
	set(&o.History, 10_000)
	if d, ok := DeploymentNamed(o.Engine); ok {
		set(&o.KVTokens, d.KVTokens)
	}
	set(&o.ContextLength, 32768)
	o.ContextLength = min(o.ContextLength, max(o.KVTokens, 1))
	return o
}

// set fills a field that has no value.
func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate names every option that cannot be, after defaults.
func (o Options) Validate() error {
	o = o.withDefaults()
	var errs []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	dialects := []string{string(engine.SGLang), string(engine.VLLM), string(engine.TokenSpeed)}
	bad(!slices.Contains(dialects, o.Dialect), "dialect: %q is not one of sglang, vllm, tokenspeed", o.Dialect)
	servicers := []Servicer{Python, Rust, Bridge}
	bad(!slices.Contains(servicers, Servicer(o.Servicer)), "servicer: %q is not one of python, rust, bridge", o.Servicer)
	_, known := DeploymentNamed(o.Engine)
	bad(!known, "engine: %q is not one of L8B, Q32B, L70F4, L70F2, L70H4", o.Engine)
	bad(o.Port < 0 || o.Port > 65535, "port: %d is not between 0 and 65535", o.Port)
	bad(o.Count < 1 || o.Count > 1024, "count: %d is not between 1 and 1024", o.Count)
	bad(o.Port > 0 && o.Port+o.Count > 65536, "count: %d ports from %d on do not exist", o.Count, o.Port)
	bad(!(o.Speed > 0 && o.Speed <= 1e6), "speed: %v is not above 0 and at most 1e6", o.Speed)
	bad(o.TokenInterval <= 0, "token-interval: %v is not above 0", o.TokenInterval)
	bad(o.BlockSize < 1 || o.BlockSize > 4096, "block-size: %d is not between 1 and 4096", o.BlockSize)
	bad(known && o.KVTokens < o.BlockSize, "kv-tokens: %d is less than one block of %d", o.KVTokens, o.BlockSize)
	bad(o.KVTokens > 1<<28, "kv-tokens: %d is more than %d", o.KVTokens, 1<<28)
	bad(known && o.ContextLength < 2, "context-length: %d is less than 2", o.ContextLength)
	bad(o.OutputTokens < 1, "output-tokens: %d is less than 1", o.OutputTokens)
	bad(o.MaxRunning < 1, "max-running: %d is less than 1", o.MaxRunning)
	bad(o.Ranks < 1 || o.Ranks > 64, "ranks: %d is not between 1 and 64", o.Ranks)
	bad(o.History < 1, "history: %d is less than 1", o.History)
	bad(o.FirstSequence < 0, "first-sequence: %d is negative", o.FirstSequence)
	bad(o.HealthDelay < 0, "health-delay: %v is negative", o.HealthDelay)
	return errors.Join(errs...)
}

func (o Options) dialect() engine.Dialect { return engine.Dialect(o.Dialect) }
func (o Options) servicer() Servicer      { return Servicer(o.Servicer) }
