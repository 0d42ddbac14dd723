package tokenizer

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPatternsMatchWhatABacktrackingEngineMatches(t *testing.T) {
	for _, test := range []struct {
		name, pattern, text string
		want                []string
	}{
		{"the last space goes with the word", ` ?\p{L}+|\s+(?!\S)|\s+`, "a   b  ", []string{"a", "  ", " b", "  "}},
		{"the long s is an s", `(?i:'s|'t)|\p{L}+`, "it'ſ 'T", []string{"it", "'ſ", "'T"}},
		{"a run gives back what the next needs", `[a-z]*[x-z]{2}|[a-z]+`, "abxyz", []string{"abxyz"}},
		{"upper and lower share letters", `[\p{Lu}\p{Lo}]*[\p{Ll}\p{Lo}]+|[\p{Lu}\p{Lo}]+`, "ABcDえ", []string{"ABc", "Dえ"}},
		{"digits of Unicode 16", `\p{N}`, "x\U00010d40y", []string{"\U00010d40"}},
		{"letters of Unicode 16", `\p{L}+`, "\u1c89", []string{"\u1c89"}},
		{"classes intersect", `[\p{L}&&[^\p{Han}]]+`, "ab漢字cd", []string{"ab", "cd"}},
		{"a negated class in a class", `[^(\s|[.,])]+`, "a(b.c d|e", []string{"a", "b", "c", "d", "e"}},
		{"a possessive run gives nothing back", `a++ab|a+`, "aab", []string{"aa"}},
		{"a possessive run before one that may be empty", `[a-y]*+'?+yz|[a-y]+`, "ayyz", []string{"ayy"}},
		{"a counted run that is repeated", `\p{N}{1,3}+`, "123456 7", []string{"123456", "7"}},
		{"spaces between letters", `(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+`, "a b  c e\u0301 f.", []string{"a b", "c e\u0301 f"}},
	} {
		p, err := parsePattern(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for _, m := range p.all(test.text) {
			got = append(got, test.text[m[0]:m[1]])
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestWhatThePatternParserDoesNotKnowIsLeftToTheGeneralEngine(t *testing.T) {
	for _, pattern := range []string{`a*`, `(?!\S)`, `(a)`, `a+?`, `\bword`, `^a`, `(?<=a)b`, `(?i:ss)`, `[`, `a{2,1}`, `\p{`, `\`, `(?:a|b)+`, `(?:ab)++`, `a++*`, `a{3}+`, `a{,3}`, `a{2}?`, `x|`, `\s*\s*\s*x`, `\s*[\r\n]+|\s`, `a+b|a`} {
		if _, err := parsePattern(pattern); err == nil {
			t.Errorf("%q was accepted", pattern)
		}
	}
}

func TestBothEnginesAgreeOnThePublishedPatterns(t *testing.T) {
	texts := readCorpus(t, "testdata/corpus.jsonl.gz")
	for name, pattern := range map[string]string{"gpt2": gpt2Pattern, "qwen2": qwen2Pattern, "cl100k": cl100kPattern, "o200k": o200kPattern} {
		own, err := parsePattern(pattern)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		general, err := compileRegex(pattern)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, text := range texts {
			if !slices.EqualFunc(own.all(text), general.all(text), slices.Equal[[]int]) {
				t.Errorf("%s: %q: %v and %v", name, text, own.all(text), general.all(text))
			}
		}
	}
}

func TestNumbersAreGroupedFromTheRightInLinearTime(t *testing.T) {
	tok := loadGzip(t, "testdata/zoo/command.tokenizer.json.gz")
	long := strings.Repeat("1234567890", 20000)
	if got := tok.Decode(tok.Encode(long+"x "+long, false), false); got != long+"x "+long {
		t.Error("digits were lost")
	}
}

func TestNormalFormsAreTheLibrarys(t *testing.T) {
	nfc := newUnicodeForm(false, true)
	form := func(s string) string {
		if out, verdict := nfc.apply(nil, s); verdict != same {
			return string(out)
		}
		return s
	}
	for in, want := range map[string]string{
		"e\u0301":                             "é",
		"a\u0323\u0308":                       "ạ\u0308",
		"a\u0308\u0323":                       "ạ\u0308",
		"\u1100\u1161\u11a8":                  "각",
		"\u212b":                              "Å",
		"\U00011935\U00011930":                "\U00011935\U00011930", // too new for the library's table
		strings.Repeat("x\u0301", 3):          strings.Repeat("x\u0301", 3),
		"a" + strings.Repeat("\u0301", 40):    "á" + strings.Repeat("\u0301", 39),
		"plain ASCII, and ünïcödé that is so": "plain ASCII, and ünïcödé that is so",
	} {
		if got := form(in); got != want {
			t.Errorf("%+q: %+q, want %+q", in, got, want)
		}
	}
	file := filepath.Join(sharedRoot(), "tokens", "nfc_sequences.jsonl.gz")
	if matches, _ := filepath.Glob(file); matches == nil {
		t.Logf("SKIPPED: no %s", file)
		return
	}
	for _, pair := range readLines[[2]string](t, file) {
		if got := form(pair[0]); got != pair[1] {
			t.Fatalf("%+q: %+q, want %+q", pair[0], got, pair[1])
		}
	}
}
