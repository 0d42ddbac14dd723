package tokenizer

import (
	"fmt"
	"strings"

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
	return &regex{re}, nil
}

// rewriteClasses replaces bracket expressions and class escapes by explicit ranges, and leaves the rest as it is.
func rewriteClasses(src string) (string, error) {
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
		case c == '\\' && p.pos+1 < len(src):
			if strings.IndexByte("AzZGhRXKkQEgHONy123456789", src[p.pos+1]) >= 0 {
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

// classEscape tells whether text begins with an escape that stands for a class or a code point.
func classEscape(text string) bool {
	return len(text) > 1 && strings.IndexByte("sSdDwWpPuxnrtfv", text[1]) >= 0
}

func writeClass(out *strings.Builder, rs ranges) {
	out.WriteByte('[')
	for _, r := range rs {
		fmt.Fprintf(out, `\u{%x}-\u{%x}`, r.lo, r.hi)
	}
	out.WriteByte(']')
}

// all returns the byte offsets of the matches in s. The engine has no error but a time limit, and none is set.
func (x *regex) all(s string) [][]int {
	found, _ := x.re.FindAllStringIndex(s, -1)
	return found
}
