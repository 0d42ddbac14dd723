package tokenizer

import "unicode/utf8"

// Byte-level vocabularies write every byte as a printable character: those that are one in Latin-1 stand for themselves,
// the others follow from U+0100 on.

func selfByte(b byte) bool {
	return b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae
}

// byteRune returns the character that stands for a byte.
func byteRune(b byte) rune {
	if selfByte(b) {
		return rune(b)
	}
	n := rune(0)
	for c := range b {
		if !selfByte(c) {
			n++
		}
	}
	return 0x100 + n
}

func byteText(b byte) string { return string(byteRune(b)) }

// byteAlphabet maps characters back to bytes; -1 where a character stands for none.
type byteAlphabet [0x144]int16

func newByteAlphabet() *byteAlphabet {
	a := new(byteAlphabet)
	for i := range a {
		a[i] = -1
	}
	for b := range 256 {
		a[byteRune(byte(b))] = int16(b)
	}
	return a
}

// unmap appends the bytes that text stands for, and tells whether all of its characters stand for one.
func (a *byteAlphabet) unmap(dst, text []byte) ([]byte, bool) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if int(r) >= len(a) || a[r] < 0 {
			return dst, false
		}
		dst = append(dst, byte(a[r]))
		text = text[size:]
	}
	return dst, true
}

// mapBytes appends the characters that stand for the bytes of s.
func mapBytes(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = utf8.AppendRune(dst, byteRune(s[i]))
	}
	return dst
}
