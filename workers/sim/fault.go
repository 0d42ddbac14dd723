package sim

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
)

// FaultKind names something that a worker can do wrong. The package comment says what each one does.
type FaultKind string

// What can go wrong in an answer, in any call, in loads and in KV events.
const (
	FaultDelay      FaultKind = "delay"
	FaultTokenDelay FaultKind = "token_delay"
	FaultStall      FaultKind = "stall"
	FaultError      FaultKind = "error"
	FaultReset      FaultKind = "reset"
	FaultEnd        FaultKind = "end"
	FaultFinish     FaultKind = "finish"
	FaultChunk      FaultKind = "chunk"
	FaultNoUsage    FaultKind = "no_usage"
	FaultDeaf       FaultKind = "ignore_abort"
	FaultLinger     FaultKind = "linger"
	FaultKillCore   FaultKind = "kill_core"
	FaultRestart    FaultKind = "restart"

	FaultUnimplemented FaultKind = "unimplemented"
	FaultUnhealthy     FaultKind = "unhealthy"
	FaultNotServing    FaultKind = "not_serving"
	FaultNoLoads       FaultKind = "no_loads"
	FaultStaleLoads    FaultKind = "stale_loads"
	FaultLoads         FaultKind = "loads"
	FaultRankCount     FaultKind = "rank_count"
	FaultRanks         FaultKind = "ranks"

	FaultKVDrop      FaultKind = "kv_drop"
	FaultKVDuplicate FaultKind = "kv_duplicate"
	FaultKVReorder   FaultKind = "kv_reorder"
	FaultKVGap       FaultKind = "kv_gap"
	FaultKVSilent    FaultKind = "kv_silent"
	FaultKVEnd       FaultKind = "kv_end"
	FaultKVBlockSize FaultKind = "kv_block_size"
	FaultKVDelay     FaultKind = "kv_delay"
	FaultKVFields    FaultKind = "kv_fields"
	FaultNoHeartbeat FaultKind = "no_heartbeat"
	FaultNoRecord    FaultKind = "no_load_record"
	FaultSnapshotCut FaultKind = "snapshot_cut"
	FaultUnknown     FaultKind = "snapshot_unknown"
)

// faultKinds lists them all: read-only.
var faultKinds = []FaultKind{
	FaultDelay, FaultTokenDelay, FaultStall, FaultError, FaultReset, FaultEnd, FaultFinish, FaultChunk,
	FaultNoUsage, FaultDeaf, FaultLinger, FaultKillCore, FaultRestart, FaultUnimplemented, FaultUnhealthy,
	FaultNotServing, FaultNoLoads, FaultStaleLoads, FaultLoads, FaultRankCount, FaultRanks, FaultKVDrop, FaultKVDuplicate, FaultKVReorder,
	FaultKVGap, FaultKVSilent, FaultKVEnd, FaultKVBlockSize, FaultKVDelay, FaultKVFields,
	FaultNoHeartbeat, FaultNoRecord, FaultSnapshotCut, FaultUnknown,
}

// Fault is something to do wrong, and when.
type Fault struct {
	Kind FaultKind `json:"kind"`

	Method   string `json:"method,omitempty"`   // the call that delay, stall, error and unimplemented are about; Generate
	Contains string `json:"contains,omitempty"` // only requests whose prompt text contains it
	Nth      int    `json:"nth,omitempty"`      // only the nth that matches, from 1
	Every    int    `json:"every,omitempty"`    // only every so manieth that matches
	Times    int    `json:"times,omitempty"`    // so often at most

	After   int      `json:"after,omitempty"`   // tokens, batches or chunks that pass before
	For     Duration `json:"for,omitempty"`     // delay, token_delay, stall; a stall without it lasts
	Code    string   `json:"code,omitempty"`    // a gRPC code by name: UNAVAILABLE
	Message string   `json:"message,omitempty"` //
	Reason  string   `json:"reason,omitempty"`  // finish
	N       int      `json:"n,omitempty"`       // chunk, kv_gap, kv_block_size, rank_count, ranks
	Set     Fields   `json:"set,omitempty"`     // loads, kv_fields
	KeepSeq bool     `json:"keep_sequence,omitempty"`
}

// Fields overrides fields of a message by their protobuf names. Numbers are text, so that NaN, +Inf and negatives can
// be said.
type Fields map[string]string

// Duration is a time.Duration that JSON writes as "250ms".
type Duration time.Duration

// MarshalText writes the duration as time.Duration prints it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// ParseFaults reads JSON lines, one fault each; blank lines and lines that begin with # are skipped.
func ParseFaults(r io.Reader) ([]Fault, error) { return parseLines(r, "faults", Fault.validate) }

// validate names the field that cannot be.
func (f Fault) validate() error {
	if !slices.Contains(faultKinds, f.Kind) {
		return fmt.Errorf("kind: %q is no fault", f.Kind)
	}
	if f.Nth < 0 || f.Every < 0 || f.Times < 0 || f.After < 0 || f.For < 0 {
		return errors.New("nth, every, times, after and for: none may be negative")
	}
	if f.Code != "" {
		if _, err := parseCode(f.Code); err != nil {
			return err
		}
	}
	for field, text := range f.Set {
		if _, err := strconv.ParseFloat(text, 64); err != nil && f.Kind == FaultLoads {
			return fmt.Errorf("set: %s: %q is not a number", field, text)
		}
	}
	return nil
}

// parseCode reads a gRPC code by its name, in either case.
func parseCode(name string) (codes.Code, error) {
	var c codes.Code
	if err := c.UnmarshalJSON([]byte(strconv.Quote(strings.ToUpper(name)))); err != nil {
		return codes.Unknown, fmt.Errorf("code: %q is not a gRPC code name such as UNAVAILABLE", name)
	}
	return c, nil
}

// code is the fault's code, or the one that goes without saying.
func (f Fault) code(otherwise codes.Code) codes.Code {
	if f.Code == "" {
		return otherwise
	}
	c, _ := parseCode(f.Code)
	return c
}

// method is the call that the fault is about.
func (f Fault) method() string {
	if f.Method == "" {
		return "Generate"
	}
	return f.Method
}

// faults holds what a worker is to do wrong and counts what has matched.
type faults struct {
	mu   sync.Mutex
	list []installed
}

// installed is a fault with its count.
type installed struct {
	Fault
	seen, fired int
}

// set replaces every fault; counting starts anew.
func (fs *faults) set(list []Fault) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.list = fs.list[:0]
	for _, f := range list {
		fs.list = append(fs.list, installed{Fault: f})
	}
}

// fire returns the faults that strike now: those that match, in their number and measure.
func (fs *faults) fire(match func(Fault) bool) []Fault {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	var struck []Fault
	for i := range fs.list {
		f := &fs.list[i]
		if !match(f.Fault) {
			continue
		}
		f.seen++
		if f.Nth > 0 && f.seen != f.Nth || f.Every > 0 && f.seen%f.Every != 0 || f.Times > 0 && f.fired >= f.Times {
			continue
		}
		f.fired++
		struck = append(struck, f.Fault)
	}
	return struck
}

// one returns the first fault of a kind that strikes now.
func (fs *faults) one(kind FaultKind) (Fault, bool) {
	if struck := fs.fire(func(f Fault) bool { return f.Kind == kind }); len(struck) > 0 {
		return struck[0], true
	}
	return Fault{}, false
}

// on says whether a fault of a kind strikes now.
func (fs *faults) on(kind FaultKind) bool {
	_, ok := fs.one(kind)
	return ok
}
