package e2e

import (
	"context"
	"io"
	"os/exec"
	"os/signal"
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
}

// A shell's script has SIGINT ignored in what it starts in its background.
func TestASecondSignalEndsAtOnceAlsoWhereSignalsWereIgnored(t *testing.T) {
	signal.Ignore(syscall.SIGINT)
	defer signal.Reset(syscall.SIGINT)
	_, url := simulate(t, "vllm", "", "--canned", "--token-interval", "20ms")
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		g := serve(t, "--worker-urls", url, "--shutdown-accept-secs", "60")
		g.signal(s)
		eventually(t, 2*time.Second, "the drain is logged", func() bool { return strings.Contains(g.output.String(), "accepting=") })
		g.signal(s)
		if code := g.end(2 * time.Second); code != 128+int(s) {
			t.Errorf("exit code %d after a second %v", code, s)
		}
	}
}

func TestOneSignalEndsACommandThatReads(t *testing.T) {
	command := exec.Command(binary, "detokenize", "--tokenizer-path", "../workers/sim/demo")
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(5*time.Second, func() { command.Process.Kill() }).Stop()
	go io.WriteString(input, strings.Repeat("[1]\n", 1<<20))
	output.Read(make([]byte, 1)) // it has come to its work
	command.Process.Signal(syscall.SIGTERM)
	command.Wait()
	if state := command.ProcessState.Sys().(syscall.WaitStatus); state.Signal() != syscall.SIGTERM {
		t.Errorf("it ended by %v", command.ProcessState)
	}
}
