package workers

import (
	"errors"
	"fmt"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"leeway/routing/prefix"
	"leeway/workers/engine"
)

// gauges are the series of one worker. Names and labels are SMG's where SMG has them.
type gauges struct {
	worker   string
	health   *metrics.Gauge
	active   *metrics.Gauge
	requests *metrics.Counter
	noEvents *metrics.Gauge
	breaker  *metrics.Gauge // 0: closed, 1: open, 2: half open, -1: the worker is gone
	failed   *metrics.Gauge // requests in a row
	passed   *metrics.Gauge
	outcomes [2]*metrics.Counter // successes, failures
}

func newGauges(worker string) *gauges {
	g := &gauges{
		worker:   worker,
		health:   metrics.GetOrCreateGauge(series("smg_worker_health", "worker", worker), nil),
		active:   metrics.GetOrCreateGauge(series("smg_worker_requests_active", "worker", worker), nil),
		requests: metrics.GetOrCreateCounter(series("leeway_worker_requests_total", "worker", worker)),
		noEvents: metrics.GetOrCreateGauge(series("smg_kv_events_unavailable", "worker", worker), nil),
		breaker:  metrics.GetOrCreateGauge(series("smg_worker_cb_state", "worker", worker), nil),
		failed:   metrics.GetOrCreateGauge(series("smg_worker_cb_consecutive_failures", "worker", worker), nil),
		passed:   metrics.GetOrCreateGauge(series("smg_worker_cb_consecutive_successes", "worker", worker), nil),
		outcomes: [2]*metrics.Counter{
			metrics.GetOrCreateCounter(series("smg_worker_cb_outcomes_total", "worker", worker, "outcome", "success")),
			metrics.GetOrCreateCounter(series("smg_worker_cb_outcomes_total", "worker", worker, "outcome", "failure")),
		},
	}
	g.breaker.Set(0)
	return g
}

// series writes a metric's name with its labels, given in pairs.
func series(name string, labels ...string) string {
	text := name + "{"
	for i := 0; i < len(labels); i += 2 {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf("%s=%q", labels[i], labels[i+1])
	}
	return text + "}"
}

// count adds one to a counter. Every label's values are a closed set but for the worker's address.
func count(name string, labels ...string) { metrics.GetOrCreateCounter(series(name, labels...)).Inc() }

func (g *gauges) healthy(yes bool) {
	if yes {
		g.health.Set(1)
	} else {
		g.health.Set(0)
	}
}

func (g *gauges) probed(ok bool) {
	result := "failure"
	if ok {
		result = "success"
	}
	count("smg_worker_health_checks_total", "worker_type", "regular", "result", result)
}

// polled counts a poll that was due or not, by SMG's names of the mode.
func (g *gauges) polled(mode string) {
	count("smg_engine_load_polls_total", "worker", g.worker, "mode", mode)
}

func (g *gauges) pollEnded(err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	count("leeway_load_polls_total", "worker", g.worker, "result", result)
}

// ended counts what a request says of the worker, if it says anything.
func (g *gauges) ended(o outcome) {
	switch o {
	case success:
		g.outcomes[0].Inc()
	case failure, unreached:
		g.outcomes[1].Inc()
	}
}

func (g *gauges) inARow(failed, passed int) {
	g.failed.Set(float64(failed))
	g.passed.Set(float64(passed))
}

// broke tells of a breaker's change.
func (g *gauges) broke(from, to Breaker) {
	g.breaker.Set(map[Breaker]float64{Open: 1, HalfOpen: 2}[to])
	count("smg_worker_cb_transitions_total", "worker", g.worker, "from", string(from), "to", string(to))
}

// stalled says that the worker is out of selection for a reason other than its health, or no longer.
func (g *gauges) stalled(reason string, yes bool) {
	gauge := metrics.GetOrCreateGauge(series("smg_worker_stalled", "worker", g.worker, "reason", reason), nil)
	if before := gauge.Get() == 1; before == yes {
		return
	}
	if gauge.Set(0); yes {
		gauge.Set(1)
		count("smg_worker_stall_transitions_total", "worker", g.worker, "reason", reason)
	}
}

// spoilt counts a request that the worker, or the way to it, has spoilt.
func (g *gauges) spoilt(kind string) {
	count("smg_worker_errors_total", "worker_type", "regular", "connection_mode", "grpc", "error_type", kind)
}

// remove says in the worker's last sample that it is gone.
func (g *gauges) remove() {
	g.health.Set(-1)
	g.breaker.Set(-1)
	g.active.Set(0)
	g.stalled("unreachable", false)
	g.stalled("wedged", false)
}

func (g *gauges) subscribed() { count("smg_kv_event_subscriptions_total", "worker", g.worker) }

// eventsEnded counts why a KV-event stream ended, by the code's number: a closed set.
func (g *gauges) eventsEnded(err error) {
	if !errors.Is(err, errResume) {
		count("smg_kv_event_stream_errors_total", "worker", g.worker, "error", fmt.Sprint(uint32(codeOf(err))))
	}
}

// eventsUnavailable says whether the worker has refused to tell of its cache.
func (g *gauges) eventsUnavailable(yes bool) {
	value := 0.0
	if yes {
		value = 1
	}
	g.noEvents.Set(value)
}

// resynced counts why a view had to begin anew.
func (g *gauges) resynced(reason string) {
	count("smg_kv_event_resyncs_total", "worker", g.worker, "reason", reason)
}

// batch counts what became of a batch.
func (g *gauges) batch(b *engine.Batch, verdict prefix.Verdict, received time.Time) {
	disposition := "stale"
	switch {
	case b.LoadOnly:
		disposition = "load_only"
	case b.Snapshot != nil:
		disposition = "snapshot"
	case verdict == prefix.Applied:
		disposition = "applied"
	case verdict == prefix.Resume:
		count("smg_kv_event_gaps_total", "worker", g.worker, "outcome", "replay_requested")
		return
	}
	count("smg_kv_event_batches_total", "worker", g.worker, "disposition", disposition)
	if !b.Sent.IsZero() {
		metrics.GetOrCreateGauge(series("smg_kv_event_lag_seconds", "worker", g.worker), nil).Set(received.Sub(b.Sent).Seconds())
	}
}

// poolSizes reports how many workers serve each model, and remembers the models so that none stays at its last value.
type poolSizes map[string]int

func (p *poolSizes) report(members []*worker) {
	if *p == nil {
		*p = poolSizes{}
	}
	for model := range *p {
		(*p)[model] = 0
	}
	for _, w := range members {
		if s := w.status(); s.Model != "" {
			(*p)[s.Model]++
		}
	}
	for model, n := range *p {
		name := series("smg_worker_pool_size", "worker_type", "regular", "connection_mode", "grpc", "model", model)
		metrics.GetOrCreateGauge(name, nil).Set(float64(n))
		if n == 0 {
			delete(*p, model)
		}
	}
}
