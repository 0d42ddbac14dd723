package routing

import (
	"encoding/json"
	"math/bits"
)

// Result says how much of the fleet a preference could weigh.
type Result uint8

// The results. Nothing but the base choice comes of the first three.
const (
	NotAsked   Result = iota // the mode is off, or the policy is another
	Ineligible               // this request's cache cannot be foreseen
	Fallback                 // no candidate could be weighed
	Partial                  // some candidates have no certificate
	Complete                 // all have
)

var resultNames = []string{"off", "ineligible", "fallback", "partial", "complete"}

func (r Result) String() string { return resultNames[min(int(r), len(resultNames)-1)] }

// MarshalText writes the result's word.
func (r Result) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads it.
func (r *Result) UnmarshalText(text []byte) error {
	for i, name := range resultNames {
		if name == string(text) {
			*r = Result(i)
		}
	}
	return nil
}

// Reason is why a worker, or all, got no credit. The set is closed: reasons are metric labels.
type Reason uint8

// The reasons, as SMG names them, and three that are new.
const (
	InsufficientWorkers Reason = iota
	MissingPromptTokens
	UnsupportedTopology
	MonitorUnavailable
	BlockSizeUnavailable
	IndexerUnavailable
	NoContentBlocks
	NoCertifiedStreams
	StaleKV
	MissingLoad
	NoPrefix
	StaleLoad
	IneligibleRequest
	ScorerError
)

var reasonNames = []string{
	"insufficient_workers", "missing_prompt_tokens", "unsupported_topology", "monitor_unavailable",
	"block_size_unavailable", "indexer_unavailable", "no_content_blocks", "no_certified_streams", "stale_kv",
	"missing_load", "no_prefix", "stale_load", "ineligible", "scorer_error",
}

func (r Reason) String() string { return reasonNames[min(int(r), len(reasonNames)-1)] }

// only returns the set of one reason.
func (r Reason) only() Reasons { return 1 << r }

// Reasons is a set of reasons.
type Reasons uint32

// Each calls visit for every reason in the set.
func (s Reasons) Each(visit func(Reason)) {
	for ; s != 0; s &= s - 1 {
		visit(Reason(bits.TrailingZeros32(uint32(s))))
	}
}

// Names returns the reasons' words; never nil.
func (s Reasons) Names() []string {
	names := []string{}
	s.Each(func(r Reason) { names = append(names, r.String()) })
	return names
}

// MarshalJSON writes the words as a list.
func (s Reasons) MarshalJSON() ([]byte, error) { return json.Marshal(s.Names()) }

// UnmarshalJSON reads such a list; words that it does not know are dropped.
func (s *Reasons) UnmarshalJSON(text []byte) error {
	var names []string
	if err := json.Unmarshal(text, &names); err != nil {
		return err
	}
	*s = 0
	for _, name := range names {
		for i, known := range reasonNames {
			if name == known {
				*s |= Reason(i).only()
			}
		}
	}
	return nil
}
