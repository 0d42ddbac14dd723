package chattemplate

import (
	"cmp"
	"math"
	"strings"
)

func formatFilter(r *render, v Value, a args) (Value, error) {
	if len(a.pos) > 0 && len(a.kw) > 0 {
		return nil, argumentError("can't handle positional and keyword arguments at the same time")
	}
	s, err := soft(r, v)
	if err != nil {
		return nil, err
	}
	var values Value = Tuple(a.pos)
	if len(a.kw) > 0 {
		d := NewDict(len(a.kw))
		for _, kw := range a.kw {
			d.Set(kw.name, kw.value)
		}
		values = d
	}
	return percent(r, s, sameText(v, s), values)
}

func filesizeFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "filesizeformat", 0, "binary"); err != nil {
		return nil, err
	}
	var size float64
	var err error
	if s, ok := text(v); ok {
		if err := r.spendWork(len(s)); err != nil {
			return nil, err
		}
		size, err = parseFloat(s)
	} else if u, ok := v.(*Undefined); ok {
		err = u.fail()
	} else {
		size, err = asFloat(v)
	}
	if err != nil {
		return nil, err
	}
	base, units := 1000.0, "kB MB GB TB PB EB ZB YB"
	if isTrue(p[0]) {
		base, units = 1024, "KiB MiB GiB TiB PiB EiB ZiB YiB"
	}
	if size == 1 {
		return Str("1 Byte"), nil
	}
	if size < base {
		if math.IsInf(size, 0) {
			return nil, raise("OverflowError", "cannot convert float infinity to integer")
		}
		return Str(bigFromFloat(size).String() + " Bytes"), nil
	}
	if math.IsNaN(size) {
		return Str("nan YB"), nil
	}
	unit := base
	name := ""
	for _, name = range strings.Fields(units) {
		unit *= base
		if size < unit {
			break
		}
	}
	return Str(formatFloat(base*size/unit, 'f', 1, false) + " " + name), nil
}

func urlencodeFilter(r *render, v Value, a args) (Value, error) {
	if err := noArgs("urlencode", a); err != nil {
		return nil, err
	}
	if _, isText := text(v); isText || !isIterable(v) {
		s, err := soft(r, v)
		if err != nil {
			return nil, err
		}
		if err := r.spendWork(len(s)); err != nil {
			return nil, err
		}
		out := quote(s, "/")
		return Str(out), r.bound(len(out))
	}
	items := v
	if d, ok := v.(*Dict); ok {
		items = View{d, "dict_items"}
	}
	pairs, err := collect(r, items)
	if err != nil {
		return nil, err
	}
	var b []byte
	for i, pair := range pairs {
		kv, err := unpack(r, pair, 2)
		if err != nil {
			return nil, err
		}
		k, err := soft(r, kv[0])
		if err != nil {
			return nil, err
		}
		val, err := soft(r, kv[1])
		if err != nil {
			return nil, err
		}
		if err := cmp.Or(r.spendWork(len(k)+len(val)), r.bound(len(b))); err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, '&')
		}
		b = append(b, strings.ReplaceAll(quote(k, "")+"="+quote(val, ""), "%20", "+")...)
	}
	return Str(b), r.bound(len(b))
}

// quote is urllib.parse.quote.
func quote(s, safe string) string {
	b := make([]byte, 0, len(s))
	safe += "_.-~"
	for i := 0; i < len(s); i++ {
		c := s[i]
		if isASCIIAlnum(c) || strings.IndexByte(safe, c) >= 0 {
			b = append(b, c)
			continue
		}
		b = append(b, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
	}
	return string(b)
}

func xmlattrFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "xmlattr", 0, "autospace"); err != nil {
		return nil, err
	}
	d, ok := v.(*Dict)
	if !ok {
		if u, isU := v.(*Undefined); isU {
			return nil, u.fail()
		}
		return nil, raise("AttributeError", "'"+v.typeName()+"' object has no attribute 'items'")
	}
	var parts []string
	size := 0
	for i, key := range d.keys {
		value := d.values[i]
		if isNone(value) || isUndefined(value) {
			continue
		}
		name, isText := text(key)
		if !isText {
			return nil, typeError("expected string or bytes-like object, got '%s'", key.typeName())
		}
		if err := r.spendWork(len(name)); err != nil {
			return nil, err
		}
		if strings.ContainsAny(name, " \t\n\r\f\v/>=") {
			return nil, valueError("Invalid character in attribute name: %s", reprString(name))
		}
		s, err := escape(r, value)
		if err != nil {
			return nil, err
		}
		part := escapeValue(key, name) + `="` + string(s.(Markup)) + `"`
		size += len(part) + 1
		if err := r.bound(size); err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	out := strings.Join(parts, " ")
	if out != "" && (p[0] == nil || truth(p[0])) {
		out = " " + out
	}
	if r.autoescape {
		return Markup(out), nil
	}
	return Str(out), nil
}
