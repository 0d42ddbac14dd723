package proxy

import (
	"testing"
	"time"

	"leeway/workers/sim"
)

func TestNewRequestsAreTakenForAMomentWhereSomebodyMayBeLooking(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		why    string
		asked  time.Duration // before now
		inside bool
		accept float64
		want   time.Duration
	}{
		{"somebody has asked", time.Second, false, 5, 5 * time.Second},
		{"half the grace at most", time.Second, false, 500, 90 * time.Second},
		{"nobody has, for long", 31 * time.Second, false, 5, 0},
		{"but a request still runs", 31 * time.Second, true, 5, 5 * time.Second},
		{"it is not wanted", time.Second, true, 0, 0},
	} {
		g := empty(t, func(s *Config) { s.ShutdownAccept = c.accept })
		g.asked.Store(now.Add(-c.asked).UnixNano())
		if c.inside {
			leave, err := g.admission.enter(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer leave()
		}
		if got := g.accepting(now); got != c.want {
			t.Errorf("%s: %v, want %v", c.why, got, c.want)
		}
	}
}

func TestAGatewayThatNobodyAsksEndsAtOnce(t *testing.T) {
	b := start(t, one(t, "vllm", greeting), func(s *setup) { s.config.ShutdownGrace = 60 })
	b.client.CloseIdleConnections()
	b.asked.Store(time.Now().Add(-time.Hour).UnixNano())
	began := time.Now()
	b.stop()
	if err := <-b.ended; err != nil || time.Since(began) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// A worker that keeps its stream open after the last word holds nobody up: the client has its answer, and the next
// request on the same connection its turn.
func TestAnAnswerDoesNotWaitForTheEndOfItsStream(t *testing.T) {
	for _, dialect := range dialects {
		for _, stream := range []string{``, `,"stream":true`} {
			t.Run(dialect+stream, func(t *testing.T) {
				b := start(t, one(t, dialect, greeting))
				b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultLinger, For: sim.Duration(5 * time.Second)})
				began := time.Now()
				for range 3 {
					if a := b.chat(t, stream); a.status != 200 {
						t.Errorf("%d %s", a.status, a.body)
					}
				}
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("three answers took %v", took)
				}
				b.atRest(t)
				if n := len(b.workers[0].Aborts()); n != 0 {
					t.Errorf("%d aborts of answers that had ended", n)
				}
			})
		}
	}
}
