package tokenizer

import (
	"fmt"
	"unicode/utf8"
)

// maxPattern is the longest regular expression in bytes.
const maxPattern = 1 << 16

// newNormalizers compiles the normalizer of a tokenizer.json.
func newNormalizers(c *component) ([]normalizer, error) {
	var out []normalizer
	for _, part := range c.flat() {
		n, err := newNormalizer(part)
		if err != nil {
			return nil, fmt.Errorf("normalizer %s: %w", part.Type, err)
		}
		out = append(out, n...)
	}
	return out, boundGrowth(out)
}

func newNormalizer(c component) ([]normalizer, error) {
	var n normalizer
	switch c.Type {
	case "NFC":
		n = newUnicodeForm(false, true)
	case "NFD":
		n = newUnicodeForm(false, false)
	case "NFKC":
		n = newUnicodeForm(true, true)
	case "NFKD":
		n = newUnicodeForm(true, false)
	case "Lowercase":
		n = mapRunes{texts: lowerTexts()}
	case "StripAccents":
		n = drop{mustClass("accent")}
	case "Strip":
		n = strip{c.StripLeft, c.StripRight, mustClass("space")}
	case "Prepend":
		n = prepend(c.Prepend)
	case "Replace":
		r, err := newReplace(c)
		if err != nil {
			return nil, err
		}
		n = r
	case "ByteLevel":
		n = byteNormalizer{}
	case "Nmt":
		return []normalizer{drop{mustClass("nmtcontrol")}, mapRunes{space: mustClass("nmtspace")}}, nil
	case "BertNormalizer":
		return bertNormalizers(c), nil
	case "Precompiled":
		p, err := newCharsmap(c.Charsmap)
		if err != nil {
			return nil, err
		}
		n = p
	default:
		return nil, fmt.Errorf("not supported")
	}
	return []normalizer{n}, nil
}

func bertNormalizers(c component) []normalizer {
	var out []normalizer
	if c.CleanText {
		out = append(out, drop{mustClass("bertcontrol")}, mapRunes{space: mustClass("bertspace")})
	}
	if c.HandleCJK {
		out = append(out, mapRunes{pad: mustClass("bertcjk")})
	}
	if flag(c.StripAccent, c.Lowercase) {
		out = append(out, newUnicodeForm(false, false), drop{mustClass("bertaccent")})
	}
	if c.Lowercase {
		out = append(out, mapRunes{texts: lowerTexts()})
	}
	return out
}

func newReplace(c component) (replace, error) {
	r := replace{with: c.Content}
	if c.Pattern != nil && c.Pattern.String != nil && *c.Pattern.String != "" {
		r.literal = *c.Pattern.String
		return r, nil
	}
	find, err := newFinder(c.Pattern)
	r.find = find
	return r, err
}

// newFinder compiles a pattern, with our own matcher if it can.
func newFinder(p *patternSpec) (finder, error) {
	switch {
	case p == nil || p.String == nil && p.Regex == nil:
		return nil, fmt.Errorf("pattern: neither String nor Regex")
	case p.String != nil && *p.String == "":
		return nil, fmt.Errorf("pattern: an empty String is not supported")
	case p.String != nil:
		return literal(*p.String), nil
	case len(*p.Regex) > maxPattern:
		return nil, fmt.Errorf("pattern: %d bytes, the limit is %d", len(*p.Regex), maxPattern)
	}
	if own, err := parsePattern(*p.Regex); err == nil {
		return own, nil
	}
	return compileRegex(*p.Regex)
}

// gpt2Pattern is what ByteLevel splits by when it is asked to.
const gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// newStages compiles the pre-tokenizer. bytes tells that words end as bytes: the last stage is the byte-level one, which
// the model then does itself.
func newStages(c *component) (stages []stage, bytes bool, err error) {
	parts := c.flat()
	for i, part := range parts {
		more, err := newStage(part)
		if err != nil {
			return nil, false, fmt.Errorf("pre_tokenizer %s: %w", part.Type, err)
		}
		stages = append(stages, more...)
		if part.Type == "ByteLevel" {
			if bytes = i == len(parts)-1; !bytes {
				stages = append(stages, byteChars{})
			}
		}
	}
	return stages, bytes, nil
}

func newStage(c component) ([]stage, error) {
	switch c.Type {
	case "ByteLevel":
		return byteLevelStages(c)
	case "Split":
		return splitStage(c)
	case "Digits":
		count := "+"
		if c.Individual {
			count = ""
		}
		return []stage{isolate{pattern: classPattern("rustnumeric", count)}}, nil
	case "Metaspace":
		scheme, err := c.prependScheme()
		return []stage{metaspace{c.Replacement, scheme == "always", scheme == "first", flag(c.Split, true)}}, err
	case "Punctuation":
		b, err := parseBehavior(c.Behavior, isolated)
		return []stage{splitter{find: members{mustClass("rustpunct")}, behavior: b}}, err
	case "WhitespaceSplit":
		return []stage{splitter{find: members{mustClass("space")}, behavior: removed}}, nil
	case "Whitespace":
		return []stage{splitter{find: wordsAndSymbols(), behavior: removed, invert: true}}, nil
	case "BertPreTokenizer":
		return []stage{
			splitter{find: members{mustClass("space")}, behavior: removed},
			splitter{find: members{mustClass("rustpunct")}, behavior: isolated},
		}, nil
	case "CharDelimiterSplit":
		if utf8.RuneCountInString(c.Delimiter) != 1 {
			return nil, fmt.Errorf("delimiter: %q is not one character", c.Delimiter)
		}
		return []stage{splitter{find: literal(c.Delimiter), behavior: removed}}, nil
	case "FixedLength":
		if c.Length < 1 {
			return nil, fmt.Errorf("length: want at least 1")
		}
		return []stage{fixedLength(c.Length)}, nil
	}
	return nil, fmt.Errorf("not supported")
}

func byteLevelStages(c component) ([]stage, error) {
	var out []stage
	if flag(c.AddPrefixSpace, true) {
		out = append(out, prefixSpace{})
	}
	if flag(c.UseRegex, true) {
		p, err := parsePattern(gpt2Pattern)
		if err != nil {
			return nil, err
		}
		out = append(out, isolate{pattern: p})
	}
	return out, nil
}

func splitStage(c component) ([]stage, error) {
	b, err := parseBehavior(c.Behavior, 0)
	if err != nil {
		return nil, err
	}
	if c.Pattern != nil && c.Pattern.Regex != nil && *c.Pattern.Regex == digitGroupsSrc && b == isolated {
		return []stage{digitGroups{mustClass("digit"), mustClass("word")}}, nil
	}
	find, err := newFinder(c.Pattern)
	if err != nil {
		return nil, err
	}
	if p, ok := find.(*pattern); ok && (b == isolated || b == removed && c.Invert) {
		return []stage{isolate{p, b == removed}}, nil
	}
	return []stage{splitter{find, b, c.Invert}}, nil
}

func parseBehavior(name string, otherwise behavior) (behavior, error) {
	if name == "" && otherwise != 0 {
		return otherwise, nil
	}
	b, ok := behaviors[name]
	if !ok {
		return 0, fmt.Errorf("behavior: %q is not supported", name)
	}
	return b, nil
}

// classPattern matches one member of a class, or a run of them.
func classPattern(class, count string) *pattern {
	it := item{set: mustClass(class), min: 1, max: 1}
	if count == "+" {
		it.max = -1
	}
	p := &pattern{alts: []alternative{{it}}}
	p.compile()
	return p
}

// wordsAndSymbols matches runs of word characters, and runs of what is neither those nor white space.
func wordsAndSymbols() *pattern {
	word, _ := classNamed("rustword")
	space, _ := classNamed("space")
	symbol := word.union(space).complement()
	p := &pattern{alts: []alternative{
		{{set: newRuneSet(word), min: 1, max: -1}},
		{{set: newRuneSet(symbol), min: 1, max: -1}},
	}}
	p.compile()
	return p
}
