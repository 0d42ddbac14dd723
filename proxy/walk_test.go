package proxy

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"leeway/workers/sim"
)

// threePrompts asks a completion of three prompts that the demo fleet has no words for.
func threePrompts(members string) string {
	return `{"model":"demo","prompt":["one","two","three"],"max_tokens":4` + members + `}`
}

func TestAListOfPromptsIsComputedAtOnce(t *testing.T) {
	for _, members := range []string{"", `,"stream":true`} {
		b := start(t, one(t, "vllm", greeting))
		b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultStall})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if r, err := http.Post(b.url+"/v1/completions", "application/json", strings.NewReader(threePrompts(members))); err == nil {
				r.Body.Close()
			}
		}()
		eventually(t, "three requests that wait together", func() bool { return len(b.workers[0].Requests()) == 3 })
		b.workers[0].Kill()
		<-ended
		b.atRest(t)
	}
}

func TestOnePromptThatFailsEndsTheOthers(t *testing.T) {
	for _, members := range []string{"", `,"stream":true`} {
		b := start(t, one(t, "vllm", greeting))
		b.workers[0].SetFaults(
			sim.Fault{Kind: sim.FaultError, Code: "INVALID_ARGUMENT", Message: "no such thing", Nth: 3}, sim.Fault{Kind: sim.FaultStall, Times: 2},
		)
		r, err := http.Post(b.url+"/v1/completions", "application/json", strings.NewReader(threePrompts(members)))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode != 400 || !strings.Contains(string(body), "no such thing") {
			t.Errorf("%s: %d %s", members, r.StatusCode, body)
		}
		eventually(t, "the others to be stopped", func() bool { _, ok := stopped(b.workers[0]); return ok })
		b.atRest(t)
	}
}

func TestAPanicOnTheWayIsAnErrorAndEndsNothingElse(t *testing.T) { // case A30
	b := start(t, one(t, "vllm", greeting))
	x := &exchange{log: b.log}
	var err error
	func() {
		defer x.survive(&err)
		panic("a fault of ours")
	}()
	if !errors.Is(err, errPanic) {
		t.Errorf("it became %v", err)
	}
}

// A worker is free when it has said all, however long the client takes; and a client that takes nothing is cut off.
func TestAWholeAnswerThatNobodyReadsHoldsNothing(t *testing.T) {
	g := empty(t, func(c *Config) { c.WriteTimeout = 0.2 })
	ended := make(chan error, 1)
	s := httptest.NewServer(g.observe(handler(func(x *exchange, r *http.Request) error {
		err := writeJSON(x, http.StatusOK, []byte(strings.Repeat("x", 64<<20)))
		ended <- err
		return err
	})))
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	conn.Read(make([]byte, 100))
	select {
	case err := <-ended:
		if !errors.Is(err, errSlowReader) {
			t.Errorf("ended by %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("a client that takes nothing holds its handler")
	}
}

// A pause that is shorter than the patience costs nothing, however many there are.
func TestASlowClientThatGoesOnReadingGetsAll(t *testing.T) {
	g := empty(t, func(c *Config) { c.WriteTimeout = 1 })
	const size = 12 << 20
	s := httptest.NewServer(g.observe(handler(func(x *exchange, r *http.Request) error {
		return writeJSON(x, http.StatusOK, []byte(strings.Repeat("x", size)))
	})))
	defer s.Close()
	r, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	got := 0
	for piece := make([]byte, size/8); ; {
		n, err := io.ReadFull(r.Body, piece)
		if got += n; err != nil {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	if got != size {
		t.Errorf("%d bytes of %d", got, size)
	}
}
