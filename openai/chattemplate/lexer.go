package chattemplate

import (
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenEOF tokenKind = iota
	tokenData
	tokenVariableBegin
	tokenVariableEnd
	tokenBlockBegin
	tokenBlockEnd
	tokenName
	tokenString
	tokenNumber
	tokenOperator
)

// token.text is the data, name, operator or string value; number is set for a literal number.
type token struct {
	kind   tokenKind
	text   string
	number Value
	line   int
}

// describe names a token as jinja2's syntax errors do.
func (t token) describe() string {
	switch t.kind {
	case tokenEOF:
		return "end of template"
	case tokenData:
		return "template data / text"
	case tokenVariableBegin:
		return "begin of print statement"
	case tokenVariableEnd:
		return "end of print statement"
	case tokenBlockBegin:
		return "begin of statement block"
	case tokenBlockEnd:
		return "end of statement block"
	case tokenString:
		return "string"
	case tokenNumber:
		if _, ok := t.number.(Float); ok {
			return "float"
		}
		return "integer"
	}
	return t.text
}

// lexer cuts a source, whose line ends are all "\n", into tokens.
type lexer struct {
	src         string
	pos         int
	line        int
	atLineStart bool // the piece read last ended a line
	brackets    []byte
	tokens      []token
}

func syntaxError(line int, format string, args ...string) error {
	err := raise("TemplateSyntaxError", format, args...).(*Error)
	err.Line = line
	return err
}

// lex normalises line ends, drops one trailing line end, and returns the template's tokens, ended by tokenEOF.
func lex(source string) ([]token, error) {
	if len(source) > maxSource {
		return nil, limitError("template size")
	}
	if !utf8.ValidString(source) {
		return nil, syntaxError(1, "the template is not valid UTF-8")
	}
	source = strings.TrimSuffix(normalizeNewlines(source), "\n")
	l := &lexer{src: source, line: 1, atLineStart: true}
	for l.pos < len(l.src) {
		if err := l.root(); err != nil {
			return nil, err
		}
	}
	l.add(tokenEOF, "")
	return l.tokens, nil
}

func normalizeNewlines(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

func (l *lexer) add(kind tokenKind, text string) {
	l.tokens = append(l.tokens, token{kind: kind, text: text, line: l.line})
}

// take moves past n bytes and counts their lines.
func (l *lexer) take(n int) string {
	text := l.src[l.pos : l.pos+n]
	l.pos += n
	l.line += strings.Count(text, "\n")
	if n > 0 {
		l.atLineStart = text[n-1] == '\n'
	}
	return text
}

// root reads text up to the next tag, and that tag.
func (l *lexer) root() error {
	rest := l.src[l.pos:]
	at := nextTag(rest)
	if at < 0 {
		l.data(l.take(len(rest)))
		return nil
	}
	kind := rest[at+1]
	sign := byte(0)
	if at+2 < len(rest) && (rest[at+2] == '-' || rest[at+2] == '+') {
		sign = rest[at+2]
	}
	l.data(trimBefore(rest[:at], sign, kind != '{', l.atLineStart))
	l.line += strings.Count(rest[:at], "\n")
	l.pos += at
	opened := 2
	if sign != 0 {
		opened = 3
	}
	switch kind {
	case '#':
		return l.comment(opened)
	case '{':
		l.add(tokenVariableBegin, "")
		l.take(opened)
		return l.tag(tokenVariableEnd)
	}
	if n := rawBegin(rest[at:]); n > 0 {
		return l.raw(n)
	}
	l.add(tokenBlockBegin, "")
	l.take(opened)
	return l.tag(tokenBlockEnd)
}

func (l *lexer) data(text string) {
	if text != "" {
		l.add(tokenData, text)
	}
}

func nextTag(s string) int {
	for from := 0; ; {
		i := strings.IndexByte(s[from:], '{')
		if i < 0 || from+i+1 >= len(s) {
			return -1
		}
		from += i
		if c := s[from+1]; c == '{' || c == '%' || c == '#' {
			return from
		}
		from++
	}
}

// trimBefore applies "-" and lstrip_blocks to the text in front of a tag.
func trimBefore(text string, sign byte, isBlock, atLineStart bool) string {
	if sign == '-' {
		return strings.TrimRightFunc(text, isSpace)
	}
	if sign == '+' || !isBlock {
		return text
	}
	start := strings.LastIndexByte(text, '\n') + 1
	if (start > 0 || atLineStart) && strings.TrimLeftFunc(text[start:], isSpace) == "" {
		return text[:start]
	}
	return text
}

// tagEnd is the length of a tag end at the start of s, with what trim_blocks and "-" remove after it; 0 when there is none.
func tagEnd(s string, end string, isBlock bool) int {
	switch {
	case strings.HasPrefix(s, end):
		if isBlock && strings.HasPrefix(s[2:], "\n") {
			return 3
		}
		return 2
	case strings.HasPrefix(s, "-"+end):
		return len(s) - len(strings.TrimLeftFunc(s[3:], isSpace))
	case isBlock && strings.HasPrefix(s, "+"+end):
		return 3
	}
	return 0
}

func (l *lexer) comment(opened int) error {
	rest := l.src[l.pos:]
	for i := opened; i < len(rest); i++ {
		if n := tagEnd(rest[i:], "#}", true); n > 0 {
			l.take(i + n)
			return nil
		}
	}
	if l.take(len(rest)); len(rest) == opened {
		return nil // jinja2 lets a template end here
	}
	return syntaxError(l.line, "Missing end of comment tag")
}

// rawBegin is the length of a whole raw tag at the start of s, or 0.
func rawBegin(s string) int {
	i := 2
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	i += len(s[i:]) - len(strings.TrimLeftFunc(s[i:], isSpace))
	if !strings.HasPrefix(s[i:], "raw") {
		return 0
	}
	i += 3
	i += len(s[i:]) - len(strings.TrimLeftFunc(s[i:], isSpace))
	switch {
	case strings.HasPrefix(s[i:], "%}"):
		return i + 2
	case strings.HasPrefix(s[i:], "-%}"):
		return i + len(s[i:]) - len(strings.TrimLeftFunc(s[i+3:], isSpace))
	}
	return 0
}

// raw reads a raw block whose opening tag is n bytes long.
func (l *lexer) raw(n int) error {
	l.take(n)
	rest := l.src[l.pos:]
	for from := 0; ; {
		i := strings.Index(rest[from:], "{%")
		if i < 0 && rest == "" {
			return nil // jinja2 lets a template end here
		}
		if i < 0 {
			return syntaxError(l.line, "Missing end of raw directive")
		}
		from += i
		sign, n := rawEnd(rest[from:])
		if n > 0 {
			l.data(trimBefore(rest[:from], sign, true, l.atLineStart))
			l.take(from + n)
			return nil
		}
		from += 2
	}
}

func rawEnd(s string) (sign byte, n int) {
	i := 2
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		sign = s[i]
		i++
	}
	i += len(s[i:]) - len(strings.TrimLeftFunc(s[i:], isSpace))
	if !strings.HasPrefix(s[i:], "endraw") {
		return 0, 0
	}
	i += 6
	i += len(s[i:]) - len(strings.TrimLeftFunc(s[i:], isSpace))
	if n := tagEnd(s[i:], "%}", true); n > 0 {
		return sign, i + n
	}
	return 0, 0
}
