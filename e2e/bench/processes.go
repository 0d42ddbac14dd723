package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const workersInFleet = 4

// process is a program that stop ends.
type process struct {
	cmd *exec.Cmd
	log *os.File
}

func start(name string, env []string, args ...string) (*process, error) {
	log, err := os.CreateTemp("", filepath.Base(name)+"-*.log")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd, log}, nil
}

func (p *process) stop() {
	p.cmd.Process.Signal(os.Interrupt)
	killer := time.AfterFunc(3*time.Second, func() { p.cmd.Process.Kill() })
	p.cmd.Wait()
	killer.Stop()
	p.log.Close()
	os.Remove(p.log.Name())
}

// failed says what a program that did not come up had printed.
func (p *process) failed(what string) error {
	text, _ := os.ReadFile(p.log.Name())
	return fmt.Errorf("%s; it printed:\n%s", what, text[max(0, len(text)-2000):])
}

// cpu is the process's user and system time so far.
func (p *process) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var ticks int
	for _, field := range fields[11:13] {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil // Linux counts in hundredths of a second
}

type fleet struct {
	*process
	urls []string
}

// startFleet builds leeway if it has to, and starts four workers that answer at a fixed rate, in step, for next to no CPU.
func startFleet(ctx context.Context, o *options) (*fleet, error) {
	if o.leeway == "" {
		o.leeway = filepath.Join(os.TempDir(), "leeway-bench")
		build := exec.CommandContext(ctx, "go", "build", "-o", o.leeway, ".")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building leeway: %w\n%s", err, out)
		}
	}
	first := o.ports.Free(workersInFleet)
	p, err := start(o.leeway, nil, "sim", "--dialect", "tokenspeed", "--host", "127.0.0.1", "--port", strconv.Itoa(first),
		"--count", strconv.Itoa(workersInFleet), "--model", "demo", "--tokenizer-path", o.tokenizer, "--canned", "--token-interval", "20ms")
	if err != nil {
		return nil, err
	}
	f := &fleet{process: p}
	for i := range workersInFleet {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(first+i))
		f.urls = append(f.urls, "grpc://"+address)
		if !within(ctx, 10*time.Second, func() bool { return dials(address) }) {
			defer f.stop()
			return nil, f.failed("the fleet did not come up")
		}
	}
	return f, nil
}

type gateway struct {
	*process
	url    string
	client *http.Client
}

func startGateway(ctx context.Context, o options, kind string, workers []string) (*gateway, error) {
	port := o.ports.Free(2)
	name, args := o.leeway, []string{"serve"}
	if kind == "smg" {
		name, args = o.smg, []string{"launch", "--prometheus-host", "127.0.0.1"}
	}
	args = append(args, "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--prometheus-port", strconv.Itoa(port+1),
		"--policy", "least_load", "--model-path", o.tokenizer, "--log-level", "warn", "--worker-urls")
	p, err := start(name, []string{"HF_HUB_OFFLINE=1"}, append(args, workers...)...)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 4096, ReadBufferSize: 16 << 10}
	g := &gateway{process: p, url: fmt.Sprintf("http://127.0.0.1:%d", port), client: &http.Client{Transport: transport}}
	if !within(ctx, 30*time.Second, g.ready) {
		defer g.stop()
		return nil, g.failed(kind + " did not get ready")
	}
	return g, nil
}

// ready reports whether every worker has joined.
func (g *gateway) ready() bool {
	response, err := g.client.Get(g.url + "/readiness")
	if err != nil {
		return false
	}
	defer response.Body.Close()
	var text [256]byte
	n, _ := response.Body.Read(text[:])
	return strings.Contains(string(text[:n]), fmt.Sprintf(`"healthy_workers":%d`, workersInFleet))
}

func dials(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

func within(ctx context.Context, limit time.Duration, met func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if met() {
			return true
		}
	}
	return false
}
