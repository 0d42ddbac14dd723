package sim

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"leeway/openai/tokenizer"
	"leeway/workers/enginepb/commonpb"
	"leeway/workers/enginepb/sglangpb"
	"leeway/workers/enginepb/tokenspeedpb"
	"leeway/workers/enginepb/vllmpb"
)

func TestOptionsThatCannotBeAreNamed(t *testing.T) {
	for want, o := range map[string]Options{
		"dialect: \"trtllm\"":  {Dialect: "trtllm"},
		"servicer: \"go\"":     {Servicer: "go"},
		"engine: \"GPT\"":      {Engine: "GPT"},
		"port: 70000":          {Port: 70000},
		"count: -1":            {Count: -1},
		"count: 10 ports":      {Port: 65530, Count: 10},
		"speed: -1":            {Speed: -1},
		"block-size: 5000":     {BlockSize: 5000},
		"kv-tokens: 8":         {KVTokens: 8},
		"ranks: 65":            {Ranks: 65},
		"tokenizer-path:":      {TokenizerPath: "/nowhere/at/all"},
		"faults: open":         {Faults: "/nowhere/faults.jsonl"},
		"replies: open":        {Replies: "/nowhere/replies.jsonl"},
		"journal: open":        {Journal: "/nowhere/journal.jsonl"},
		"first-sequence: -1":   {FirstSequence: -1},
		"token-interval: -1ns": {TokenInterval: -1},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestABusyPortIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	if _, err := Start(Options{Port: port}); err == nil || !strings.Contains(err.Error(), "port "+strconv.Itoa(port)+" on 127.0.0.1 is in use") {
		t.Errorf("%v", err)
	}
}

func TestRunPrintsAURLForEachWorkerAndServesUntilTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, out := io.Pipe()
	done := make(chan error, 1)
	journal := filepath.Join(t.TempDir(), "run.jsonl")
	go func() { done <- Run(ctx, Options{Count: 3, Journal: journal}, out) }()
	lines := bufio.NewScanner(r)
	for i := range 3 {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), "grpc://127.0.0.1:") {
			t.Fatalf("line %d: %q", i, lines.Text())
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(journal), "run."+strconv.Itoa(i)+".jsonl")); err != nil {
			t.Error(err)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAFleetOnConsecutivePortsStartsWholeOrNotAtAll(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	busy := l.Addr().(*net.TCPAddr).Port
	if _, err := StartFleet(Options{Port: busy - 1, Count: 2}); err == nil {
		t.Fatal("started on a busy port")
	}
	free, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(busy-1)))
	if err != nil {
		t.Errorf("the first worker still holds its port: %v", err)
	} else {
		free.Close()
	}
}

func TestTheDemoFleetSpeaksEveryDialect(t *testing.T) {
	f, err := Demo()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	spoken := map[string]bool{}
	for _, w := range f.Workers {
		spoken[w.o.Dialect] = true
	}
	if len(f.URLs()) != 4 || len(spoken) != 3 {
		t.Errorf("%v speak %v", f.URLs(), spoken)
	}
}

func TestTheTokenizerTravelsWholeAndSealed(t *testing.T) {
	for _, d := range dialects {
		_, m := start(t, Options{Dialect: string(d)})
		stream, err := m.common.GetTokenizer(brief(t), &commonpb.GetTokenizerRequest{})
		if err != nil {
			t.Fatal(err)
		}
		var data []byte
		seal := ""
		for {
			c, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil || seal != "" || len(c.Data) > tokenizerChunk {
				t.Fatalf("%s: %v, seal %q, %d bytes", d, err, seal, len(c.Data))
			}
			data, seal = append(data, c.Data...), c.Sha256
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != seal {
			t.Errorf("%s: seal %s", d, seal)
		}
		archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tokenizer.Load(archive); err != nil {
			t.Errorf("%s: %v", d, err)
		}
	}
}

func TestEachDialectSaysWhatItIs(t *testing.T) {
	o := Options{Model: "m", ContextLength: 4096, BlockSize: 32, MaxRunning: 8, Servicer: string(Rust)}
	o.Dialect = "sglang"
	_, m := start(t, o)
	sg := sglangpb.NewSglangSchedulerClient(m.conn)
	model, err := sg.GetModelInfo(brief(t), &sglangpb.GetModelInfoRequest{})
	if err != nil || model.ServedModelName != "m" || model.MaxContextLength != 4096 || len(model.EosTokenIds) != 2 || model.VocabSize == 0 {
		t.Errorf("%v, %v", model, err)
	}
	server, err := sg.GetServerInfo(brief(t), &sglangpb.GetServerInfoRequest{})
	if err != nil || server.ServerArgs.Fields["page_size"].GetNumberValue() != 32 || server.StartTime == nil {
		t.Errorf("%v, %v", server, err)
	}
	o.Dialect = "vllm"
	_, m = start(t, o)
	vl := vllmpb.NewVllmEngineClient(m.conn)
	info, err := vl.GetServerInfo(brief(t), &vllmpb.GetServerInfoRequest{})
	if err != nil || info.BlockSize != 32 || info.MaxNumSeqs != 8 || info.ServerType != "vllm-grpc" {
		t.Errorf("%v, %v", info, err)
	}
	o.Dialect = "tokenspeed"
	_, m = start(t, o)
	ts := tokenspeedpb.NewTokenSpeedSchedulerClient(m.conn)
	speed, err := ts.GetServerInfo(brief(t), &tokenspeedpb.GetServerInfoRequest{})
	if err != nil || speed.ServerArgs.Fields["dp_size"] != nil || speed.ServerArgs.Fields["max_num_seqs"].GetNumberValue() != 8 {
		t.Errorf("%v, %v", speed, err)
	}
	for service, want := range map[string]healthpb.HealthCheckResponse_ServingStatus{"": healthpb.HealthCheckResponse_SERVING, "tokenspeed.grpc.scheduler.TokenSpeedScheduler": healthpb.HealthCheckResponse_SERVING} {
		r, err := healthpb.NewHealthClient(m.conn).Check(brief(t), &healthpb.HealthCheckRequest{Service: service})
		if err != nil || r.Status != want {
			t.Errorf("%q: %v, %v", service, r, err)
		}
	}
}

func TestTheJournalTellsEveryRequestAndItsEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	w, err := Start(Options{Journal: path, Speed: 50})
	if err != nil {
		t.Fatal(err)
	}
	m := speak(t, w)
	tokens := words(w, 20, "x")
	m.say(t, "a", tokens, 2)
	if got := w.Requests(); len(got) != 1 || len(got[0].Request.Tokens) != 20 || *got[0].Request.Sampling.MaxTokens != 2 || len(got[0].Header["user-agent"]) == 0 {
		t.Errorf("%+v", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var acts []string
	for line := range strings.Lines(string(data)) {
		var r Record
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.At.IsZero() || r.ID != "a" {
			t.Errorf("%s: %v", line, err)
		}
		acts = append(acts, string(r.Act))
	}
	if strings.Join(acts, " ") != "request finish" {
		t.Errorf("%v", acts)
	}
}

func TestCannedStreamsComeInStep(t *testing.T) {
	w, m := start(t, Options{Canned: true, TokenInterval: 50 * time.Millisecond, OutputTokens: 4})
	const streams = 8
	arrivals := make(chan time.Time, streams*4)
	done := make(chan error, streams)
	for range streams {
		go func() {
			_, err := m.generate(t.Context(), ask{id: "x", tokens: []uint32{1, 2, 3}, stream: true}, func(s said) {
				if s.chunk {
					arrivals <- time.Now()
				}
			})
			done <- err
		}()
	}
	for range streams {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	close(arrivals)
	late, n := 0, 0
	for at := range arrivals {
		n++
		if at.Sub(w.life.started)%(50*time.Millisecond) > 25*time.Millisecond {
			late++
		}
	}
	if n != streams*4 || late > n/4 {
		t.Errorf("%d tokens, %d off the beat", n, late)
	}
}

func TestAKilledWorkerIsGoneAndComesBackAtItsAddress(t *testing.T) { // case E7
	w, m := start(t, Options{Speed: 1})
	ctx := brief(t)
	_, err := m.generate(ctx, ask{id: "a", tokens: words(w, 20, "x"), stream: true, ignoreEOS: true, max: 9999}, func(said) { w.Kill() })
	if err == nil {
		t.Error("a stream outlived its worker")
	}
	if _, err := m.healthy(ctx); err == nil {
		t.Error("a dead worker answers")
	}
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the worker at its old address", func() bool { ok, err := m.healthy(ctx); return ok && err == nil })
	if err := w.Start(); err == nil {
		t.Error("started twice")
	}
}

func TestAClockThatIsLookedAtTooSeldomLosesNoToken(t *testing.T) {
	w, m := start(t, Options{Speed: 1e5}) // a hundred steps pass between two looks
	for i := range 20 {
		all, err := m.generate(brief(t), ask{id: "a", tokens: words(w, 30+i, "x"), stream: true, max: 50, ignoreEOS: true}, nil)
		if err != nil || len(tokensOf(all, 0)) != 50 {
			t.Fatalf("%v, %d tokens", err, len(tokensOf(all, 0)))
		}
	}
}
