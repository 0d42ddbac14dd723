package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

const question = "Where will this request go, and why?"

func TestDemoAnswersCurlAndTheGoSDK(t *testing.T) {
	g := serve(t, "--demo")
	status, text := g.ask(`"stream":true,`, question)
	if all := events(text); status != http.StatusOK || len(all) < 5 || all[len(all)-1] != "[DONE]" {
		t.Fatalf("status %d, stream %s", status, text)
	}
	if answer := content(t, text); !strings.Contains(answer, "Its prompt has") {
		t.Errorf("the answer does not say what happened: %q", answer)
	}

	client := openai.NewClient(option.WithBaseURL(g.url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	params := openai.ChatCompletionNewParams{Model: "demo", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)}}
	whole, err := client.Chat.Completions.New(context.Background(), params)
	if err != nil || whole.Choices[0].Message.Content == "" || whole.Choices[0].FinishReason != "stop" {
		t.Fatalf("whole answer %+v: %v", whole, err)
	}
	stream := client.Chat.Completions.NewStreaming(context.Background(), params)
	var answer openai.ChatCompletionAccumulator
	for stream.Next() {
		if !answer.AddChunk(stream.Current()) {
			t.Fatalf("the accumulator refuses %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil || answer.Choices[0].Message.Content == "" || answer.Choices[0].FinishReason != "stop" {
		t.Fatalf("streamed answer %+v: %v", answer.ChatCompletion, err)
	}
}

func TestWrongSettingsStopTheStartAndNameTheKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	cases := []struct { // case F11
		name, config string
		args, want   []string
	}{
		{"unknown flag", "", []string{"--worker-urlz", "x"}, []string{"--worker-urlz"}},
		{"flag without its value", "", []string{"--port"}, []string{"--port"}},
		{"word that is no flag", "", []string{"--demo", "now"}, []string{"now"}},
		{"unknown command", "", []string{"lunch"}, []string{"lunch"}},
		{"port that is no number", "", []string{"--port", "http"}, []string{"--port", "http"}},
		{"negative weight", "", []string{"--least-load-kv-pressure-weight", "-1"}, []string{"least_load_kv_pressure_weight", "-1"}},
		{"weight that is no number", "", []string{"--least-load-kv-pressure-weight", "NaN"}, []string{"least-load-kv-pressure-weight", "NaN"}},
		{"mode with a space", "", []string{"--least-load-cache-mode", "enforced "}, []string{"least_load_cache_mode", "enforced "}},
		{"unknown policy", "", []string{"--policy", "best"}, []string{"policy", "best", "least_load"}},
		{"unknown key", "[routing]\n\nleast_lode = 1\n", nil, []string{"config.toml:3", "least_lode"}},
		{"unknown table", "[router]\npolicy = 'random'\n", nil, []string{"config.toml:1", "router"}},
		{"key of the wrong type", "[proxy]\nport = 'x'\n", nil, []string{"config.toml:2", "port"}},
		{"bad value in the file", "[routing]\n# a comment\nleast_load_default_throughput = 0.0\n", nil, []string{"config.toml:3", "least_load_default_throughput"}},
		{"file that is not TOML", "[proxy\n", nil, []string{"config.toml:1"}},
		{"file that is not there", "", []string{"--config", "/nowhere/config.toml"}, []string{"/nowhere/config.toml"}},
		{"folder that is not there", "", []string{"--check", "--tokenizer-path", "/nowhere"}, []string{"tokenizer_path", "/nowhere"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			args := c.args
			if c.config != "" {
				if err := os.WriteFile(file, []byte(c.config), 0o600); err != nil {
					t.Fatal(err)
				}
				args = append(args, "--config", file)
			}
			p := start(t, args...)
			if code := p.end(10 * time.Second); code == 0 {
				t.Error("it ended as if all were well")
			}
			for _, want := range c.want {
				if !strings.Contains(p.output.String(), want) {
					t.Errorf("%q is not in what it printed", want)
				}
			}
		})
	}
}

func TestCheckPrintsTheSettingsInForceWithoutSecrets(t *testing.T) {
	p := start(t, "serve", "--check", "--api-key", "hush-hush", "--worker-urls", "grpc://a:1", "grpc://b:2", "--worker-urls", "grpc://c:3",
		"--policy", "least_load", "--log-json", "--least-load-kv-pressure-weight=0.5", "--max-tree-size", "9",
		"--least-load-cache-cost", "calibrated")
	if code := p.end(10 * time.Second); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	out := p.output.String()
	for _, want := range []string{"grpc://a:1", "grpc://b:2", "grpc://c:3", "least_load_kv_pressure_weight = 0.5", "log_json = true", "[routing]", "--max-tree-size", "lower load_monitor_interval_secs"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(out, "hush") {
		t.Error("the key is shown")
	}
}

func TestTheAnnotatedConfigIsTheDefault(t *testing.T) {
	plain, annotated := start(t, "--check"), start(t, "--check", "--config", "../config.toml")
	if a, b := plain.end(10*time.Second), annotated.end(10*time.Second); a != 0 || b != 0 {
		t.Fatalf("exit codes %d and %d", a, b)
	}
	if plain.output.String() != annotated.output.String() {
		t.Errorf("config.toml differs from the defaults:\n%s\nand\n%s", annotated.output, plain.output)
	}
	text, err := os.ReadFile("../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(plain.output.String(), "\n") {
		if key, _, ok := strings.Cut(line, " ="); ok && !strings.Contains(string(text), "\n"+key+" =") {
			t.Errorf("config.toml does not show %s", key)
		}
	}
}

func TestABusyPortIsNamed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, args := range [][]string{
		{"--demo", "--host", "127.0.0.1", "--port", port, "--prometheus-port", freePort()},
		{"--demo", "--host", "127.0.0.1", "--port", freePort(), "--prometheus-host", "127.0.0.1", "--prometheus-port", port},
		{"sim", "--dialect", "vllm", "--host", "127.0.0.1", "--port", port, "--model", "m", "--tokenizer-path", "../workers/sim/demo"},
	} {
		p := start(t, args...)
		if code := p.end(20 * time.Second); code == 0 || !strings.Contains(p.output.String(), port) {
			t.Errorf("%v: exit code %d, printed %s", args, code, p.output)
		}
	}
}

// case E7
func TestAWorkerThatIsDownAtStartJoinsWhenItComesUp(t *testing.T) {
	port := freePort()
	g := launch(t, "--worker-urls", "grpc://127.0.0.1:"+port, "--health-check-interval-secs", "1")
	eventually(t, 10*time.Second, "the gateway listens", func() bool { return g.status("/liveness") == http.StatusOK })
	if status := g.status("/readiness"); status != http.StatusServiceUnavailable {
		t.Errorf("readiness without a worker: %d", status)
	}
	simulate(t, "vllm", port)
	g.becomesReady()
	if status, text := g.ask("", question); status != http.StatusOK {
		t.Errorf("status %d: %s", status, text)
	}
}

// cases A3, E2
func TestAWorkerKilledMidStreamEndsTheStreamWithAnError(t *testing.T) {
	for _, dialect := range []string{"sglang", "vllm", "tokenspeed"} {
		t.Run(dialect, func(t *testing.T) {
			worker, url := simulate(t, dialect, "", "--canned", "--token-interval", "20ms")
			g := serve(t, "--worker-urls", url)
			response, err := g.post(context.Background(), "/v1/chat/completions", chat(`"stream":true,"max_tokens":1000,`, question))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			lines := bufio.NewScanner(response.Body)
			for seen := 0; seen < 10 && lines.Scan(); seen++ {
			}
			worker.signal(syscall.SIGKILL)
			var rest strings.Builder
			for lines.Scan() {
				rest.WriteString(lines.Text() + "\n")
			}
			text := rest.String()
			if !strings.HasSuffix(text, "data: [DONE]\n\n") || strings.Count(text, "[DONE]") != 1 || !strings.Contains(text, `"error":`) || strings.Contains(text, `"finish_reason":"stop"`) {
				t.Errorf("the stream ended with %s", text)
			}
		})
	}
}

// case E11
func TestATerminatedGatewayFinishesItsStreams(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			_, url := simulate(t, "sglang", "", "--canned", "--token-interval", "20ms")
			g := serve(t, "--worker-urls", url, "--shutdown-grace-period-secs", "8") // the streams outlast the 4 s in which it still listens
			var streams sync.WaitGroup
			ended, began := make(chan string, 20), make(chan struct{}, 20)
			for range 20 {
				streams.Go(func() { ended <- streamOf(g, began) })
			}
			for range 20 {
				<-began
			}
			g.signal(sig)
			eventually(t, 2*time.Second, "readiness says draining", func() bool { return g.status("/readiness") == http.StatusServiceUnavailable })
			streams.Wait()
			for range 20 {
				if text := <-ended; !strings.HasSuffix(text, "data: [DONE]\n\n") || !strings.Contains(text, `"finish_reason":"length"`) {
					t.Errorf("a stream was cut: %.200s", text[max(0, len(text)-200):])
				}
			}
			if code := g.end(15 * time.Second); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}

func streamOf(g *gateway, began chan<- struct{}) string {
	response, err := g.post(context.Background(), "/v1/chat/completions", chat(`"stream":true,"max_tokens":250,`, question))
	if err != nil {
		began <- struct{}{}
		return fmt.Sprint(err)
	}
	defer response.Body.Close()
	first := make([]byte, 1)
	io.ReadFull(response.Body, first)
	began <- struct{}{}
	rest, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(first) + string(rest)
}

func TestASecondSignalEndsAtOnce(t *testing.T) {
	_, url := simulate(t, "sglang", "", "--canned", "--token-interval", "20ms")
	g := serve(t, "--worker-urls", url)
	began := make(chan struct{}, 1)
	go streamOf(g, began)
	<-began
	g.signal(syscall.SIGINT)
	time.Sleep(200 * time.Millisecond)
	g.signal(syscall.SIGINT)
	g.end(3 * time.Second)
}
