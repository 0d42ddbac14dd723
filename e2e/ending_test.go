package e2e

import (
	"context"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestHelpAndVersionAreCommands(t *testing.T) {
	for line, want := range map[string]string{
		"help": "detokenize", "--help": "--worker-urls", "help sim": "--dialect", "version": "leeway ", "--version": "go1.",
	} {
		if out, problem, ok := pipe(t, "", strings.Fields(line)...); !ok || problem != "" || !strings.Contains(out, want) {
			t.Errorf("%s: printed %q, %s", line, out, problem)
		}
	}
	if _, problem, ok := pipe(t, "", "serv"); ok || !strings.Contains(problem, "did you mean serve?") {
		t.Errorf("an unknown command: %s", problem)
	}
}

// case E11
func TestSignalsEndAGatewayAsSoonAsItMay(t *testing.T) {
	_, url := simulate(t, "vllm", "", "--canned", "--token-interval", "20ms")
	within := func(g *gateway, from, to time.Duration, code int) {
		t.Helper()
		began := time.Now()
		if got := g.end(to); got != code || time.Since(began) < from {
			t.Errorf("exit code %d after %v, want %d after at least %v", got, time.Since(began), code, from)
		}
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		g := serve(t, "--worker-urls", url, "--shutdown-accept-secs", "0")
		g.signal(s)
		within(g, 0, 2*time.Second, 0)
	}
	g := serve(t, "--worker-urls", url, "--shutdown-accept-secs", "1")
	g.signal(syscall.SIGTERM)
	within(g, 900*time.Millisecond, 4*time.Second, 0)

	g = serve(t, "--worker-urls", url, "--shutdown-accept-secs", "0")
	response, err := g.post(context.Background(), "/v1/chat/completions", chat(`"stream":true,"max_tokens":100,"ignore_eos":true,`, "go on"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	g.signal(syscall.SIGTERM)
	if text, err := io.ReadAll(response.Body); err != nil || !strings.HasSuffix(string(text), "data: [DONE]\n\n") || strings.Contains(string(text), `"error"`) {
		t.Errorf("the stream was cut: %v, it ends in %q", err, text[max(0, len(text)-200):])
	}
	within(g, 0, 3*time.Second, 0)

	g = serve(t, "--worker-urls", url, "--shutdown-accept-secs", "60")
	g.signal(syscall.SIGTERM)
	eventually(t, 2*time.Second, "the drain is logged", func() bool { return strings.Contains(g.output.String(), "accepting=") })
	g.signal(syscall.SIGTERM)
	within(g, 0, 2*time.Second, -1)
}
