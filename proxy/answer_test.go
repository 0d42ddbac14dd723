package proxy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"leeway/openai"
	"leeway/openai/tokenizer"
	"leeway/workers/engine"
)

func demoTokens(tb testing.TB) *tokenizer.Tokenizer {
	tb.Helper()
	tokens, err := tokenizer.Load(os.DirFS("../workers/sim/demo"))
	if err != nil {
		tb.Fatal(err)
	}
	return tokens
}

// saidInPieces feeds ids to an answer in deltas of the sizes that next gives, and returns all that it says.
func saidInPieces(tb testing.TB, p *plan, ids []uint32, finish string, next func(left int) int) (gathered, openai.Usage) {
	tb.Helper()
	a, err := newAnswer(p, 1, nil)
	if err != nil {
		tb.Fatal(err)
	}
	var said gathered
	take := func(parts []part) {
		for i := range parts {
			said.add(&parts[i])
		}
	}
	for len(ids) > 0 && !a.done() {
		n := next(len(ids))
		d := engine.Delta{Tokens: ids[:n], Done: n == len(ids), FinishReason: finish}
		for i, id := range d.Tokens {
			d.Logprobs = append(d.Logprobs, engine.Logprob{Token: id, Value: -float64(len(ids)-i) / 8})
		}
		take(a.add(&d))
		ids = ids[n:]
	}
	if !a.done() {
		take(a.add(&engine.Delta{Done: true, FinishReason: finish}))
	}
	take(a.last())
	return said, a.usage()
}

func TestAnAnswerIsTheSameHoweverItIsCut(t *testing.T) { // case A10
	tokens := demoTokens(t)
	tool := []openai.Tool{{Name: "weather", Parameters: []byte(`{}`)}}
	call := `<tool_call>{"name":"weather","arguments":{"city":"Köln 🙂"}}</tool_call>`
	for _, text := range []string{
		greeting, "", "你好🙂 naïve", "<think>想 so</think>\n\nYes. " + call + "\n" + call, "half <tool_call>{\"na", "never closed <think>",
		"END", "the EN and the END. And more", "  \n " + call, "two stops: END STOP",
	} {
		for name, p := range map[string]*plan{
			"plain":     {skipSpecial: true},
			"stops":     {stops: []string{"END", "the END", "STOP"}},
			"kept stop": {stops: []string{"END"}, noStopTrim: true},
			"thoughts":  {thoughts: "qwen3", stops: []string{"STOP"}},
			"inside":    {thoughts: "deepseek_r1", startsInside: true},
			"calls":     {calls: &callPlan{format: "hermes", declared: tool}},
			"one call":  {thoughts: "qwen3", calls: &callPlan{format: "hermes", declared: tool, single: true}},
		} {
			p.tokens, p.n, p.stopTokens = tokens, 1, tokens.EOS()
			ids := append(tokens.Encode(text, false), tokens.EOS()[0])
			whole, cost := saidInPieces(t, p, ids, "stop", func(left int) int { return left })
			for seed := range uint64(20) {
				r := rand.New(rand.NewPCG(seed, 7))
				most := 1 + int(seed)
				cut, cutCost := saidInPieces(t, p, ids, "stop", func(left int) int { return 1 + r.IntN(min(left, most)) })
				for i := range cut.calls { // ids are drawn by lot
					if len(whole.calls) == len(cut.calls) {
						cut.calls[i].ID = whole.calls[i].ID
					}
				}
				if got, want := show(cut), show(whole); got != want || cutCost != cost {
					t.Fatalf("%q, %s, cut by %d:\n got %s %+v\nwant %s %+v", text, name, seed, got, cutCost, want, cost)
				}
			}
		}
	}
}

func TestAnAnswerCutInsideACharacterEndsBeforeIt(t *testing.T) { // case A10
	tokens := demoTokens(t)
	p := &plan{tokens: tokens, n: 1, skipSpecial: true}
	ids := tokens.Encode("hi 🙂", false)
	for cut := len(ids) - 1; cut > 0; cut-- {
		if said, _ := saidInPieces(t, p, ids[:cut], "length", func(int) int { return 1 }); !strings.HasPrefix("hi ", string(said.content)) {
			t.Errorf("%d of %d tokens say %q", cut, len(ids), said.content)
		} else if len(said.logprobs) != cut {
			t.Errorf("%d of %d tokens have logprobs %v", cut, len(ids), said.logprobs)
		}
	}
}

func TestATokenThatAStopStringCutsKeepsItsLogprob(t *testing.T) { // case A27
	tokens := demoTokens(t)
	p := &plan{tokens: tokens, n: 1, skipSpecial: true, stops: []string{"eet"}}
	ids := tokens.Encode("Hello, I greet you", false)
	said, _ := saidInPieces(t, p, ids, "stop", func(int) int { return 1 })
	var text string
	for _, l := range said.logprobs {
		text += l.Token
	}
	if string(said.content) != "Hello, I gr" || !strings.HasPrefix(text, string(said.content)) || strings.Contains(text, "you") {
		t.Errorf("%q with logprobs of %q", said.content, text)
	}
}

func show(g gathered) string {
	return fmt.Sprintf("content %q reasoning %q calls %+v logprobs %v finish %q matched %+v", g.content, g.reasoning, g.calls, g.logprobs, g.finish, g.matched)
}

func TestChoicesThatNobodyAskedForAndWhatFollowsAnEndSayNothing(t *testing.T) {
	tokens := demoTokens(t)
	a, err := newAnswer(&plan{tokens: tokens, n: 1, skipSpecial: true, stops: []string{"stop"}}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := tokens.Encode("a stop and more", false)
	if parts := a.add(&engine.Delta{Index: 3, Tokens: ids}); len(parts) != 0 {
		t.Errorf("choice 3 of one says %+v", parts)
	}
	a.add(&engine.Delta{Tokens: ids})
	if !a.done() || !a.stopped() {
		t.Error("the stop did not end the answer")
	}
	count := a.usage().CompletionTokens
	if parts := a.add(&engine.Delta{Tokens: ids}); len(parts) != 0 || a.usage().CompletionTokens != count || count >= len(ids) {
		t.Errorf("after its end it says %+v and counts %d of %d", parts, a.usage().CompletionTokens, len(ids))
	}
}

func TestCountersThatCannotBeAreNotPassedOn(t *testing.T) { // case A19
	tokens := demoTokens(t)
	a, err := newAnswer(&plan{tokens: tokens, n: 1, skipSpecial: true}, 9, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.add(&engine.Delta{Tokens: tokens.Encode("hello", false), PromptTokens: -5, CachedTokens: 1 << 40, SpecDraft: -7, ReasoningTokens: -1})
	a.add(&engine.Delta{Done: true, FinishReason: "stop"})
	if got := a.usage(); got.PromptTokens != 9 || got.CachedTokens != 9 || got.CompletionTokens == 0 || got.RejectedPrediction != 0 || got.ReasoningTokens != 0 {
		t.Errorf("%+v", got)
	}
}

func TestATokenStopThatTheWorkerPassesByEndsTheAnswerHere(t *testing.T) {
	tokens := demoTokens(t)
	eos := tokens.EOS()[0]
	a, err := newAnswer(&plan{tokens: tokens, n: 1, skipSpecial: true, stopTokens: []uint32{eos}, stops: []string{"all that"}}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	var said gathered
	for _, p := range a.add(&engine.Delta{Tokens: append(tokens.Encode("is all", false), eos)}) {
		said.add(&p)
	}
	if a.done() {
		t.Error("the worker was not given time for its last word")
	}
	for _, p := range a.add(&engine.Delta{Tokens: tokens.Encode(" more", false)}) {
		said.add(&p)
	}
	if !a.done() || !a.stopped() || a.last()[0].finish != "stop" || string(said.content) != "is all" {
		t.Errorf("%q %+v", said.content, a.last())
	}
}
