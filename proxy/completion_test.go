package proxy

import (
	"io"
	"testing"
)

func (b *bed) complete(t *testing.T, body string) answered {
	t.Helper()
	resp := b.post(t, t.Context(), "/v1/completions", body)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{resp.StatusCode, resp.Header, string(text)}
}

func TestCompletionStreamsAndComesWhole(t *testing.T) {
	for _, dialect := range dialects {
		b := start(t, one(t, dialect, greeting))
		for _, tc := range []struct{ members, want string }{
			{``, greeting},
			{`,"echo":true`, "a question" + greeting},
			{`,"stop":[" went"]`, "Hello there. This answer"},
			{`,"max_tokens":1`, "H"},
		} {
			whole := b.complete(t, `{"model":"demo","prompt":"a question"`+tc.members+`}`)
			w := oneChunk(t, []byte(whole.body))
			stream := chunks(t, b.complete(t, `{"model":"demo","prompt":"a question","stream":true`+tc.members+`}`).body)
			for name, all := range map[string][]chunk{"whole": {w}, "stream": stream} {
				got := add(all, 0)
				if tc.members == `,"max_tokens":1` {
					got.content = got.content[:1]
				}
				if got.content != tc.want || len(got.finish) != 1 || all[0].Object != "text_completion" {
					t.Errorf("%s, %s%s: %+v", dialect, name, tc.members, got)
				}
			}
		}
		b.atRest(t)
	}
}

func TestCompletionTakesIDsAsTheyAre(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	a := b.complete(t, `{"model":"demo","prompt":[10,11,12],"max_tokens":1}`)
	if got := b.workers[0].Requests()[0].Request.Tokens; a.status != 200 || len(got) != 3 || got[2] != 12 {
		t.Errorf("%d, the worker got %v", a.status, got)
	}
}

func TestSeveralPromptsAreAnsweredInOneResponse(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	body := `{"model":"demo","prompt":["a question","another question"],"n":2,"echo":true`
	whole := oneChunk(t, []byte(b.complete(t, body+`}`).body))
	stream := chunks(t, b.complete(t, body+`,"stream":true,"stream_options":{"include_usage":true}}`).body)
	for i := range 4 {
		want := []string{"a question", "another question"}[i/2] + greeting
		for name, all := range map[string][]chunk{"whole": {whole}, "stream": stream} {
			if got := add(all, i); got.content != want || len(got.finish) != 1 {
				t.Errorf("%s, choice %d: %+v", name, i, got)
			}
		}
	}
	if u := stream[len(stream)-1].Usage; *u != *whole.Usage || u.Prompt < 4 {
		t.Errorf("usage %+v, whole %+v", u, whole.Usage)
	}
	b.atRest(t)
}
