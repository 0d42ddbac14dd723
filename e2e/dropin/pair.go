package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// pair is the two gateways in front of one worker.
type pair struct {
	smg, leeway string // base URLs
	running     []*exec.Cmd
	logs        string
}

func startPair(ctx context.Context, o options, parsers string) (p *pair, err error) {
	p = &pair{}
	defer func() {
		if err != nil {
			p.stop()
		}
	}()
	if p.logs, err = os.MkdirTemp("", "dropin-"); err != nil {
		return p, err
	}
	replies, err := data.ReadFile("replies.jsonl")
	if err != nil {
		return p, err
	}
	file := filepath.Join(p.logs, "replies.jsonl")
	if err := os.WriteFile(file, replies, 0o600); err != nil {
		return p, err
	}
	worker := freePort()
	if err := p.start(o.leeway, "sim", "--dialect", o.dialect, "--host", "127.0.0.1", "--port", worker, "--model", "demo",
		"--tokenizer-path", o.tokenizer, "--replies", file, "--speed", "20"); err != nil {
		return p, err
	}
	tool, thought, _ := strings.Cut(parsers, "/")
	port, metrics := freePort(), freePort()
	flags := func(port, metrics string) (args []string) {
		args = append(args, "--host", "127.0.0.1", "--port", port, "--prometheus-host", "127.0.0.1", "--prometheus-port", metrics,
			"--policy", "round_robin", "--model-path", o.tokenizer, "--worker-urls", "grpc://127.0.0.1:"+worker)
		if tool != "" {
			args = append(args, "--tool-call-parser", tool)
		}
		if thought != "" {
			args = append(args, "--reasoning-parser", thought)
		}
		return args
	}
	p.smg = "http://127.0.0.1:" + port
	if err := p.start(o.smg, append([]string{"launch"}, flags(port, metrics)...)...); err != nil {
		return p, err
	}
	port, metrics = freePort(), freePort()
	p.leeway = "http://127.0.0.1:" + port
	if err := p.start(o.leeway, append([]string{"serve"}, flags(port, metrics)...)...); err != nil {
		return p, err
	}
	for _, base := range []string{p.smg, p.leeway} {
		if err := awaitReady(ctx, base); err != nil {
			return p, fmt.Errorf("%w; logs in %s", err, p.logs)
		}
	}
	return p, nil
}

func (p *pair) start(name string, args ...string) error {
	log, err := os.Create(filepath.Join(p.logs, fmt.Sprintf("%d.log", len(p.running))))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, append(os.Environ(), "HF_HUB_OFFLINE=1")
	if err := cmd.Start(); err != nil {
		return err
	}
	p.running = append(p.running, cmd)
	return nil
}

func (p *pair) stop() {
	for _, cmd := range p.running {
		cmd.Process.Kill()
		cmd.Wait()
	}
	os.RemoveAll(p.logs)
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

// send makes a request and reads its whole answer.
func (p *pair) send(ctx context.Context, base string, r request) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	body := []byte(r.Body)
	var text string
	if json.Unmarshal(r.Body, &text) == nil {
		body = []byte(text)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, base+r.Path, bytes.NewReader(body))
	if err != nil {
		return response{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range r.Headers {
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	got, err := http.DefaultClient.Do(req)
	if err != nil {
		return response{}, err
	}
	defer got.Body.Close()
	all, err := io.ReadAll(got.Body)
	if err != nil {
		return response{}, err
	}
	out := response{status: got.StatusCode, headers: map[string]string{}}
	for _, name := range compared {
		out.headers[name] = got.Header.Get(name)
	}
	if strings.HasPrefix(got.Header.Get("Content-Type"), "text/event-stream") {
		out.events = decodeEvents(string(all))
	} else {
		out.body = decode(string(all))
	}
	return out, nil
}

func freePort() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "0"
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}
