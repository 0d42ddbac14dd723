package proxy

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"leeway/workers/sim"
)

// cases E14, F8: while 500 streams run, all at once, whoever asks after the gateway's health is answered.
func TestHealthAnswersBesideManyStreams(t *testing.T) {
	const crowd = 500
	b := start(t, func(s *setup) {
		s.sim = []sim.Options{{Dialect: "vllm", Canned: true, TokenInterval: 50 * time.Millisecond}}
	})
	var streams sync.WaitGroup
	bodies := make(chan string, crowd)
	for range crowd {
		streams.Go(func() {
			resp, err := http.Post(b.url+"/v1/chat/completions", "application/json", strings.NewReader(question(`,"stream":true,"max_tokens":60,"ignore_eos":true`)))
			if err != nil {
				bodies <- err.Error()
				return
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				text = append(text, err.Error()...)
			}
			bodies <- string(text)
		})
	}
	eventually(t, "all at once", func() bool { inside, _ := b.admission.counts(); return inside == crowd })
	asked := 0
	for inside := crowd; inside == crowd; inside, _ = b.admission.counts() {
		for _, path := range []string{"/health", "/liveness", "/readiness", "/v1/models"} {
			if status, _ := b.call(t, "GET", path, ""); status != 200 {
				t.Errorf("%s: %d", path, status)
			}
		}
		asked++
	}
	streams.Wait()
	close(bodies)
	for body := range bodies {
		if all, err := framesOf(body); err != nil || len(all) < 60 || !strings.Contains(body, `"finish_reason":"length"`) {
			t.Fatalf("%v: %.300q", err, body)
		}
	}
	if asked == 0 {
		t.Error("nobody asked while they ran")
	}
	b.atRest(t)
}
