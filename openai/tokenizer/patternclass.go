package tokenizer

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// class reads a literal, an escape or a bracket expression at the cursor.
func (p *patternParser) class() (ranges, error) {
	if p.pos >= len(p.src) {
		return nil, fmt.Errorf("pattern ends where a character is due")
	}
	switch c := p.src[p.pos]; {
	case c == '[':
		p.pos++
		return p.bracket()
	case c == '\\':
		return p.escape()
	case strings.IndexByte("().^$*+?{}|", c) >= 0:
		return nil, fmt.Errorf("%q is not supported here", c)
	}
	return p.literal(), nil
}

func (p *patternParser) literal() ranges {
	r, size := utf8.DecodeRuneInString(p.rest())
	p.pos += size
	return ranges{{r, r}}
}

// bracket reads a bracket expression after its [, with nested ones and intersections.
func (p *patternParser) bracket() (ranges, error) {
	set, negate, err := p.bracketSet()
	if negate {
		set = set.complement()
	}
	return set, err
}

// bracketSet reads a bracket expression, but leaves it to the caller to negate it.
func (p *patternParser) bracketSet() (set ranges, negate bool, err error) {
	if p.brackets++; p.brackets > maxBrackets {
		return nil, false, fmt.Errorf("brackets nested deeper than %d", maxBrackets)
	}
	defer func() { p.brackets-- }()
	negate = p.accept("^")
	if p.accept("]") { // the first is a member
		set = ranges{{']', ']'}}
	}
	var parts []ranges
	for {
		if p.pos >= len(p.src) {
			return nil, false, fmt.Errorf("[ without ]")
		}
		if p.accept("]") {
			break
		}
		if p.accept("&&") {
			parts = append(parts, set)
			set = nil
			continue
		}
		member, err := p.member()
		if err != nil {
			return nil, false, err
		}
		set = set.union(member)
	}
	for _, part := range parts {
		set = set.intersect(part)
	}
	return set, negate, nil
}

// maxBrackets is how deep bracket expressions may nest.
const maxBrackets = 60

// member reads a nested class, an escape, a character or a range of characters.
func (p *patternParser) member() (ranges, error) {
	if strings.HasPrefix(p.rest(), "[:") {
		return p.posix()
	}
	if p.accept("[") {
		return p.bracket()
	}
	low, err := p.classRune()
	if err != nil || !low.single() {
		return low, err
	}
	if rest := p.rest(); len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
		return low, nil
	}
	p.pos++
	high, err := p.classRune()
	if err != nil {
		return nil, err
	}
	if !high.single() || high[0].lo < low[0].lo {
		return nil, fmt.Errorf("bad range in a class")
	}
	return ranges{{low[0].lo, high[0].lo}}, nil
}

func (rs ranges) single() bool { return len(rs) == 1 && rs[0].lo == rs[0].hi }

func (p *patternParser) classRune() (ranges, error) {
	if p.pos < len(p.src) && p.src[p.pos] == '\\' {
		return p.escape()
	}
	if p.pos < len(p.src) && p.src[p.pos] == '[' {
		return nil, fmt.Errorf("bad range in a class")
	}
	return p.literal(), nil
}

func (p *patternParser) posix() (ranges, error) {
	for text, name := range map[string]string{"[:alpha:]": "alpha", "[:punct:]": "punct", "[:digit:]": "Nd", "[:space:]": "space"} {
		if p.accept(text) {
			rs, _ := classNamed(name)
			return rs, nil
		}
	}
	return nil, fmt.Errorf("POSIX class %.12q is not supported", p.rest())
}

// escape reads what a backslash begins.
func (p *patternParser) escape() (ranges, error) {
	if p.pos+1 >= len(p.src) {
		return nil, fmt.Errorf("pattern ends in a backslash")
	}
	c := p.src[p.pos+1]
	p.pos += 2
	switch c {
	case 's', 'd', 'w', 'S', 'D', 'W':
		name := map[byte]string{'s': "space", 'd': "digit", 'w': "word"}[c|0x20]
		rs, _ := classNamed(name)
		if name == "word" && p.brackets > 0 {
			rs = rs.intersect(bareWord.complement())
		}
		if c < 'a' {
			rs = rs.complement()
		}
		return rs, nil
	case 'p', 'P':
		return p.property(c == 'P')
	case 'n', 'r', 't', 'f', 'v':
		r := map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', 'f': '\f', 'v': '\v'}[c]
		return ranges{{r, r}}, nil
	case 'u':
		return p.hex(4)
	case 'x':
		if p.accept("{") {
			return p.hex(strings.IndexByte(p.rest(), '}'))
		}
		return p.hex(2)
	}
	if c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return nil, fmt.Errorf("escape \\%c is not supported", c)
	}
	return ranges{{rune(c), rune(c)}}, nil
}

// bareWord is what \w holds only outside brackets: superscripts and fractions of Latin-1.
var bareWord = ranges{{0xb2, 0xb3}, {0xb9, 0xb9}, {0xbc, 0xbe}}

// hex reads a code point of the given number of digits, and the brace after it if there is one.
func (p *patternParser) hex(digits int) (ranges, error) {
	if digits < 1 || digits > 6 || len(p.rest()) < digits {
		return nil, fmt.Errorf("bad code point escape")
	}
	n, err := strconv.ParseUint(p.rest()[:digits], 16, 32)
	if err != nil || n > utf8.MaxRune || n >= 0x80 && digits == 2 {
		return nil, fmt.Errorf("bad code point escape")
	}
	p.pos += digits
	p.accept("}")
	return ranges{{rune(n), rune(n)}}, nil
}

// property reads {Name} or a one-letter name after \p.
func (p *patternParser) property(negate bool) (ranges, error) {
	if !p.accept("{") {
		return nil, fmt.Errorf("\\p without a brace")
	}
	name, _, ok := strings.Cut(p.rest(), "}")
	if !ok {
		return nil, fmt.Errorf("\\p{ without }")
	}
	p.pos += len(name) + 1
	if bare, found := strings.CutPrefix(name, "^"); found {
		name, negate = bare, !negate
	}
	rs, ok := propertyNamed(name)
	if !ok {
		return nil, fmt.Errorf("\\p{%s} is not supported", name)
	}
	if negate {
		rs = rs.complement()
	}
	return rs, nil
}

// propertyNamed returns a general category or script; our own predicates, which are in lower case, are not properties.
func propertyNamed(name string) (ranges, bool) {
	long := map[string]string{
		"Letter": "L", "Mark": "M", "Number": "N", "Punctuation": "P", "Symbol": "S", "Separator": "Z", "Other": "C",
		"Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt", "Modifier_Letter": "Lm", "Other_Letter": "Lo",
		"Decimal_Number": "Nd", "Hira": "Hiragana", "Kana": "Katakana", "Hang": "Hangul", "Hani": "Han", "Latn": "Latin", "Cyrl": "Cyrillic",
		"Alpha": "alpha", "Punct": "P", "Digit": "digit", "Space": "space",
	}
	if full, ok := long[name]; ok {
		name = full
	} else if name == "" || name[0] > 'Z' {
		return nil, false
	}
	return classNamed(name)
}
