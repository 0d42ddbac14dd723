package proxy

import (
	"encoding/json"
	"net/http"

	"leeway/workers"
)

// liveness says that the process answers; it does so also while draining.
func (g *Gateway) liveness(x *exchange, _ *http.Request) error {
	x.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := x.Write([]byte("OK"))
	return err
}

type readinessBody struct {
	Status  string `json:"status"`
	Reason  string `json:"reason,omitempty"`
	Healthy *int   `json:"healthy_workers,omitempty"`
	Total   *int   `json:"total_workers,omitempty"`
}

// readiness says whether a request sent now would find a worker and a tokenizer.
func (g *Gateway) readiness(x *exchange, _ *http.Request) error {
	all := g.pool.Workers()
	healthy := 0
	for _, w := range all {
		if w.State == workers.Ready {
			healthy++
		}
	}
	reason := ""
	switch {
	case g.draining.Load():
		reason = "draining"
	case healthy == 0:
		reason = "insufficient healthy workers"
	case !g.models.complete(all):
		reason = "tokenizer not yet registered"
	}
	if reason != "" {
		return sendJSON(x, http.StatusServiceUnavailable, readinessBody{Status: "not ready", Reason: reason})
	}
	total := len(all)
	return sendJSON(x, http.StatusOK, readinessBody{Status: "ready", Healthy: &healthy, Total: &total})
}

// sendJSON answers with the body of a small endpoint; those of models are appended by hand.
func sendJSON(x *exchange, status int, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	writeJSON(x, status, b)
	return nil
}
