package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"leeway/routing"
	"leeway/workers/sim"
)

// calibrated is how the user's fleet is configured.
var calibrated = []string{
	"--policy", "least_load", "--least-load-default-throughput", "200", "--least-load-cache-prefill-throughput", "8000",
	"--least-load-mean-remaining-decode-tokens", "2048",
}

// conversation is a sustained load of streamed chats whose turns repeat what was said before.
var conversation = chatter{every: 30 * time.Millisecond, count: 300, sessions: 20, grow: 60, turns: 15, answer: 24}

// crowd is how unevenly a run's decisions found the fleet: requests in flight at the fullest worker over the mean.
func crowd(all []routing.Receipt) float64 {
	sum := 0.0
	for i := range all {
		most, total := 0.0, 0.0
		for j := range all[i].Candidates {
			n := float64(all[i].Candidates[j].InFlight)
			most, total = max(most, n), total+n
		}
		sum += (most + 1) / (total/float64(len(all[i].Candidates)) + 1)
	}
	return sum / float64(len(all))
}

// costs is the seconds by which the chosen worker's score is worse than the base's, and what it saves more.
func costs(r *routing.Receipt) (cost, saving float64) {
	chosen, _ := r.Candidate(r.Chosen)
	base, _ := r.Candidate(r.Base)
	return chosen.Ledger.Score - base.Ledger.Score, chosen.Saving - base.Saving
}

// mute makes a worker report no loads, by poll or by push.
func mute(t *testing.T, w *sim.Worker) {
	t.Helper()
	if err := w.SetFaults(sim.Fault{Kind: sim.FaultNoLoads}, sim.Fault{Kind: sim.FaultNoRecord}); err != nil {
		t.Fatal(err)
	}
}

// chats runs the conversation on a new fleet of older vLLM workers, one of which reports no loads.
func chats(t *testing.T, mode string) (all []routing.Receipt, silent string) {
	t.Helper()
	fleet, urls := crew(t, 5, sim.Options{Dialect: "vllm", Servicer: string(sim.Bridge), Engine: "L70F2", Speed: 2})
	mute(t, fleet[4])
	h := open(t, urls, append(calibrated, "--least-load-cache-mode", mode)...)
	if failed := conversation.send(h); failed > 0 {
		t.Errorf("%s: %d of %d chats failed", mode, failed, conversation.count)
	}
	if n := h.sum("leeway_bound_violations_total", ""); n > 0 {
		t.Errorf("%s: %v bound violations", mode, n)
	}
	return h.decisions(conversation.count), urls[4]
}

func TestSustainedChatsKeepTheFleetBalanced(t *testing.T) {
	off, unheard := chats(t, "off")
	enforce, silent := chats(t, "enforce")
	moved, credited := 0, 0
	for i := range enforce {
		r := &enforce[i]
		cost, saving := costs(r)
		if x, _ := r.Candidate(silent); x.Saving > 0 {
			t.Fatalf("a worker without loads was given credit: %+v", x)
		}
		if r.Chosen == r.Base {
			continue
		}
		moved++
		if saving <= cost || r.Slack <= 0 {
			t.Errorf("request %d went to a worker that was busier by %.3f s and saved %.3f s", i, cost, saving)
		}
		if r.Chosen != silent {
			credited++
		}
	}
	before, after := share(off, unheard), share(enforce, silent)
	t.Logf("crowding: off %.3f, enforce %.3f; %d of %d choices moved; the worker without loads got %.2f and %.2f of all",
		crowd(off), crowd(enforce), moved, len(enforce), before, after)
	if crowd(enforce) > 1.15*crowd(off) {
		t.Errorf("crowding %.3f, %.3f without the preference", crowd(enforce), crowd(off))
	}
	if moved == 0 || 2*moved > len(enforce) {
		t.Errorf("%d of %d choices moved", moved, len(enforce))
	}
	if credited == 0 {
		t.Error("one worker without loads has switched the preference off for the others")
	}
	if after < 0.6*before || after > 1.4*before {
		t.Errorf("the worker without loads got %.2f of all requests, %.2f without the preference", after, before)
	}
}

// share is the part of the requests that a worker got.
func share(all []routing.Receipt, worker string) float64 {
	got := 0
	for i := range all {
		if all[i].Chosen == worker {
			got++
		}
	}
	return float64(got) / float64(len(all))
}

// disturb spoils a fleet in every way that its clients survive, until stop is closed.
func disturb(fleet []*sim.Worker, stop <-chan struct{}) {
	scripts := [][]sim.Fault{
		{{Kind: sim.FaultKVDrop, Every: 4}, {Kind: sim.FaultLoads, Set: sim.Fields{"num_waiting_reqs": "-1"}}},
		{{Kind: sim.FaultKVEnd, Every: 9}, {Kind: sim.FaultStaleLoads}},
		{{Kind: sim.FaultKVGap, N: 2, Every: 5}, {Kind: sim.FaultDelay, Method: "GetLoads", For: sim.Duration(300 * time.Millisecond)}},
		{{Kind: sim.FaultKVReorder, Every: 6}, {Kind: sim.FaultNoLoads}, {Kind: sim.FaultNoRecord}},
		{{Kind: sim.FaultKVDuplicate, Every: 3}, {Kind: sim.FaultError, Every: 7, After: 0, Code: "UNAVAILABLE"}},
	}
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		case <-time.After(200 * time.Millisecond):
			_ = fleet[n%len(fleet)].SetFaults(scripts[(n/len(fleet)+n)%len(scripts)]...)
			if n%10 == 9 {
				_ = fleet[n/10%len(fleet)].Restart(n%20 == 9)
			}
		}
	}
}

// case G1: on everything that each decision saw, off chooses what shadow chose.
func TestShadowChoosesWhatOffWouldWhateverTheFaults(t *testing.T) {
	fleet, urls := crew(t, 4, sim.Options{Dialect: "vllm", Speed: 4})
	path := filepath.Join(t.TempDir(), "decisions.jsonl")
	h := open(t, urls, append(calibrated, "--least-load-cache-mode", "shadow", "--decision-log", path,
		"--least-load-cache-cost", "calibrated")...) // where the two differ often
	stop, over := make(chan struct{}), make(chan struct{})
	go func() { disturb(fleet, stop); close(over) }()
	c := conversation
	c.every = 20 * time.Millisecond
	failed := c.send(h)
	close(stop)
	<-over
	h.signal(syscall.SIGTERM) // the log is written to its end
	h.end(20 * time.Second)
	all := records(t, path)
	differed := 0
	for _, r := range all {
		off := r.Settings
		off.Mode = routing.Off
		plain, err := routing.Replay(r.Receipt, off)
		if err != nil {
			t.Fatal(err)
		}
		if r.Receipt.Chosen != r.Receipt.Base || plain.Chosen != r.Receipt.Chosen {
			t.Errorf("%s: shadow chose %s, off %s", r.Receipt.ID, r.Receipt.Chosen, plain.Chosen)
		}
		if r.Receipt.Preferred != r.Receipt.Against {
			differed++
		}
	}
	t.Logf("%d decisions, %d chats failed, the preference differed %d times", len(all), failed, differed)
	if len(all) < c.count || differed == 0 {
		t.Errorf("%d decisions, of which %d differed: the test shows nothing", len(all), differed)
	}
}

// case G2: an attempt that is made again elsewhere is a decision of its own, and what is no request is none.
func TestOnlyRealDispatchesAreCounted(t *testing.T) {
	fleet, urls := crew(t, 3, sim.Options{Dialect: "sglang", Speed: 10})
	h := open(t, urls, append(calibrated, "--least-load-cache-mode", "shadow")...)
	for range 3 {
		h.get("/readiness")
		h.get("/v1/models")
		h.get("/loads")
	}
	if n := h.sum("smg_least_load_cache_credit_decisions_total", ""); n != 0 {
		t.Errorf("%v decisions without a request", n)
	}
	for i := range 20 {
		if i == 10 {
			for _, w := range fleet[:2] {
				if err := w.SetFaults(sim.Fault{Kind: sim.FaultError, Times: 3}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !h.stream(t.Context(), turn(i, 50, 4)) {
			t.Errorf("chat %d failed", i)
		}
	}
	sent := 0
	for _, w := range fleet {
		sent += len(w.Requests())
	}
	if n := h.sum("smg_least_load_cache_credit_decisions_total", ""); int(n) != sent || sent <= 20 {
		t.Errorf("%v decisions counted, %d requests came to the workers for 20 chats", n, sent)
	}
}

// cases F12, B7; invariant 1
func TestModesChangeUnderLoadAndNothingIsLeftAtRest(t *testing.T) {
	fleet, urls := crew(t, 4, sim.Options{Dialect: "sglang", Servicer: string(sim.Rust), Speed: 4})
	h := open(t, urls, append(calibrated, "--least-load-cache-mode", "off")...)
	var load sync.WaitGroup
	c := conversation
	c.every = 15 * time.Millisecond
	load.Go(func() { c.send(h) })
	done := make(chan struct{})
	go func() { load.Wait(); close(done) }()
	for n := 0; ; n++ {
		select {
		case <-done:
			atRest(t, h, fleet)
			judge(t, h.decisions(c.count))
			return
		case <-time.After(100 * time.Millisecond):
			h.setMode([]string{"enforce", "shadow", "off"}[n%3])
		}
	}
}

// judge holds every decision against the mode that it was made in.
func judge(t *testing.T, all []routing.Receipt) {
	t.Helper()
	modes := map[string]int{}
	for i := range all {
		r := &all[i]
		modes[r.Mode.String()]++
		want := r.Base
		if r.Mode == routing.Enforce {
			want = r.Preferred
		}
		if r.Chosen != want || r.Mode == routing.Off && r.Result != routing.NotAsked || r.Slack < 0 {
			t.Errorf("%s: %s chose %s, base %s, preferred %s, %s, slack %v", r.ID, r.Mode, r.Chosen, r.Base, r.Preferred, r.Result, r.Slack)
		}
	}
	for _, mode := range []string{"off", "shadow", "enforce"} {
		if modes[mode] == 0 {
			t.Errorf("no decision was made in %s: %v", mode, modes)
		}
	}
}

// atRest sends one more chat when all have ended and the loads are fresh, and looks at what its decision saw.
func atRest(t *testing.T, h *house, fleet []*sim.Worker) {
	t.Helper()
	eventually(t, 10*time.Second, "no request is in flight", func() bool { return h.sum("smg_worker_requests_active", "") == 0 })
	for i, w := range fleet {
		if s := w.Load(0); s.Running+s.Waiting > 0 {
			t.Errorf("engine %d still runs %d requests", i, s.Running+s.Waiting)
		}
	}
	time.Sleep(2500 * time.Millisecond) // two polls
	if !h.stream(t.Context(), strings.Replace(turn(99, 40, 2), "s99w0", "rest", 1)) {
		t.Error("the last chat failed")
	}
	r := h.decisions(1)[0]
	for i, x := range r.Candidates {
		if x.InFlight != 0 || x.Ledger.Tokens != 0 || x.Ledger.Backlog != 0 || x.Ledger.Requests != 0 || x.Shadow.Tokens != 0 || x.Shadow.Backlog != 0 {
			t.Errorf("%s is not at rest: %s", r.Workers[i], fmt.Sprintf("%+v", x))
		}
	}
}
