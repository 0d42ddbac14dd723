package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"leeway/e2e/ports"
)

var errDisturbed = errors.New("a poll came between the requests")

// side is one gateway in front of a fleet of its own.
type side struct {
	kind     string
	cmd      *exec.Cmd
	log      *os.File
	url      string
	fleet    []*worker
	arrivals chan int // the index of the worker that got a request
	held     []*heldRequest
	waiting  []*heldRequest
	done     chan error
}

func startSide(ctx context.Context, o options, kind string) (*side, error) {
	s := &side{kind: kind, arrivals: make(chan int, 64), done: make(chan error, 1024)}
	var urls []string
	for i := range o.workers {
		w, err := startWorker(i, s.arrivals)
		if err != nil {
			return nil, err
		}
		s.fleet = append(s.fleet, w)
		urls = append(urls, w.url)
	}
	var finder ports.Finder
	port := finder.Free(2)
	s.url = fmt.Sprintf("http://127.0.0.1:%d", port)
	// Held requests look wedged.
	name, args := o.leeway, []string{"serve", "--least-load-score", o.score, "--worker-wedge-secs", "0"}
	if kind == "smg" {
		name, args = o.smg, []string{"launch"}
		if o.score == "v2" {
			args = append(args, "--disable-worker-overload-protection", "--worker-wedge-secs", "0")
		}
	}
	args = append(args, "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--prometheus-port", strconv.Itoa(port+1),
		"--policy", "least_load", "--load-monitor-interval", "1", "--model-path", o.tokenizer, "--worker-urls")
	log, err := os.CreateTemp("", "judge-*.log")
	if err != nil {
		return nil, err
	}
	s.log = log
	s.cmd = exec.Command(name, append(args, urls...)...)
	s.cmd.Env = append(os.Environ(), "HF_HUB_OFFLINE=1")
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	if !wait(ctx, 60*time.Second, s.ready) {
		text, _ := os.ReadFile(log.Name())
		s.stop()
		return nil, fmt.Errorf("not ready; it printed:\n%s", text[max(0, len(text)-3000):])
	}
	return s, nil
}

func (s *side) ready() bool {
	response, err := http.Get(s.url + "/readiness")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return strings.Contains(string(text), fmt.Sprintf(`"healthy_workers":%d`, len(s.fleet)))
}

func (s *side) stop() {
	for _, w := range s.fleet {
		w.server.Stop()
	}
	s.cmd.Process.Kill()
	s.cmd.Wait()
	s.log.Close()
	os.Remove(s.log.Name())
}

// play sets the loads, waits until every worker has been asked for them, and sends the prompts one after another.
func (s *side) play(ctx context.Context, loads []load, prompts []string) (chosen []int, err error) {
	for i, w := range s.fleet {
		w.load.Store(&loads[i])
	}
	polled := func() bool {
		return !slices.ContainsFunc(s.fleet, func(w *worker) bool { return w.told.Load() != &loads[w.index] })
	}
	if !wait(ctx, 10*time.Second, polled) {
		return nil, fmt.Errorf("%s does not poll its workers", s.kind)
	}
	time.Sleep(350 * time.Millisecond) // let the answers arrive and be taken in, also where all cores are busy
	count := s.totalPolls()
	for _, prompt := range prompts {
		go s.send(prompt)
		select {
		case worker := <-s.arrivals:
			chosen = append(chosen, worker)
			s.waiting = append(s.waiting, <-s.fleet[worker].requests)
		case err := <-s.done:
			return nil, fmt.Errorf("%s: a request ended at once: %w", s.kind, err)
		case <-time.After(10 * time.Second):
			return nil, fmt.Errorf("%s: a request reached no worker", s.kind)
		}
	}
	if s.totalPolls() != count {
		return nil, errDisturbed
	}
	return chosen, nil
}

// inFlight counts the requests that are held, by worker.
func (s *side) inFlight() []int {
	counts := make([]int, len(s.fleet))
	for _, request := range s.held {
		counts[request.worker]++
	}
	return counts
}

func (s *side) totalPolls() (total int64) {
	for _, w := range s.fleet {
		total += w.polls.Load()
	}
	return total
}

// release ends the requests whose bit is set, and all of them after a disturbed round, so that both sides hold the same.
func (s *side) release(bits uint64, all bool) {
	s.held = append(s.held, s.waiting...)
	s.waiting = nil
	var kept []*heldRequest
	ended := 0
	for i, request := range s.held {
		if all || bits>>(i%64)&1 == 1 {
			close(request.end)
			ended++
		} else {
			kept = append(kept, request)
		}
	}
	s.held = kept
	for range ended {
		select {
		case <-s.done:
		case <-time.After(5 * time.Second):
		}
	}
}

func (s *side) send(prompt string) {
	body := fmt.Sprintf(`{"model":"judged","stream":true,"max_tokens":5,"messages":[{"role":"user","content":%q}]}`, prompt)
	response, err := http.Post(s.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err == nil {
		var text []byte
		text, err = io.ReadAll(response.Body)
		response.Body.Close()
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d: %s", response.StatusCode, text)
		}
	}
	s.done <- err
}
