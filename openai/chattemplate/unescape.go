package chattemplate

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

var errSurrogate = errors.New("a lone surrogate in a string literal has no UTF-8 form")

// unescape decodes the inside of a string literal as Python's unicode-escape codec does after backslashreplace: an
// unknown escape stays as it is, and a backslash in front of a non-ASCII character leaves that character's escape.
func unescape(s string) (string, error) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		n, err := unescapeOne(&b, s[i:])
		if err != nil {
			return "", err
		}
		i += n
	}
	return b.String(), nil
}

// unescapeOne decodes the escape at the start of s and returns its length.
func unescapeOne(b *strings.Builder, s string) (int, error) {
	if len(s) < 2 {
		return 0, errors.New("\\ at end of string")
	}
	const letters, values = "abfnrtv\\'\"", "\a\b\f\n\r\t\v\\'\""
	c := s[1]
	if i := strings.IndexByte(letters, c); i >= 0 {
		b.WriteByte(values[i])
		return 2, nil
	}
	switch {
	case c == '\n':
		return 2, nil
	case c >= '0' && c <= '7':
		n := 1
		for n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		v, _ := strconv.ParseUint(s[1:n], 8, 16) // at most three octal digits
		b.WriteRune(rune(v))
		return n, nil
	case c == 'x' || c == 'u' || c == 'U':
		return unescapeHex(b, s, map[byte]int{'x': 2, 'u': 4, 'U': 8}[c])
	case c == 'N':
		return 0, errors.New("\\N{...} escapes are not supported: write the character or its \\u escape")
	case c >= utf8.RuneSelf:
		r, n := utf8.DecodeRuneInString(s[1:])
		b.WriteByte('\\')
		b.WriteString(strings.TrimPrefix(escapeRune(r), "\\"))
		return 1 + n, nil
	}
	b.WriteString(s[:2])
	return 2, nil
}

func unescapeHex(b *strings.Builder, s string, digits int) (int, error) {
	if len(s) >= 2+digits {
		v, err := strconv.ParseUint(s[2:2+digits], 16, 32)
		switch {
		case err == nil && v >= 0xd800 && v < 0xe000:
			return 0, errSurrogate
		case err == nil && v > utf8.MaxRune:
			return 0, errors.New("illegal Unicode character")
		case err == nil:
			b.WriteRune(rune(v))
			return 2 + digits, nil
		}
	}
	return 0, fmt.Errorf("truncated \\%c%s escape", s[1], strings.Repeat("X", digits))
}

// escapeRune is the escape that Python's repr and backslashreplace give a character.
func escapeRune(r rune) string {
	kind, digits := byte('U'), 8
	switch {
	case r < 0x100:
		kind, digits = 'x', 2
	case r < 0x10000:
		kind, digits = 'u', 4
	}
	b := make([]byte, 0, 10)
	b = append(b, '\\', kind)
	for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
		b = append(b, hexDigits[r>>shift&15])
	}
	return string(b)
}
