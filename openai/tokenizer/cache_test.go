package tokenizer

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// conversation returns the prompt of a chat after some turns.
func conversation(turns int) string {
	var out strings.Builder
	out.WriteString("<|im_start|>system\nYou are a careful assistant.<|im_end|>\n")
	for i := range turns {
		fmt.Fprintf(&out, "<|im_start|>user\nQuestion %d: what does the gateway do when worker %d leaves, and why isn't that an error? 你好 👩‍👩‍👧<|im_end|>\n", i, i*7919)
		fmt.Fprintf(&out, "<|im_start|>assistant\nIt forgets the blocks of worker %d in one pass, and the %d requests go elsewhere.\n\n```go\nfor i := range %d {\n\tfmt.Println(i)\n}\n```\n<|im_end|>\n", i*7919, i, i)
	}
	return out.String()
}

func TestTheCacheGivesWhatEncodingGives(t *testing.T) {
	files, _ := filepath.Glob("testdata/*/*.tokenizer.json.gz")
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tokenizer.json.gz"), func(t *testing.T) {
			tok := loadGzip(t, file)
			cache := tok.NewCache(1 << 20)
			special := "<|end|>"
			if _, ok := tok.ID(special); !ok {
				special = "</s>"
			}
			for _, turns := range []int{1, 5, 30, 31, 32, 31, 60, 5, 61} {
				text := strings.ReplaceAll(conversation(turns), "<|im_end|>", "  "+special+"  ")
				for _, end := range []string{"", "tail", " " + special, "<|end|>x word"} {
					want := tok.Encode(text+end, false)
					if got := cache.Encode(text + end); !slices.Equal(got, want) {
						t.Fatalf("%d turns and %q: %d ids, want %d", turns, end, len(got), len(want))
					}
				}
			}
		})
	}
}

func TestTheCacheNoticesATokenThatMoreTextChanges(t *testing.T) {
	tok := loadGzip(t, "testdata/zoo/added_flags.tokenizer.json.gz") // it has <|end|> and <|end|>x
	for pad := range 128 {
		cache := tok.NewCache(1 << 20)
		head := strings.Repeat("ab c ", blockSize)[:blockSize-64+pad] + "<B>   "
		for _, text := range []string{head + "<|end|>", head + "<|end|>x and more" + strings.Repeat(" text", 900), head + "  \n<|end|>  x"} {
			if got, want := cache.Encode(text), tok.Encode(text, false); !slices.Equal(got, want) {
				t.Fatalf("padding %d: %v, want %v", pad, got[max(0, len(got)-20):], want[max(0, len(want)-20):])
			}
		}
	}
}

func TestTheCacheKeepsItsBound(t *testing.T) {
	tok := loadDemo(t)
	cache := tok.NewCache(100 << 10)
	for i := range 50 {
		cache.Encode(fmt.Sprint(i) + conversation(100))
		if cache.Size() > 100<<10 {
			t.Fatalf("%d bytes after %d prompts", cache.Size(), i+1)
		}
	}
	if cache.Size() < 50<<10 {
		t.Errorf("only %d bytes are kept", cache.Size())
	}
}

func TestTheCacheServesManyAtOnce(t *testing.T) {
	tok := loadDemo(t)
	cache := tok.NewCache(64 << 10)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for turns := range 40 {
				text := conversation(turns + worker%2)
				if !slices.Equal(cache.Encode(text), tok.Encode(text, false)) {
					t.Error("a difference under load")
				}
			}
		})
	}
	all.Wait()
}

func BenchmarkGrowingConversation(b *testing.B) {
	tok := loadDemo(b)
	cache := tok.NewCache(64 << 20)
	long := conversation(1200)
	cache.Encode(long)
	next := long + "<|im_start|>user\nAnd now?<|im_end|>\n<|im_start|>assistant\n"
	b.ReportMetric(float64(len(tok.Encode(next, false))), "tokens")
	b.Run("whole", func(b *testing.B) {
		for b.Loop() {
			tok.Encode(next, false)
		}
	})
	b.Run("cached", func(b *testing.B) {
		for b.Loop() {
			cache.Encode(next)
		}
	})
}

// A token that begins with white space may lie in what the token before it has stripped: no place to go on from.
func TestNothingIsTakenUpAgainInsideAToken(t *testing.T) {
	tok, err := Load(oneFile([]byte(`{"added_tokens":[
		{"id":4,"content":"<e>","single_word":false,"lstrip":false,"rstrip":true,"normalized":false,"special":true},
		{"id":5,"content":" a","single_word":false,"lstrip":true,"rstrip":false,"normalized":false,"special":false}],
		"model":{"type":"BPE","unk_token":"x","vocab":{"x":0,"a":1," ":2,"b":3},"merges":[]}}`)))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("b", 2000) + "<e> a" + strings.Repeat("b", 3000)
	cache := tok.NewCache(1 << 20)
	cache.Encode(text)
	if got, want := cache.Encode(text+"a"), tok.Encode(text+"a", false); !slices.Equal(got, want) {
		t.Errorf("with the cache %v, without %v", got[1998:2004], want[1998:2004])
	}
}

func TestANewTurnCostsAFractionOfTheWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("a measurement")
	}
	tok := loadDemo(t)
	cache := tok.NewCache(64 << 20)
	text := conversation(1200)
	cache.Encode(text)
	best := func(work func()) time.Duration {
		low := time.Hour
		for range 20 {
			start := time.Now()
			work()
			low = min(low, time.Since(start))
		}
		return low
	}
	text += "<|im_start|>user\nAnd now?<|im_end|>\n<|im_start|>assistant\n"
	whole := best(func() { tok.Encode(text, false) })
	cached := best(func() { cache.Encode(text) })
	t.Logf("%d tokens: whole %v, with the cache %v (%.1f %%)", len(tok.Encode(text, false)), whole, cached, 100*cached.Seconds()/whole.Seconds())
	if cached > whole/8 {
		t.Errorf("a new turn costs %v of %v", cached, whole)
	}
}
