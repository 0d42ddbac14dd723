package chattemplate

import (
	"strings"
	"unicode/utf8"
)

type (
	filterFunc func(r *render, v Value, a args) (Value, error)
	testFunc   func(r *render, v Value, a args) (bool, error)
)

// library holds the filters and tests. Filters that call others by name find them through the render, as the tables
// cannot mention themselves.
type library struct {
	filters map[string]filterFunc
	tests   map[string]testFunc
}

var builtins = library{filters: filterTable(), tests: testTable()}

func filterTable() map[string]filterFunc {
	return map[string]filterFunc{
		"abs": absFilter, "attr": attrFilter, "batch": batchFilter, "capitalize": softText(capitalize), "center": centerFilter,
		"count": lengthFilter, "d": defaultFilter, "default": defaultFilter, "dictsort": dictsortFilter, "e": escapeFilter,
		"escape": escapeFilter, "filesizeformat": filesizeFilter, "first": firstFilter, "float": floatFilter,
		"forceescape": forceescapeFilter, "format": formatFilter, "groupby": groupbyFilter, "indent": indentFilter,
		"int": intFilter, "items": itemsFilter, "join": joinFilter, "last": lastFilter, "length": lengthFilter,
		"list": listFilter, "lower": softText(lower), "map": mapFilter, "max": extremeFilter("max", 1),
		"min": extremeFilter("min", -1), "pprint": pprintFilter, "random": randomFilter, "reject": selectFilter("reject", false, false),
		"rejectattr": selectFilter("rejectattr", true, false), "replace": replaceFilter, "reverse": reverseFilter,
		"round": roundFilter, "safe": safeFilter, "select": selectFilter("select", false, true),
		"selectattr": selectFilter("selectattr", true, true), "slice": sliceFilter, "sort": sortFilter, "string": stringFilter,
		"striptags": striptagsFilter, "sum": sumFilter, "title": softText(titleFilter), "tojson": toJSON, "trim": trimFilter,
		"truncate": truncateFilter, "unique": uniqueFilter, "upper": softText(upper), "urlencode": urlencodeFilter,
		"urlize": urlizeFilter, "wordcount": wordcountFilter, "wordwrap": wordwrapFilter, "xmlattr": xmlattrFilter,
	}
}

// softText makes a filter without arguments of a function on text; Markup stays Markup.
func softText(f func(string) string) filterFunc {
	return func(r *render, v Value, a args) (Value, error) {
		if err := a.positional("filter", 0, 0); err != nil {
			return nil, err
		}
		s, err := str(r, v)
		if err != nil {
			return nil, err
		}
		if err := r.spendWork(len(s)); err != nil {
			return nil, err
		}
		return sameText(v, f(s)), nil
	}
}

// titleFilter differs from str.title: words start after space, hyphens and opening brackets only.
func titleFilter(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for s != "" {
		first, n := utf8.DecodeRuneInString(s)
		b.WriteString(upperRune(first))
		end := n
		if !isWordGap(first) {
			if end = strings.IndexFunc(s, isWordGap); end < 0 {
				end = len(s)
			}
			b.WriteString(lower(s[n:end]))
		}
		s = s[end:]
	}
	return b.String()
}

func isWordGap(c rune) bool { return isSpace(c) || strings.ContainsRune("-({[<", c) }

// globals are the names every template can use.
var globals = map[string]Value{
	"range":           &Func{name: "safe_range", kind: "function", call: rangeGlobal},
	"dict":            dictType,
	"namespace":       &Func{name: "jinja2.utils.Namespace", kind: "type", call: namespaceGlobal},
	"cycler":          &Func{name: "jinja2.utils.Cycler", kind: "type", call: cyclerGlobal},
	"joiner":          &Func{name: "jinja2.utils.Joiner", kind: "type", call: joinerGlobal},
	"lipsum":          &Func{name: "generate_lorem_ipsum", kind: "function", call: lipsumGlobal},
	"raise_exception": &Func{name: "raise_exception", kind: "function", call: raiseGlobal},
	"strftime_now":    &Func{name: "strftime_now", kind: "function", call: strftimeGlobal},
}

func rangeGlobal(r *render, a args) (Value, error) {
	if err := a.positional("range", 1, 3); err != nil {
		return nil, err
	}
	bounds := [3]int{0, 0, 1}
	for i, v := range a.pos {
		n, ok := asInt(v)
		if u, isUndefined := v.(*Undefined); isUndefined {
			return nil, typeError("'%s' object cannot be interpreted as an integer", u.typeName())
		}
		if _, isBig := v.(Big); isBig {
			return nil, raise("OverflowError", "range() bounds must fit 64 bits")
		}
		if !ok {
			return nil, typeError("'%s' object cannot be interpreted as an integer", v.typeName())
		}
		bounds[i] = n
	}
	if len(a.pos) == 1 {
		bounds[0], bounds[1] = 0, bounds[0]
	}
	if bounds[2] == 0 {
		return nil, valueError("range() arg 3 must not be zero")
	}
	rng := Range{bounds[0], bounds[1], bounds[2]}
	const far = 1 << 62
	if n := rng.len(); n > r.limits.Range || n < 0 || max(bounds[0], bounds[1]) > far || min(bounds[0], bounds[1]) < -far {
		return nil, raise("OverflowError", "Range too big. The sandbox blocks ranges larger than MAX_RANGE ("+reprInt(r.limits.Range)+").")
	}
	return rng, nil
}

// dictType is the type dict. Whatever attribute or item it lacks is a parametrised dict, which makes dicts as well.
var dictType = &Func{name: "dict", kind: "type", call: dictGlobal}

// dictOf is dict[key].
func dictOf(r *render, key Value) (Value, error) {
	text, err := repr(r, key)
	if _, ok := key.(Tuple); ok && err == nil {
		text = text[1 : len(text)-1]
	}
	return &Func{name: "dict[" + text + "]", kind: "GenericAlias", call: dictGlobal}, err
}

func dictGlobal(r *render, a args) (Value, error) {
	if len(a.pos) > 1 {
		return nil, typeError("dict expected at most 1 argument, got %s", reprInt(len(a.pos)))
	}
	d := NewDict(len(a.kw))
	if len(a.pos) == 1 {
		if err := d.fill(r, a.pos[0]); err != nil {
			return nil, err
		}
	}
	for _, kw := range a.kw {
		d.Set(kw.name, kw.value)
	}
	return d, nil
}

// fill adds the entries of a dict or of an iterable of pairs.
func (d *Dict) fill(r *render, v Value) error {
	if from, ok := v.(*Dict); ok {
		*d = *from.clone()
		return r.spend(entrySteps * d.Len())
	}
	if u, ok := v.(*Undefined); ok {
		return u.fail()
	}
	items, err := collect(r, v)
	if err != nil {
		return err
	}
	for i, item := range items {
		pair, err := collect(r, item)
		if err != nil {
			return typeError("cannot convert dictionary update sequence element #%s to a sequence", reprInt(i))
		}
		if len(pair) != 2 {
			return valueError("dictionary update sequence element #%s has length %s; 2 is required", reprInt(i), reprInt(len(pair)))
		}
		if err := d.put(r, pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func namespaceGlobal(r *render, a args) (Value, error) {
	d, err := dictGlobal(r, a)
	if err != nil {
		return nil, err
	}
	return &Namespace{d.(*Dict)}, nil
}

// Cycler is what cycler() returns.
type Cycler struct {
	items []Value
	pos   int
}

func (*Cycler) typeName() string { return "Cycler" }

func cyclerGlobal(_ *render, a args) (Value, error) {
	if len(a.kw) > 0 {
		return nil, typeError("Cycler.__init__() got an unexpected keyword argument '%s'", a.kw[0].name)
	}
	if len(a.pos) == 0 {
		return nil, raise("RuntimeError", "at least one item has to be provided")
	}
	return &Cycler{items: a.pos}, nil
}

func (c *Cycler) attribute(name string) (Value, bool) {
	switch name {
	case "items":
		return Tuple(c.items), true
	case "pos":
		return Int(c.pos), true
	case "current":
		return c.items[c.pos], true
	case "next":
		return &Func{name: "next", kind: "method", call: func(_ *render, a args) (Value, error) {
			v := c.items[c.pos]
			c.pos = (c.pos + 1) % len(c.items)
			return v, a.positional("next", 0, 0)
		}}, true
	case "reset":
		return &Func{name: "reset", kind: "method", call: func(_ *render, a args) (Value, error) {
			c.pos = 0
			return None{}, a.positional("reset", 0, 0)
		}}, true
	}
	return nil, false
}

func joinerGlobal(_ *render, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "Joiner.__init__", 0, "sep"); err != nil {
		return nil, err
	}
	if p[0] == nil {
		p[0] = Str(", ")
	}
	used := false
	return &Func{name: "jinja2.utils.Joiner", kind: "Joiner", call: func(_ *render, a args) (Value, error) {
		if err := a.positional("joiner", 0, 0); err != nil || used {
			return p[0], err
		}
		used = true
		return Str(""), nil
	}}, nil
}

func lipsumGlobal(*render, args) (Value, error) {
	return nil, raise("NotImplementedError", "lipsum is not supported: a prompt is not random")
}

func raiseGlobal(r *render, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "raise_exception", 1, "m"); err != nil {
		return nil, err
	}
	message, err := str(r, p[0])
	if err != nil {
		return nil, err
	}
	return nil, &Error{Type: "TemplateError", Message: message}
}

func strftimeGlobal(r *render, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "strftime_now", 1, "f"); err != nil {
		return nil, err
	}
	format, ok := text(p[0])
	if !ok {
		return nil, typeError("strftime() argument 1 must be str, not %s", p[0].typeName())
	}
	if err := r.spend(4 * len(format)); err != nil {
		return nil, err
	}
	out := strftime(r.now, format)
	return Str(out), r.bound(len(out))
}
