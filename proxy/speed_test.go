package proxy

import (
	"io"
	"net/http/httptest"
	"testing"

	"leeway/openai"
	"leeway/workers/engine"
)

// tokenPath is what every streamed token passes through, from a delta to the bytes of its event, less the network.
func tokenPath(tb testing.TB, p plan) func() {
	tb.Helper()
	tokens := demoTokens(tb)
	p.tokens, p.n, p.skipSpecial, p.stops, p.stopTokens = tokens, 1, true, []string{"never said"}, tokens.EOS()
	a, err := newAnswer(&p, 10, nil)
	if err != nil {
		tb.Fatal(err)
	}
	c := DefaultConfig()
	c.SSEKeepAlive = 0
	e, err := newEvents(discard{httptest.NewRecorder()}, httptest.NewRequest("GET", "/", nil), c)
	if err != nil {
		tb.Fatal(err)
	}
	out := &frames{events: e, format: &chatFormat{openai.NewChunks(openai.Head{ID: "chatcmpl-1", Model: "demo", Created: 1}), false}}
	words := tokens.Encode(greeting, false)
	d := engine.Delta{Tokens: words[:1]}
	i := 0
	return func() {
		d.Tokens = words[i%len(words) : i%len(words)+1]
		i++
		if err := out.send(a.add(&d), a); err != nil {
			tb.Fatal(err)
		}
	}
}

// discard is a response that nobody reads.
type discard struct{ *httptest.ResponseRecorder }

func (discard) Write(p []byte) (int, error) { return io.Discard.Write(p) }

// paths are what an answer's text may have to pass on its way.
var paths = []struct {
	name   string
	plan   plan
	allocs float64 // at most, a token
}{
	{"plain", plan{}, 0},
	{"thoughts", plan{thoughts: "qwen3"}, 2},
	{"in a thought", plan{thoughts: "deepseek_r1", startsInside: true}, 2},
	{"channels", plan{thoughts: "harmony"}, 2},
	{"calls", plan{calls: &callPlan{format: "hermes"}}, 4},
	{"calls without marks", plan{calls: &callPlan{format: "pythonic"}}, 4},
	{"thoughts and calls", plan{thoughts: "qwen3", calls: &callPlan{format: "qwen_xml"}}, 4},
}

func TestATokenCostsFewAllocations(t *testing.T) {
	for _, p := range paths {
		send := tokenPath(t, p.plan)
		for range 100 {
			send()
		}
		if n := testing.AllocsPerRun(1000, send); n > p.allocs {
			t.Errorf("%s: %v allocations a token, at most %v are allowed", p.name, n, p.allocs)
		}
	}
}

func BenchmarkToken(b *testing.B) {
	for _, p := range paths {
		b.Run(p.name, func(b *testing.B) {
			send := tokenPath(b, p.plan)
			b.ReportAllocs()
			for b.Loop() {
				send()
			}
		})
	}
}
