package sim

import (
	"slices"
	"strings"
	"testing"

	"leeway/workers/engine"
)

// spell decodes one id to one letter: 1 is a.
func spell(id uint32) string { return string(rune('a' + id - 1)) }

func TestAnAnswerEndsWhereItsParametersSay(t *testing.T) {
	reply := []uint32{1, 2, 3, 4, 5} // abcde
	for _, tc := range []struct {
		name   string
		ending ending
		want   []uint32
		finish string
		token  uint32
		stop   string
	}{
		{"by itself", ending{limit: 100, eos: []uint32{9}}, []uint32{1, 2, 3, 4, 5, 9}, "stop", 9, ""},
		{"at the limit", ending{limit: 3, eos: []uint32{9}}, []uint32{1, 2, 3}, "length", 0, ""},
		{"one short of its end", ending{limit: 5, eos: []uint32{9}}, []uint32{1, 2, 3, 4, 5}, "length", 0, ""},
		{"exactly at its end", ending{limit: 6, eos: []uint32{9}}, []uint32{1, 2, 3, 4, 5, 9}, "stop", 9, ""},
		{"at a stop token", ending{limit: 100, eos: []uint32{9}, stopIDs: []uint32{4, 3}}, []uint32{1, 2, 3}, "stop", 3, ""},
		{"at a stop string across tokens", ending{limit: 100, eos: []uint32{9}, text: spell, stops: []string{"x", "cd"}}, []uint32{1, 2, 3, 4}, "stop", 0, "cd"},
		{"at the first of two stop strings", ending{limit: 100, eos: []uint32{9}, text: spell, stops: []string{"d", "cd"}}, []uint32{1, 2, 3, 4}, "stop", 0, "cd"},
		{"never at the end token, if that is ignored", ending{limit: 8, eos: []uint32{9}, ignore: true}, []uint32{1, 2, 3, 4, 5, 1, 2, 3}, "length", 0, ""},
		{"not before the minimum", ending{limit: 100, eos: []uint32{9}, minimum: 8}, []uint32{1, 2, 3, 4, 5, 1, 2, 9}, "stop", 9, ""},
		{"not at a stop token before the minimum", ending{limit: 100, eos: []uint32{9}, minimum: 4, stopIDs: []uint32{2}}, []uint32{1, 2, 3, 4, 5, 9}, "stop", 9, ""},
	} {
		a := tc.ending.write(reply)
		token := uint32(0)
		if a.matchedToken != nil {
			token = *a.matchedToken
		}
		if !slices.Equal(a.tokens, tc.want) || a.finish != tc.finish || token != tc.token || a.matchedStop != tc.stop {
			t.Errorf("%s: %v %s %d %q, want %v %s %d %q", tc.name, a.tokens, a.finish, token, a.matchedStop, tc.want, tc.finish, tc.token, tc.stop)
		}
	}
}

func TestAnEmptyReplyIsItsEndAlone(t *testing.T) {
	if a := (ending{limit: 5, eos: []uint32{9}}).write(nil); !slices.Equal(a.tokens, []uint32{9}) {
		t.Errorf("%v", a.tokens)
	}
}

func TestLogprobsAreTheSameEachTimeAndNeverAboveZero(t *testing.T) {
	tokens := []uint32{5, 900, 31999}
	whole := logprobs(tokens, 0, 3, 32000)
	tail := logprobs(tokens[1:], 1, 3, 32000)
	for i, lp := range tail {
		if lp.Value != whole[i+1].Value || lp.Value >= 0 || len(lp.Top) != 3 || lp.Top[0].Token != lp.Token {
			t.Errorf("%+v, want %+v", lp, whole[i+1])
		}
		for _, top := range lp.Top {
			if top.Token >= 32000 || top.Value > lp.Value {
				t.Errorf("alternative %+v of %+v", top, lp)
			}
		}
	}
}

func TestTheReportSaysWhatHappened(t *testing.T) {
	v := &voice{deployment: deployments[0]}
	cold := v.report(facts{addr: "127.0.0.1:1", dialect: engine.VLLM, prompt: 40})
	warm := v.report(facts{addr: "127.0.0.1:1", dialect: engine.VLLM, prompt: 40, cached: 32, running: 2, waiting: 1})
	for text, wants := range map[string][]string{
		cold: {"127.0.0.1:1", "vllm", "L8B", "40 tokens", "none of them were cached", "idle"},
		warm: {"32 of them were cached", "2 running, 1 waiting"},
	} {
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q does not say %q", text, want)
			}
		}
	}
}
