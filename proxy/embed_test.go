package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leeway/workers/sim"
)

// vectors asks for the embeddings of inputs and returns the first number of each.
func (b *bed) vectors(t *testing.T, input string) (firsts []float32) {
	t.Helper()
	resp := b.post(t, t.Context(), "/v1/embeddings", `{"model":"demo","input":`+input+`}`)
	defer resp.Body.Close()
	var out struct {
		Data []struct{ Embedding []float32 }
	}
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != 200 || json.Unmarshal(body, &out) != nil {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	for _, d := range out.Data {
		firsts = append(firsts, d.Embedding[0])
	}
	return firsts
}

func TestAListOfInputsIsEmbeddedAtOnceAndInOrder(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	var want []float32
	for _, word := range []string{"one", "two", "three"} {
		want = append(want, b.vectors(t, fmt.Sprintf("%q", word))...)
	}
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultDelay, Method: "Embed", Nth: 1, For: sim.Duration(50 * time.Millisecond)})
	if got := b.vectors(t, `["one","two","three"]`); !slices.Equal(got, want) {
		t.Errorf("%v, one by one %v", got, want)
	}
	b.workers[0].SetFaults(sim.Fault{Kind: sim.FaultStall, Method: "Embed"})
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r, _ := http.NewRequestWithContext(ctx, "POST", b.url+"/v1/embeddings", strings.NewReader(`{"model":"demo","input":["one","two","three"]}`))
		if resp, err := http.DefaultClient.Do(r); err == nil {
			resp.Body.Close()
		}
	}()
	eventually(t, "three at work together", func() bool { return b.pool.Workers()[0].Active == 3 })
	leave()
	<-ended
	b.atRest(t)
}

func TestOneInputThatFailsEndsTheOthersAndIsNamed(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	b.workers[0].SetFaults(
		sim.Fault{Kind: sim.FaultError, Method: "Embed", Code: "INVALID_ARGUMENT", Message: "no such thing", Nth: 3},
		sim.Fault{Kind: sim.FaultStall, Method: "Embed", Times: 2},
	)
	resp := b.post(t, t.Context(), "/v1/embeddings", `{"model":"demo","input":["one","two","three"]}`)
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	e := errorOf(t, string(body))
	if resp.StatusCode != 400 || e.Code != "invalid_request_parameters" || !slices.Contains([]string{"input[0]", "input[1]", "input[2]"}, e.Param) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	b.atRest(t)
}

func TestAListIsComputedAFewAtATime(t *testing.T) {
	var running, most, done atomic.Int64
	gate := make(chan struct{})
	open := sync.OnceFunc(func() { close(gate) })
	one := func(context.Context, int) error {
		defer done.Add(1)
		defer running.Add(-1)
		n := running.Add(1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		if n == abreast {
			open()
		}
		<-gate
		return nil
	}
	if err := (&exchange{}).together(t.Context(), 2*abreast, one); err != nil || most.Load() != abreast || done.Load() != 2*abreast {
		t.Errorf("%v: %d at once, %d done", err, most.Load(), done.Load())
	}
}
