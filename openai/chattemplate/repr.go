package chattemplate

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// str is str(v).
func str(r *render, v Value) (string, error) {
	switch v := v.(type) {
	case Str:
		return string(v), nil
	case Markup:
		return string(v), nil
	case *Undefined:
		return "", nil
	}
	return repr(r, v)
}

// repr is repr(v).
func repr(r *render, v Value) (string, error) {
	switch v := v.(type) {
	case Int:
		return strconv.FormatInt(int64(v), 10), nil
	case Bool:
		if v {
			return "True", nil
		}
		return "False", nil
	case None:
		return "None", nil
	case Float:
		return reprFloat(float64(v)), nil
	}
	b, err := appendRepr(r, nil, v, 0)
	return string(b), err
}

func appendRepr(r *render, b []byte, v Value, depth int) ([]byte, error) {
	if err := r.walk(depth); err != nil {
		return nil, err
	}
	if err := r.bound(len(b)); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case Str:
		return appendReprText(r, b, "", string(v), "")
	case Markup:
		return appendReprText(r, b, "Markup(", string(v), ")")
	case Big:
		s, err := bigText(v.n)
		return append(b, s...), cmp.Or(err, r.spend(len(s)/8))
	case *List:
		return appendItems(r, b, "[", v.items, "]", depth)
	case Tuple:
		if len(v) == 1 {
			return appendItems(r, b, "(", v, ",)", depth)
		}
		return appendItems(r, b, "(", v, ")", depth)
	case *Dict:
		return appendDict(r, b, v, depth)
	case View:
		if err := r.spend(itemSteps * v.d.Len()); err != nil {
			return nil, err
		}
		return appendItems(r, append(b, v.kind...), "([", v.list(), "])", depth)
	case *Namespace:
		b, err := appendDict(r, append(b, "<Namespace "...), v.attrs, depth)
		return append(b, '>'), err
	}
	s, err := reprObject(r, v)
	return append(b, s...), err
}

func appendReprText(r *render, b []byte, open, text, end string) ([]byte, error) {
	if err := r.spendWork(len(text)); err != nil {
		return nil, err
	}
	b = append(append(append(b, open...), reprString(text)...), end...)
	return b, r.bound(len(b))
}

func reprObject(r *render, v Value) (string, error) {
	switch v := v.(type) {
	case *Undefined:
		return "Undefined", nil
	case Bytes:
		if err := r.spendWork(len(v)); err != nil {
			return "", err
		}
		s := v.repr()
		return s, r.bound(len(s))
	case *templateRef:
		return "<TemplateReference None>", nil
	case Range:
		s := "range(" + strconv.Itoa(v.start) + ", " + strconv.Itoa(v.stop)
		if v.step != 1 {
			s += ", " + strconv.Itoa(v.step)
		}
		return s + ")", nil
	case *Macro:
		if v.name == "" {
			return "<Macro anonymous>", nil
		}
		return "<Macro " + reprString(v.name) + ">", nil
	case *Loop:
		n, err := v.len()
		return "<LoopContext " + strconv.Itoa(v.index0+1) + "/" + strconv.Itoa(n) + ">", err
	case *Func:
		switch v.kind {
		case "type":
			return "<class '" + v.name + "'>", nil
		case "GenericAlias":
			return v.name, nil
		}
		return "<" + v.kind + " " + v.name + ">", nil
	case None, Bool, Int, Float:
		return repr(r, v)
	}
	return "<" + v.typeName() + " object>", nil
}

func appendItems(r *render, b []byte, open string, items []Value, end string, depth int) ([]byte, error) {
	b = append(b, open...)
	var err error
	for i, item := range items {
		if i > 0 {
			b = append(b, ", "...)
		}
		if b, err = appendRepr(r, b, item, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, end...), nil
}

func appendDict(r *render, b []byte, d *Dict, depth int) ([]byte, error) {
	b = append(b, '{')
	var err error
	for i, key := range d.keys {
		if i > 0 {
			b = append(b, ", "...)
		}
		if b, err = appendRepr(r, b, key, depth+1); err != nil {
			return nil, err
		}
		b = append(b, ": "...)
		if b, err = appendRepr(r, b, d.values[i], depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

// list returns a view's items.
func (v View) list() []Value {
	switch v.kind {
	case "dict_keys":
		return v.d.keys
	case "dict_values":
		return v.d.values
	}
	items := make([]Value, v.d.Len())
	for i := range items {
		items[i] = v.d.item(i)
	}
	return items
}

// reprString is repr of a str: single quotes unless only they occur inside, unprintable characters escaped.
func reprString(s string) string {
	quote := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		quote = '"'
	}
	b := make([]byte, 0, len(s)+2)
	b = append(b, quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\r':
			b = append(b, '\\', 'r')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < utf8.RuneSelf && r >= ' ' && r != 0x7f || r >= utf8.RuneSelf && unicode.IsPrint(r):
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, escapeRune(r)...)
		}
	}
	return string(append(b, quote))
}
