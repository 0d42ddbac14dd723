package workers

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"leeway/workers/sim"
)

// listen runs a server that is no worker: do gets every connection. It returns the address of a worker there.
func listen(t *testing.T, do func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			go do(c)
		}
	}()
	return "grpc://" + l.Addr().String()
}

// What is at an address may be anything. It does not join, says why, and holds no other worker up.
func TestWhatIsNoWorkerDoesNotJoinAndHoldsNobodyUp(t *testing.T) {
	good := startSim(t, sim.Options{})
	bad := []string{
		listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), // takes everything and never answers
		listen(t, func(c net.Conn) { _ = c.Close() }),
		listen(t, func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }),
		listen(t, func(c net.Conn) { _, _ = c.Write([]byte(strings.Repeat("\xff\x00garbage", 1000))) }),
		"grpc://nowhere.invalid:50051",
		"grpc://127.0.0.1:1",
		"grpcs://" + strings.TrimPrefix(good.URL(), "grpc://"), // speaks no TLS
	}
	pool, router := startPool(t, quick(append(bad, good.URL())...))
	began := time.Now()
	waitState(t, pool, good.URL(), Ready)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the good worker took %v", took)
	}
	for _, url := range bad {
		eventually(t, func() bool { s, _ := pool.Worker(url); return s.State == Pending && s.Problem != "" }, "%s to say what is wrong", url)
	}
	if chosen := picks(router, 20); chosen[good.URL()] != 20 {
		t.Errorf("chosen: %v", chosen)
	}
}

func TestAHundredWorkersJoinAtOnceAndLeaveAtOnce(t *testing.T) {
	var urls []string
	for range 100 {
		urls = append(urls, startSim(t, sim.Options{Canned: true, TokenInterval: time.Millisecond, NoKVEvents: true}).URL())
	}
	pool, router := startPool(t, quick(urls...))
	for _, url := range urls {
		waitState(t, pool, url, Ready)
	}
	if chosen := picks(router, 1000); len(chosen) < 50 {
		t.Errorf("only %d of them are chosen", len(chosen))
	}
	for _, url := range urls {
		if _, err := pool.Remove(url); err != nil {
			t.Error(err)
		}
	}
	if n := len(pool.Workers()); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func TestAnotherModelAtTheSameAddressIsServedUnderItsName(t *testing.T) {
	first := startSim(t, sim.Options{Model: "first"})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(first.URL(), "grpc://"))
	pool, router := startPool(t, quick(first.URL()))
	waitState(t, pool, first.URL(), Ready)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	n, err := net.LookupPort("tcp", port)
	if err != nil {
		t.Fatal(err)
	}
	startSim(t, sim.Options{Model: "second", Port: n})
	eventually(t, func() bool { id, err := pick(router, "second"); return err == nil && id == first.URL() }, "the second model")
	if id, err := pick(router, "first"); err == nil {
		t.Errorf("the first model is still served by %s", id)
	}
}

func TestAWorkerMayHaveAnIPv6Address(t *testing.T) {
	w, err := sim.New(sim.Options{Host: "::1"})
	if err == nil {
		err = w.Start()
	}
	if err != nil {
		t.Skipf("no IPv6 here: %v", err)
	}
	t.Cleanup(func() { _ = w.Close() })
	if !strings.HasPrefix(w.URL(), "grpc://[::1]:") {
		t.Fatalf("its address is %s", w.URL())
	}
	pool, _ := startPool(t, quick(w.URL()))
	waitState(t, pool, w.URL(), Ready)
}
