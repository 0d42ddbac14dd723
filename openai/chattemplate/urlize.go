package chattemplate

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// What urlize takes for an address, a mail address and a scheme. Python's \w and \d know all of Unicode.
var (
	urlPattern = regexp.MustCompile(strings.NewReplacer(`\w`, `\p{L}\p{N}_`, `\d`, `\p{Nd}`, `\S`, `[^\s\x1c-\x1f\x0b\x{85}\p{Z}]`).Replace(
		`^(?i:(https?://|www\.)(([\w%-]+\.)+)?([a-z]{2,63}|xn--[\w%]{2,59})|([\w%-]{2,63}\.)+(com|net|int|edu|gov|org|info|mil)|` +
			`(https?://)((([\d]{1,3})(\.[\d]{1,3}){3})|(\[([\da-f]{0,4}:){2}([\da-f]{0,4}:?){1,6}\])))(?::[\d]{1,5})?(?:[/?#]\S*)?$`))
	mailPattern   = regexp.MustCompile(`^.+@[\p{L}\p{N}_][\p{L}\p{N}_.-]*\.[\p{L}\p{N}_]+$`)
	schemePattern = regexp.MustCompile(`^[\p{L}\p{N}_.+-]{2,}:/{0,2}$`)
)

// linker turns the words of a text into links.
type linker struct {
	r       *render
	limit   int // characters of an address that are shown
	limited bool
	attrs   string
	schemes []string
}

func urlizeFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "urlize", 0, "trim_url_limit", "nofollow", "target", "rel", "extra_schemes"); err != nil {
		return nil, err
	}
	s, err := escape(r, v)
	if err != nil {
		return nil, err
	}
	l := linker{r: r}
	if p[0] != nil && !isNone(p[0]) {
		n, ok := asInt(p[0])
		if !ok {
			return nil, typeError("'>' not supported between instances of 'int' and '%s'", p[0].typeName())
		}
		l.limit, l.limited = n, true
	}
	if err := l.attributes(r, p[1], p[2], p[3]); err != nil {
		return nil, err
	}
	if err := l.addSchemes(r, p[4]); err != nil {
		return nil, err
	}
	escaped, _ := text(s)
	if err := r.spend(2 * len(escaped)); err != nil {
		return nil, err
	}
	out, err := l.text(escaped)
	if err != nil {
		return nil, err
	}
	if r.autoescape {
		return Markup(out), nil
	}
	return Str(out), nil
}

// attributes reads the attributes of the links.
func (l *linker) attributes(r *render, nofollow, target, rel Value) error {
	parts := []string{"noopener"}
	if nofollow != nil && truth(nofollow) {
		parts = append(parts, "nofollow")
	}
	if rel != nil && truth(rel) {
		s, ok := text(rel)
		if !ok {
			return raise("AttributeError", "'"+rel.typeName()+"' object has no attribute 'split'")
		}
		if err := r.spend(4 * len(s)); err != nil {
			return err
		}
		parts = append(parts, splitSpace(s, -1)...)
	}
	slices.Sort(parts)
	l.attrs = ` rel="` + escapeHTML(strings.Join(slices.Compact(parts), " ")) + `"`
	if target != nil && truth(target) {
		s, err := escape(r, target)
		if err != nil {
			return err
		}
		t, _ := text(s)
		l.attrs += ` target="` + t + `"`
	}
	return nil
}

func (l *linker) addSchemes(r *render, v Value) error {
	if v == nil || isNone(v) {
		return nil
	}
	items, err := collect(r, v)
	if err != nil {
		return err
	}
	for _, item := range items {
		s, ok := text(item)
		if !ok {
			return typeError("expected string or bytes-like object, got '%s'", item.typeName())
		}
		if err := r.spend(2 * len(s)); err != nil {
			return err
		}
		if !schemePattern.MatchString(s) {
			return argumentError("%s is not a valid URI scheme prefix.", reprString(s))
		}
		l.schemes = append(l.schemes, s)
	}
	return nil
}

// text links the words of an escaped text; what is between them stays.
func (l *linker) text(s string) (string, error) {
	var b strings.Builder
	for s != "" {
		end := strings.IndexFunc(s, func(c rune) bool { return isSpace(c) })
		if end < 0 {
			end = len(s)
		}
		b.WriteString(l.word(s[:end]))
		if err := cmp.Or(l.r.bound(b.Len()), l.r.spend(1+len(l.schemes)+len(l.attrs)/copyStep)); err != nil {
			return "", err
		}
		s = s[end:]
		end = strings.IndexFunc(s, func(c rune) bool { return !isSpace(c) })
		if end < 0 {
			end = len(s)
		}
		b.WriteString(s[:end])
		s = s[end:]
	}
	return b.String(), nil
}

// word links a word without the brackets and marks around it.
func (l *linker) word(s string) string {
	rest := cutAll(s, strings.CutPrefix, "(", "<", "&lt;")
	end := len(cutAll(rest, strings.CutSuffix, ")", ">", ".", ",", "&gt;"))
	head := s[:len(s)-len(rest)]
	for _, pair := range [][2]string{{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}} {
		opened := strings.Count(rest[:end], pair[0])
		if opened <= strings.Count(rest[:end], pair[1]) {
			continue
		}
		for range min(opened, strings.Count(rest[end:], pair[1])) { // closing marks that the word needs
			end += strings.Index(rest[end:], pair[1]) + len(pair[1])
		}
	}
	return head + l.link(rest[:end]) + rest[end:]
}

// cutAll takes marks off one end of s as long as there are any.
func cutAll(s string, cut func(s, mark string) (string, bool), marks ...string) string {
	for again := true; again; {
		again = false
		for _, mark := range marks {
			if shorter, ok := cut(s, mark); ok {
				s, again = shorter, true
			}
		}
	}
	return s
}

func (l *linker) link(s string) string {
	switch {
	case urlPattern.MatchString(s):
		to := s
		if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
			to = "https://" + s
		}
		return `<a href="` + to + `"` + l.attrs + ">" + l.shown(s) + "</a>"
	case strings.HasPrefix(s, "mailto:") && isMail(s[len("mailto:"):]):
		return `<a href="` + s + `">` + s[len("mailto:"):] + "</a>"
	case strings.Contains(s, "@") && !strings.HasPrefix(s, "www.") && !strings.HasPrefix(s, "@") && !strings.Contains(s, ":") && isMail(s):
		return `<a href="mailto:` + s + `">` + s + "</a>"
	}
	for _, scheme := range l.schemes {
		if s != scheme && strings.HasPrefix(s, scheme) {
			s = `<a href="` + s + `"` + l.attrs + ">" + s + "</a>"
		}
	}
	return s
}

func isMail(s string) bool {
	return mailPattern.MatchString(s) && strings.IndexFunc(s, unicode.IsSpace) < 0
}

// shown is an address as far as it is shown.
func (l *linker) shown(s string) string {
	n := runeLen(s)
	if !l.limited || n <= l.limit {
		return s
	}
	end := l.limit
	if end < 0 {
		end = max(n+end, 0)
	}
	return string([]rune(s)[:end]) + "..."
}
