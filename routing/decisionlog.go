package routing

import (
	"encoding/json"
	"fmt"
	"slices"
)

// LogVersion is the version of the decision log's lines. A reader refuses others.
const LogVersion = 1

// Record is a line of the decision log: a receipt and the settings that it came of. It is all that a replay needs.
type Record struct {
	Version  int      `json:"v"`
	Settings Settings `json:"settings"`
	Receipt  Receipt  `json:"receipt"`
}

// Settings is what a decision depends on besides what it saw.
type Settings struct {
	Mode              Mode    `json:"mode"`
	Score             string  `json:"score"`
	Cost              string  `json:"cost"`
	KVPressureWeight  float64 `json:"kv_pressure_weight"`
	DefaultThroughput float64 `json:"default_throughput"`
	MeanPrefillTokens int     `json:"mean_prefill_tokens"`
	MaxWaiting        int     `json:"max_waiting_requests"`
	EstimateQueue     bool    `json:"estimate_queue"`
	PrefillThroughput float64 `json:"prefill_throughput"`
	Unmonitored       bool    `json:"unmonitored,omitempty"`
}

// Settings returns the router's.
func (r *Router) Settings() Settings {
	c := &r.cfg
	return Settings{
		Mode: r.Mode(), Score: c.LoadScore, Cost: c.CacheCost, KVPressureWeight: c.KVPressureWeight,
		DefaultThroughput: c.DefaultThroughput, MeanPrefillTokens: c.MeanPrefillTokens, MaxWaiting: c.MaxWaiting,
		EstimateQueue: c.EstimateQueue, PrefillThroughput: c.PrefillThroughput, Unmonitored: c.Unmonitored,
	}
}

// AppendRecord appends the receipt's line of the decision log, newline included.
func (r *Router) AppendRecord(dst []byte, receipt Receipt) ([]byte, error) {
	s := r.Settings()
	s.Mode = receipt.Mode
	line, err := json.Marshal(Record{Version: LogVersion, Settings: s, Receipt: receipt})
	if err != nil {
		return dst, fmt.Errorf("decision log: %w", err)
	}
	return append(append(dst, line...), '\n'), nil
}

// ParseRecord reads a line of the decision log.
func ParseRecord(line []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("decision log: %w", err)
	}
	if r.Version != LogVersion {
		return r, fmt.Errorf("decision log: version %d; this program reads version %d", r.Version, LogVersion)
	}
	return r, nil
}

// Replay decides the record's request again. A worker whose prefill had not been measured has the rate that is configured.
func (r Record) Replay(s Settings) (Receipt, error) {
	receipt := r.Receipt
	receipt.Candidates = slices.Clone(receipt.Candidates)
	for i := range receipt.Candidates {
		if x := &receipt.Candidates[i]; x.PrefillRate == r.Settings.PrefillThroughput {
			x.PrefillRate = s.PrefillThroughput
		}
	}
	return Replay(receipt, s)
}

// Replay decides again what was decided, perhaps under other settings, and returns the receipt that would have been
// written. Each decision is replayed for itself: accounts are as recorded, not as other choices before would have
// made them. A tie goes to the recorded choice.
func Replay(r Receipt, s Settings) (Receipt, error) {
	cfg := DefaultConfig()
	cfg.Seed = 1
	cfg.LoadScore, cfg.CacheCost, cfg.CacheMode = s.Score, s.Cost, s.Mode.String()
	cfg.KVPressureWeight, cfg.DefaultThroughput = s.KVPressureWeight, s.DefaultThroughput
	cfg.MeanPrefillTokens, cfg.MaxWaiting = s.MeanPrefillTokens, s.MaxWaiting
	cfg.EstimateQueue, cfg.PrefillThroughput, cfg.Unmonitored = s.EstimateQueue, s.PrefillThroughput, s.Unmonitored
	router, err := New(cfg)
	if err != nil {
		return Receipt{}, fmt.Errorf("replay: %w", err)
	}
	d := &decision{router: router, mode: s.Mode, scorer: router.scorer, tokens: r.PromptTokens, pool: &pool{names: r.Workers}}
	d.candidates = slices.Clone(r.Candidates)
	d.recorded.base, d.recorded.against, d.recorded.preferred = r.Base, r.Against, r.Preferred
	d.pinned, d.movedFrom = r.Pinned, r.MovedFrom
	d.asked = s.Mode != Off && r.Result != Ineligible && r.Result != NotAsked
	switch {
	case s.Mode == Off:
		d.preference.result = NotAsked
	case !d.asked:
		d.preference.result, d.preference.reasons, d.preference.barred = r.Result, r.Reasons, r.Ineligible
	}
	for i := range d.candidates {
		x := &d.candidates[i]
		x.Cost, x.Saving, x.Net, x.Reasons = 0, 0, 0, 0
		d.scorer.form.terms(&router.cfg, x)
	}
	base := d.scorer.choose(d)
	if r.Pinned {
		base = slices.Index(r.Workers, r.Base)
	}
	if base < 0 {
		return Receipt{}, fmt.Errorf("replay of %q: %w", r.ID, ErrSaturated)
	}
	d.prefer(base)
	d.describe(&r, base)
	return r, nil
}

// describe writes what was concluded into a receipt.
func (d *decision) describe(r *Receipt, base int) {
	p := &d.preference
	r.Policy, r.Mode, r.Cost = d.router.cfg.Policy, d.mode, d.router.cfg.CacheCost
	r.Workers, r.Candidates = d.names, d.candidates
	r.Base, r.Preferred = d.names[base], d.names[p.preferred]
	r.Against, r.Pinned, r.MovedFrom = d.names[p.against], d.pinned, d.movedFrom
	r.Result, r.Reasons, r.Ineligible, r.Saving, r.Slack = p.result, p.reasons, p.barred, p.saving, p.slack
	if r.Chosen = r.Base; d.mode == Enforce {
		r.Chosen = r.Preferred
	}
}
