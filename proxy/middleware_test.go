package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// errorOf reads the one error object that a body must be.
func errorOf(t *testing.T, body string) apiError {
	t.Helper()
	var in struct{ Error apiError }
	d := json.NewDecoder(strings.NewReader(body))
	if err := d.Decode(&in); err != nil || d.More() || in.Error.Code == "" || in.Error.Type == "" || in.Error.Message == "" {
		t.Fatalf("body %q is not one error object: %v", body, err)
	}
	return in.Error
}

func TestOnlyTheExactKeyIsLetIn(t *testing.T) { // case F3
	g := empty(t, func(c *Config) { c.APIKey = "sésame" })
	for _, tc := range []struct {
		name   string
		header []string
		status int
	}{
		{"the key", []string{"Bearer sésame"}, 400},
		{"no header", nil, 401},
		{"no key", []string{"Bearer"}, 401},
		{"an empty key", []string{"Bearer "}, 401},
		{"another scheme", []string{"Basic sésame"}, 401},
		{"the scheme in small letters", []string{"bearer sésame"}, 401},
		{"another key", []string{"Bearer sesame"}, 401},
		{"a longer key", []string{"Bearer sésame "}, 400}, // the server trims a header's value
		{"two headers", []string{"Bearer sésame", "Bearer sésame"}, 401},
		{"bytes that are no text", []string{"Bearer \xff\xfe"}, 401},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var headers []string
			for _, h := range tc.header {
				headers = append(headers, "Authorization", h)
			}
			a := ask(t, g.Handler(), "POST", "/v1/chat/completions", "{", headers...)
			if a.status != tc.status {
				t.Fatalf("status %d, want %d: %s", a.status, tc.status, a.body)
			}
			e := errorOf(t, a.body)
			if tc.status != 401 {
				return
			}
			challenge := a.header.Get("WWW-Authenticate")
			if e.Code != "invalid_api_key" || !strings.HasPrefix(challenge, `Bearer realm="data-plane"`) {
				t.Errorf("code %q, challenge %q", e.Code, challenge)
			}
			sent := len(tc.header) == 1 && strings.HasPrefix(tc.header[0], "Bearer ") && tc.header[0] != "Bearer "
			if strings.Contains(challenge, "invalid_token") != sent {
				t.Errorf("challenge %q for %q", challenge, tc.header)
			}
		})
	}
}

func TestPublicRoutesNeedNoKeyAndAdminRoutesDo(t *testing.T) {
	g := empty(t, func(c *Config) { c.APIKey = "k" })
	for path, want := range map[string]int{
		"/health": 200, "/liveness": 200, "/readiness": 503, "/v1/models": 200, "/workers": 401, "/routing/mode": 401, "/routing/decisions": 401,
	} {
		if a := ask(t, g.Handler(), "GET", path, ""); a.status != want {
			t.Errorf("GET %s: %d, want %d", path, a.status, want)
		}
	}
}

func TestRequestIDIsKeptIfItIsShortAndPrintable(t *testing.T) { // case F5
	g := empty(t, nil)
	for _, tc := range []struct {
		name    string
		headers []string
		want    string // a pattern
	}{
		{"none", nil, `^chatcmpl-[a-z0-9]{24}$`},
		{"the first name", []string{"X-Request-ID", "abc"}, `^abc$`},
		{"another name, another case", []string{"rEQUEST-id", "abc"}, `^abc$`},
		{"the first name decides", []string{"Request-Id", "low", "X-Request-Id", "high"}, `^high$`},
		{"sent twice", []string{"X-Request-Id", "one", "X-Request-Id", "two"}, `^one$`},
		{"blanks inside", []string{"X-Request-Id", "a b"}, `^chatcmpl-[a-z0-9]{24}$`},
		{"too long", []string{"X-Request-Id", strings.Repeat("x", 129)}, `^chatcmpl-[a-z0-9]{24}$`},
		{"as long as may be", []string{"X-Request-Id", strings.Repeat("x", 128)}, `^x{128}$`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := ask(t, g.Handler(), "POST", "/v1/chat/completions", "{", tc.headers...)
			if got := a.header.Values("X-Request-Id"); len(got) != 1 || !regexp.MustCompile(tc.want).MatchString(got[0]) {
				t.Errorf("got %q, want one that matches %s", got, tc.want)
			}
		})
	}
}

func TestUnknownPathsAndMethodsAreErrorsInJSON(t *testing.T) {
	g := empty(t, nil)
	if a := ask(t, g.Handler(), "GET", "/nowhere", ""); a.status != 404 || errorOf(t, a.body).Code != "unknown_url" {
		t.Errorf("%d %s", a.status, a.body)
	}
	a := ask(t, g.Handler(), "GET", "/v1/chat/completions", "")
	if a.status != 405 || errorOf(t, a.body).Code != "method_not_allowed" || a.header.Get("X-SMG-Error-Code") != "method_not_allowed" || a.header.Get("Allow") != "POST" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := ask(t, g.Handler(), "POST", "/v1/models", ""); a.header.Get("Allow") != "GET,HEAD" {
		t.Errorf("models allow %q", a.header.Get("Allow"))
	}
}

func TestBodiesOverTheLimitAre413InBothFramings(t *testing.T) { // case F6
	g := empty(t, func(c *Config) { c.MaxPayloadSize = 1000 })
	s := httptest.NewServer(g.Handler())
	defer s.Close()
	for _, framing := range []string{"length", "chunked"} {
		r, _ := http.NewRequest("POST", s.URL+"/v1/chat/completions", strings.NewReader(strings.Repeat(" ", 2000)))
		if framing == "chunked" {
			r.ContentLength = -1
		}
		resp, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		body.ReadFrom(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != 413 || errorOf(t, body.String()).Code != "request_body_too_large" {
			t.Errorf("%s: %d %s", framing, resp.StatusCode, body.String())
		}
	}
}

func TestBadBodiesAre400(t *testing.T) { // case F7
	g := empty(t, nil)
	deep := strings.Repeat(`{"a":`, 10000)
	for name, body := range map[string]string{
		"half an object": `{`, "nothing": ``, "no number": `{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":NaN}`,
		"deep nesting": deep, "deep lists": `{"model":"m","messages":` + strings.Repeat("[", 10000),
		"a list": `[]`, "a wrong type": `{"model":7,"messages":"hello"}`, "no messages": `{"model":"m"}`,
	} {
		for _, path := range []string{"/v1/chat/completions", "/v1/completions"} {
			if a := ask(t, g.Handler(), "POST", path, body); a.status != 400 {
				t.Errorf("%s to %s: %d %s", name, path, a.status, a.body)
			} else {
				errorOf(t, a.body)
			}
		}
	}
}

func TestUnknownModelIs404AtOnce(t *testing.T) {
	g := empty(t, nil)
	a := ask(t, g.Handler(), "POST", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}]}`)
	if e := errorOf(t, a.body); a.status != 404 || e.Code != "model_not_found" || e.Type != "invalid_request_error" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestPanicBeforeTheFirstByteIsA500AndAfterItClosesTheConnection(t *testing.T) { // case A30
	var logged bytes.Buffer
	g := empty(t, nil)
	g.log = zerolog.New(&logged)
	before := ask(t, g.observe(handler(func(*exchange, *http.Request) error { panic("secret") })), "GET", "/", "")
	if before.status != 500 || errorOf(t, before.body).Code != "internal_error" || strings.Contains(before.body, "secret") {
		t.Errorf("%d %s", before.status, before.body)
	}
	after := ask(t, g.observe(handler(func(x *exchange, r *http.Request) error {
		e, err := x.begin(r, g.config)
		if err != nil {
			return err
		}
		e.write([]byte("data: {}\n\n"))
		panic("secret")
	})), "GET", "/", "")
	events := strings.Split(after.body, "\n\n")
	if len(events) != 4 || !strings.Contains(events[1], `"error"`) || events[2] != "data: [DONE]" || strings.Contains(after.body, "secret") {
		t.Errorf("after the first event: %q", after.body)
	}
	if !strings.Contains(logged.String(), "panic in a handler") {
		t.Error("nobody heard of the panic")
	}
}

func TestInternalErrorsKeepTheirTextToThemselves(t *testing.T) {
	g := empty(t, nil)
	a := ask(t, g.observe(handler(func(*exchange, *http.Request) error { return errors.New("dial tcp 10.1.2.3: secret") })), "GET", "/", "")
	if a.status != 500 || strings.Contains(a.body, "10.1.2.3") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestCORSIsOffUnlessOriginsAreNamed(t *testing.T) {
	preflight := []string{"Origin", "https://a.example", "Access-Control-Request-Method", "POST"}
	if a := ask(t, empty(t, nil).Handler(), "OPTIONS", "/v1/chat/completions", "", preflight...); a.status != 405 || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("off: %d %v", a.status, a.header)
	}
	g := empty(t, func(c *Config) { c.CORSAllowedOrigins = []string{"https://a.example"} })
	a := ask(t, g.Handler(), "OPTIONS", "/v1/chat/completions", "", preflight...)
	if a.status != 200 || a.header.Get("Access-Control-Allow-Origin") != "https://a.example" || a.header.Get("Access-Control-Max-Age") != "3600" {
		t.Errorf("allowed: %d %v", a.status, a.header)
	}
	a = ask(t, g.Handler(), "GET", "/health", "", "Origin", "https://b.example")
	if a.status != 200 || a.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another origin: %d %v", a.status, a.header)
	}
}

func TestHealthSaysWhatSMGSays(t *testing.T) {
	g := empty(t, nil)
	if a := ask(t, g.Handler(), "GET", "/liveness", ""); a.status != 200 || a.body != "OK" {
		t.Errorf("%d %q", a.status, a.body)
	}
	if a := ask(t, g.Handler(), "GET", "/readiness", ""); a.status != 503 || a.body != `{"status":"not ready","reason":"insufficient healthy workers"}` {
		t.Errorf("%d %q", a.status, a.body)
	}
	if a := ask(t, g.Handler(), "HEAD", "/health", ""); a.status != 200 || a.body != "" {
		t.Errorf("HEAD: %d %q", a.status, a.body)
	}
	g.draining.Store(true)
	if a := ask(t, g.Handler(), "GET", "/readiness", ""); a.status != 503 || a.body != `{"status":"not ready","reason":"draining"}` {
		t.Errorf("%d %q", a.status, a.body)
	}
	if a := ask(t, g.Handler(), "GET", "/health", ""); a.status != 200 {
		t.Errorf("health while draining: %d", a.status)
	}
}
