package tokenizer

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// regex runs a pattern that our own matcher does not know through regexp2, with every class written out as the ranges
// that the library's engine means by it.
type regex struct{ re *regexp2.Regexp }

// compileRegex rewrites and compiles a pattern in Oniguruma's syntax.
func compileRegex(src string) (*regex, error) {
	text, err := rewriteClasses(src)
	if err != nil {
		return nil, fmt.Errorf("pattern %.80q: %w", src, err)
	}
	re, err := regexp2.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("pattern %.80q: %w", src, err)
	}
	return &regex{re}, boundTime(re, src)
}

const (
	probeTime = 200 * time.Millisecond // for a text of a few dozen characters
	matchTime = 5 * time.Second        // for the next match in any text
)

// boundTime refuses a pattern that backtracks without end on short runs of ordinary characters, and limits the time that
// any match may take.
func boundTime(re *regexp2.Regexp, src string) error {
	re.MatchTimeout = probeTime
	for _, run := range [...]string{"a", "A", "aA", "1", " ", "\n", ".", "'s", "a ", "é", "日"} {
		for _, end := range [...]string{"\x00", "!", "a", "1", " "} {
			if _, err := re.FindAllStringIndex(strings.Repeat(run, 40)+end, -1); err != nil {
				return fmt.Errorf("pattern %.80q: takes more than %v on 40 times %q: not supported", src, probeTime, run)
			}
		}
	}
	re.MatchTimeout = matchTime
	return nil
}

// rewriteClasses replaces bracket expressions, class escapes and anchors by what they mean in Oniguruma, written with
// explicit ranges, and leaves the rest as it is.
func rewriteClasses(src string) (string, error) {
	if strings.Contains(src, "(?i") && foldsTogether(src) {
		return "", fmt.Errorf("case folding of letters that fold to a ligature is not supported")
	}
	p := &patternParser{src: src}
	var out strings.Builder
	for p.pos < len(src) {
		switch c := src[p.pos]; {
		case c == '[', c == '\\' && classEscape(p.rest()):
			rs, err := p.class()
			if err != nil {
				return "", fmt.Errorf("at %d: %w", p.pos, err)
			}
			writeClass(&out, rs)
		case p.accept("^"):
			out.WriteString(`(?:\A|(?<=\n)(?!\z))`)
		case p.accept("$"):
			out.WriteString(`(?=\n|\z)`)
		case p.accept(`\b`):
			writeBoundary(&out, "(?:(?<=W)(?!W)|(?<!W)(?=W))")
		case p.accept(`\B`):
			writeBoundary(&out, "(?:(?<=W)(?=W)|(?<!W)(?!W))")
		case c == '\\' && p.pos+1 < len(src):
			if strings.IndexByte("GhRXKkQEgHONyYaec0123456789", src[p.pos+1]) >= 0 {
				return "", fmt.Errorf("at %d: escape \\%c is not supported", p.pos, src[p.pos+1])
			}
			out.WriteString(src[p.pos : p.pos+2])
			p.pos += 2
		default:
			out.WriteByte(c)
			p.pos++
		}
	}
	return out.String(), nil
}

// foldsTogether tells whether a text holds letters in a row that fold to one character, as ss does to ß.
func foldsTogether(text string) bool {
	text = strings.ToLower(text)
	for _, pair := range [...]string{"ss", "st", "ff", "fi", "fl"} {
		if strings.Contains(text, pair) {
			return true
		}
	}
	return false
}

// writeBoundary writes form with word characters for W.
func writeBoundary(out *strings.Builder, form string) {
	word, _ := classNamed("word")
	var class strings.Builder
	writeClass(&class, word)
	out.WriteString(strings.ReplaceAll(form, "W", class.String()))
}

// classEscape tells whether text begins with an escape that stands for a class or a code point.
func classEscape(text string) bool {
	return len(text) > 1 && strings.IndexByte("sSdDwWpPuxnrtfv", text[1]) >= 0
}

func writeClass(out *strings.Builder, rs ranges) {
	out.WriteByte('[')
	for _, r := range rs.intersect(ranges{{0, 0xd7ff}, {0xe000, utf8.MaxRune}}) {
		writeRune(out, r.lo)
		out.WriteByte('-')
		writeRune(out, r.hi)
	}
	out.WriteByte(']')
}

// writeRune writes a character so that it cannot be read as syntax.
func writeRune(out *strings.Builder, r rune) {
	if r < utf8.RuneSelf {
		fmt.Fprintf(out, `\x%02x`, r)
		return
	}
	out.WriteRune(r)
}

// all returns the byte offsets of the matches in s. There are none if finding them takes too long: what a pattern that is
// not ours does with a text of many megabytes must end at some time.
func (x *regex) all(s string) [][]int {
	found, err := x.re.FindAllStringIndex(s, -1)
	if err != nil {
		return nil
	}
	return found
}
