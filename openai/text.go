package openai

import "unicode/utf8"

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD, and every control character is
// escaped, also U+2028 and U+2029, so that no reader of lines can be misled by a model's text.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	dst = AppendEscaped(dst, s)
	return append(dst, '"')
}

// AppendEscaped appends s as it stands between the quotes of a JSON string.
func AppendEscaped[T string | []byte](dst []byte, s T) []byte {
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if plain[c] {
				i++
				continue
			}
			dst = append(dst, s[done:i]...)
			dst = appendControl(dst, c)
			i++
			done = i
			continue
		}
		r, size := decodeRune(s[i:])
		if r != utf8.RuneError && r != '\u2028' && r != '\u2029' || r == utf8.RuneError && size > 1 {
			i += size
			continue
		}
		dst = append(dst, s[done:i]...)
		if r == utf8.RuneError {
			dst = append(dst, "\uFFFD"...)
		} else {
			dst = append(dst, '\\', 'u', '2', '0', '2', hex[r&0xF])
		}
		i += size
		done = i
	}
	return append(dst, s[done:]...)
}

// decodeRune is utf8.DecodeRune for both.
func decodeRune[T string | []byte](s T) (rune, int) {
	n := min(len(s), utf8.UTFMax)
	return utf8.DecodeRuneInString(string(s[:n]))
}

// appendControl escapes a quote, a backslash or a control character.
func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
}

// plain marks the bytes below 0x80 that stand for themselves inside a JSON string; 0x7f does.
var plain = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()
