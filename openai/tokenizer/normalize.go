package tokenizer

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// edit tells what a normalizer did to a text.
type edit uint8

const (
	same    edit = iota
	changed      // the result is in the buffer
	cropped      // changed, and the text lost its first character
)

// normalizer rewrites a piece of text before it is split into words: the result is appended to dst, unless the text
// stays the same.
type normalizer interface {
	apply(dst []byte, s string) ([]byte, edit)
}

// boundGrowth refuses normalizers that one after the other make more and more of the same text.
func boundGrowth(list []normalizer) error {
	text := " !'.0123456789ABCabcxyz\n"
	for _, n := range list {
		if r, ok := n.(replace); ok {
			text += r.literal
		}
	}
	limit := 64*len(text) + 1<<16
	for _, n := range list {
		if r, ok := n.(replace); ok && r.count(text)*len(r.with) > limit {
			return fmt.Errorf("normalizer Replace: %.20q and others make %d bytes of text into more than %d: not supported", r.with, len(text), limit)
		}
		if out, verdict := n.apply(nil, text); verdict != same {
			text = string(out)
		}
	}
	return nil
}

// count returns how often something is replaced in s.
func (n replace) count(s string) int {
	if n.find == nil {
		return strings.Count(s, n.literal)
	}
	return len(n.find.all(s))
}

// prepend puts a text in front.
type prepend string

func (n prepend) apply(dst []byte, s string) ([]byte, edit) {
	if s == "" {
		return dst, same
	}
	return append(append(dst, n...), s...), changed
}

// replace replaces every match; a literal is searched without a list of matches.
type replace struct {
	literal string
	find    finder // nil for a literal
	with    string
}

func (n replace) apply(dst []byte, s string) ([]byte, edit) {
	if n.find == nil {
		first := strings.Index(s, n.literal)
		if first < 0 {
			return dst, same
		}
		return appendReplaced(dst, s, n.literal, n.with), n.verdict(s, first, first+len(n.literal))
	}
	matches := n.find.all(s)
	if len(matches) == 0 {
		return dst, same
	}
	at := 0
	for _, m := range matches {
		dst = append(append(dst, s[at:m[0]]...), n.with...)
		at = m[1]
	}
	return append(dst, s[at:]...), n.verdict(s, matches[0][0], matches[0][1])
}

// verdict tells what replacing a first match of s did. By the library's account the new text stands for the last
// character of the match, so that a longer match at the start crops the text.
func (n replace) verdict(s string, start, end int) edit {
	if start == 0 && end > 0 && (n.with == "" || utf8.RuneCountInString(s[:end]) > 1) {
		return cropped
	}
	return changed
}

// strip removes white space from the ends.
type strip struct {
	left, right bool
	space       *runeSet
}

func (n strip) apply(dst []byte, s string) ([]byte, edit) {
	start, end := 0, len(s)
	if n.left {
		start, _ = n.space.run(s, 0, -1)
	}
	for n.right && end > start {
		at := runeBefore(s, end)
		if r, _ := runeAt(s, at); !n.space.has(r) {
			break
		}
		end = at
	}
	switch {
	case end-start == len(s):
		return dst, same
	case start > 0:
		return append(dst, s[start:end]...), cropped
	}
	return append(dst, s[start:end]...), changed
}

// drop removes the members of a class.
type drop struct{ set *runeSet }

func (n drop) apply(dst []byte, s string) ([]byte, edit) {
	out, verdict := dst, same
	for i := 0; i < len(s); {
		r, size := runeAt(s, i)
		switch {
		case !n.set.has(r):
			out = append(out, s[i:i+size]...)
		case i == 0:
			verdict = cropped
		default:
			verdict = max(verdict, changed)
		}
		i += size
	}
	return out, verdict
}

// mapRunes replaces characters by texts, and members of a class by a space around them or instead of them.
type mapRunes struct {
	texts map[rune]string
	space *runeSet // become a space
	pad   *runeSet // get a space on each side
}

func (n mapRunes) apply(dst []byte, s string) ([]byte, edit) {
	verdict := same
	for i := 0; i < len(s); {
		r, size := runeAt(s, i)
		text, mapped := n.texts[r]
		switch {
		case mapped:
			dst = append(dst, text...)
		case n.space != nil && n.space.has(r):
			dst = append(dst, ' ')
		case n.pad != nil && n.pad.has(r):
			dst = append(append(append(dst, ' '), s[i:i+size]...), ' ')
		default:
			dst = append(dst, s[i:i+size]...)
			i += size
			continue
		}
		verdict = changed
		i += size
	}
	return dst, verdict
}

// byteNormalizer writes every byte as its printable character.
type byteNormalizer struct{}

func (byteNormalizer) apply(dst []byte, s string) ([]byte, edit) {
	return mapBytes(dst, s), changed
}

// lowerTexts returns the library's lower-case mapping.
func lowerTexts() map[rune]string { return decodePairs(lowerTable) }

// validUTF8 returns s, or s with every maximal part of a broken character replaced by U+FFFD.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(appendLossy(nil, []byte(s)))
}

// appendLossy appends b with broken characters replaced as Rust's from_utf8_lossy does: one U+FFFD for each maximal
// prefix of a character.
func appendLossy(dst, b []byte) []byte {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, "\uFFFD"...)
			b = b[brokenPrefix(b):]
			continue
		}
		dst = append(dst, b[:size]...)
		b = b[size:]
	}
	return dst
}

// brokenPrefix returns the length of the longest prefix of b that begins a character, at least 1; b does not begin with
// a whole one.
func brokenPrefix(b []byte) int {
	need, low, high := 0, byte(0x80), byte(0xbf)
	switch c := b[0]; {
	case c >= 0xc2 && c <= 0xdf:
		need = 1
	case c >= 0xe0 && c <= 0xef:
		need = 2
		if c == 0xe0 {
			low = 0xa0
		} else if c == 0xed {
			high = 0x9f
		}
	case c >= 0xf0 && c <= 0xf4:
		need = 3
		if c == 0xf0 {
			low = 0x90
		} else if c == 0xf4 {
			high = 0x8f
		}
	}
	n := 1
	for n <= need && n < len(b) && b[n] >= low && b[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}
