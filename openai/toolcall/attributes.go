package toolcall

import "strings"

// keyAttributes takes a parameter's attributes for its key and its type.
func keyAttributes(tag, keyed string) (key, attributes string, ok bool) {
	if kind, typed := attribute(tag, "type"); typed {
		attributes = `type="` + kind + `"`
	}
	key, ok = attribute(tag, keyed)
	return key, attributes, ok
}

// attribute reads one of a tag's attributes, which may stand in any order.
func attribute(tag, name string) (value string, ok bool) {
	for {
		key, rest, _ := strings.Cut(tag, "=")
		rest, quoted := strings.CutPrefix(strings.TrimLeft(rest, " \n\t\r"), `"`)
		value, tag, ok = strings.Cut(rest, `"`)
		switch {
		case !quoted || !ok:
			return "", false
		case strings.TrimSpace(key) == name:
			return unescaper.Replace(value), true
		}
	}
}

// In an attribute's value these characters are escaped.
var (
	escaper   = strings.NewReplacer("&", "&amp;", `"`, "&quot;")
	unescaper = strings.NewReplacer("&amp;", "&", "&quot;", `"`)
)
