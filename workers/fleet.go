package workers

import (
	"fmt"
	"time"

	"leeway/routing"
	"leeway/workers/engine"
)

// State is where a worker is in its life.
type State string

// The states, named as SMG names them.
const (
	Pending  State = "pending"   // has never answered
	Ready    State = "ready"     // may be chosen
	NotReady State = "not_ready" // has answered once, and does not now
	Draining State = "draining"  // removed; its last answers are still running
)

// Status is what is known of a worker.
type Status struct {
	ID      string
	Spec    Spec
	State   State
	Dialect engine.Dialect // "" until it is known
	Model   string         // "" until it is known
	Info    engine.Info
	Active  int     // requests running on it for this gateway
	Breaker Breaker // what its requests say of it
	Stalled string  // "unreachable", "wedged" or "": why it is not chosen although nothing says that it is not well
	Problem string  // why it is not ready, or not chosen
	Contact time.Time
}

// status is a copy; what its slices point to is never changed.
func (w *worker) status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Status{
		ID: w.id, Spec: w.spec, State: w.state, Dialect: w.dialect, Model: w.model(w.info), Info: w.info,
		Active: w.active, Breaker: w.breaker.state, Stalled: w.stalled(), Problem: w.trouble(), Contact: w.contact,
	}
}

// stalled says, in SMG's words, why a worker may not be chosen that has not said that it is unwell. mu is held.
func (w *worker) stalled() string {
	switch {
	case w.state == NotReady && w.lost:
		return "unreachable"
	case w.state == Ready && w.pulse.wedged:
		return "wedged"
	}
	return ""
}

// trouble is why a worker is not chosen. mu is held.
func (w *worker) trouble() string {
	switch {
	case w.state != Ready || w.problem != "":
		return w.problem
	case w.breaker.state != Closed:
		return "its requests fail: " + w.blamed
	case w.pulse.wedged:
		return "requests are waiting for it, and nothing comes"
	}
	return ""
}

// change applies a change of the spec, if what comes of it can be.
func (w *worker) change(change func(*Spec)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	spec := w.spec
	change(&spec)
	spec.URL, spec.Dialect, spec.Instance = w.spec.URL, w.spec.Dialect, w.spec.Instance
	if err := spec.check(); err != nil {
		return err
	}
	w.spec.Model, w.spec.Role, w.spec.Labels = spec.Model, spec.Role, spec.Labels
	w.spec.Priority, w.spec.Cost = spec.Priority, spec.Cost
	return nil
}

// model is the name that clients call the worker's model by.
func (w *worker) model(info engine.Info) string {
	for _, name := range []string{w.spec.Model, info.Model, info.ModelPath} {
		if name != "" {
			return name
		}
	}
	return ""
}

// targets is how the router sees the worker: nothing while its model is unknown, one target, or one for each rank.
func (w *worker) targets() []routing.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.places()
}

// seat is targets at a publication. A worker that stands aside although it is ready is out of contact, as far as the
// router knows: what is known of its cache is kept, and claimed again from its next event on, which proves that its
// engine lives. fit says which models have a worker that need not stand aside.
func (w *worker) seat(fit map[string]bool) []routing.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	standing := w.standing()
	all := w.places()
	w.last = standing == reserve && len(all) > 0 && !fit[all[0].Model]
	if standing == reserve && !w.last || standing == barred && w.state == Ready {
		for i := range all {
			all[i].Healthy, all[i].Lost = false, true
		}
	}
	return all
}

// fitFor is the model that the worker can be chosen for as any other can; "" if there is none.
func (w *worker) fitFor() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.standing() == fit {
		return w.model(w.info)
	}
	return ""
}

// places is targets with mu held.
func (w *worker) places() []routing.Target {
	model := w.model(w.info)
	if model == "" {
		return nil
	}
	t := routing.Target{
		ID: w.spec.URL, Worker: w.spec.URL, Model: model, Epoch: w.epoch, Rank: -1, Ranks: max(w.info.Ranks, 1),
		Healthy: w.state == Ready, Lost: w.lost, GRPC: true, Split: w.split(),
	}
	if !w.pool.cfg.DPAware || t.Ranks == 1 {
		return []routing.Target{t}
	}
	ranks := make([]routing.Target, t.Ranks)
	for i := range ranks {
		ranks[i] = t
		ranks[i].ID, ranks[i].Rank = rankID(t.ID, int32(i)), int32(i)
	}
	return ranks
}

// rankID names one rank of a worker as SMG does.
func rankID(url string, rank int32) string { return fmt.Sprintf("%s@%d", url, rank) }

// split says whether the worker only prefills or only decodes.
func (w *worker) split() bool {
	for _, role := range []string{w.spec.Role, w.info.Role} {
		switch role {
		case "prefill", "decode", "kv_producer", "kv_consumer":
			return true
		}
	}
	return false
}
