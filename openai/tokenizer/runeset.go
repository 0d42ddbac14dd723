package tokenizer

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// runeRange is an inclusive range of code points.
type runeRange struct{ lo, hi rune }

// ranges is a sorted list of disjoint ranges: a character class while it is still being put together.
type ranges []runeRange

// classParts names the classes that are unions of generated ones.
var classParts = map[string][]string{
	"L": {"Lu", "Ll", "Lt", "Lm", "Lo"},
	"M": {"Mn", "Mc", "Me"},
	"N": {"Nd", "Nl", "No"},
	"P": {"Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"},
	"S": {"Sm", "Sc", "Sk", "So"},
	"Z": {"Zs", "Zl", "Zp"},
	"C": {"Cc", "Cf", "Co", "Cn"},
}

// classNamed returns a generated class (a general category, a script, or one of the library's own predicates).
func classNamed(name string) (ranges, bool) {
	if parts, ok := classParts[name]; ok {
		var all ranges
		for _, part := range parts {
			all = append(all, decodeRanges(classRanges[part])...)
		}
		return all.normalized(), true
	}
	data, ok := classRanges[name]
	return decodeRanges(data), ok
}

func decodeRanges(data string) ranges {
	var out ranges
	raw, last := []byte(data), rune(0)
	for len(raw) > 0 {
		gap, n := binary.Uvarint(raw)
		span, m := binary.Uvarint(raw[n:])
		raw = raw[n+m:]
		lo := last + rune(gap)
		last = lo + rune(span)
		out = append(out, runeRange{lo, last})
	}
	return out
}

// normalized sorts and joins overlapping ranges.
func (rs ranges) normalized() ranges {
	slices.SortFunc(rs, func(a, b runeRange) int { return int(a.lo) - int(b.lo) })
	out := rs[:0:0]
	for _, r := range rs {
		if n := len(out); n > 0 && r.lo <= out[n-1].hi+1 {
			out[n-1].hi = max(out[n-1].hi, r.hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

func (rs ranges) union(other ranges) ranges {
	return append(slices.Clone(rs), other...).normalized()
}

func (rs ranges) complement() ranges {
	var out ranges
	next := rune(0)
	for _, r := range rs {
		if r.lo > next {
			out = append(out, runeRange{next, r.lo - 1})
		}
		next = r.hi + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, runeRange{next, utf8.MaxRune})
	}
	return out
}

func (rs ranges) intersect(other ranges) ranges {
	return rs.complement().union(other.complement()).complement()
}

// runeSet is a class compiled for scanning: a byte per ASCII character, and for the rest a bitmap in two stages.
type runeSet struct {
	ascii  [utf8.RuneSelf]bool
	source ranges
	index  [(utf8.MaxRune + 1) >> 8]uint16
	blocks [][4]uint64
}

func newRuneSet(rs ranges) *runeSet {
	set := &runeSet{source: rs}
	flat := make([]uint64, (utf8.MaxRune+1)>>6)
	for _, r := range rs {
		for c := r.lo; c <= r.hi; {
			if c&63 == 0 && c+63 <= r.hi {
				flat[c>>6] = ^uint64(0)
				c += 64
				continue
			}
			flat[c>>6] |= 1 << (c & 63)
			c++
		}
	}
	seen := map[[4]uint64]uint16{}
	for page := range set.index {
		block := [4]uint64(flat[page*4 : page*4+4])
		at, ok := seen[block]
		if !ok {
			at = uint16(len(set.blocks))
			seen[block] = at
			set.blocks = append(set.blocks, block)
		}
		set.index[page] = at
	}
	for c := range set.ascii {
		set.ascii[c] = set.blocks[set.index[0]][c>>6]>>(c&63)&1 != 0
	}
	return set
}

// mustClass compiles a class that the generated table is known to hold.
func mustClass(name string) *runeSet {
	rs, _ := classNamed(name)
	return newRuneSet(rs)
}

func (set *runeSet) has(r rune) bool {
	if uint32(r) < utf8.RuneSelf {
		return set.ascii[r]
	}
	return set.hasWide(r)
}

func (set *runeSet) hasWide(r rune) bool {
	block := &set.blocks[set.index[uint32(r)>>8]]
	return block[uint32(r)>>6&3]>>(uint32(r)&63)&1 != 0
}

// run returns the end of the longest run of members in s from i, of at most limit characters (limit < 0: any number),
// and how many there are.
func (set *runeSet) run(s string, i, limit int) (end, count int) {
	for i < len(s) && count != limit {
		if c := s[i]; c < utf8.RuneSelf {
			if !set.ascii[c] {
				break
			}
			i++
		} else {
			r, size := wideRune(s, i)
			if !set.hasWide(r) {
				break
			}
			i += size
		}
		count++
	}
	return i, count
}

// wideRune decodes the character at i, which is known to be valid UTF-8 and not ASCII.
func wideRune(s string, i int) (rune, int) {
	c := s[i]
	if c >= 0xe0 && c < 0xf0 && i+2 < len(s) {
		return rune(c&0x0f)<<12 | rune(s[i+1]&0x3f)<<6 | rune(s[i+2]&0x3f), 3
	}
	return utf8.DecodeRuneInString(s[i:])
}

// runeAt decodes the character at i.
func runeAt(s string, i int) (rune, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return wideRune(s, i)
}

// runeBefore returns the start of the character that ends at i.
func runeBefore(s string, i int) int {
	i--
	for i > 0 && s[i]&0xc0 == 0x80 {
		i--
	}
	return i
}
