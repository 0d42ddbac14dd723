package tokenizer

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxRegexDepth = 60
	maxRegexCount = 1000 // of {n,m}
)

// regexParser reads Oniguruma's syntax as the library uses it: Ruby's.
type regexParser struct {
	patternParser
	fold, any, spaced bool // the options i, m and x
	depth             int
}

// parseRegex reads a regular expression; what it cannot read is an error that says where.
func parseRegex(src string) (*regexNode, error) {
	p := &regexParser{patternParser: patternParser{src: src}}
	n, err := p.either()
	if err == nil && p.pos < len(src) {
		err = fmt.Errorf(") without (")
	}
	if err != nil {
		return nil, fmt.Errorf("at %d: %w", p.pos, err)
	}
	return n, nil
}

// either reads alternatives up to the end of the group.
func (p *regexParser) either() (*regexNode, error) {
	if p.depth++; p.depth > maxRegexDepth {
		return nil, fmt.Errorf("groups nested deeper than %d", maxRegexDepth)
	}
	defer func() { p.depth-- }()
	alt := &regexNode{kind: nodeAlt}
	for {
		n, err := p.sequence()
		if err != nil {
			return nil, err
		}
		alt.parts = append(alt.parts, n)
		if !p.accept("|") {
			break
		}
	}
	if len(alt.parts) == 1 {
		return alt.parts[0], nil
	}
	return alt, nil
}

func (p *regexParser) sequence() (*regexNode, error) {
	cat := &regexNode{kind: nodeCat}
	for {
		p.skipSpaced()
		if p.pos == len(p.src) || p.src[p.pos] == '|' || p.src[p.pos] == ')' {
			break
		}
		n, err := p.atom()
		if err == nil && n != nil {
			n, err = p.quantified(n)
		}
		if err != nil {
			return nil, err
		}
		if n != nil {
			cat.parts = append(cat.parts, n)
		}
	}
	if len(cat.parts) == 1 {
		return cat.parts[0], nil
	}
	return cat, nil
}

// skipSpaced skips white space and comments where the option x is on.
func (p *regexParser) skipSpaced() {
	for p.spaced && p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\n', '\r', '\f', '\v':
			p.pos++
		case '#':
			_, rest, _ := strings.Cut(p.rest(), "\n")
			p.pos = len(p.src) - len(rest)
		default:
			return
		}
	}
}

// regexAsserts are the assertions by how they are written.
var regexAsserts = []struct {
	text string
	what assertion
}{
	{"^", lineStart}, {"$", lineEnd}, {`\A`, textStart}, {`\z`, textEnd}, {`\Z`, lastLineEnd}, {`\b`, wordEdge}, {`\B`, notWordEdge},
}

// atom reads what a quantifier may follow; nil for a comment.
func (p *regexParser) atom() (*regexNode, error) {
	for _, a := range regexAsserts {
		if p.accept(a.text) {
			return &regexNode{kind: nodeAssert, assert: a.what}, nil
		}
	}
	switch c := p.src[p.pos]; {
	case p.accept(`\R`): // a line end of any system
		return newlines(), nil
	case p.accept(`\h`):
		return &regexNode{kind: nodeSet, set: hexDigits}, nil
	case p.accept(`\H`):
		return &regexNode{kind: nodeSet, set: hexDigits.complement()}, nil
	case c == '(':
		return p.group()
	case c == '.':
		p.pos++
		set := ranges{{0, utf8.MaxRune}}
		if !p.any {
			set = ranges{{'\n', '\n'}}.complement()
		}
		return &regexNode{kind: nodeSet, set: set}, nil
	case c == '*' || c == '+' || c == '?':
		return nil, fmt.Errorf("%q repeats nothing", c)
	case c == '{':
		if _, _, _, ok := p.interval(); ok {
			return nil, fmt.Errorf("{n,m} repeats nothing")
		}
		return &regexNode{kind: nodeSet, set: p.literal()}, nil
	case c == ']' || c == '}':
		return &regexNode{kind: nodeSet, set: p.literal()}, nil
	}
	set, err := p.folded()
	return &regexNode{kind: nodeSet, set: set}, err
}

var hexDigits = ranges{{'0', '9'}, {'A', 'F'}, {'a', 'f'}}

func newlines() *regexNode {
	both := &regexNode{kind: nodeCat, parts: []*regexNode{{set: ranges{{'\r', '\r'}}}, {set: ranges{{'\n', '\n'}}}}}
	one := &regexNode{set: ranges{{'\n', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}}}
	return &regexNode{kind: nodeAtomic, parts: []*regexNode{{kind: nodeAlt, parts: []*regexNode{both, one}}}}
}

// folded reads a class and folds case in it where the option i is on; classes that stand by themselves are not folded.
func (p *regexParser) folded() (ranges, error) {
	rest := p.rest()
	switch {
	case !p.fold, len(rest) > 1 && rest[0] == '\\' && strings.IndexByte("sSdDwWpP", rest[1]) >= 0:
		return p.class()
	case p.accept("["):
		set, negate, err := p.bracketSet()
		if err != nil {
			return nil, err
		}
		return foldClass(set, negate)
	}
	set, err := p.class()
	if err != nil {
		return nil, err
	}
	return foldLiteral(set)
}

// group reads a group, a look or options, from the bracket on.
func (p *regexParser) group() (*regexNode, error) {
	switch {
	case p.accept("(?#"):
		_, rest, ok := strings.Cut(p.rest(), ")")
		if !ok {
			return nil, fmt.Errorf("(?# without )")
		}
		p.pos = len(p.src) - len(rest)
		return nil, nil
	case p.accept("(?:"):
		return p.inside()
	case p.accept("(?>"):
		return p.wrapped(regexNode{kind: nodeAtomic})
	case p.accept("(?="):
		return p.wrapped(regexNode{kind: nodeLook})
	case p.accept("(?!"):
		return p.wrapped(regexNode{kind: nodeLook, negate: true})
	case p.accept("(?<="):
		return p.wrapped(regexNode{kind: nodeLook, back: true})
	case p.accept("(?<!"):
		return p.wrapped(regexNode{kind: nodeLook, back: true, negate: true})
	case p.accept("(?<"), p.accept("(?'"):
		at := strings.IndexAny(p.rest(), ">'")
		if at < 1 {
			return nil, fmt.Errorf("a group without a name")
		}
		p.pos += at + 1
		return p.wrapped(regexNode{kind: nodeCat})
	case p.accept("(?"):
		return p.options()
	}
	p.accept("(")
	return p.wrapped(regexNode{kind: nodeCat})
}

// inside reads the rest of a group; options set in it end with it.
func (p *regexParser) inside() (*regexNode, error) {
	fold, any, spaced := p.fold, p.any, p.spaced
	n, err := p.either()
	p.fold, p.any, p.spaced = fold, any, spaced
	if err == nil && !p.accept(")") {
		err = fmt.Errorf("( without )")
	}
	return n, err
}

func (p *regexParser) wrapped(outer regexNode) (*regexNode, error) {
	n, err := p.inside()
	if err != nil {
		return nil, err
	}
	if outer.back && n.looksForward() {
		return nil, fmt.Errorf("a look or an atomic group in a look-behind is not supported")
	}
	outer.parts = []*regexNode{n}
	return &outer, nil
}

// options reads (?imx-imx: ...) or (?imx-imx), which holds to the end of the group and takes in its alternatives.
func (p *regexParser) options() (*regexNode, error) {
	fold, any, spaced := p.fold, p.any, p.spaced
	defer func() { p.fold, p.any, p.spaced = fold, any, spaced }()
	for on := true; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; c {
		case '-':
			on = false
		case 'i':
			if p.fold = on; on && foldsTogether(p.src) {
				return nil, fmt.Errorf("case folding of letters that fold to a ligature is not supported")
			}
		case 'm':
			p.any = on
		case 'x':
			p.spaced = on
		case ':':
			p.pos++
			return p.inside()
		case ')':
			p.pos++
			return p.either()
		default:
			return nil, fmt.Errorf("(?%c is not supported", c)
		}
	}
	return nil, fmt.Errorf("( without )")
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

// quantified reads the quantifiers after a part.
func (p *regexParser) quantified(n *regexNode) (*regexNode, error) {
	for {
		p.skipSpaced()
		low, high, fixed := 0, -1, false
		switch {
		case p.accept("?"):
			high = 1
		case p.accept("*"):
		case p.accept("+"):
			low = 1
		default:
			var size int
			var ok bool
			if low, high, size, ok = p.interval(); !ok {
				return n, nil
			}
			fixed = !strings.Contains(p.rest()[:size], ",")
			if low > maxRegexCount || high > maxRegexCount || high >= 0 && low > high {
				return nil, fmt.Errorf("bounds %s: want {n,m} with n not above m, and both at most %d", p.rest()[:size], maxRegexCount)
			}
			if n.canBeEmpty() && high != 1 && (high >= 0 || low > 1) { // Oniguruma may stop before low
				return nil, fmt.Errorf("%s of a part that can be empty is not supported", p.rest()[:size])
			}
			p.pos += size
			n = n.repeat(low, high, !fixed && p.accept("?")) // {n}? is an optional {n}, and {n,m}+ a repeated {n,m}
			continue
		}
		if p.accept("+") {
			n = &regexNode{kind: nodeAtomic, parts: []*regexNode{n.repeat(low, high, false)}}
		} else {
			n = n.repeat(low, high, p.accept("?"))
		}
	}
}

// interval looks at {n}, {n,}, {,m} or {n,m}; what has none of these forms is text.
func (p *regexParser) interval() (low, high, size int, ok bool) {
	text, _, closed := strings.Cut(p.rest(), "}")
	text, open := strings.CutPrefix(text, "{")
	if !closed || !open || len(text) > 16 {
		return 0, 0, 0, false
	}
	from, to, both := strings.Cut(text, ",")
	if from == "" && to == "" || strings.Trim(from+to, "0123456789") != "" {
		return 0, 0, 0, false
	}
	low, _ = strconv.Atoi(from)
	switch high, _ = strconv.Atoi(to); {
	case !both:
		high = low
	case to == "":
		high = -1
	}
	return low, high, len(text) + 2, true
}
