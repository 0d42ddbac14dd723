package tokenizer

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"
)

// charsmap is SentencePiece's precompiled normalizer: a double-array trie of texts, each pointing at its replacement.
type charsmap struct {
	units []uint32
	texts string
	plain [utf8.RuneSelf]bool // characters without an entry, controls apart

	extend, prepend, control *runeSet // what continues a grapheme, what the next character continues, what stands alone
}

func newCharsmap(raw []byte) (*charsmap, error) {
	if len(raw) < 4 {
		return nil, fmt.Errorf("precompiled_charsmap: too short")
	}
	size := uint64(binary.LittleEndian.Uint32(raw))
	if size%4 != 0 || 4+size > uint64(len(raw)) {
		return nil, fmt.Errorf("precompiled_charsmap: a trie of %d bytes in %d", size, len(raw))
	}
	m := &charsmap{
		units: make([]uint32, size/4), texts: string(raw[4+size:]),
		extend: mustClass("extend"), prepend: mustClass("prepend"), control: mustClass("control"),
	}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(raw[4+4*i:])
	}
	for c := byte(' '); c < 0x7f; c++ {
		_, mapped := m.lookup(string(rune(c)))
		m.plain[c] = !mapped
	}
	return m, nil
}

// plainRun returns the end of the characters from i on that stay as they are: each is a grapheme, for ASCII follows.
func (m *charsmap) plainRun(s string, i int) int {
	for i < len(s) && s[i] < utf8.RuneSelf && m.plain[s[i]] && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
		i++
	}
	return i
}

// lookup returns the replacement of the shortest entry that s begins with.
func (m *charsmap) lookup(s string) (string, bool) {
	if len(m.units) == 0 {
		return "", false
	}
	at := unitOffset(m.units[0])
	for i := range len(s) {
		if s[i] == 0 {
			return "", false
		}
		at ^= uint32(s[i])
		if int(at) >= len(m.units) {
			return "", false
		}
		unit := m.units[at]
		if unit&(1<<31|0xff) != uint32(s[i]) {
			return "", false
		}
		at ^= unitOffset(unit)
		if int(at) >= len(m.units) {
			return "", false
		}
		if unit>>8&1 != 0 {
			return m.text(m.units[at] &^ (1 << 31))
		}
	}
	return "", false
}

func unitOffset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

// text returns the replacement at an offset; it ends at a zero byte.
func (m *charsmap) text(at uint32) (string, bool) {
	if int(at) > len(m.texts) {
		return "", false
	}
	text, _, _ := strings.Cut(m.texts[at:], "\x00")
	return text, true
}

// apply replaces short graphemes as a whole, where an entry begins them, and else characters: that is what the library
// does, odd as it is.
func (m *charsmap) apply(dst []byte, s string) ([]byte, edit) {
	verdict := same
	for i := 0; i < len(s); {
		if end := m.plainRun(s, i); end > i {
			dst = append(dst, s[i:end]...)
			i = end
			continue
		}
		end := m.grapheme(s, i)
		if end-i < 6 {
			if text, ok := m.lookup(s[i:end]); ok {
				verdict = max(verdict, croppedIf(i == 0 && text == ""))
				dst = append(dst, text...)
				i = end
				continue
			}
		}
		for i < end {
			_, size := runeAt(s, i)
			text, ok := m.lookup(s[i : i+size])
			if ok {
				verdict = max(verdict, croppedIf(i == 0 && text == ""))
				dst = append(dst, text...)
			} else {
				dst = append(dst, s[i:i+size]...)
			}
			i += size
		}
	}
	return dst, verdict
}

func croppedIf(lost bool) edit {
	if lost {
		return cropped
	}
	return changed
}

// grapheme returns the end of the grapheme at i, as far as graphemes of less than six bytes are concerned.
func (m *charsmap) grapheme(s string, i int) int {
	r, size := runeAt(s, i)
	end := i + size
	if r == '\r' && end < len(s) && s[end] == '\n' {
		return end + 1
	}
	for m.prepend.has(r) && end < len(s) {
		next, size := runeAt(s, end)
		if next == 0 || m.control.has(next) {
			return end
		}
		r, end = next, end+size
	}
	if r == 0 || m.control.has(r) {
		return end
	}
	end, _ = m.extend.run(s, end, -1)
	return end
}
