package proxy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"leeway/routing"
	"leeway/workers"
	"leeway/workers/sim"
)

const demoFiles = "../workers/sim/demo"

func TestAGivenTokenizerNeedsNoWorkersOne(t *testing.T) {
	b := start(t, one(t, "vllm", greeting), func(s *setup) {
		s.models.TokenizerPath, s.models.DisableTokenizerAutoload = demoFiles, true
		s.sim[0].TokenizerPath = ""
	})
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultUnimplemented, Method: "GetTokenizer"})
	if got := b.bothWays(t, ""); got.content != greeting {
		t.Errorf("%+v", got)
	}
}

func TestAChatTemplateOfOnesOwnIsUsed(t *testing.T) { // case F13
	path := filepath.Join(t.TempDir(), "template.jinja")
	if err := os.WriteFile(path, []byte(`{% for m in messages %}[[{{ m.content }}]]{% endfor %}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b := start(t, one(t, "vllm", greeting), func(s *setup) { s.models.ChatTemplate = path })
	if a := b.chat(t, ``); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	want := demoTokens(t).Encode("[[question]]", false)
	if got := b.workers[0].Requests()[0].Request.Tokens; len(got) != len(want) || got[0] != want[0] || got[len(got)-1] != want[len(want)-1] {
		t.Errorf("the worker got %v, want %v", got, want)
	}
}

func TestWithoutATokenizerTheReasonIsSaid(t *testing.T) {
	b := launch(t, one(t, "vllm", greeting), func(s *setup) { s.models.DisableTokenizerAutoload = true })
	b.awaitReady(t)
	eventually(t, "told why", func() bool {
		a := b.chat(t, ``)
		return a.status == 500 && errorOf(t, a.body).Code == "tokenizer_not_found"
	})
}

func TestATokenizerThatCannotBeFetchedIsToldAndTriedAgain(t *testing.T) {
	b := launch(t, one(t, "vllm", greeting), func(s *setup) {
		s.sim[0].Faults = filepath.Join(t.TempDir(), "faults.jsonl")
		if err := os.WriteFile(s.sim[0].Faults, []byte(`{"kind":"unimplemented","method":"GetTokenizer"}`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	eventually(t, "told why", func() bool {
		a := b.chat(t, ``)
		return a.status == 503 && errorOf(t, a.body).Code == "tokenizer_load_failed"
	})
	if status, body := b.call(t, "GET", "/readiness", ""); status != 503 || text(body["reason"]) != "tokenizer not yet registered" {
		t.Errorf("readiness: %d %s", status, body)
	}
}

func TestAWrongPathStopsTheStartAndNamesItsKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	router, err := routing.New(routing.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	pool, err := workers.New(workers.DefaultConfig(), router, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	for key, m := range map[string]ModelConfig{
		"tokenizer_path": {TokenizerPath: "/nowhere"}, "tokenizer_path: ": {TokenizerPath: file}, "model_path": {ModelPath: filepath.Dir(file)},
		"chat_template": {TokenizerPath: demoFiles, ChatTemplate: "/nowhere"}, "tokenizer_cache_bytes": {TokenizerCache: -1},
	} {
		if _, err := New(DefaultConfig(), m, router, pool, zerolog.Nop()); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestTheSmallerOfTwoLimitsHoldsAndZeroIsNone(t *testing.T) {
	for _, tc := range [][3]int{{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {5, 3, 3}, {3, 5, 3}} {
		if got := smaller(tc[0], tc[1]); got != tc[2] {
			t.Errorf("smaller(%d, %d) = %d", tc[0], tc[1], got)
		}
	}
}
