package proxy

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"leeway/workers/sim"
)

// busy is a bed that serves one request at a time, while one is held open.
func busy(t *testing.T, change func(*Config)) (b *bed, release context.CancelFunc) {
	t.Helper()
	b = start(t, one(t, "vllm", greeting), func(s *setup) {
		s.config.MaxConcurrentRequests = 1
		change(&s.config)
	})
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultStall, Times: 1})
	ctx, release := context.WithCancel(t.Context())
	go func() {
		r, _ := http.NewRequestWithContext(ctx, "POST", b.url+"/v1/chat/completions", strings.NewReader(question("")))
		if resp, err := http.DefaultClient.Do(r); err == nil {
			resp.Body.Close()
		}
	}()
	eventually(t, "busy", func() bool { return len(b.workers[0].Requests()) == 1 })
	return b, release
}

func TestAFullQueueIs429AndALongWait503(t *testing.T) {
	b, release := busy(t, func(c *Config) { c.QueueSize = 0 })
	if a := b.chat(t, ``); a.status != 429 || errorOf(t, a.body).Code != "admission_queue_full" || a.header.Get("Retry-After") != "2" {
		t.Errorf("%d %s %v", a.status, a.body, a.header)
	}
	if status, _ := b.call(t, "GET", "/workers", ""); status != 200 {
		t.Errorf("operators wait as well: %d", status)
	}
	release()
	b.atRest(t)
	b, release = busy(t, func(c *Config) { c.QueueSize, c.QueueTimeout = 5, 0.05 })
	if a := b.chat(t, ``); a.status != 503 || errorOf(t, a.body).Code != "admission_queue_timeout" || a.header.Get("Retry-After") != "2" {
		t.Errorf("%d %s %v", a.status, a.body, a.header)
	}
	release()
	b.atRest(t)
}

func TestAClientThatLeavesTheQueueGivesItsPlaceUp(t *testing.T) { // case B6
	b, release := busy(t, func(c *Config) { c.QueueSize = 5 })
	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		r, _ := http.NewRequestWithContext(ctx, "POST", b.url+"/v1/chat/completions", strings.NewReader(question("")))
		if resp, err := http.DefaultClient.Do(r); err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
	eventually(t, "queued", func() bool { _, waiting := b.admission.counts(); return waiting == 1 })
	leave()
	<-gone
	left := time.Now()
	eventually(t, "out of the queue", func() bool { _, waiting := b.admission.counts(); return waiting == 0 })
	if took := time.Since(left); took > time.Second {
		t.Errorf("the place was held for %v", took)
	}
	release()
	b.atRest(t)
	if a := b.chat(t, ``); a.status != 200 {
		t.Errorf("afterwards: %d %s", a.status, a.body)
	}
	if n := len(b.workers[0].Requests()); n != 2 {
		t.Errorf("%d requests reached the worker, want the first and the last", n)
	}
}
