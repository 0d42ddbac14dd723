package proxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"leeway/routing"
	"leeway/workers"
	"leeway/workers/sim"
)

var dialects = []string{"sglang", "vllm", "tokenspeed"}

// bed is a gateway in front of simulated workers, over real connections.
type bed struct {
	*Gateway
	url      string
	client   *http.Client
	measures string
	workers  []*sim.Worker
	stop     context.CancelFunc
	ended    chan error // what Serve returned
}

// setup is what a test may change before the bed starts.
type setup struct {
	config  Config
	models  ModelConfig
	routing routing.Config
	workers workers.Config
	sim     []sim.Options
	client  *http.Client // nil: the default one
	scheme  string       // "": http
}

// script makes every worker answer prompts that contain match with text.
func script(t *testing.T, match, text string) string {
	t.Helper()
	line, err := json.Marshal(sim.Reply{Match: match, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "replies.jsonl")
	if err := os.WriteFile(path, append(line, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// one is a single worker of a dialect that answers "question" with text, ten times faster than life.
func one(t *testing.T, dialect, text string) func(*setup) {
	return func(s *setup) {
		s.sim = append(s.sim, sim.Options{Dialect: dialect, Speed: 10, Replies: script(t, "question", text)})
	}
}

// start brings the bed up and waits until it is ready.
func start(t *testing.T, changes ...func(*setup)) *bed {
	t.Helper()
	b := launch(t, changes...)
	b.awaitReady(t)
	return b
}

// launch brings the bed up.
func launch(t *testing.T, changes ...func(*setup)) *bed {
	t.Helper()
	s := setup{config: DefaultConfig(), models: DefaultModelConfig(), routing: routing.DefaultConfig(), workers: workers.DefaultConfig()}
	s.config.Host, s.config.PrometheusHost, s.config.Port, s.config.PrometheusPort = "127.0.0.1", "127.0.0.1", 0, 0
	s.config.ShutdownGrace, s.config.RetryInitialBackoff = 0.2, 1
	for _, change := range changes {
		change(&s)
	}
	b := &bed{ended: make(chan error, 1), client: cmp.Or(s.client, http.DefaultClient)}
	for _, o := range s.sim {
		w, err := sim.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		b.workers = append(b.workers, w)
		s.workers.URLs = append(s.workers.URLs, w.URL())
	}
	router, err := routing.New(s.routing)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := workers.New(s.workers, router, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	if b.Gateway, err = New(s.config, s.models, router, pool, zerolog.New(os.Stderr).Level(zerolog.ErrorLevel)); err != nil {
		t.Fatal(err)
	}
	ports, err := s.config.Listen()
	if err != nil {
		t.Fatal(err)
	}
	b.url = cmp.Or(s.scheme, "http") + "://" + ports.Public.Addr().String()
	b.run(t, ports)
	return b
}

func (b *bed) run(t *testing.T, ports Listeners) {
	b.measures = "http://" + ports.Measures.Addr().String() + "/metrics"
	var ctx context.Context
	ctx, b.stop = context.WithCancel(context.Background())
	over := make(chan error, 1)
	serving := make(chan error, 1)
	background, end := context.WithCancel(context.Background())
	go func() { over <- b.pool.Run(background) }()
	go func() { serving <- b.Serve(ctx, ports) }()
	go func() {
		err := <-serving
		end()
		<-over
		b.ended <- err
		close(b.ended)
	}()
	t.Cleanup(func() {
		b.stop()
		http.DefaultClient.CloseIdleConnections()
		for range b.ended {
		}
	})
}

func (b *bed) awaitReady(t *testing.T) {
	t.Helper()
	eventually(t, "ready", func() bool {
		resp, err := b.client.Get(b.url + "/readiness")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == 200
	})
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("not %s within 5 s", what)
}

// post sends a body and returns the response, open.
func (b *bed) post(t *testing.T, ctx context.Context, path, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", b.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// chat asks "question" with more members and returns the response read to its end.
func (b *bed) chat(t *testing.T, members string) answered {
	t.Helper()
	resp := b.post(t, t.Context(), "/v1/chat/completions", question(members))
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{resp.StatusCode, resp.Header, string(body)}
}

func question(members string) string {
	return `{"model":"demo","messages":[{"role":"user","content":"question"}]` + members + `}`
}

// chunk is what a client reads of a streamed event, and of a whole answer.
type chunk struct {
	ID, Object, Model string
	Choices           []struct {
		Index          int
		Delta, Message struct {
			Role, Content, ReasoningContent *string
			ToolCalls                       []struct {
				Index    int
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		Text         string
		FinishReason *string         `json:"finish_reason"`
		MatchedStop  json.RawMessage `json:"matched_stop"`
		Logprobs     *struct {
			Content []struct {
				Token   string
				Bytes   []int
				Logprob float64
				Top     []struct{ Token string } `json:"top_logprobs"`
			}
		}
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	Error *apiError
}

func oneChunk(t *testing.T, data []byte) (c chunk) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&c); err != nil || d.More() {
		t.Fatalf("%q is not one JSON object: %v", data, err)
	}
	return c
}

// said is what the chunks of a choice add up to.
type said struct {
	content string
	finish  []string
	roles   int
}

func add(all []chunk, index int) (s said) {
	for _, c := range all {
		for _, choice := range c.Choices {
			if choice.Index != index {
				continue
			}
			for _, text := range []*string{choice.Delta.Content, choice.Message.Content, &choice.Text} {
				if text != nil {
					s.content += *text
				}
			}
			if choice.Delta.Role != nil {
				s.roles++
			}
			if choice.FinishReason != nil {
				s.finish = append(s.finish, *choice.FinishReason)
			}
		}
	}
	return s
}

// atRest fails unless everything that counts requests counts none.
func (b *bed) atRest(t *testing.T) {
	t.Helper()
	eventually(t, "at rest", func() bool {
		inside, waiting := b.admission.counts()
		active := 0
		for _, w := range b.pool.Workers() {
			active += w.Active
		}
		return inside+waiting+active+b.leased() == 0
	})
}

// leased is how many requests the router believes to be under way.
func (b *bed) leased() (n int) {
	for _, w := range b.pool.Workers() {
		lease, err := b.router.Pick(time.Now(), routing.Request{Model: w.Model})
		if err != nil { // nobody there to ask about
			continue
		}
		for _, c := range lease.Receipt().Candidates {
			n += int(c.InFlight)
		}
		lease.Release()
	}
	return n
}
