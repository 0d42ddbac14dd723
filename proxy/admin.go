package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"leeway/routing"
	"leeway/workers"
	"leeway/workers/engine"
)

// adminRoutes are what operators use: workers come and go, caches are emptied, decisions are explained.
func (g *Gateway) adminRoutes(r chi.Router) {
	on := func(method, path string, h handler) { r.Method(method, path, h) }
	on(http.MethodGet, "/workers", g.listWorkers)
	on(http.MethodPost, "/workers", g.addWorker)
	on(http.MethodGet, "/workers/{id}", g.showWorker)
	on(http.MethodPut, "/workers/{id}", g.replaceWorker)
	on(http.MethodPatch, "/workers/{id}", g.changeWorker)
	on(http.MethodDelete, "/workers/{id}", g.removeWorker)
	on(http.MethodPost, "/flush_cache", g.flushCache)
	on(http.MethodGet, "/get_loads", g.loads)
	on(http.MethodPost, "/parse/function_call", g.parseCalls)
	on(http.MethodPost, "/parse/reasoning", g.parseThoughts)
	on(http.MethodGet, "/routing/decisions", g.decisions)
	on(http.MethodGet, "/routing/decisions/{id}", g.decision)
	on(http.MethodGet, "/routing/mode", g.showMode)
	on(http.MethodPut, "/routing/mode", g.setMode)
}

// workerSpec is what a client may say of a worker. Only url is required.
type workerSpec struct {
	URL        string            `json:"url"`
	Models     []modelCard       `json:"models,omitempty"`
	WorkerType string            `json:"worker_type,omitempty"`
	Runtime    string            `json:"runtime_type,omitempty"`
	Alias      string            `json:"runtime,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Priority   int               `json:"priority"`
	Cost       float64           `json:"cost"`
}

// workerBody is a worker as it is shown.
type workerBody struct {
	ID         string `json:"id"`
	ModelID    string `json:"model_id,omitempty"`
	workerSpec        // url, models, …, flattened
	Mode       string `json:"connection_mode"`
	BlockSize  int    `json:"kv_block_size,omitempty"`
	Ranks      int    `json:"dp_size,omitempty"`
	Healthy    bool   `json:"is_healthy"`
	Status     string `json:"status"`
	Load       int    `json:"load"`
	Breaker    string `json:"circuit_breaker,omitempty"` // open or half_open
	Stalled    string `json:"stalled,omitempty"`         // unreachable or wedged
	Problem    string `json:"problem,omitempty"`
}

func showStatus(s workers.Status) workerBody {
	b := workerBody{
		ID: s.ID, ModelID: s.Model, Mode: "grpc", BlockSize: s.Info.BlockSize, Healthy: s.State == workers.Ready,
		Status: string(s.State), Load: s.Active, Stalled: s.Stalled, Problem: s.Problem,
		workerSpec: workerSpec{URL: s.Spec.URL, WorkerType: s.Spec.Role, Runtime: string(s.Dialect), Labels: labels(s), Priority: s.Spec.Priority, Cost: s.Spec.Cost},
	}
	if s.Breaker != workers.Closed {
		b.Breaker = string(s.Breaker)
	}
	if b.WorkerType == "" {
		b.WorkerType = "regular"
	}
	if s.Model != "" {
		b.Models = []modelCard{{
			ID: s.Model, Type: s.Info.ModelType, Architectures: s.Info.Architectures, ContextLength: s.Info.ContextLength,
			TokenizerPath: s.Info.TokenizerPath,
		}}
	}
	if s.Info.Ranks > 1 {
		b.Ranks = s.Info.Ranks
	}
	return b
}

func (g *Gateway) listWorkers(x *exchange, r *http.Request) error {
	body := struct {
		Workers []workerBody   `json:"workers"`
		Total   int            `json:"total"`
		Stats   map[string]int `json:"stats"`
	}{Workers: []workerBody{}, Stats: map[string]int{"prefill_count": 0, "decode_count": 0, "regular_count": 0}}
	model := r.URL.Query().Get("model")
	for _, s := range g.pool.Workers() {
		if model != "" && s.Model != model {
			continue
		}
		w := showStatus(s)
		body.Workers = append(body.Workers, w)
		body.Stats[w.WorkerType+"_count"]++
	}
	body.Total = len(body.Workers)
	return sendJSON(x, http.StatusOK, body)
}

func (g *Gateway) showWorker(x *exchange, r *http.Request) error {
	s, ok := g.pool.Worker(workerID(r))
	if !ok {
		return refuse(x, http.StatusNotFound, "WORKER_NOT_FOUND", "no such worker")
	}
	return sendJSON(x, http.StatusOK, showStatus(s))
}

// addWorker takes a worker in; clients then ask for it until its status is ready.
func (g *Gateway) addWorker(x *exchange, r *http.Request) error {
	spec, err := readSpec(r)
	if err != nil {
		return refuseBody(x, err)
	}
	s, err := g.pool.Add(spec)
	switch {
	case errors.Is(err, workers.ErrWorkerExists):
		return refuse(x, http.StatusConflict, "WORKER_ALREADY_EXISTS", err.Error())
	case err != nil:
		return refuse(x, http.StatusBadRequest, "BAD_REQUEST", err.Error())
	}
	x.Header().Set("Location", "/workers/"+s.ID)
	return sendJSON(x, http.StatusAccepted, map[string]string{
		"status": "accepted", "worker_id": s.ID, "url": s.Spec.URL, "location": "/workers/" + s.ID, "message": "the worker joins once it answers",
	})
}

func (g *Gateway) removeWorker(x *exchange, r *http.Request) error {
	s, err := g.pool.Remove(workerID(r))
	if err != nil {
		return refuse(x, http.StatusNotFound, "WORKER_NOT_FOUND", "no such worker")
	}
	return sendJSON(x, http.StatusAccepted, map[string]string{"status": "accepted", "worker_id": s.ID, "message": "the worker takes no more requests"})
}

// replaceWorker says anew what is known of a worker; its address must stay.
func (g *Gateway) replaceWorker(x *exchange, r *http.Request) error {
	spec, err := readSpec(r)
	if err != nil {
		return refuseBody(x, err)
	}
	s, ok := g.pool.Worker(workerID(r))
	if ok && s.Spec.URL != spec.URL {
		return refuse(x, http.StatusBadRequest, "BAD_REQUEST", "url: it cannot change; remove the worker and add another")
	}
	return g.updateWorker(x, r, func(old *workers.Spec) {
		spec.Instance, spec.Dialect = old.Instance, old.Dialect
		*old = spec
	})
}

// changeWorker changes what the body names: priority, cost and labels.
func (g *Gateway) changeWorker(x *exchange, r *http.Request) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	var in struct {
		Priority *int
		Cost     *float64
		Labels   map[string]string
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return refuse(x, http.StatusBadRequest, "BAD_REQUEST", "the body is no change of a worker: "+err.Error())
	}
	return g.updateWorker(x, r, func(spec *workers.Spec) {
		if in.Priority != nil {
			spec.Priority = *in.Priority
		}
		if in.Cost != nil {
			spec.Cost = *in.Cost
		}
		if in.Labels != nil {
			spec.Labels = in.Labels
		}
	})
}

func (g *Gateway) updateWorker(x *exchange, r *http.Request, change func(*workers.Spec)) error {
	s, err := g.pool.Update(workerID(r), change)
	switch {
	case errors.Is(err, workers.ErrUnknownWorker):
		return refuse(x, http.StatusNotFound, "WORKER_NOT_FOUND", "no such worker")
	case err != nil:
		return refuse(x, http.StatusBadRequest, "BAD_REQUEST", err.Error())
	}
	return sendJSON(x, http.StatusAccepted, map[string]string{"status": "accepted", "worker_id": s.ID, "message": "the worker is changed"})
}

// workerID is the worker meant by the path: its id, or its address escaped.
func workerID(r *http.Request) string { return chi.URLParam(r, "id") }

// refuse answers in the flat shape of these routes.
func refuse(x *exchange, status int, code, message string) error {
	x.code = code
	return sendJSON(x, status, map[string]string{"error": message, "code": code})
}

func refuseBody(x *exchange, err error) error {
	if f := asFailure(err); f.Status < 500 {
		return f
	}
	return refuse(x, http.StatusBadRequest, "BAD_REQUEST", err.Error())
}

func readSpec(r *http.Request) (workers.Spec, error) {
	body, err := readBody(r)
	if err != nil {
		return workers.Spec{}, err
	}
	in := workerSpec{Priority: 50, Cost: 1}
	if err := json.Unmarshal(body, &in); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return workers.Spec{}, fmt.Errorf("%s: it cannot be a %s", wrong.Field, wrong.Value)
		}
		return workers.Spec{}, errors.New(`the body is no worker: send an object such as {"url":"grpc://host:port"}`)
	}
	if in.URL == "" {
		return workers.Spec{}, errors.New("url: it is missing; give grpc://host:port")
	}
	if in.Runtime == "" {
		in.Runtime = in.Alias
	}
	spec, err := workers.ParseSpec(in.URL)
	if err != nil {
		return workers.Spec{}, err
	}
	if in.Runtime != "" && in.Runtime != "unspecified" {
		spec.Dialect = engine.Dialect(in.Runtime)
	}
	if len(in.Models) > 0 {
		spec.Model = in.Models[0].ID
	}
	spec.Role, spec.Labels, spec.Priority, spec.Cost = in.WorkerType, in.Labels, in.Priority, in.Cost
	return spec, nil
}

// decisions shows the newest receipts: ?limit=, ?worker=, ?changed=true for those that the cache preference changed.
func (g *Gateway) decisions(x *exchange, r *http.Request) error {
	q := r.URL.Query()
	for key := range q {
		if key != "limit" && key != "worker" && key != "changed" {
			return badValue(clip(key, 40), fmt.Sprintf("%q is no parameter here: use limit, worker or changed.", clip(key, 40)))
		}
	}
	limit := 50
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return badValue("limit", "limit: use a number from 1.")
		}
		limit = n
	}
	changed := q.Get("changed")
	if changed != "" && changed != "true" && changed != "false" {
		return badValue("changed", "changed: use true or false.")
	}
	found := g.router.Decisions(limit, q.Get("worker"), changed == "true")
	if found == nil {
		found = []routing.Receipt{}
	}
	return sendJSON(x, http.StatusOK, map[string][]routing.Receipt{"decisions": found})
}

// decision shows the receipt of one request, by the id that the client got in x-request-id.
func (g *Gateway) decision(x *exchange, r *http.Request) error {
	receipt, ok := g.router.Decision(chi.URLParam(r, "id"))
	if !ok {
		return fail(http.StatusNotFound, "decision_not_found", "No decision about this request is kept.", kindValidation)
	}
	return sendJSON(x, http.StatusOK, receipt)
}

func badValue(param, message string) failure {
	f := fail(http.StatusBadRequest, "invalid_value", message, kindValidation)
	f.Param = param
	return f
}

type modeBody struct {
	Mode routing.Mode `json:"mode"`
}

func (g *Gateway) showMode(x *exchange, _ *http.Request) error {
	return sendJSON(x, http.StatusOK, modeBody{g.router.Mode()})
}

// setMode changes what the cache preference may do, for all decisions from now on.
func (g *Gateway) setMode(x *exchange, r *http.Request) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	in := struct {
		Mode *routing.Mode `json:"mode"`
	}{}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil || in.Mode == nil || decoder.Decode(&struct{}{}) != io.EOF {
		return badValue("mode", `mode: use {"mode":"off"}, "shadow" or "enforce".`)
	}
	if *in.Mode != routing.Off && !g.router.Prefers() {
		return badValue("mode", "mode: only off. The cache preference weighs seconds of load, which the configured policy does not know; use the policy least_load.")
	}
	g.router.SetMode(*in.Mode)
	g.log.Info().Stringer("mode", *in.Mode).Msg("cache preference changed")
	return g.showMode(x, r)
}
