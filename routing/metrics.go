package routing

import (
	"fmt"
	"io"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"leeway/routing/prefix"
)

// maxModelLabels bounds the models that metrics tell apart; the rest are counted as "other".
const maxModelLabels = 1024

// savingsBuckets are the upper bounds of histograms of saved seconds.
var savingsBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// meters counts decisions. Labels come from closed sets: modes, the fleet's models, results and reasons. The
// router's lock guards it.
type meters struct {
	set        *metrics.Set
	models     map[string]*modelMeters
	violations *metrics.Counter
	shed       *metrics.Counter // requests refused because every worker was overloaded
	// overloadFallback counts requests that were served all the same.
	overloadFallback *metrics.Counter
}

// modelMeters are one model's meters, made when first counted.
type modelMeters struct {
	label     string
	decisions map[decisionLabels]*metrics.Counter
	skips     map[skipLabels]*metrics.Counter
	savings   map[Mode]*metrics.PrometheusHistogram
	regret    *metrics.PrometheusHistogram
}

type decisionLabels struct {
	mode    Mode
	result  Result
	changed bool
}

type skipLabels struct {
	mode   Mode
	reason Reason
}

func newMeters() meters {
	set := metrics.NewSet()
	return meters{
		set: set, models: map[string]*modelMeters{}, violations: set.NewCounter("leeway_bound_violations_total"),
		shed:             set.NewCounter(`smg_worker_overload_shed_total{stage="selection"}`),
		overloadFallback: set.NewCounter("smg_worker_overload_fallback_total"),
	}
}

func (m *meters) model(name string) *modelMeters {
	if len(m.models) >= maxModelLabels && m.models[name] == nil {
		name = "other"
	}
	mm := m.models[name]
	if mm == nil {
		mm = &modelMeters{
			label: name, decisions: map[decisionLabels]*metrics.Counter{}, skips: map[skipLabels]*metrics.Counter{},
			savings: map[Mode]*metrics.PrometheusHistogram{},
			regret:  m.set.GetOrCreatePrometheusHistogramExt(fmt.Sprintf("leeway_shadow_regret_seconds{model=%q}", name), savingsBuckets),
		}
		m.models[name] = mm
	}
	return mm
}

// count counts a decision for which a preference was asked. A reason counts once, whatever the number of workers.
func (m *meters) count(d *decision, r *Receipt) {
	if r.Result == NotAsked {
		return
	}
	mm := m.model(r.Model)
	r.Reasons.Each(func(reason Reason) { mm.skip(m.set, r.Mode, reason) })
	if r.Result == Ineligible {
		mm.skip(m.set, r.Mode, IneligibleRequest)
		return
	}
	mm.decision(m.set, decisionLabels{r.Mode, r.Result, r.Preferred != r.Against})
	if r.Result == Fallback {
		return
	}
	mm.saving(m.set, r.Mode).Update(r.Saving)
	if r.Mode == Shadow {
		mm.regret.Update(r.Slack)
	}
	o, b := &d.candidates[d.preference.preferred], &d.candidates[d.preference.against]
	if o != b && o.Saving-b.Saving <= o.Cost-b.Cost {
		m.violations.Inc()
	}
}

func (mm *modelMeters) decision(set *metrics.Set, l decisionLabels) {
	c := mm.decisions[l]
	if c == nil {
		c = set.GetOrCreateCounter(fmt.Sprintf(`smg_least_load_cache_credit_decisions_total{mode="%s",model=%q,result="%s",changed="%t"}`,
			l.mode, mm.label, l.result, l.changed))
		mm.decisions[l] = c
	}
	c.Inc()
}

func (mm *modelMeters) skip(set *metrics.Set, mode Mode, reason Reason) {
	l := skipLabels{mode, reason}
	c := mm.skips[l]
	if c == nil {
		c = set.GetOrCreateCounter(fmt.Sprintf(`smg_least_load_cache_credit_skips_total{mode="%s",model=%q,reason="%s"}`, mode, mm.label, reason))
		mm.skips[l] = c
	}
	c.Inc()
}

func (mm *modelMeters) saving(set *metrics.Set, mode Mode) *metrics.PrometheusHistogram {
	h := mm.savings[mode]
	if h == nil {
		h = set.GetOrCreatePrometheusHistogramExt(
			fmt.Sprintf(`smg_least_load_cache_savings_seconds{mode="%s",model=%q}`, mode, mm.label), savingsBuckets)
		mm.savings[mode] = h
	}
	return h
}

// WriteMetrics writes all of this package's metrics in Prometheus' text format, gauges as they are at a moment.
func (r *Router) WriteMetrics(w io.Writer, now time.Time) {
	r.meters.set.WritePrometheus(w)
	moment := metrics.NewSet()
	for _, s := range r.index.Stats(now) {
		gaugeCache(moment, &s)
	}
	r.gaugeWorkers(moment, now)
	moment.WritePrometheus(w)
}

// gaugeCache adds what is known of a worker's cache.
func gaugeCache(moment *metrics.Set, s *prefix.Stats) {
	gauge(moment, "leeway_kv_certificate", "worker", s.Worker, flag(s.Certified))
	gauge(moment, "leeway_kv_silent", "worker", s.Worker, flag(s.Silent))
	gauge(moment, "leeway_kv_index_blocks", "worker", s.Worker, float64(s.Blocks))
	gauge(moment, "leeway_kv_index_bytes", "worker", s.Worker, float64(s.Bytes))
	gauge(moment, "leeway_kv_event_lag_seconds", "worker", s.Worker, s.Lag.Seconds())
	for reason, n := range s.Losses {
		if n > 0 {
			moment.GetOrCreateCounter(fmt.Sprintf("leeway_kv_certificate_losses_total{worker=%q,reason=%q}", s.Worker, prefix.Word(reason))).Set(n)
		}
	}
	for found, n := range s.Audits {
		moment.GetOrCreateCounter(fmt.Sprintf("leeway_kv_claims_audited_total{worker=%q,result=%q}", s.Worker, prefix.Finding(found))).Set(n)
	}
}

// gaugeWorkers adds how old each worker's load is, and how fast it was seen to compute prompts.
func (r *Router) gaugeWorkers(moment *metrics.Set, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fleet := r.fleet.Load()
	for model, p := range fleet.models {
		overloaded := 0
		for _, s := range p.seats {
			if prefix.Nanos(now) < s.overloaded.Load() {
				overloaded++
			}
		}
		gauge(moment, "smg_workers_overloaded", "model", model, float64(overloaded))
	}
	for id, s := range fleet.byID {
		if s.sample.usable {
			gauge(moment, "leeway_load_sample_age_seconds", "worker", id, time.Duration(prefix.Nanos(now)-s.sample.taken).Seconds())
		}
		gauge(moment, "leeway_prefill_rate_tokens", "worker", id, s.rate.tokens(r.cfg.PrefillThroughput))
	}
}

func gauge(moment *metrics.Set, name, label, of string, value float64) {
	moment.GetOrCreateGauge(fmt.Sprintf("%s{%s=%q}", name, label, of), nil).Set(value)
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}
