package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"leeway/e2e/ports"
)

// ahead is how many pairs of gateways start while others are compared: the published one takes seconds.
const ahead = 4

// fleet is one simulated worker, and the pairs of gateways in front of it.
type fleet struct {
	o       options
	worker  *program
	address string
	dir     string
	pairs   map[string]chan started
	room    chan struct{}
	ports   ports.Finder
	cancel  context.CancelFunc
	pending sync.WaitGroup // starts of pairs
}

// pair is the base URLs of two gateways with the same flags.
type pair struct {
	smg, leeway string
	stop        func()
}

// send asks both gateways at once.
func (p pair) send(ctx context.Context, r request) (ours, theirs answer, err error) {
	failed := make(chan error)
	go func() {
		var err error
		theirs, err = send(ctx, p.smg, r)
		failed <- err
	}()
	ours, err = send(ctx, p.leeway, r)
	return ours, theirs, errors.Join(err, <-failed)
}

type started struct {
	pair pair
	err  error
}

func startFleet(ctx context.Context, o options, dialect string, groups []group) (f *fleet, err error) {
	f = &fleet{o: o, pairs: map[string]chan started{}, room: make(chan struct{}, ahead)}
	port := strconv.Itoa(f.ports.Free(1))
	f.address = "127.0.0.1:" + port
	if f.dir, err = os.MkdirTemp("", "dropin-"); err != nil {
		return nil, err
	}
	replies, err := data.ReadFile("replies.jsonl")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(f.dir, "replies.jsonl")
	if err := os.WriteFile(file, replies, 0o600); err != nil {
		return nil, err
	}
	f.worker, err = start(filepath.Join(f.dir, "worker.log"), o.leeway, "sim", "--dialect", dialect, "--host", "127.0.0.1",
		"--port", port, "--model", "demo", "--tokenizer-path", o.tokenizer, "--replies", file, "--speed", "20")
	if err != nil {
		return nil, err
	}
	ctx, f.cancel = context.WithCancel(ctx)
	for _, g := range groups {
		f.pairs[fmt.Sprint(g.flags)] = make(chan started, 1)
	}
	f.pending.Go(func() { f.startPairs(ctx, groups) })
	return f, nil
}

// startPairs starts the pairs in the order in which they are compared.
func (f *fleet) startPairs(ctx context.Context, groups []group) {
	for i, g := range groups {
		select {
		case f.room <- struct{}{}:
		case <-ctx.Done():
			return
		}
		f.pending.Go(func() {
			p, err := f.startPair(ctx, strconv.Itoa(i), g.flags)
			f.pairs[fmt.Sprint(g.flags)] <- started{p, err}
		})
	}
}

func (f *fleet) pair(g group) (pair, error) {
	s := <-f.pairs[fmt.Sprint(g.flags)]
	return s.pair, s.err
}

func (f *fleet) startPair(ctx context.Context, name string, flags []string) (p pair, err error) {
	var programs []*program
	p.stop = func() {
		for _, program := range programs {
			program.stop()
		}
		<-f.room
	}
	for _, gateway := range []struct {
		base *string
		args []string
	}{{&p.smg, []string{f.o.smg, "launch"}}, {&p.leeway, []string{f.o.leeway, "serve"}}} {
		port := strconv.Itoa(f.ports.Free(1))
		*gateway.base = "http://127.0.0.1:" + port
		log := filepath.Join(f.dir, name+"."+gateway.args[1]+".log")
		program, err := start(log, slices.Concat(gateway.args, []string{"--host", "127.0.0.1", "--port", port,
			"--prometheus-host", "127.0.0.1", "--prometheus-port", strconv.Itoa(f.ports.Free(1)), "--policy", "round_robin",
			"--model-path", f.o.tokenizer, "--worker-urls", "grpc://" + f.address}, flags)...)
		if err != nil {
			p.stop()
			return p, err
		}
		programs = append(programs, program)
	}
	for i, base := range []string{p.smg, p.leeway} {
		if err := awaitReady(ctx, base); err != nil {
			p.stop()
			return p, fmt.Errorf("%w: %w", err, programs[i].lastWords())
		}
	}
	return p, nil
}

// stop ends the worker and whatever pairs were started and not taken.
func (f *fleet) stop() {
	f.cancel()
	f.pending.Wait()
	for _, pairs := range f.pairs {
		select {
		case s := <-pairs:
			if s.err == nil {
				s.pair.stop()
			}
		default:
		}
	}
	f.worker.stop()
	os.RemoveAll(f.dir)
}

func awaitReady(ctx context.Context, base string) error {
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		response, err := http.Get(base + "/readiness")
		if err != nil {
			continue
		}
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
	}
	return fmt.Errorf("%s did not get ready", base)
}

// program is a process of ours and what it printed.
type program struct {
	cmd *exec.Cmd
	log string
}

func start(log string, args ...string) (*program, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, append(os.Environ(), "HF_HUB_OFFLINE=1")
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &program{cmd, log}, nil
}

func (p *program) stop() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

func (p *program) lastWords() error {
	printed, err := os.ReadFile(p.log)
	if err != nil {
		return err
	}
	return errors.New(string(printed[max(0, len(printed)-2000):]))
}
