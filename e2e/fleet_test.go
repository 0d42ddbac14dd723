package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"leeway/routing"
	"leeway/workers/sim"
)

// crew starts simulated workers in this process, so that a test can look into their engines, and spoil them.
func crew(t *testing.T, n int, o sim.Options) (fleet []*sim.Worker, urls []string) {
	t.Helper()
	for range n {
		w, err := sim.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Close() })
		fleet, urls = append(fleet, w), append(urls, w.URL())
	}
	return fleet, urls
}

// house is a gateway whose metrics a test can read.
type house struct {
	*gateway
	measures string
}

// open starts a gateway that polls every second, and waits until it knows all workers' loads.
func open(t *testing.T, urls []string, args ...string) *house {
	t.Helper()
	port, metrics := freePort(), freePort()
	args = append(args, "--host", "127.0.0.1", "--port", port, "--prometheus-host", "127.0.0.1", "--prometheus-port", metrics,
		"--log-level", "warn", "--load-monitor-interval", "1", "--health-check-interval-secs", "1", "--decision-ring-size", "65536", "--worker-urls")
	h := &house{&gateway{start(t, append(args, urls...)...), "http://127.0.0.1:" + port}, "http://127.0.0.1:" + metrics + "/metrics"}
	h.becomesReady()
	eventually(t, 20*time.Second, "every worker is in service", func() bool { return h.sum("smg_worker_health", "") == float64(len(urls)) })
	return h
}

// turn is a streamed chat of one user: words that all turns of the session share, as many as the turn asks for.
func turn(session, words, answer int) string {
	var text strings.Builder
	for i := range words {
		fmt.Fprintf(&text, "s%dw%d ", session, i)
	}
	return chat(fmt.Sprintf(`"stream":true,"max_tokens":%d,"ignore_eos":true,`, answer), text.String())
}

// stream posts a chat and reads it to its end. It is false if that was not a whole answer.
func (g *house) stream(ctx context.Context, body string) bool {
	response, err := g.post(ctx, "/v1/chat/completions", body)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return err == nil && response.StatusCode == http.StatusOK && strings.HasSuffix(string(text), "data: [DONE]\n\n") && !strings.Contains(string(text), `"error"`)
}

// chatter is an open load: chats that arrive at a steady pace, whatever becomes of those before.
type chatter struct {
	every    time.Duration
	count    int
	sessions int
	grow     int // words that a turn adds
	turns    int // after so many a session starts again
	answer   int // tokens
}

// send sends all of it and returns how many failed.
func (c chatter) send(g *house) (failed int) {
	var all sync.WaitGroup
	var mu sync.Mutex
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	for i := range c.count {
		body := turn(i%c.sessions, c.grow*(i/c.sessions%c.turns+1), c.answer)
		all.Go(func() {
			if !g.stream(context.Background(), body) {
				mu.Lock()
				failed++
				mu.Unlock()
			}
		})
		<-tick.C
	}
	all.Wait()
	return failed
}

// decisions are the newest receipts, oldest first.
func (g *house) decisions(limit int) []routing.Receipt {
	g.t.Helper()
	var found struct{ Decisions []routing.Receipt }
	if err := json.Unmarshal([]byte(g.get("/routing/decisions?limit="+strconv.Itoa(limit))), &found); err != nil {
		g.t.Fatal(err)
	}
	for i, j := 0, len(found.Decisions)-1; i < j; i, j = i+1, j-1 {
		found.Decisions[i], found.Decisions[j] = found.Decisions[j], found.Decisions[i]
	}
	return found.Decisions
}

// records are what a decision log holds.
func records(t *testing.T, path string) (all []routing.Record) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		r, err := routing.ParseRecord(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func (g *house) scrape() string {
	response, err := http.Get(g.measures)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}

// sum adds up the samples of a metric whose labels contain text.
func (g *house) sum(name, text string) (total float64) {
	g.t.Helper()
	for line := range strings.SplitSeq(g.scrape(), "\n") {
		rest, ok := strings.CutPrefix(line, name)
		if !ok || rest == "" || rest[0] != '{' && rest[0] != ' ' || !strings.Contains(rest, text) {
			continue
		}
		n, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			g.t.Fatalf("%s: %v", line, err)
		}
		total += n
	}
	return total
}

// setMode changes the preference while the gateway runs.
func (g *house) setMode(mode string) {
	g.t.Helper()
	request, err := http.NewRequest(http.MethodPut, g.url+"/routing/mode", strings.NewReader(`{"mode":"`+mode+`"}`))
	if err != nil {
		g.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		g.t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		g.t.Fatalf("mode %s: %d", mode, response.StatusCode)
	}
}
