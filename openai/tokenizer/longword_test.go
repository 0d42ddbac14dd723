package tokenizer

import (
	"strings"
	"testing"
	"time"
)

func TestLongWordsTakeTimeInProportion(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("a measurement")
	}
	for _, name := range []string{"mini/qwen3", "mini/gptoss", "mini/mistral_v01_spm", "zoo/exaone", "zoo/t5"} {
		tok := loadGzip(t, "testdata/"+name+".tokenizer.json.gz")
		for _, unit := range []string{"a", "ab", "the", "日", " ", "1", "-=", "e\u0301"} {
			low := func(n int) time.Duration {
				text, best := strings.Repeat(unit, n/len(unit)), time.Hour
				for range 3 {
					start := time.Now()
					tok.Encode(text, false)
					best = min(best, time.Since(start))
				}
				return best
			}
			short, long := low(10_000), low(100_000)
			if long > 40*short && long > 50*time.Millisecond {
				t.Errorf("%s: %q: 10,000 bytes take %v, 100,000 take %v", name, unit, short, long)
			}
		}
	}
}

func TestBrokenTextIsReadAsTheLibrarysLanguageReadsIt(t *testing.T) {
	for in, want := range map[string]string{
		"ok": "ok", "\xff": "\uFFFD", "a\xe4\xbdb": "a\uFFFDb", "\xe0\x80": "\uFFFD\uFFFD", "\xf0\x9f\x98": "\uFFFD", "\xed\xa0\x80": "\uFFFD\uFFFD\uFFFD",
	} {
		if got := validUTF8(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
