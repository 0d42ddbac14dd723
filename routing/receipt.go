package routing

import (
	"encoding/json"
	"slices"
	"time"

	"leeway/routing/prefix"
)

// Receipt says why a request went where it went: everything that the decision saw, what it concluded, and, once the
// answer has ended, what came of it. Seconds and tokens throughout.
type Receipt struct {
	ID           string    `json:"id"`
	At           time.Time `json:"at"`
	Model        string    `json:"model"`
	PromptTokens int       `json:"prompt_tokens"`
	Policy       string    `json:"policy"`
	Mode         Mode      `json:"mode"`
	Base         string    `json:"base"` // the base policy's choice
	// Against is the choice that the preference was weighed against: Base, or in shadow what the base choice would be
	// had the preference been enforced all along.
	Against   string `json:"against"`
	Preferred string `json:"preferred"` // the choice with the preference; Base where none was computed
	Chosen    string `json:"chosen"`
	Pinned    bool   `json:"pinned,omitempty"` // Base is where the request's routing key belongs
	// Tried is where the request has failed already: those are avoided while another is left.
	Tried []string `json:"tried,omitempty"`
	// MovedFrom is where the request's routing key belonged until now: a worker that cannot take it.
	MovedFrom string  `json:"moved_from,omitempty"`
	Cost      string  `json:"cost"`
	Result    Result  `json:"result"`
	Reasons   Reasons `json:"reasons"`
	// Ineligible is what about the request the preference is not for: its endpoint, stream or n, an adapter or salt, the
	// session that settles its worker, or the fleet's topology. "" unless that is the result.
	Ineligible string  `json:"ineligible,omitempty"`
	Saving     float64 `json:"saving"` // at the preferred worker
	Slack      float64 `json:"slack"`  // what Preferred saves more than Against, beyond what it costs more; never negative
	// Workers names the candidates, in their order. In JSON each candidate has its name instead.
	Workers    []string    `json:"-"`
	Candidates []Candidate `json:"-"`
	Outcome    *Outcome    `json:"outcome,omitempty"`
}

// Candidate returns what the decision knew of a worker, if it was one of the candidates.
func (r *Receipt) Candidate(worker string) (x Candidate, ok bool) {
	if i := slices.Index(r.Workers, worker); i >= 0 {
		return r.Candidates[i], true
	}
	return Candidate{}, false
}

// named is a candidate as JSON has it.
type named struct {
	Worker string `json:"worker"`
	Candidate
}

// receiptFields are a receipt's own, without its methods.
type receiptFields Receipt

type receiptJSON struct {
	receiptFields
	Candidates []named `json:"candidates"`
}

// MarshalJSON writes the receipt with its candidates' names.
func (r Receipt) MarshalJSON() ([]byte, error) {
	out := receiptJSON{receiptFields: receiptFields(r), Candidates: make([]named, len(r.Candidates))}
	for i := range r.Candidates {
		out.Candidates[i] = named{r.Workers[i], r.Candidates[i]}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Receipt) UnmarshalJSON(text []byte) error {
	var in receiptJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*r = Receipt(in.receiptFields)
	for i := range in.Candidates {
		r.Workers = append(r.Workers, in.Candidates[i].Worker)
		r.Candidates = append(r.Candidates, in.Candidates[i].Candidate)
	}
	return nil
}

// Candidate is what a decision knew of one worker and what it made of it. It holds no pointers, so that the thousands
// of them that are kept cost the garbage collector nothing.
type Candidate struct {
	// The load sample in use. Unsampled: there is none that may be used, and the other fields are zero.
	Sampled     bool    `json:"sampled"`
	Running     int32   `json:"running"`
	Waiting     int32   `json:"waiting"`
	Uncached    int64   `json:"waiting_uncached"`
	SampleAge   float64 `json:"sample_age"`
	Throughput  float64 `json:"throughput"` // as reported, 0: not reported
	Usage       float64 `json:"usage"`
	ActiveUsage float64 `json:"active_usage"`

	// The score's terms Q, T and k as taken from it, and the worker's accounts with this gateway.
	Queue    float64 `json:"queue"`
	Rate     float64 `json:"rate"`
	Pressure float64 `json:"pressure"`
	Ledger   Account `json:"ledger"`
	Shadow   Account `json:"shadow"`
	InFlight int32   `json:"in_flight"`

	// What it can prove to hold, and what follows: Net is Cost less Saving.
	Certificate   prefix.Word `json:"certificate"`
	BlockSize     int32       `json:"block_size"`
	Cached        int32       `json:"cached"`
	Reasons       Reasons     `json:"reasons,omitempty"` // why it was given no credit, besides its certificate
	OthersBacklog int64       `json:"others_backlog"`    // tokens waiting there that this gateway did not send
	PrefillRate   float64     `json:"prefill_rate"`      // tokens a second, learnt
	Overdue       float64     `json:"overdue,omitempty"` // seconds that this gateway's oldest request waits there for more than prefill
	Cost          float64     `json:"cost"`
	Saving        float64     `json:"saving"`
	Net           float64     `json:"net"`
}

// Account is what has been sent to a worker since its sample was taken, and the score that follows.
type Account struct {
	Tokens   int64   `json:"sent_tokens"`
	Backlog  int64   `json:"backlog"` // tokens to be computed and not answered by a first token yet, whenever sent
	Score    float64 `json:"score"`
	Requests int32   `json:"sent_requests"`
	Full     bool    `json:"full,omitempty"` // vetoed: its queue has reached the cap
}

// Outcome is how a request ended.
type Outcome struct {
	PromptTokens     int     `json:"prompt_tokens"` // as the engine counts; 0: not reported
	CachedTokens     int     `json:"cached_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	Queue            float64 `json:"queue,omitempty"` // seconds before its prefill began, where the engine says so
	FirstToken       float64 `json:"first_token"`     // seconds from the choice; 0: there was none
	Duration         float64 `json:"duration"`
	Error            string  `json:"error,omitempty"` // "" is success; a word, not a message
}

// Mode is what the cache preference may do.
type Mode uint8

// The modes.
const (
	Off     Mode = iota // the base policy alone
	Shadow              // the base policy decides, the preference is computed and counted
	Enforce             // the preference decides
)

func (m Mode) String() string { return modeNames[min(int(m), len(modeNames)-1)] }

// MarshalText writes the mode as config.toml does.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMode(string(text))
	return err
}

// ParseMode reads off, shadow or enforce.
func ParseMode(s string) (Mode, error) {
	for i, name := range modeNames {
		if s == name {
			return Mode(i), nil
		}
	}
	return Off, oneOf("least_load_cache_mode", s, modeNames)
}
