package proxy

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"leeway/routing"
)

func TestTheDecisionLogHoldsEveryDecisionAndItsOutcome(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decisions.jsonl")
	b := start(t, one(t, "vllm", "an answer"), func(s *setup) { s.config.DecisionLog = path })
	for range 3 {
		if status, _ := b.call(t, "POST", "/v1/chat/completions", `{"model":"demo","messages":[{"role":"user","content":"question"}]}`); status != 200 {
			t.Fatalf("status %d", status)
		}
	}
	var lines [][]byte
	for end := time.Now().Add(5 * time.Second); len(lines) < 3 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(path)
		lines = bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	}
	for _, line := range lines {
		record, err := routing.ParseRecord(line)
		if err != nil || record.Receipt.Outcome == nil || record.Receipt.Outcome.PromptTokens == 0 {
			t.Errorf("line %s: %v", line, err)
		}
	}
}

func TestADecisionLogThatCannotBeWrittenStopsTheStart(t *testing.T) {
	c := DefaultConfig()
	c.DecisionLog = "/nowhere/decisions.jsonl"
	router, err := routing.New(routing.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newDecisionLog(c, router, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), "decision_log") {
		t.Errorf("got %v", err)
	}
}

// openLog opens a decision log, in a folder of its own, that is rotated at a size.
func openLog(t *testing.T, bytes int64) (d *decisionLog, path string) {
	t.Helper()
	c := DefaultConfig()
	c.DecisionLog, c.DecisionLogBytes = filepath.Join(t.TempDir(), "logs", "decisions.jsonl"), bytes
	if err := os.Mkdir(filepath.Dir(c.DecisionLog), 0o700); err != nil {
		t.Fatal(err)
	}
	router, err := routing.New(routing.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if d, err = newDecisionLog(c, router, zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	return d, c.DecisionLog
}

func TestTheDecisionLogStaysWithinItsBound(t *testing.T) {
	d, path := openLog(t, 1<<16)
	for range 1000 {
		d.write(routing.Receipt{ID: "a", Model: strings.Repeat("m", 200)})
	}
	d.out.Flush()
	for _, name := range []string{path, path + ".1"} {
		if info, err := os.Stat(name); err != nil || info.Size() > 1<<17 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestADecisionLogThatCannotBeRotatedGrowsNoFurther(t *testing.T) {
	d, path := openLog(t, 1<<12)
	blocked := path + ".1"
	if err := os.MkdirAll(filepath.Join(blocked, "in use"), 0o700); err != nil {
		t.Fatal(err)
	}
	size := func() int64 { info, _ := os.Stat(path); return info.Size() }
	for range 200 {
		d.write(routing.Receipt{ID: "a"})
	}
	if n := size(); n > 2<<12 {
		t.Errorf("%d bytes", n)
	}
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	if d.write(routing.Receipt{ID: "b"}); size() > 1<<12 {
		t.Error("it was not rotated when it could be")
	}
}

func TestADecisionLogThatIsMovedAwayBeginsAnew(t *testing.T) {
	d, path := openLog(t, 1<<12)
	away := filepath.Dir(path) + " of yesterday"
	if err := os.Rename(filepath.Dir(path), away); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		d.write(routing.Receipt{ID: "a"}) // there is no place for the next file
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	d.write(routing.Receipt{ID: "b"})
	if text, err := os.ReadFile(path); err != nil || !bytes.Contains(text, []byte(`"b"`)) {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(away, "decisions.jsonl")); err != nil || info.Size() > 2<<12 {
		t.Errorf("%v, %v", info, err)
	}
}
