package chattemplate

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

func textList(r *render, like Value, parts []string) (Value, error) {
	if err := r.spend(itemSteps * len(parts)); err != nil {
		return nil, err
	}
	items := make([]Value, len(parts))
	for i, part := range parts {
		items[i] = sameText(like, part)
	}
	return newList(items), nil
}

func strSplit(r *render, self Value, a args) (Value, error) {
	s, sep, limit, err := splitArgs(r, self, a)
	if err != nil {
		return nil, err
	}
	if sep == "" {
		return textList(r, self, splitSpace(s, limit))
	}
	return textList(r, self, strings.SplitN(s, sep, limit))
}

func strRsplit(r *render, self Value, a args) (Value, error) {
	s, sep, limit, err := splitArgs(r, self, a)
	if err != nil {
		return nil, err
	}
	if sep == "" {
		return textList(r, self, rsplitSpace(s, limit))
	}
	var parts []string
	for limit < 0 || len(parts)+1 < limit {
		i := strings.LastIndex(s, sep)
		if i < 0 {
			break
		}
		parts = append(parts, s[i+len(sep):])
		s = s[:i]
	}
	parts = append(parts, s)
	reverse(parts)
	return textList(r, self, parts)
}

func reverse[T any](items []T) {
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
}

// splitArgs reads sep ("" for whitespace) and maxsplit as a number of parts, -1 for any.
func splitArgs(r *render, self Value, a args) (s, sep string, limit int, err error) {
	var p [6]Value
	if err := a.bind(&p, "split", 0, "sep", "maxsplit"); err != nil {
		return "", "", 0, err
	}
	s, _ = text(self)
	if !isNone(p[0]) {
		var ok bool
		if sep, ok = text(p[0]); !ok {
			return "", "", 0, typeError("must be str or None, not %s", p[0].typeName())
		}
		if sep == "" {
			return "", "", 0, valueError("empty separator")
		}
	}
	limit = -1
	if p[1] != nil {
		n, ok := asInt(p[1])
		if !ok {
			return "", "", 0, typeError("'%s' object cannot be interpreted as an integer", p[1].typeName())
		}
		if n >= 0 {
			limit = n + 1
		}
	}
	return s, sep, limit, r.spend(1 + len(s))
}

func splitSpace(s string, limit int) []string {
	parts := []string{}
	for {
		s = strings.TrimLeftFunc(s, isSpace)
		if s == "" {
			return parts
		}
		i := strings.IndexFunc(s, isSpace)
		if i < 0 || len(parts)+1 == limit {
			return append(parts, s)
		}
		parts = append(parts, s[:i])
		s = s[i:]
	}
}

func rsplitSpace(s string, limit int) []string {
	parts := []string{}
	for {
		s = strings.TrimRightFunc(s, isSpace)
		if s == "" {
			break
		}
		i := strings.LastIndexFunc(s, isSpace)
		if i < 0 || len(parts)+1 == limit {
			parts = append(parts, s)
			break
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		parts = append(parts, s[i+n:])
		s = s[:i]
	}
	reverse(parts)
	return parts
}

// splitLines is str.splitlines.
func splitLines(s string, keepEnds bool) []string {
	lines := []string{}
	for s != "" {
		n, end := lineEnd(s)
		if keepEnds {
			n = end
		}
		lines = append(lines, s[:n])
		s = s[end:]
	}
	return lines
}

// lineEnd is where the first line of s ends, and where the next begins.
func lineEnd(s string) (end, next int) {
	i := strings.IndexFunc(s, isLineEnd)
	if i < 0 {
		return len(s), len(s)
	}
	if strings.HasPrefix(s[i:], "\r\n") {
		return i, i + 2
	}
	_, n := utf8.DecodeRuneInString(s[i:])
	return i, i + n
}

func isLineEnd(r rune) bool {
	return r >= '\n' && r <= '\r' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029
}

func strSplitlines(r *render, self Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "splitlines", 0, "keepends"); err != nil {
		return nil, err
	}
	keepEnds, err := flag(p[0])
	if err != nil {
		return nil, err
	}
	s, _ := text(self)
	if err := r.spend(1 + len(s)); err != nil {
		return nil, err
	}
	return textList(r, self, splitLines(s, keepEnds))
}

func strReplace(r *render, self Value, a args) (Value, error) {
	if err := a.positional("replace", 2, 3); err != nil {
		return nil, err
	}
	n := -1
	if a.at(2) != nil {
		var ok bool
		if n, ok = asInt(a.at(2)); !ok {
			return nil, typeError("'%s' object cannot be interpreted as an integer", a.at(2).typeName())
		}
	}
	if _, markup := self.(Markup); markup {
		escaped, err := escape(r, a.pos[1])
		if err != nil {
			return nil, err
		}
		a.pos = []Value{a.pos[0], escaped}
	}
	for i, arg := range a.pos[:2] {
		if _, ok := text(arg); !ok {
			return nil, typeError("replace() argument %s must be str, not %s", strconv.Itoa(i+1), arg.typeName())
		}
	}
	old, _ := text(a.pos[0])
	new, _ := text(a.pos[1])
	s, _ := text(self)
	out, err := replaceText(r, s, old, new, n)
	return sameText(self, out), err
}

// replaceText is s.replace(old, new, n), refused before it outgrows the limit.
func replaceText(r *render, s, old, new string, n int) (string, error) {
	count := strings.Count(s, old)
	if n >= 0 {
		count = min(count, n)
	}
	if count > 0 && len(new) > len(old) && len(new)-len(old) > r.limits.Output/count {
		return "", limitError("output size")
	}
	if err := r.spend(count / 4); err != nil {
		return "", err
	}
	out := strings.Replace(s, old, new, n)
	return out, r.spendText(len(s) + len(out))
}

func strJoin(r *render, self Value, a args) (Value, error) {
	if err := a.positional("join", 1, 1); err != nil {
		return nil, err
	}
	c, err := iterate(a.pos[0])
	if err != nil {
		return nil, typeError("can only join an iterable")
	}
	_, markup := self.(Markup)
	sep, _ := text(self)
	var b []byte
	for i := 0; ; i++ {
		item, ok, err := c.advance()
		if err != nil {
			return nil, err
		}
		if !ok {
			return sameText(self, string(b)), nil
		}
		if markup {
			if item, err = escape(r, item); err != nil {
				return nil, err
			}
		}
		s, isText := text(item)
		if !isText {
			return nil, typeError("sequence item %s: expected str instance, %s found", strconv.Itoa(i), item.typeName())
		}
		if i > 0 {
			b = append(b, sep...)
		}
		b = append(b, s...)
		if err := r.spend(1 + (len(s)+len(sep))/scanStep); err != nil {
			return nil, err
		}
		if len(b) > r.limits.Output {
			return nil, limitError("output size")
		}
	}
}

func padMethod(name string, left func(pad, width int) int) methodFunc {
	return func(r *render, self Value, a args) (Value, error) {
		if err := a.positional(name, 1, 2); err != nil {
			return nil, err
		}
		width, ok := asInt(a.pos[0])
		if !ok {
			return nil, typeError("'%s' object cannot be interpreted as an integer", a.pos[0].typeName())
		}
		fill := " "
		if a.at(1) != nil {
			if fill, ok = text(a.at(1)); !ok {
				return nil, typeError("The fill character must be a unicode character, not %s", a.at(1).typeName())
			}
			if runeLen(fill) != 1 {
				return nil, typeError("The fill character must be exactly one character long")
			}
		}
		s, _ := text(self)
		if err := r.spendText(len(s)); err != nil {
			return nil, err
		}
		pad := width - runeLen(s)
		if pad <= 0 {
			return self, nil
		}
		if pad > r.limits.Output/4 {
			return nil, limitError("output size")
		}
		before := left(pad, width)
		out := strings.Repeat(fill, before) + s + strings.Repeat(fill, pad-before)
		return sameText(self, out), r.spendText(len(out))
	}
}

func strZfill(r *render, self Value, a args) (Value, error) {
	if err := a.positional("zfill", 1, 1); err != nil {
		return nil, err
	}
	width, ok := asInt(a.pos[0])
	if !ok {
		return nil, typeError("'%s' object cannot be interpreted as an integer", a.pos[0].typeName())
	}
	s, _ := text(self)
	if err := r.spendText(len(s)); err != nil {
		return nil, err
	}
	pad := width - runeLen(s)
	if pad <= 0 {
		return self, nil
	}
	if pad > r.limits.Output {
		return nil, limitError("output size")
	}
	sign := ""
	if s != "" && (s[0] == '+' || s[0] == '-') {
		sign, s = s[:1], s[1:]
	}
	return sameText(self, sign+strings.Repeat("0", pad)+s), r.spendText(width)
}

func strExpandtabs(r *render, self Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "expandtabs", 0, "tabsize"); err != nil {
		return nil, err
	}
	size := 8
	if p[0] != nil {
		var ok bool
		if size, ok = asInt(p[0]); !ok {
			return nil, typeError("'%s' object cannot be interpreted as an integer", p[0].typeName())
		}
	}
	s, _ := text(self)
	if err := r.spendWork(len(s)); err != nil {
		return nil, err
	}
	if n := strings.Count(s, "\t"); n > 0 && size > r.limits.Output/n {
		return nil, limitError("output size")
	}
	column := 0
	out := mapRunes(s, func(_ int, c rune) string {
		switch c {
		case '\t':
			if size <= 0 {
				return ""
			}
			pad := size - column%size
			column += pad
			return strings.Repeat(" ", pad)
		case '\n', '\r':
			column = 0
			return string(c)
		}
		column++
		return string(c)
	})
	return sameText(self, out), r.spendText(len(out))
}
