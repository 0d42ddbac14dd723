package proxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"leeway/openai"
	"leeway/routing"
	"leeway/workers"
	"leeway/workers/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, goleak.IgnoreCurrent()) }

// empty returns a gateway without workers.
func empty(t *testing.T, change func(*Config)) *Gateway {
	t.Helper()
	c := DefaultConfig()
	if change != nil {
		change(&c)
	}
	router, err := routing.New(routing.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	pool, err := workers.New(workers.DefaultConfig(), router, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(c, DefaultModelConfig(), router, pool, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// answered is a response read to its end.
type answered struct {
	status int
	header http.Header
	body   string
}

// ask sends one request to a handler over a real connection.
func ask(t *testing.T, h http.Handler, method, path, body string, headers ...string) answered {
	t.Helper()
	s := httptest.NewServer(h)
	defer s.Close()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Logf("reading the body: %v", err)
	}
	return answered{resp.StatusCode, resp.Header, string(b)}
}

func samplingOf(t *testing.T, m *model, body string) engine.Sampling {
	t.Helper()
	req, err := openai.DecodeChat([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return m.sampling(&req.Sampling, req.N)
}
