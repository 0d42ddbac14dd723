package chattemplate

import (
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	operators2 = "// ** == != >= <="
	operators1 = "+-/*%~[](){}<>=.:|,;"
)

// tag reads the inside of a tag and its end.
func (l *lexer) tag(end tokenKind) error {
	mark := "%}"
	if end == tokenVariableEnd {
		mark = "}}"
	}
	l.brackets = l.brackets[:0]
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		if len(l.brackets) == 0 {
			if n := tagEnd(rest, mark, end == tokenBlockEnd); n > 0 {
				l.add(end, "")
				l.take(n)
				return nil
			}
		}
		if err := l.inTag(rest); err != nil {
			return err
		}
	}
	return nil
}

func (l *lexer) inTag(rest string) error {
	if n := len(rest) - len(strings.TrimLeftFunc(rest, isSpace)); n > 0 {
		l.take(n)
		return nil
	}
	c := rest[0]
	switch {
	case c >= '0' && c <= '9':
		return l.number(rest)
	case c == '\'' || c == '"':
		return l.str(rest)
	}
	if n := nameLength(rest); n > 0 {
		if !isIdentifier(rest[:n]) {
			return syntaxError(l.line, "Invalid character in identifier")
		}
		l.add(tokenName, rest[:n])
		l.take(n)
		return nil
	}
	return l.operator(rest)
}

func (l *lexer) operator(rest string) error {
	n := 0
	switch {
	case len(rest) > 1 && rest[1] != ' ' && rest[0] != ' ' && strings.Contains(operators2, rest[:2]):
		n = 2
	case strings.IndexByte(operators1, rest[0]) >= 0:
		n = 1
	default:
		r, _ := utf8.DecodeRuneInString(rest)
		return syntaxError(l.line, "unexpected char %s at %s", reprString(string(r)), strconv.Itoa(utf8.RuneCountInString(l.src[:l.pos])))
	}
	op := rest[:n]
	switch op {
	case "(", "[", "{":
		l.brackets = append(l.brackets, map[string]byte{"(": ')', "[": ']', "{": '}'}[op])
	case ")", "]", "}":
		if len(l.brackets) == 0 {
			return syntaxError(l.line, "unexpected '%s'", op)
		}
		want := l.brackets[len(l.brackets)-1]
		l.brackets = l.brackets[:len(l.brackets)-1]
		if want != op[0] {
			return syntaxError(l.line, "unexpected '%s', expected '%s'", op, string(want))
		}
	}
	l.add(tokenOperator, op)
	l.take(n)
	return nil
}

func nameLength(s string) int {
	for i, r := range s {
		if r != '_' && (r < 0x80 && !isASCIIAlnum(byte(r)) || r >= 0x80 && !isIDPart(r)) {
			return i
		}
	}
	return len(s)
}

func isASCIIAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isIDPart(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Other_ID_Continue)
}

func isIdentifier(s string) bool {
	for i, r := range s {
		if i == 0 && r != '_' && !unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start) {
			return false
		}
		if r != '_' && !unicode.In(r, unicode.L, unicode.Nl, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Pc, unicode.Other_ID_Start, unicode.Other_ID_Continue) {
			return false
		}
	}
	return s != ""
}

// number reads an integer or a float, "_" allowed between digits.
func (l *lexer) number(rest string) error {
	if n := floatLength(rest); n > 0 && (l.pos == 0 || l.src[l.pos-1] != '.') {
		f, _ := strconv.ParseFloat(strings.ReplaceAll(rest[:n], "_", ""), 64) // out of range is inf, as in Python
		l.tokens = append(l.tokens, token{kind: tokenNumber, number: Float(f), line: l.line})
		l.take(n)
		return nil
	}
	n := integerLength(rest)
	text := strings.ReplaceAll(rest[:n], "_", "")
	if strings.Trim(text, "0") == "" {
		text = "0"
	}
	i, ok := new(big.Int).SetString(text, 0)
	if !ok || len(text) > maxDigits {
		return syntaxError(l.line, "invalid integer literal")
	}
	l.tokens = append(l.tokens, token{kind: tokenNumber, number: fromBig(i), line: l.line})
	l.take(n)
	return nil
}

// digitsLength counts digits with single underscores between them.
func digitsLength(s string, isDigit func(byte) bool) int {
	n := 0
	for n < len(s) {
		switch {
		case isDigit(s[n]):
			n++
		case s[n] == '_' && n > 0 && n+1 < len(s) && isDigit(s[n+1]):
			n += 2
		default:
			return n
		}
	}
	return n
}

func isDecimalDigit(c byte) bool { return c >= '0' && c <= '9' }

func floatLength(s string) int {
	n := digitsLength(s, isDecimalDigit)
	isFloat := false
	if n < len(s) && s[n] == '.' {
		if d := digitsLength(s[n+1:], isDecimalDigit); d > 0 {
			n += 1 + d
			isFloat = true
		}
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		e := n + 1
		if e < len(s) && (s[e] == '+' || s[e] == '-') {
			e++
		}
		if d := digitsLength(s[e:], isDecimalDigit); d > 0 {
			return e + d
		}
	}
	if isFloat {
		return n
	}
	return 0
}

func integerLength(s string) int {
	if len(s) > 2 && s[0] == '0' {
		isDigit := map[byte]func(byte) bool{
			'b': func(c byte) bool { return c == '0' || c == '1' },
			'o': func(c byte) bool { return c >= '0' && c <= '7' },
			'x': func(c byte) bool { return isDecimalDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' },
		}[s[1]|0x20]
		if isDigit != nil {
			from := 2
			if s[2] == '_' {
				from = 3
			}
			if n := digitsLength(s[from:], isDigit); n > 0 {
				return from + n
			}
		}
	}
	if s[0] == '0' {
		return digitsLength(s, func(c byte) bool { return c == '0' })
	}
	return digitsLength(s, isDecimalDigit)
}

// str reads a quoted string; a backslash keeps any character after it from ending the string.
func (l *lexer) str(rest string) error {
	for i := 1; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case rest[0]:
			value, err := unescape(rest[1:i])
			if err != nil {
				return syntaxError(l.line, "%s", err.Error())
			}
			l.add(tokenString, value)
			l.take(i + 1)
			return nil
		}
	}
	return syntaxError(l.line, "unexpected char %s at %s", reprString(rest[:1]), strconv.Itoa(utf8.RuneCountInString(l.src[:l.pos])))
}
