package proxy

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"leeway/workers/engine"
	"leeway/workers/sim"
)

// streamed runs a handler over events and returns what a client gets.
func streamed(t *testing.T, change func(*Config), run func(x *exchange, e *events) error) answered {
	t.Helper()
	g := empty(t, change)
	return ask(t, g.observe(handler(func(x *exchange, r *http.Request) error {
		e, err := x.begin(r, g.config)
		if err != nil {
			return err
		}
		return run(x, e)
	})), "GET", "/", "")
}

func TestEventStreamHasItsHeadersOnceAndNoOthers(t *testing.T) { // case F4
	a := streamed(t, nil, func(_ *exchange, e *events) error {
		e.write([]byte("data: {}\n\n"))
		return e.finish(nil)
	})
	if got := a.header.Get("Content-Type"); got != "text/event-stream; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	if got := a.header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("cache control %q", got)
	}
	for name, values := range a.header {
		if len(values) != 1 {
			t.Errorf("%s comes %d times", name, len(values))
		}
	}
	if a.header.Get("Content-Length") != "" {
		t.Error("a stream has no length")
	}
	if a.body != "data: {}\n\ndata: [DONE]\n\n" {
		t.Errorf("body %q", a.body)
	}
}

func TestErrorBeforeTheFirstEventIsAResponse(t *testing.T) {
	a := streamed(t, nil, func(*exchange, *events) error { return &engine.Error{Code: engine.Unavailable, Message: "secret"} })
	if a.status != 503 || a.header.Get("Content-Type") != "application/json" || a.header.Get("Cache-Control") != "" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	errorOf(t, a.body)
}

func TestErrorAfterTheFirstEventIsAnEventAndThenTheEnd(t *testing.T) { // case A2
	a := streamed(t, nil, func(_ *exchange, e *events) error {
		e.write([]byte("data: {}\n\n"))
		return &engine.Error{Code: engine.Internal, Message: "a \"quoted\"\nline"}
	})
	events := strings.Split(a.body, "\n\n")
	if len(events) != 4 || events[2] != "data: [DONE]" || events[3] != "" {
		t.Fatalf("events %q", events)
	}
	if e := errorOf(t, strings.TrimPrefix(events[1], "data: ")); e.Type != "stream_error" || strings.Contains(e.Message, "quoted") {
		t.Errorf("%+v", e)
	}
}

func TestSilenceIsFilledWithCommentsAndNothingElse(t *testing.T) { // case A33
	quick := func(c *Config) { c.SSEKeepAlive = 0.02 }
	a := streamed(t, quick, func(_ *exchange, e *events) error {
		time.Sleep(70 * time.Millisecond)
		if !e.started() {
			t.Error("no comment in three intervals")
		}
		e.write([]byte("data: {}\n\n"))
		return e.finish(nil)
	})
	body, found := strings.CutPrefix(a.body, ": ping\n\n")
	if !found || strings.ReplaceAll(body, ": ping\n\n", "") != "data: {}\n\ndata: [DONE]\n\n" {
		t.Errorf("body %q", a.body)
	}
	off := streamed(t, func(c *Config) { c.SSEKeepAlive = 0 }, func(_ *exchange, e *events) error {
		time.Sleep(30 * time.Millisecond)
		return e.finish(nil)
	})
	if off.body != "data: [DONE]\n\n" {
		t.Errorf("switched off: %q", off.body)
	}
}

func TestABusyStreamHasNoComments(t *testing.T) { // case A33
	a := streamed(t, func(c *Config) { c.SSEKeepAlive = 1 }, func(_ *exchange, e *events) error {
		for range 150 { // half as long again as the pause that would be filled
			time.Sleep(10 * time.Millisecond)
			e.write([]byte("data: {}\n\n"))
		}
		return e.finish(nil)
	})
	if strings.Contains(a.body, ": ping") {
		t.Errorf("%q", a.body)
	}
}

func TestASilentWorkerIsBridgedByComments(t *testing.T) { // case A33
	b := start(t, one(t, "vllm", greeting), one(t, "vllm", greeting), func(s *setup) { s.config.SSEKeepAlive = 0.05 })
	for _, w := range b.workers {
		w.SetFaults(sim.Fault{Kind: sim.FaultDelay, For: sim.Duration(200 * time.Millisecond)})
	}
	a := b.chat(t, `,"stream":true`)
	if got := add(chunks(t, a.body), 0); !strings.HasPrefix(a.body, ": ping\n\n: ping\n\n") || got.content != greeting {
		t.Errorf("%q", a.body)
	}
	if a := b.chat(t, ``); a.status != 200 || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("a whole answer: %d %v", a.status, a.header)
	}
	// A comment is a byte: the client has its headers, and a failure can only be an event.
	for _, w := range b.workers {
		w.SetFaults(sim.Fault{Kind: sim.FaultStall, For: sim.Duration(200 * time.Millisecond)}, sim.Fault{Kind: sim.FaultError, Code: "UNAVAILABLE"})
	}
	before := len(b.workers[0].Requests()) + len(b.workers[1].Requests())
	a = b.chat(t, `,"stream":true`)
	if all := chunks(t, a.body); a.status != 200 || len(all) != 1 || all[0].Error == nil {
		t.Errorf("%d %q", a.status, a.body)
	}
	if after := len(b.workers[0].Requests()) + len(b.workers[1].Requests()); after != before+1 {
		t.Errorf("%d attempts", after-before)
	}
}

func TestErrorAfterACommentIsAnEvent(t *testing.T) {
	a := streamed(t, func(c *Config) { c.SSEKeepAlive = 0.01 }, func(_ *exchange, e *events) error {
		for !e.started() {
			time.Sleep(time.Millisecond)
		}
		return errors.New("anything")
	})
	if a.status != 200 || !strings.Contains(a.body, `data: {"error":`) || !strings.HasSuffix(a.body, "\n\ndata: [DONE]\n\n") {
		t.Errorf("%d %q", a.status, a.body)
	}
}

func TestNothingFollowsTheTerminator(t *testing.T) {
	a := streamed(t, func(c *Config) { c.SSEKeepAlive = 0.01 }, func(_ *exchange, e *events) error {
		e.finish(nil)
		e.write([]byte("data: late\n\n"))
		time.Sleep(30 * time.Millisecond)
		return errors.New("late")
	})
	if a.body != "data: [DONE]\n\n" {
		t.Errorf("body %q", a.body)
	}
}

func TestClientsThatTakeNothingMoreAreGivenUp(t *testing.T) {
	for name, tc := range map[string]struct {
		leave func(*net.TCPConn)
		want  error
	}{
		"reads too slowly": {func(*net.TCPConn) {}, errSlowReader},
		"resets":           {func(c *net.TCPConn) { c.SetLinger(0); c.Close() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			g := empty(t, func(c *Config) { c.WriteTimeout = 0.2 })
			ended := make(chan error, 1)
			s := httptest.NewServer(g.observe(handler(func(x *exchange, r *http.Request) error {
				e, err := x.begin(r, g.config)
				frame := []byte("data: " + strings.Repeat("x", 1<<16) + "\n\n")
				for err == nil {
					err = e.write(frame)
				}
				ended <- err
				return err
			})))
			defer s.Close()
			conn, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
			conn.Read(make([]byte, 100))
			tc.leave(conn.(*net.TCPConn))
			select {
			case err := <-ended:
				if !errors.Is(err, tc.want) || asFailure(err).Status != statusClientGone {
					t.Errorf("ended by %v", err)
				}
			case <-time.After(5 * time.Second):
				t.Error("a client that takes nothing holds its handler")
			}
		})
	}
}
