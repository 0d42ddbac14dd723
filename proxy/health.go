package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

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
	healthy, total, reason := g.ready()
	if reason != "" {
		return sendJSON(x, http.StatusServiceUnavailable, readinessBody{Status: "not ready", Reason: reason})
	}
	return sendJSON(x, http.StatusOK, readinessBody{Status: "ready", Healthy: &healthy, Total: &total})
}

// ready counts the workers, and says why requests cannot be served; "" if they can.
func (g *Gateway) ready() (healthy, total int, reason string) {
	all := g.pool.Workers()
	for _, w := range all {
		if w.State == workers.Ready {
			healthy++
		}
	}
	switch {
	case g.draining.Load():
		reason = "draining"
	case healthy == 0:
		reason = "insufficient healthy workers"
	case !g.models.complete(all):
		reason = "tokenizer not yet registered"
	}
	return healthy, len(all), reason
}

// Invite says on out how to use a gateway that listens at address, as soon as every worker can be used.
func (g *Gateway) Invite(ctx context.Context, out io.Writer, address net.Addr) {
	for healthy, total, reason := g.ready(); reason != "" || healthy < total; healthy, total, reason = g.ready() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	_, port, _ := net.SplitHostPort(address.String())
	fmt.Fprintf(out, `
Ask it something, here or with any OpenAI SDK (base URL http://localhost:%[1]s/v1, model demo):

  curl -N localhost:%[1]s/v1/chat/completions -H 'content-type: application/json' \
    -d '{"model":"demo","stream":true,"messages":[{"role":"user","content":"Where will this request go, and why?"}]}'

`, port)
}

// sendJSON answers with the body of a small endpoint; those of models are appended by hand.
func sendJSON(x *exchange, status int, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return writeJSON(x, status, b)
}
