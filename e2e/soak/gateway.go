package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"leeway/e2e/ports"
)

// gateway is the program under test.
type gateway struct {
	cmd           *exec.Cmd
	log           *os.File
	url, measures string
}

func startGateway(ctx context.Context, program, decisions string, workers []string) (*gateway, error) {
	var finder ports.Finder
	port, metrics := strconv.Itoa(finder.Free(1)), strconv.Itoa(finder.Free(1))
	g := &gateway{url: "http://127.0.0.1:" + port, measures: "http://127.0.0.1:" + metrics + "/metrics"}
	args := []string{
		"serve", "--host", "127.0.0.1", "--port", port, "--prometheus-host", "127.0.0.1", "--prometheus-port", metrics,
		"--log-level", "debug", "--load-monitor-interval", "1", "--health-check-interval-secs", "2",
		"--least-load-cache-mode", "enforce", "--least-load-default-throughput", "200", "--least-load-cache-prefill-throughput", "8000",
		"--decision-log", decisions, "--decision-log-bytes", strconv.Itoa(1 << 32), "--shutdown-grace-period-secs", "20", "--worker-urls",
	}
	var err error
	if g.log, err = os.CreateTemp("", "soak-*.log"); err != nil {
		return nil, err
	}
	g.cmd = exec.Command(program, append(args, workers...)...)
	g.cmd.Stdout, g.cmd.Stderr = g.log, g.log
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(time.Minute); g.sum("smg_worker_health", "") < float64(len(workers)); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) || ctx.Err() != nil {
			g.kill()
			text, _ := os.ReadFile(g.log.Name())
			return nil, fmt.Errorf("the workers did not come into service; the gateway printed:\n%s", text)
		}
	}
	return g, nil
}

// end lets the gateway drain and write its log.
func (g *gateway) end() error {
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return g.cmd.Wait()
}

func (g *gateway) kill() {
	_ = g.cmd.Process.Kill()
	_ = g.log.Close()
	_ = os.Remove(g.log.Name())
}

// about returns the last lines that the log has of a worker.
func (g *gateway) about(worker string) (lines []string) {
	text, _ := os.ReadFile(g.log.Name())
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, worker) {
			lines = append(lines, line)
		}
	}
	return lines[max(0, len(lines)-60):]
}

// rss is the memory that the process has in RAM.
func (g *gateway) rss() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", g.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// samples are a metric's lines, without its name.
func (g *gateway) samples(name string) (lines []string) {
	response, err := http.Get(g.measures)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	for line := range strings.SplitSeq(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, name); ok && rest != "" && (rest[0] == '{' || rest[0] == ' ') {
			lines = append(lines, rest)
		}
	}
	return lines
}

func value(line string) float64 {
	n, _ := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
	return n
}

// sum adds up the samples whose labels contain text.
func (g *gateway) sum(name, text string) (total float64) {
	for _, line := range g.samples(name) {
		if strings.Contains(line, text) {
			total += value(line)
		}
	}
	return total
}

// byLabel adds up the samples of each value of a label.
func (g *gateway) byLabel(name, label string) map[string]float64 {
	found := map[string]float64{}
	for _, line := range g.samples(name) {
		if _, rest, ok := strings.Cut(line, label+`="`); ok {
			word, _, _ := strings.Cut(rest, `"`)
			found[word] += value(line)
		}
	}
	return found
}

// worst returns the worker with the largest sample whose labels contain text.
func (g *gateway) worst(name, text string) (url string, most float64) {
	for _, line := range g.samples(name) {
		if n := value(line); n > most && strings.Contains(line, text) {
			_, rest, _ := strings.Cut(line, `worker="`)
			url, _, _ = strings.Cut(rest, `"`)
			most = n
		}
	}
	return url, most
}

// chats is an open load: streamed turns of a fixed set of sessions, so that what there is to hold is bounded.
type chats struct {
	sent, failed atomic.Int64
	all          sync.WaitGroup
}

const (
	sessions = 24
	turns    = 12
	words    = 40 // that a turn adds
)

func (c *chats) start(ctx context.Context, url string, rate int) {
	c.all.Go(func() {
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				session, turn := rand.IntN(sessions), 1+rand.IntN(turns)
				c.all.Go(func() { c.send(url, session, turn) })
			}
		}
	})
}

func (c *chats) wait() { c.all.Wait() }

func (c *chats) send(url string, session, turn int) {
	var text strings.Builder
	for i := range turn * words {
		fmt.Fprintf(&text, "s%dw%d ", session, i)
	}
	c.sent.Add(1)
	body := fmt.Sprintf(`{"model":"demo","stream":true,"max_tokens":12,"ignore_eos":true,"messages":[{"role":"user","content":%q}]}`, text.String())
	if err := post(url+"/v1/chat/completions", body); err != nil {
		c.failed.Add(1)
	}
}

var errBroken = errors.New("the answer was not whole")

func post(url, body string) error {
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK || strings.Contains(string(text), `"error":`) {
		return errBroken
	}
	return nil
}
