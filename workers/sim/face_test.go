package sim

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"leeway/workers/engine"
)

func TestEachDialectStreamsTheSameAnswerInItsOwnWay(t *testing.T) {
	for _, d := range dialects {
		for _, s := range []Servicer{Python, Rust, Bridge} {
			t.Run(string(d)+" "+string(s), func(t *testing.T) {
				w, m := start(t, Options{Dialect: string(d), Servicer: string(s)})
				all, err := m.generate(brief(t), ask{id: "a", tokens: words(w, 40, "hello"), stream: true}, nil)
				if err != nil {
					t.Fatal(err)
				}
				ids := tokensOf(all, 0)
				text := w.voice.tokenizer.Decode(ids, true)
				if !strings.HasPrefix(text, "Your request went to worker "+w.Addr()) || !strings.HasSuffix(text, ".") {
					t.Errorf("answer %q", text)
				}
				checkStream(t, w, all, ids)
			})
		}
	}
}

// checkStream holds a streamed answer against the conventions of its servicer. // case H2
func checkStream(t *testing.T, w *Worker, all []said, ids []uint32) {
	t.Helper()
	d, s := w.o.dialect(), w.o.servicer()
	deltas := d == engine.VLLM && s != Rust
	end := all[len(all)-1]
	if end.chunk || end.finish != "stop" || end.prompt != 40 {
		t.Fatalf("the last part is %+v", end)
	}
	trimmed := d == engine.TokenSpeed
	if isEOS := ids[len(ids)-1] == w.voice.eos[0]; isEOS == trimmed {
		t.Errorf("the end token is there: %v", isEOS)
	}
	total := uint32(len(ids))
	if trimmed {
		total++
	}
	for i, c := range all[:len(all)-1] {
		want := uint32(i + 1)
		if deltas {
			want = 1
		}
		if !c.chunk || c.completion != want {
			t.Fatalf("chunk %d: %+v, want a count of %d", i, c, want)
		}
	}
	wantIDs, wantCount := ids[len(ids)-1:], total
	if trimmed {
		wantIDs = nil
	}
	if s == Rust {
		wantIDs = ids
	} else if deltas {
		wantCount = 1
	}
	if !slices.Equal(end.tokens, wantIDs) || end.completion != wantCount {
		t.Errorf("complete %v counts %d, want %v and %d", end.tokens, end.completion, wantIDs, wantCount)
	}
	if said := end.stopToken != 0; said == (d == engine.VLLM) {
		t.Errorf("the end token is reported: %v", said)
	}
}

func TestAWholeAnswerIsOneCompleteForEachChoice(t *testing.T) {
	for _, d := range dialects {
		w, m := start(t, Options{Dialect: string(d)})
		all, err := m.generate(brief(t), ask{id: "a", tokens: words(w, 40, "hello"), n: 3, max: 7}, nil)
		if err != nil || len(all) != 3 {
			t.Fatalf("%s: %v, %+v", d, err, all)
		}
		var indices []uint32
		for _, s := range all {
			if s.chunk || len(s.tokens) != 7 || s.completion != 7 || s.finish != "length" {
				t.Errorf("%s: %+v", d, s)
			}
			indices = append(indices, s.index_)
		}
		slices.Sort(indices)
		want := []uint32{0, 1, 2}
		if d == engine.SGLang {
			want = []uint32{0, 0, 0}
		}
		if !slices.Equal(indices, want) {
			t.Errorf("%s: indices %v, want %v", d, indices, want)
		}
	}
}

func TestChoicesOfAStreamAreToldApart(t *testing.T) { // case A22
	for _, d := range dialects {
		w, m := start(t, Options{Dialect: string(d)})
		all, err := m.generate(brief(t), ask{id: "a", tokens: words(w, 40, "hello"), n: 2, max: 9, stream: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := tokensOf(all, 0), tokensOf(all, 1); len(a) != 9 || len(b) != 9 {
			t.Errorf("%s: %d and %d tokens", d, len(a), len(b))
		}
	}
}

func TestStopStringsAreTheEnginesAffairExceptInSGLang(t *testing.T) {
	replies := filepath.Join(t.TempDir(), "replies.jsonl")
	if err := os.WriteFile(replies, []byte(`{"match":"count","text":"one two three four"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, d := range dialects {
		w, m := start(t, Options{Dialect: string(d), Replies: replies})
		a := ask{id: "a", tokens: w.voice.encode("please count"), stream: true, stop: []string{"nine", "three"}}
		all, err := m.generate(brief(t), a, nil)
		if err != nil {
			t.Fatal(err)
		}
		end := all[len(all)-1]
		text := w.voice.tokenizer.Decode(tokensOf(all, 0), true)
		if d == engine.SGLang {
			if text != "one two three four" || end.stopString != "" {
				t.Errorf("%s: %q, %+v", d, text, end)
			}
			continue
		}
		if text != "one two three" || end.stopString != "three" || end.finish != "stop" {
			t.Errorf("%s: %q, %+v", d, text, end)
		}
	}
}

func TestLogprobsComeWithEveryToken(t *testing.T) {
	for _, d := range dialects {
		w, m := start(t, Options{Dialect: string(d)})
		all, err := m.generate(brief(t), ask{id: "a", tokens: words(w, 20, "x"), stream: true, max: 5, logprobs: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all[:len(all)-1] {
			if len(s.logprobs) != len(s.tokens) || s.tops != len(s.tokens) {
				t.Errorf("%s: %+v", d, s)
			}
		}
	}
}

func TestPromptsThatNoEngineCanRunAreRefused(t *testing.T) { // case H1
	for _, d := range dialects {
		w, m := start(t, Options{Dialect: string(d), ContextLength: 100})
		for name, tokens := range map[string][]uint32{
			"empty":              nil,
			"as long as context": words(w, 100, "x"),
			"outside vocabulary": {1, 2, uint32(w.voice.vocab)},
		} {
			_, err := m.generate(brief(t), ask{id: name, tokens: tokens}, nil)
			if status.Code(err) != codes.InvalidArgument {
				t.Errorf("%s, %s: %v", d, name, err)
			}
		}
		if ok, err := m.healthy(brief(t)); !ok || err != nil {
			t.Errorf("%s: healthy %v, %v", d, ok, err)
		}
	}
}

func TestAFragileWorkersCoreDiesOfABadPrompt(t *testing.T) {
	w, m := start(t, Options{Dialect: "vllm", Fragile: true, Speed: 1})
	ctx := brief(t)
	other := make(chan error, 1)
	begun := make(chan bool, 1000)
	go func() {
		_, err := m.generate(ctx, ask{id: "bystander", tokens: words(w, 20, "x"), stream: true, ignoreEOS: true, max: 5000}, func(said) { begun <- true })
		other <- err
	}()
	<-begun
	if _, err := m.generate(ctx, ask{id: "killer", tokens: []uint32{1 << 30}}, nil); status.Code(err) != codes.Internal {
		t.Errorf("the killer got %v", err)
	}
	if err := <-other; status.Code(err) != codes.Internal {
		t.Errorf("the bystander got %v", err)
	}
	if ok, _ := m.healthy(ctx); ok {
		t.Error("a dead engine is healthy")
	}
	if err := w.Restart(false); err != nil {
		t.Fatal(err)
	}
	eventually(t, "health", func() bool { ok, err := m.healthy(ctx); return ok && err == nil })
}

func TestAbortEndsARequestAsEachDialectDoes(t *testing.T) {
	for _, d := range dialects {
		w, m := start(t, Options{Dialect: string(d), Speed: 1})
		ctx := brief(t)
		first := true
		all, err := m.generate(ctx, ask{id: "long", tokens: words(w, 20, "x"), stream: true, ignoreEOS: true, max: 30_000}, func(said) {
			if first {
				first = false
				if err := m.abort(ctx, "long"); err != nil {
					t.Error(err)
				}
			}
		})
		switch end := all[len(all)-1]; {
		case d == engine.SGLang:
			if status.Code(err) != codes.Internal {
				t.Errorf("%s: %v", d, err)
			}
		case err != nil || end.finish != "abort" || end.chunk:
			t.Errorf("%s: %v, %+v", d, err, end)
		case d == engine.VLLM && len(all[len(all)-2].tokens) != 0:
			t.Errorf("%s: no empty chunk before the end: %+v", d, all[len(all)-2])
		}
		if err := m.abort(ctx, "nobody"); err != nil {
			t.Errorf("%s: an unknown id: %v", d, err)
		}
		if got := w.Aborts(); len(got) != 2 || got[0].ID != "long" {
			t.Errorf("%s: aborts %+v", d, got)
		}
		eventually(t, "an idle engine", func() bool { return w.Load(0).Running == 0 })
	}
}

func TestACallerThatLeavesFreesTheEngine(t *testing.T) { // case B1
	for _, d := range dialects {
		w, m := start(t, Options{Dialect: string(d), Speed: 0.01}) // a prefill takes a second and more
		ctx, cancel := context.WithCancel(brief(t))
		done := make(chan error, 1)
		go func() {
			_, err := m.generate(ctx, ask{id: "gone", tokens: words(w, 2000, "x"), stream: true}, nil)
			done <- err
		}()
		eventually(t, "a running request", func() bool { return w.Load(0).Running == 1 })
		left := time.Now()
		cancel()
		<-done
		eventually(t, "a cancellation", func() bool { return len(w.Cancels()) == 1 })
		eventually(t, "an idle engine", func() bool { return w.Load(0).Running == 0 })
		if took := w.Cancels()[0].At.Sub(left); took > 500*time.Millisecond {
			t.Errorf("%s: noticed after %v", d, took)
		}
	}
}

func TestTheSameIDTwiceIsServedOrRefused(t *testing.T) { // case H6
	for servicer, want := range map[Servicer]codes.Code{Python: codes.OK, Rust: codes.AlreadyExists} {
		w, m := start(t, Options{Dialect: "vllm", Servicer: string(servicer), Speed: 1})
		ctx := brief(t)
		first := true
		_, err := m.generate(ctx, ask{id: "twin", tokens: words(w, 20, "x"), stream: true, max: 20}, func(said) {
			if first {
				first = false
				if _, err := m.generate(ctx, ask{id: "twin", tokens: words(w, 20, "x"), max: 2}, nil); status.Code(err) != want {
					t.Errorf("%s: %v, want %v", servicer, err, want)
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}
