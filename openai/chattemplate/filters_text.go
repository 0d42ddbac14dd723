package chattemplate

import (
	"cmp"
	"html"
	"strings"
)

const htmlSpecial = `&<>'"`

func escapeHTML(s string) string {
	if !strings.ContainsAny(s, htmlSpecial) {
		return s
	}
	return strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", `"`, "&#34;").Replace(s)
}

// escapeValue is the text of v, escaped unless v is Markup.
func escapeValue(v Value, s string) string {
	if _, ok := v.(Markup); ok {
		return s
	}
	return escapeHTML(s)
}

// escape is markupsafe.escape.
func escape(r *render, v Value) (Value, error) {
	if _, ok := v.(Markup); ok {
		return v, nil
	}
	s, err := str(r, v)
	if err != nil {
		return nil, err
	}
	out := escapeHTML(s)
	return Markup(out), r.spendText(len(out))
}

func unescapeHTML(s string) string { return html.UnescapeString(s) }

// stripTags removes tags and comments, squeezes white space and resolves entities.
func stripTags(s string) string {
	var b strings.Builder
	for {
		start := strings.IndexByte(s, '<')
		if start < 0 {
			break
		}
		end := strings.IndexByte(s[start:], '>') + 1
		if strings.HasPrefix(s[start:], "<!--") {
			end = strings.Index(s[start+4:], "-->") + 7
			if end == 6 {
				break
			}
		}
		if end == 0 {
			break
		}
		b.WriteString(s[:start])
		s = s[start+end:]
	}
	b.WriteString(s)
	return unescapeHTML(strings.Join(splitSpace(b.String(), -1), " "))
}

func escapeFilter(r *render, v Value, a args) (Value, error) {
	if err := noArgs("escape", a); err != nil {
		return nil, err
	}
	return escape(r, v)
}

func forceescapeFilter(r *render, v Value, a args) (Value, error) {
	s, err := str(r, v)
	if err != nil {
		return nil, err
	}
	out := escapeHTML(s)
	return Markup(out), cmp.Or(noArgs("forceescape", a), r.spendText(len(out)))
}

func safeFilter(r *render, v Value, a args) (Value, error) {
	s, err := str(r, v)
	if err != nil {
		return nil, err
	}
	return Markup(s), noArgs("safe", a)
}

func stringFilter(r *render, v Value, a args) (Value, error) {
	if _, ok := text(v); ok {
		return v, noArgs("string", a)
	}
	s, err := str(r, v)
	if err != nil {
		return nil, err
	}
	return Str(s), noArgs("string", a)
}

func striptagsFilter(r *render, v Value, a args) (Value, error) {
	s, err := str(r, v)
	if err != nil {
		return nil, err
	}
	if err := r.spend(1 + 2*len(s)); err != nil {
		return nil, err
	}
	return Str(stripTags(s)), noArgs("striptags", a)
}

// soft is soft_str(v), kept apart from its kind.
func soft(r *render, v Value) (string, error) {
	s, err := str(r, v)
	if err != nil {
		return "", err
	}
	return s, r.spendText(len(s))
}

func trimFilter(r *render, v Value, a args) (Value, error) {
	if len(a.pos)+len(a.kw) == 0 {
		if s, ok := v.(Str); ok {
			return Str(strings.TrimFunc(string(s), isSpace)), r.spendText(len(s))
		}
	}
	var p [6]Value
	if err := a.bind(&p, "trim", 0, "chars"); err != nil {
		return nil, err
	}
	s, err := soft(r, v)
	if err != nil {
		return nil, err
	}
	if p[0] == nil {
		p[0] = None{}
	}
	return strMethods["strip"](r, sameText(v, s), args{pos: p[:1]})
}

func centerFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "center", 0, "width"); err != nil {
		return nil, err
	}
	s, err := soft(r, v)
	if err != nil {
		return nil, err
	}
	if p[0] == nil {
		p[0] = Int(80)
	}
	return strMethods["center"](r, sameText(v, s), args{pos: p[:1]})
}

func replaceFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "replace", 2, "old", "new", "count"); err != nil {
		return nil, err
	}
	count := -1
	if !isNone(p[2]) {
		var ok bool
		if count, ok = asInt(p[2]); !ok {
			return nil, typeError("'%s' object cannot be interpreted as an integer", p[2].typeName())
		}
	}
	s, err := soft(r, v)
	if err != nil {
		return nil, err
	}
	old, err := str(r, p[0])
	if err != nil {
		return nil, err
	}
	new, err := str(r, p[1])
	if err != nil {
		return nil, err
	}
	markup := false
	if r.autoescape {
		_, vMarkup := v.(Markup)
		_, oldMarkup := p[0].(Markup)
		_, newMarkup := p[1].(Markup)
		if oldMarkup || newMarkup && !vMarkup {
			s = escapeValue(v, s)
		}
		if markup = vMarkup || oldMarkup || newMarkup; markup {
			new = escapeValue(p[1], new)
		}
	}
	out, err := replaceText(r, s, old, new, count)
	if markup {
		return Markup(out), err
	}
	return Str(out), err
}

func indentFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "indent", 0, "width", "first", "blank"); err != nil {
		return nil, err
	}
	indent := "    "
	if p[0] != nil {
		n, isInt := asInt(p[0])
		s, isStr := text(p[0])
		if !isInt && !isStr {
			return nil, typeError("can't multiply sequence by non-int of type '%s'", p[0].typeName())
		}
		if n > r.limits.Output {
			return nil, limitError("output size")
		}
		if indent = s; isInt {
			indent = strings.Repeat(" ", max(n, 0))
		}
	}
	s, ok := text(v)
	if !ok {
		if u, isUndef := v.(*Undefined); isUndef {
			return nil, u.fail()
		}
		return nil, typeError("unsupported operand type(s) for +=: '%s' and 'str'", v.typeName())
	}
	if _, markup := v.(Markup); markup {
		indent = escapeValue(Markup(""), indent)
	}
	if err := r.spendWork(len(s)); err != nil {
		return nil, err
	}
	var b strings.Builder
	if isTrue(p[1]) {
		b.WriteString(indent)
	}
	for i, rest := 0, s+"\n"; rest != ""; i++ {
		n, end := lineEnd(rest)
		if i > 0 {
			b.WriteByte('\n')
			if n > 0 || isTrue(p[2]) {
				b.WriteString(indent)
			}
		}
		b.WriteString(rest[:n])
		rest = rest[end:]
		if err := cmp.Or(r.bound(b.Len()), r.spend(len(indent)/copyStep)); err != nil {
			return nil, err
		}
	}
	return sameText(v, b.String()), r.spendText(b.Len())
}

func wordcountFilter(r *render, v Value, a args) (Value, error) {
	s, err := soft(r, v)
	if err != nil {
		return nil, err
	}
	if err := r.spend(len(s)); err != nil {
		return nil, err
	}
	n, inWord := 0, false
	for _, c := range s {
		if isWord(c) != inWord {
			if inWord = !inWord; inWord {
				n++
			}
		}
	}
	return Int(n), noArgs("wordcount", a)
}

// isWord is \w of Python's re.
func isWord(c rune) bool { return c == '_' || isAlnum(c) }

func truncateFilter(r *render, v Value, a args) (Value, error) {
	p := [6]Value{}
	if err := a.bind(&p, "truncate", 0, "length", "killwords", "end", "leeway"); err != nil {
		return nil, err
	}
	for i, absent := range []Value{Int(255), Bool(false), Str("..."), Int(5)} {
		if p[i] == nil || i == 3 && isNone(p[i]) {
			p[i] = absent
		}
	}
	endLen, err := length(p[2])
	if err != nil {
		return nil, err
	}
	limit, isInt := asInt(p[0])
	leeway, isIntToo := asInt(p[3])
	if !isInt || !isIntToo {
		return nil, typeError("truncate needs an int length and an int leeway")
	}
	if limit < endLen {
		return nil, raise("AssertionError", "expected length >= "+reprInt(endLen)+", got "+reprInt(limit))
	}
	if leeway < 0 {
		return nil, raise("AssertionError", "expected leeway >= 0, got "+reprInt(leeway))
	}
	if s, ok := text(v); ok {
		if err := r.spendText(len(s)); err != nil {
			return nil, err
		}
	}
	n, err := length(v)
	if err != nil || n <= limit+leeway {
		return v, err
	}
	cut, err := slice(r, v, None{}, Int(limit-endLen), None{})
	if err != nil {
		return nil, err
	}
	if !truth(p[1]) {
		s, isText := text(cut)
		if !isText {
			return nil, raise("AttributeError", "'"+cut.typeName()+"' object has no attribute 'rsplit'")
		}
		if i := strings.LastIndexByte(s, ' '); i >= 0 {
			cut = sameText(v, s[:i])
		}
	}
	return add(r, cut, p[2])
}
