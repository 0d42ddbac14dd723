package e2e

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
	"sync"
	"syscall"
	"testing"
	"time"

	"leeway/e2e/ports"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "leeway-e2e-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "leeway")
	build := exec.Command("go", "build", "-o", binary, "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// program is a started leeway.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	output *syncBuffer
	exited chan error
}

type syncBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

func start(t *testing.T, args ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(binary, args...), output: &syncBuffer{}, exited: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.exited <- p.cmd.Wait() }()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		if t.Failed() {
			t.Logf("%v printed:\n%s", args, p.output)
		}
	})
	return p
}

// end waits for the program to exit by itself and returns its exit code.
func (p *program) end(limit time.Duration) int {
	p.t.Helper()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(limit):
		p.t.Fatalf("still running after %v; it printed:\n%s", limit, p.output)
		return -1
	}
}

func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// gateway is a leeway that serves on a port of its own.
type gateway struct {
	*program
	url string
}

func serve(t *testing.T, args ...string) *gateway {
	t.Helper()
	g := launch(t, args...)
	g.becomesReady()
	return g
}

// launch starts a gateway without waiting for it to be ready.
func launch(t *testing.T, args ...string) *gateway {
	t.Helper()
	port, metrics := freePort(), freePort()
	args = append(args, "--host", "127.0.0.1", "--port", port, "--prometheus-host", "127.0.0.1", "--prometheus-port", metrics)
	return &gateway{start(t, args...), "http://127.0.0.1:" + port}
}

func (g *gateway) becomesReady() {
	g.t.Helper()
	eventually(g.t, 30*time.Second, "the gateway is ready", func() bool { return g.status("/readiness") == http.StatusOK })
}

func (g *gateway) status(path string) int {
	response, err := http.Get(g.url + path)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

func (g *gateway) get(path string) string {
	response, err := http.Get(g.url + path)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}

func (g *gateway) post(ctx context.Context, path, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("content-type", "application/json")
	return http.DefaultClient.Do(request)
}

// ask posts a chat and returns the status and the whole body.
func (g *gateway) ask(fields, content string) (int, string) {
	g.t.Helper()
	response, err := g.post(context.Background(), "/v1/chat/completions", chat(fields, content))
	if err != nil {
		g.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func chat(fields, content string) string {
	return fmt.Sprintf(`{"model":"demo",%s"messages":[{"role":"user","content":%q}]}`, fields, content)
}

// events are the data lines of a stream, in order.
func events(text string) (found []string) {
	for frame := range strings.SplitSeq(text, "\n\n") {
		if data, ok := strings.CutPrefix(frame, "data: "); ok {
			found = append(found, data)
		}
	}
	return found
}

// content puts the text of a stream's chunks together.
func content(t *testing.T, text string) string {
	t.Helper()
	var all strings.Builder
	for _, data := range events(text) {
		if data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(data), &chunk); err != nil {
			t.Fatalf("event %q: %v", data, err)
		}
		for _, choice := range chunk.Choices {
			all.WriteString(choice.Delta.Content)
		}
	}
	return all.String()
}

// simulate starts a simulated worker in a process of its own and returns it with its URL.
func simulate(t *testing.T, dialect, port string, args ...string) (*program, string) {
	t.Helper()
	if port == "" {
		port = freePort()
	}
	p := start(t, append([]string{"sim", "--dialect", dialect, "--host", "127.0.0.1", "--port", port, "--model", "demo",
		"--tokenizer-path", "../workers/sim/demo"}, args...)...)
	eventually(t, 10*time.Second, "the worker listens", func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return p, "grpc://127.0.0.1:" + port
}

func eventually(t *testing.T, limit time.Duration, what string, met func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if met() {
			return
		}
	}
	t.Fatalf("not within %v: %s", limit, what)
}

// finder gives each port once to all tests of this package.
var finder ports.Finder

func freePort() string { return strconv.Itoa(finder.Free(1)) }
