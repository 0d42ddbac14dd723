package tokenizer

import (
	"fmt"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// manyFold are the characters that fold to several, as ß does to ss.
var manyFold = ranges{
	{0xdf, 0xdf}, {0x130, 0x130}, {0x149, 0x149}, {0x1f0, 0x1f0}, {0x390, 0x390}, {0x3b0, 0x3b0}, {0x587, 0x587},
	{0x1e96, 0x1e9a}, {0x1e9e, 0x1e9e}, {0x1f50, 0x1f50}, {0x1f52, 0x1f52}, {0x1f54, 0x1f54}, {0x1f56, 0x1f56},
	{0x1f80, 0x1faf}, {0x1fb2, 0x1fb4}, {0x1fb6, 0x1fb7}, {0x1fbc, 0x1fbc}, {0x1fc2, 0x1fc4}, {0x1fc6, 0x1fc7}, {0x1fcc, 0x1fcc},
	{0x1fd2, 0x1fd3}, {0x1fd6, 0x1fd7}, {0x1fe2, 0x1fe4}, {0x1fe6, 0x1fe7}, {0x1ff2, 0x1ff4}, {0x1ff6, 0x1ff7}, {0x1ffc, 0x1ffc},
	{0xfb00, 0xfb06}, {0xfb13, 0xfb17},
}

// foldable are the characters whose case may be folded where they stand as literals: their folding is one character and
// no part of a longer one's.
var foldable = ranges{{0, 0x7f}, {0xa0, 0x24f}, {0x400, 0x52f}}

// foldLiteral adds the other cases of a literal.
func foldLiteral(set ranges) (ranges, error) {
	r := set[0].lo
	cased := unicode.SimpleFold(r) != r || unicode.In(r, unicode.M, unicode.Lm)
	if len(manyFold.intersect(set)) > 0 || cased && len(foldable.intersect(set)) == 0 {
		return nil, fmt.Errorf("case folding of %q is not supported", r)
	}
	return foldSimple(set), nil
}

// foldClass adds the other cases of the members of a bracket expression, then negates it if it is to be.
func foldClass(set ranges, negate bool) (ranges, error) {
	if negate {
		return foldSimple(set).complement(), nil
	}
	if many := manyFold.intersect(set); len(many) > 0 {
		return nil, fmt.Errorf("case folding of a class that holds %q is not supported", many[0].lo)
	}
	return foldSimple(set), nil
}

// casePair is a character and another that differs from it only in case.
type casePair struct{ char, other rune }

// casePairs lists all pairs by their first character.
var casePairs = sync.OnceValue(func() (pairs []casePair) {
	for c := rune(0); c <= utf8.MaxRune; c++ {
		for other := unicode.SimpleFold(c); other != c; other = unicode.SimpleFold(other) {
			pairs = append(pairs, casePair{c, other})
		}
	}
	return pairs
})

// foldSimple adds all characters that differ from a member only in case.
func foldSimple(set ranges) ranges {
	more, pairs := slices.Clone(set), casePairs()
	for _, r := range set {
		at, _ := slices.BinarySearchFunc(pairs, r.lo, func(p casePair, c rune) int { return int(p.char - c) })
		for ; at < len(pairs) && pairs[at].char <= r.hi; at++ {
			more = append(more, runeRange{pairs[at].other, pairs[at].other})
		}
	}
	return more.normalized()
}
