package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// pieces cuts a text at the ends of all matches, as Split with Isolated does.
func pieces(f finder, text string) []string {
	var out []string
	for _, seg := range isolated.join(segments(f.all(text), len(text), false)) {
		if seg.end > seg.start {
			out = append(out, text[seg.start:seg.end])
		}
	}
	return out
}

// The pieces in these tests are those of tokenizers 0.22.2.
func TestRegularExpressionsMeanWhatOnigurumaMeans(t *testing.T) {
	for _, test := range []struct {
		name, pattern, text string
		want                []string
	}{
		{"counted, then repeated", `\p{N}{1,3}+`, "123456", []string{"123456"}},
		{"counted exactly, then repeated", `\p{N}{3}+`, "1234567", []string{"123456", "7"}},
		{"counted from nothing, then repeated", `\p{N}{0,3}+`, "123456", []string{"123456"}},
		{"no lower bound", `\p{N}{,2}`, "12345", []string{"12", "34", "5"}},
		{"an exact count that is optional", `\p{N}{2}?a`, "1a12a", []string{"1", "a", "12a"}},
		{"a bounded count that is lazy", `a{1,3}?b`, "aaab", []string{"aaab"}},
		{"not a count", `a{x`, "a{x", []string{"a{x"}},
		{"superscripts are no word in brackets", `[\w]+`, "a²½b", []string{"a", "²½", "b"}},
		{"superscripts are a word outside", `\w+`, "a²½b", []string{"a²½b"}},
		{"superscripts are no word in brackets that negate", `[^\w\s]`, "a²½b", []string{"a", "²", "½", "b"}},
		{"a possessive run in a group", `(?:\p{N}++){2,}`, "1234", []string{"1234"}},
		{"a possessive run before what may be empty", `[A-Za-z0-9_]*+'*+\w`, "abc", []string{"abc"}},
		{"a possessive empty iteration", `(?:\S?+)*[A-Za-z0-9_]{1,2}?`, "abc d", []string{"abc", " ", "d"}},
		{"a class that stands alone is not folded", `(?i)\p{Lu}+`, "abAB", []string{"ab", "AB"}},
		{"the Kelvin sign is a k", `(?i:[^k])+`, "xkK\u212ay", []string{"x", "kK\u212a", "y"}},
		{"case beyond ASCII", `(?i:aé)`, "aÉAé", []string{"aÉ", "Aé"}},
		{"case in a negated class", `(?i)[^\s\p{L}\p{N}]+`, "a!!ⓐⒶ", []string{"a", "!!ⓐⒶ"}},
		{"the dot and line feeds", `.+`, "a\nb", []string{"a", "\n", "b"}},
		{"m is what others call s", `(?m:.+)`, "a\nb", []string{"a\nb"}},
		{"options hold to the end of the group", `a(?i)b|c`, "aBxCxaC", []string{"aB", "xCx", "aC"}},
		{"free spacing", `(?x) a b # c`, "ab", []string{"ab"}},
		{"a look-behind of any length", `(?<=a+)b`, "aab", []string{"aa", "b"}},
		{"a look-behind that refuses", `(?:\p{L}++)?b?(?<![a-z])`, "abAB b", []string{"abAB", " ", "b"}},
		{"a bracket that comes first", `[]a]+`, "a]b", []string{"a]", "b"}},
		{"lazy, then repeated", `a+?+`, "aab", []string{"aa", "b"}},
		{"empty matches cut", `(?=\p{Lu})`, "aBcD", []string{"a", "Bc", "D"}},
		{"line ends", `$`, "a\nb", []string{"a", "\nb"}},
		{"words end", `\b`, "ab, c", []string{"ab", ", ", "c"}},
		{"line ends of any system", `\R`, "a\r\n\u2028\nb", []string{"a", "\r\n", "\u2028", "\n", "b"}},
		{"punctuation has two names", `\p{Punct}|[[:punct:]]b`, "a$b+.", []string{"a", "$b", "+", "."}},
		{"hexadecimal digits", `\h+|\H`, "cafes", []string{"cafe", "s"}},
		{"what OpenAI publishes for cl100k", cl100kPublished, "it's 123456  \n\n x   ", []string{"it", "'s", " ", "123456", "  \n\n", " x", "   "}},
	} {
		x, err := compileRegex(test.pattern)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := pieces(x, test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q on %q: %q, want %q", test.name, test.pattern, test.text, got, test.want)
		}
		if own, err := parsePattern(test.pattern); err == nil && !slices.Equal(pieces(own, test.text), test.want) {
			t.Errorf("%s: runs match otherwise: %q", test.name, pieces(own, test.text))
		}
	}
}

const cl100kPublished = `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s`

func TestNoPatternIsExponential(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          int // matches
	}{
		{`\s+$| ?\p{L}+`, strings.Repeat(" ", 200_000) + "!hi", 1},
		{`\s*[\r\n]+|\s`, strings.Repeat(" ", 200_000), 200_000},
		{qwen2Pattern, strings.Repeat(" ", 200_000), 1},
		{o200kPattern, strings.Repeat("A", 200_000), 1},
		{`(a|b|ab)*c`, strings.Repeat("ab", 100_000), 0},
		{`(?:a|aa)+$`, strings.Repeat("a", 100_000) + "!", 0},
		{`(\s*\s*)*x`, strings.Repeat(" ", 100_000), 0},
		{`((a*)*)*b`, strings.Repeat("a", 100_000), 0},
		{`(a+)+b|a`, strings.Repeat("a", 100_000), 100_000},
		{`(?<=(a|aa)+)b`, strings.Repeat("a", 100_000) + "b", 1},
		{`(?!.*(?!.*(?!.*(?!.*x))))y`, strings.Repeat("x", 5000), 0},
		{`(?>(?:(?>(?:(?>.*)x|.)*)x|.)*)x|.`, strings.Repeat("a", 500), 500},
		{`(?:.*?,)*x`, strings.Repeat("a,", 1000), 0},
	} {
		x, err := newFinder(&patternSpec{Regex: &test.pattern})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if found := x.all(test.text); len(found) != test.want {
			t.Errorf("%s: %d matches, want %d", test.pattern, len(found), test.want)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: %v for %d bytes", test.pattern, took, len(test.text))
		}
	}
}

func TestARegularExpressionThatIsNotSupportedIsRefused(t *testing.T) {
	for pattern, want := range map[string]string{
		`(a)\1`: "escape", `\X`: "escape", `(?~a)`: "not supported", `a)`: ") without (", `(a`: "( without )", `*a`: "repeats nothing", `{2}`: "repeats nothing",
		`a{3,1}`: "bounds", `a{5000}`: "bounds", `(?:a?){2}`: "can be empty", `(?i:ss)`: "ligature", `(?i:ß)`: "folding", `(?i)[\p{L}]`: "folding",
		`(?<=a(?=b))c`: "look-behind", strings.Repeat("(", 100): "deeper", strings.Repeat("[", 100): "deeper", `(?:(?:(?:(?:a*)*)*)*)*`: "nested loops",
		strings.Repeat("a?", 2000): "too many", `(?#`: "without", `(?`: "without", `(?<a`: "name", `[`: "without", `[[:x:]]`: "POSIX", `\`: "backslash",
	} {
		if _, err := compileRegex(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want an error with %q", pattern, err, want)
		}
	}
}

func FuzzRegex(f *testing.F) {
	for _, pattern := range []string{cl100kPublished, gpt2Pattern, `(?i:a|b)*?(?<=c{1,2})`, `(?x-m: [^a&&b] )`, `(?>a*)+$`} {
		f.Add(pattern, "it's 123 \n")
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(pattern) > 200 || len(text) > 200 {
			return
		}
		x, err := compileRegex(pattern)
		if err != nil {
			return
		}
		text = validUTF8(text)
		if got := strings.Join(pieces(x, text), ""); got != text {
			t.Errorf("%q cut %q to %q", pattern, text, got)
		}
		if own, err := parsePattern(pattern); err == nil && !slices.EqualFunc(own.all(text), x.all(text), slices.Equal[[]int]) {
			t.Errorf("%q on %q: %v and %v", pattern, text, own.all(text), x.all(text))
		}
	})
}

func TestWhatOneTextTaughtIsForgottenBeforeTheNext(t *testing.T) {
	x, err := compileRegex(`(?<=b.{0,300})c|a+$|a`)
	if err != nil {
		t.Fatal(err)
	}
	long := "b" + strings.Repeat("a", 250) + "c"
	fresh := x.all(long)
	for range 3 {
		x.all(strings.Repeat("a", 400) + "c")
		if again := x.all(long); !slices.EqualFunc(again, fresh, slices.Equal[[]int]) {
			t.Fatal("a second run finds something else")
		}
	}
}
