package proxy

import (
	"io"
	"net/http/httptest"
	"os"
	"testing"

	"leeway/openai"
	"leeway/openai/tokenizer"
	"leeway/workers/engine"
)

// tokenPath is what every streamed token passes through, from a delta to the bytes of its event, less the network.
func tokenPath(tb testing.TB) func() {
	tb.Helper()
	tokens, err := tokenizer.Load(os.DirFS("../workers/sim/demo"))
	if err != nil {
		tb.Fatal(err)
	}
	a, err := newAnswer(&plan{tokens: tokens, n: 1, skipSpecial: true, stops: []string{"never said"}, stopTokens: tokens.EOS()}, 10, nil)
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

func TestATokenCostsNoAllocation(t *testing.T) {
	send := tokenPath(t)
	for range 100 {
		send()
	}
	if n := testing.AllocsPerRun(1000, send); n > 0 {
		t.Errorf("%v allocations a token", n)
	}
}

func BenchmarkToken(b *testing.B) {
	send := tokenPath(b)
	b.ReportAllocs()
	for b.Loop() {
		send()
	}
}
