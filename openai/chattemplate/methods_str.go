package chattemplate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// methodFunc is a method of a builtin type. A nil one is known and hidden by the sandbox.
type methodFunc func(r *render, self Value, a args) (Value, error)

// strMethod finds a method of str or Markup. format and format_map look attributes up themselves, and so cannot be in the
// table that such look-ups use.
func strMethod(name string) (methodFunc, bool) {
	switch name {
	case "format":
		return strFormat, true
	case "format_map":
		return strFormatMap, true
	}
	m, ok := strMethods[name]
	return m, ok
}

var strMethods = map[string]methodFunc{
	"capitalize": mapText(capitalize), "casefold": mapText(casefold), "lower": mapText(lower), "upper": mapText(upper),
	"swapcase": mapText(swapcase), "title": mapText(title),
	"isalnum": everyRune(isAlnum), "isalpha": everyRune(unicode.IsLetter), "isdecimal": everyRune(isDecimal),
	"isdigit": everyRune(isDigit), "isnumeric": everyRune(isNumeric), "isspace": everyRune(isSpace),
	"islower": testText(func(s string) bool { return hasCase(s, isLower) }),
	"isupper": testText(func(s string) bool { return hasCase(s, isUpper) }),
	"istitle": testText(isTitle), "isidentifier": testText(isIdentifier),
	"isascii":     testText(func(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 }),
	"isprintable": testText(func(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 }),
	"strip":       stripMethod(true, true), "lstrip": stripMethod(true, false), "rstrip": stripMethod(false, true),
	"split": strSplit, "rsplit": strRsplit, "splitlines": strSplitlines,
	"partition": partitionMethod(strings.Index), "rpartition": rpartition,
	"startswith": affixMethod("startswith", strings.HasPrefix), "endswith": affixMethod("endswith", strings.HasSuffix),
	"removeprefix": cutMethod("removeprefix", strings.TrimPrefix), "removesuffix": cutMethod("removesuffix", strings.TrimSuffix),
	"find": findMethod("find", strings.Index, false), "index": findMethod("index", strings.Index, true),
	"rfind": findMethod("rfind", strings.LastIndex, false), "rindex": findMethod("rindex", strings.LastIndex, true),
	"count": strCount, "replace": strReplace, "join": strJoin, "zfill": strZfill, "expandtabs": strExpandtabs,
	"center": padMethod("center", func(pad, width int) int { return pad/2 + pad&width&1 }),
	"ljust":  padMethod("ljust", func(int, int) int { return 0 }),
	"rjust":  padMethod("rjust", func(pad, _ int) int { return pad }),
	"encode": strEncode, "translate": strTranslate, "maketrans": strMaketrans,
	"unescape":  markupOnly(func(r *render, s string) (Value, error) { return Str(unescapeHTML(s)), nil }),
	"striptags": markupOnly(func(r *render, s string) (Value, error) { return Str(stripTags(s)), nil }),
}

// mapText makes a method without arguments of a function on text.
func mapText(f func(string) string) methodFunc {
	return func(r *render, self Value, a args) (Value, error) {
		if err := a.positional("str method", 0, 0); err != nil {
			return nil, err
		}
		s, _ := text(self)
		if err := r.spendWork(len(s)); err != nil {
			return nil, err
		}
		return sameText(self, f(s)), nil
	}
}

func testText(f func(string) bool) methodFunc {
	return func(r *render, self Value, a args) (Value, error) {
		if err := a.positional("str method", 0, 0); err != nil {
			return nil, err
		}
		s, _ := text(self)
		if err := r.spendWork(len(s)); err != nil {
			return nil, err
		}
		return Bool(f(s)), nil
	}
}

func everyRune(is func(rune) bool) methodFunc {
	return testText(func(s string) bool {
		return s != "" && strings.IndexFunc(s, func(r rune) bool { return !is(r) }) < 0
	})
}

func markupOnly(f func(r *render, s string) (Value, error)) methodFunc {
	return func(r *render, self Value, a args) (Value, error) {
		m, ok := self.(Markup)
		if !ok {
			return nil, (&Undefined{obj: self, name: Str("Markup's method")}).fail()
		}
		if err := a.positional("Markup method", 0, 0); err != nil {
			return nil, err
		}
		if err := r.spend(1 + 2*len(m)); err != nil {
			return nil, err
		}
		return f(r, string(m))
	}
}

// hasCase tells whether s has cased characters, all of them of the one case.
func hasCase(s string, is func(rune) bool) bool {
	found := false
	for _, r := range s {
		if is(r) {
			found = true
		} else if isCased(r) {
			return false
		}
	}
	return found
}

func isTitle(s string) bool {
	found, inWord := false, false
	for _, r := range s {
		switch {
		case isUpper(r) || unicode.IsTitle(r):
			if inWord {
				return false
			}
			found, inWord = true, true
		case isLower(r):
			if !inWord {
				return false
			}
		default:
			inWord = false
		}
	}
	return found
}

// fewChars is how long a text is searched for every character of another.
const fewChars = 16

func stripMethod(left, right bool) methodFunc {
	return func(r *render, self Value, a args) (Value, error) {
		if err := a.positional("strip", 0, 1); err != nil {
			return nil, err
		}
		s, _ := text(self)
		if err := r.spendText(len(s)); err != nil {
			return nil, err
		}
		chars := a.at(0)
		if isNone(chars) {
			return sameText(self, strip(s, isSpace, left, right)), nil
		}
		set, ok := text(chars)
		if !ok {
			return nil, typeError("strip arg must be None or str, not %s", chars.typeName())
		}
		if len(set) <= fewChars {
			return sameText(self, strip(s, func(c rune) bool { return strings.ContainsRune(set, c) }, left, right)), nil
		}
		if err := r.spendWork(len(s) + len(set)); err != nil {
			return nil, err
		}
		known := map[rune]bool{}
		for _, c := range set {
			known[c] = true
		}
		return sameText(self, strip(s, func(c rune) bool { return known[c] }, left, right)), nil
	}
}

func strip(s string, is func(rune) bool, left, right bool) string {
	if left {
		s = strings.TrimLeftFunc(s, is)
	}
	if right {
		s = strings.TrimRightFunc(s, is)
	}
	return s
}

func partitionMethod(find func(s, sep string) int) methodFunc {
	return func(r *render, self Value, a args) (Value, error) {
		s, sep, err := separator(r, self, a)
		if err != nil {
			return nil, err
		}
		if i := find(s, sep); i >= 0 {
			return Tuple{sameText(self, s[:i]), sameText(self, sep), sameText(self, s[i+len(sep):])}, nil
		}
		return Tuple{self, sameText(self, ""), sameText(self, "")}, nil
	}
}

func rpartition(r *render, self Value, a args) (Value, error) {
	s, sep, err := separator(r, self, a)
	if err != nil {
		return nil, err
	}
	if i := strings.LastIndex(s, sep); i >= 0 {
		return Tuple{sameText(self, s[:i]), sameText(self, sep), sameText(self, s[i+len(sep):])}, nil
	}
	return Tuple{sameText(self, ""), sameText(self, ""), self}, nil
}

func separator(r *render, self Value, a args) (s, sep string, err error) {
	if err := a.positional("partition", 1, 1); err != nil {
		return "", "", err
	}
	sep, ok := text(a.pos[0])
	if !ok {
		return "", "", typeError("must be str, not %s", a.pos[0].typeName())
	}
	if sep == "" {
		return "", "", valueError("empty separator")
	}
	s, _ = text(self)
	return s, sep, r.spendText(len(s))
}

func cutMethod(name string, cut func(s, affix string) string) methodFunc {
	return func(r *render, self Value, a args) (Value, error) {
		if err := a.positional(name, 1, 1); err != nil {
			return nil, err
		}
		affix, ok := text(a.pos[0])
		if !ok {
			return nil, typeError("%s() argument must be str, not %s", name, a.pos[0].typeName())
		}
		s, _ := text(self)
		return sameText(self, cut(s, affix)), r.spendText(len(s))
	}
}

func affixMethod(name string, has func(s, affix string) bool) methodFunc {
	return func(r *render, self Value, a args) (Value, error) {
		if err := a.positional(name, 1, 3); err != nil {
			return nil, err
		}
		s, _ := text(self)
		part, _, ok, err := window(r, s, a.at(1), a.at(2))
		if err != nil {
			return nil, err
		}
		choices := []Value{a.pos[0]}
		if t, isTuple := a.pos[0].(Tuple); isTuple {
			choices = t
			if err := r.spend(len(choices)); err != nil {
				return nil, err
			}
		}
		for _, choice := range choices {
			affix, isText := text(choice)
			if !isText {
				return nil, typeError("%s first arg must be str or a tuple of str, not %s", name, choice.typeName())
			}
			if ok && has(part, affix) {
				return Bool(true), nil
			}
		}
		return Bool(false), nil
	}
}

// window is s[start:end] with the code points before it; ok is false when start lies behind the end of s.
func window(r *render, s string, start, end Value) (part string, before int, ok bool, err error) {
	if isNone(start) && isNone(end) {
		return s, 0, true, r.spend(1 + len(s)/256)
	}
	if err := r.spendText(len(s)); err != nil {
		return "", 0, false, err
	}
	n := runeLen(s)
	span, err := newSpan(n, start, end, nil)
	if err != nil {
		return "", 0, false, err
	}
	if i, isInt := asInt(start); isInt && i > n || span.stop < span.start {
		return "", 0, false, nil
	}
	from := byteOffset(s, span.start)
	return s[from : from+byteOffset(s[from:], span.stop-span.start)], span.start, true, nil
}

func findMethod(name string, find func(s, sub string) int, must bool) methodFunc {
	return func(r *render, self Value, a args) (Value, error) {
		if err := a.positional(name, 1, 3); err != nil {
			return nil, err
		}
		sub, ok := text(a.pos[0])
		if !ok {
			return nil, typeError("must be str, not %s", a.pos[0].typeName())
		}
		s, _ := text(self)
		part, before, ok, err := window(r, s, a.at(1), a.at(2))
		if err != nil {
			return nil, err
		}
		if ok {
			if i := find(part, sub); i >= 0 {
				return Int(before + runeLen(part[:i])), r.spendText(len(s))
			}
		}
		if must {
			return nil, valueError("substring not found")
		}
		return Int(-1), r.spendText(len(s))
	}
}

func strCount(r *render, self Value, a args) (Value, error) {
	if err := a.positional("count", 1, 3); err != nil {
		return nil, err
	}
	sub, ok := text(a.pos[0])
	if !ok {
		return nil, typeError("must be str, not %s", a.pos[0].typeName())
	}
	s, _ := text(self)
	part, _, ok, err := window(r, s, a.at(1), a.at(2))
	if err != nil || !ok {
		return Int(0), err
	}
	return Int(strings.Count(part, sub)), r.spendText(len(s))
}
