package tokenizer

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// unicodeForm is NFC, NFD, NFKC or NFKD by the library's own tables, which are older than its classes.
type unicodeForm struct {
	texts   map[rune]string // full decompositions
	classes map[rune]uint8  // canonical combining classes, where not 0
	pairs   map[[2]rune]rune
	compose bool
	active  *runeSet // characters that may change or make their neighbours change
}

// Hangul syllables are composed by arithmetic.
const (
	hangulBase, hangulEnd       = 0xac00, 0xd7a4
	leadBase, vowelBase         = 0x1100, 0x1161
	trailBase, vowels, trails   = 0x11a7, 21, 28
	leadCount, hangulPerLeading = 19, vowels * trails
)

// newUnicodeForm builds a form's tables.
func newUnicodeForm(compat, compose bool) *unicodeForm {
	f := &unicodeForm{texts: decodePairs(canonicalTable), classes: map[rune]uint8{}, pairs: map[[2]rune]rune{}, compose: compose}
	for r, text := range decodePairs(combiningTable) {
		class, _ := utf8.DecodeRuneInString(text)
		f.classes[r] = uint8(class)
	}
	if compat {
		for r, text := range decodePairs(compatTable) {
			f.texts[r] = text
		}
	}
	active := ranges{{vowelBase, vowelBase + vowels - 1}, {trailBase + 1, trailBase + trails - 1}}
	if !compose {
		active = ranges{{hangulBase, hangulEnd - 1}}
	}
	for r := range f.texts {
		active = append(active, runeRange{r, r})
	}
	for r := range f.classes {
		active = append(active, runeRange{r, r})
	}
	if compose {
		for r, text := range decodePairs(composeTable) {
			first, size := utf8.DecodeRuneInString(text)
			second, _ := utf8.DecodeRuneInString(text[size:])
			f.pairs[[2]rune{first, second}] = r
			active = append(active, runeRange{second, second})
		}
		active = f.withoutStable(active)
	}
	f.active = newRuneSet(active.normalized())
	return f
}

// withoutStable drops precomposed characters that decompose only to be composed again: alone they do not change.
func (f *unicodeForm) withoutStable(active ranges) ranges {
	seconds := map[rune]bool{}
	for pair := range f.pairs {
		seconds[pair[1]] = true
	}
	var out ranges
	for _, r := range active {
		c := r.lo
		if r.lo == r.hi && f.classes[c] == 0 && !seconds[c] && string(f.transform(nil, string(c))) == string(c) {
			continue
		}
		out = append(out, r)
	}
	return out
}

// decodePairs reads a generated table of characters and texts.
func decodePairs(data string) map[rune]string {
	out := make(map[rune]string, len(data)/6)
	raw, last := []byte(data), rune(0)
	for len(raw) > 0 {
		gap, n := binary.Uvarint(raw)
		size, m := binary.Uvarint(raw[n:])
		end := n + m + int(size)
		last += rune(gap)
		out[last] = string(raw[n+m : end])
		raw = raw[end:]
	}
	return out
}

// apply normalizes the stretches of s that hold an active character. Such a stretch begins with the inactive character
// before it, to which marks may attach, and ends before the next inactive one.
func (f *unicodeForm) apply(dst []byte, s string) ([]byte, edit) {
	done, verdict := 0, same
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := wideRune(s, i)
		if !f.active.hasWide(r) {
			i += size
			continue
		}
		start := i
		if i > done {
			start = runeBefore(s, i)
		}
		end, _ := f.active.run(s, i, -1)
		dst = append(dst, s[done:start]...)
		dst = f.transform(dst, s[start:end])
		i, done, verdict = end, end, changed
	}
	if verdict == same {
		return dst, same
	}
	return append(dst, s[done:]...), changed
}

// transform appends the normal form of s.
func (f *unicodeForm) transform(dst []byte, s string) []byte {
	var room [64]rune
	runes := room[:0]
	for _, r := range s {
		runes = f.decompose(runes, r)
	}
	f.reorder(runes)
	if f.compose {
		runes = f.recompose(runes)
	}
	for _, r := range runes {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

func (f *unicodeForm) decompose(dst []rune, r rune) []rune {
	if r >= hangulBase && r < hangulEnd {
		n := r - hangulBase
		dst = append(dst, leadBase+n/hangulPerLeading, vowelBase+n%hangulPerLeading/trails)
		if n%trails != 0 {
			dst = append(dst, trailBase+n%trails)
		}
		return dst
	}
	text, ok := f.texts[r]
	if !ok {
		return append(dst, r)
	}
	for _, c := range text {
		dst = append(dst, c)
	}
	return dst
}

// reorder sorts every run of marks by class, equal classes in the order they came.
func (f *unicodeForm) reorder(runes []rune) {
	for i := 0; i < len(runes); i++ {
		start := i
		for i < len(runes) && f.classes[runes[i]] != 0 {
			i++
		}
		if i-start > 1 {
			slices.SortStableFunc(runes[start:i], func(a, b rune) int { return int(f.classes[a]) - int(f.classes[b]) })
		}
	}
}

// recompose joins a starter with the marks after it, unless another mark of the same or a higher class blocks them.
func (f *unicodeForm) recompose(runes []rune) []rune {
	out := runes[:0]
	starter, last := -1, uint8(0) // the place of the starter in out; the class of what followed it last
	for _, r := range runes {
		class := f.classes[r]
		if starter >= 0 && (starter == len(out)-1 || last != 0 && last < class) {
			if both, ok := f.pair(out[starter], r); ok {
				out[starter] = both
				continue
			}
		}
		if class == 0 {
			starter = len(out)
		}
		last = class
		out = append(out, r)
	}
	return out
}

func (f *unicodeForm) pair(a, b rune) (rune, bool) {
	if l, v := a-leadBase, b-vowelBase; l >= 0 && l < leadCount && v >= 0 && v < vowels {
		return hangulBase + (l*vowels+v)*trails, true
	}
	if s, t := a-hangulBase, b-trailBase; s >= 0 && a < hangulEnd && s%trails == 0 && t > 0 && t < trails {
		return a + t, true
	}
	both, ok := f.pairs[[2]rune{a, b}]
	return both, ok
}
