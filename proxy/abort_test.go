package proxy

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"leeway/workers/sim"
)

// stopped is when the worker heard that nobody waits any more: by an abort or by the call's end.
func stopped(w *sim.Worker) (time.Time, bool) {
	all := append(w.Aborts(), w.Cancels()...)
	if len(all) == 0 {
		return time.Time{}, false
	}
	first := all[0].At
	for _, r := range all {
		if r.At.Before(first) {
			first = r.At
		}
	}
	return first, true
}

func TestLeavingFreesTheWorkerWithinATenthOfASecond(t *testing.T) { // cases B1, B2, B3
	const patience = 100 * time.Millisecond
	for _, dialect := range dialects {
		for _, stream := range []string{`,"stream":true`, ``} {
			for _, phase := range []string{"prefill", "decode"} {
				t.Run(dialect+" "+phase+stream, func(t *testing.T) {
					b := start(t, one(t, dialect, strings.Repeat("on and on ", 500)))
					if phase == "prefill" {
						b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultDelay, For: sim.Duration(30 * time.Second)})
					}
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					go func() {
						eventually(t, "reached", func() bool { return len(b.workers[0].Requests()) == 1 })
						time.Sleep(50 * time.Millisecond)
						leave()
					}()
					r, _ := http.NewRequestWithContext(ctx, "POST", b.url+"/v1/chat/completions", strings.NewReader(question(stream)))
					if resp, err := http.DefaultClient.Do(r); err == nil {
						io.Copy(io.Discard, resp.Body)
						resp.Body.Close()
					}
					left := time.Now()
					eventually(t, "told to stop", func() bool { _, ok := stopped(b.workers[0]); return ok })
					if at, _ := stopped(b.workers[0]); at.Sub(left) > patience {
						t.Errorf("the worker heard of it after %v", at.Sub(left))
					}
					b.atRest(t)
					eventually(t, "aborted", func() bool { return len(b.workers[0].Aborts()) == 1 })
				})
			}
		}
	}
}

func TestAWorkerThatIgnoresAbortsHoldsNobody(t *testing.T) { // case B4
	b := start(t, one(t, "sglang", strings.Repeat("on and on ", 500)))
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultStall, Method: "Abort"}, sim.Fault{Kind: sim.FaultDeaf})
	asked := time.Now()
	if a := b.chat(t, `,"stop":"on on"`); a.status != 200 || time.Since(asked) > time.Second {
		t.Errorf("an answer that has reached its stop came after %v: %d", time.Since(asked), a.status)
	}
	ctx, leave := context.WithCancel(t.Context())
	resp := b.post(t, ctx, "/v1/chat/completions", question(`,"stream":true`))
	resp.Body.Read(make([]byte, 100))
	leave()
	resp.Body.Close()
	b.atRest(t)
	began := time.Now()
	b.stop()
	if err := <-b.ended; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("stopping took %v", took)
	}
}

func TestNothingLeaksWhateverClientsDo(t *testing.T) { // cases B6, B7, B8
	total := 1500
	if testing.Short() {
		total = 200
	}
	b := start(t, one(t, "sglang", greeting), one(t, "vllm", greeting), one(t, "tokenspeed", greeting), func(s *setup) {
		s.config.MaxConcurrentRequests, s.config.QueueSize, s.config.QueueTimeout = 30, 1000, 30
	})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	before := runtime.NumGoroutine()
	var running sync.WaitGroup
	slots := make(chan struct{}, 60)
	for i := range total {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			ctx, leave := context.WithCancel(context.Background())
			defer leave()
			if i%10 < 3 {
				time.AfterFunc(time.Duration(rand.IntN(60))*time.Millisecond, leave)
			}
			stream := ""
			if i%2 == 0 {
				stream = `,"stream":true`
			}
			r, _ := http.NewRequestWithContext(ctx, "POST", b.url+"/v1/chat/completions", strings.NewReader(question(stream)))
			resp, err := client.Do(r)
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				return
			}
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); err == nil && resp.StatusCode != 200 {
				t.Errorf("%d %s", resp.StatusCode, body)
			}
		})
	}
	running.Wait()
	client.CloseIdleConnections()
	b.atRest(t)
	eventually(t, "back at as many goroutines as before", func() bool { return runtime.NumGoroutine() <= before+5 })
}
