package tokenizer

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// patternParser reads the subset of Oniguruma's syntax that pattern matches. Anything else is an error, and the caller
// takes the general engine.
type patternParser struct {
	src  string
	pos  int
	sets map[string]*runeSet // by their source

	brackets int // how many bracket expressions are open
}

// parsePattern compiles a pre-tokenizer's regular expression.
func parsePattern(src string) (*pattern, error) {
	p := &patternParser{src: src, sets: map[string]*runeSet{}}
	out := new(pattern)
	for {
		a, err := p.alternative()
		if err != nil {
			return nil, fmt.Errorf("at %d: %w", p.pos, err)
		}
		if !a.consumes() {
			return nil, fmt.Errorf("at %d: an alternative that can match nothing", p.pos)
		}
		out.alts = append(out.alts, a)
		if p.pos == len(src) {
			break
		}
		p.pos++ // the bar
	}
	if len(out.alts) > 32 {
		return nil, fmt.Errorf("more than 32 alternatives")
	}
	out.compile()
	if !out.linear() {
		return nil, fmt.Errorf("runs that may be vain")
	}
	return out, nil
}

func (p *patternParser) rest() string { return p.src[p.pos:] }

func (p *patternParser) accept(text string) bool {
	if strings.HasPrefix(p.rest(), text) {
		p.pos += len(text)
		return true
	}
	return false
}

func (p *patternParser) alternative() (alternative, error) {
	var a alternative
	for p.pos < len(p.src) && p.src[p.pos] != '|' {
		it, err := p.item()
		if err != nil {
			return nil, err
		}
		a = append(a, it)
	}
	return a, nil
}

func (p *patternParser) item() (item, error) {
	if p.accept(spacedLettersSrc) {
		if rest := p.rest(); rest != "" && rest[0] != '|' {
			return item{}, fmt.Errorf("spaced letters before more")
		}
		letter, mark := mustClass("L"), mustClass("M")
		return item{min: 1, max: 1, custom: spacedLetters(letter, mark), from: letter.source}, nil
	}
	if p.accept("(?!") {
		set, err := p.one()
		if err != nil || !p.accept(")") {
			return item{}, fmt.Errorf("look-ahead of more than one class")
		}
		return item{min: 1, max: 1, ahead: set}, nil
	}
	if p.accept("(?i:") {
		return p.choice(true)
	}
	if p.accept("(?:") {
		return p.choice(false)
	}
	set, err := p.one()
	if err != nil {
		return item{}, err
	}
	it := item{set: set, min: 1, max: 1}
	return it, p.quantifier(&it)
}

// choice reads a group of fixed sequences, after its opening.
func (p *patternParser) choice(fold bool) (item, error) {
	it := item{min: 1, max: 1}
	var seq fixed
	if inside, _, _ := strings.Cut(p.rest(), ")"); fold && foldsTogether(inside) {
		return it, fmt.Errorf("case folding of letters that fold to a ligature")
	}
	for {
		switch {
		case p.accept("|"), p.accept(")"):
			if len(seq) == 0 {
				return it, fmt.Errorf("empty alternative in a group")
			}
			it.choice = append(it.choice, seq)
			seq = nil
			if p.src[p.pos-1] == ')' {
				if err := p.quantifier(&it); err != nil {
					return it, err
				}
				if it.max != 1 {
					return it, fmt.Errorf("repeated group")
				}
				return it, nil
			}
		default:
			from := p.pos
			set, err := p.one()
			if err != nil {
				return it, err
			}
			if fold {
				if n := len(set.source); n == 0 || set.source[n-1].hi >= utf8.RuneSelf {
					return it, fmt.Errorf("case folding beyond ASCII")
				}
				set = p.set("(?i)"+p.src[from:p.pos], foldASCII(set.source))
			}
			seq = append(seq, set)
		}
	}
}

// foldASCII adds the other case of ASCII letters, and the long s and the Kelvin sign that fold to them.
func foldASCII(rs ranges) ranges {
	out := rs
	for _, r := range rs {
		for c := r.lo; c <= r.hi && c < utf8.RuneSelf; c++ {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
				out = out.union(ranges{{c ^ 0x20, c ^ 0x20}})
			}
			switch c | 0x20 {
			case 's':
				out = out.union(ranges{{'ſ', 'ſ'}})
			case 'k':
				out = out.union(ranges{{'\u212a', '\u212a'}})
			}
		}
	}
	return out
}

func (p *patternParser) quantifier(it *item) error {
	switch {
	case p.accept("?"):
		it.min = 0
	case p.accept("*"):
		it.min, it.max = 0, -1
	case p.accept("+"):
		it.max = -1
	case p.accept("{"):
		if err := p.counts(it); err != nil {
			return err
		}
		if it.set != nil && it.min <= 1 && p.accept("+") {
			it.max = -1 // {1,m} again and again, not a possessive run
		}
		if p.pos < len(p.src) && strings.IndexByte("?*+{", p.src[p.pos]) >= 0 {
			return fmt.Errorf("quantifier after {n,m}")
		}
		return nil
	default:
		return nil
	}
	if p.accept("+") {
		if it.set == nil {
			return fmt.Errorf("possessive group")
		}
		it.possessive = true
	}
	if p.pos < len(p.src) && strings.IndexByte("?*+{", p.src[p.pos]) >= 0 {
		return fmt.Errorf("lazy or doubled quantifier")
	}
	return nil
}

// counts reads n}, n,} or n,m}.
func (p *patternParser) counts(it *item) error {
	text, _, ok := strings.Cut(p.rest(), "}")
	if !ok {
		return fmt.Errorf("{ without }")
	}
	low, high, both := strings.Cut(text, ",")
	n, err := strconv.ParseUint(low, 10, 16)
	if err != nil {
		return fmt.Errorf("{%s}: %w", text, err)
	}
	it.min, it.max = int(n), int(n)
	if both {
		it.max = -1
		if high != "" {
			m, err := strconv.ParseUint(high, 10, 16)
			if err != nil || m < n {
				return fmt.Errorf("{%s}: bad bounds", text)
			}
			it.max = int(m)
		}
	}
	p.pos += len(text) + 1
	if it.max == 0 {
		return fmt.Errorf("{0}")
	}
	return nil
}

// one reads a class of one character: a literal, an escape or a bracket expression.
func (p *patternParser) one() (*runeSet, error) {
	from := p.pos
	rs, err := p.class()
	if err != nil {
		return nil, err
	}
	return p.set(p.src[from:p.pos], rs), nil
}

func (p *patternParser) set(src string, rs ranges) *runeSet {
	if set, ok := p.sets[src]; ok {
		return set
	}
	set := newRuneSet(rs)
	p.sets[src] = set
	return set
}
