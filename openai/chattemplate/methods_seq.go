package chattemplate

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Methods that would change a list or dict have no function: the immutable sandbox hides them.
var (
	listMethods = map[string]methodFunc{
		"append": nil, "clear": nil, "extend": nil, "insert": nil, "pop": nil, "remove": nil, "reverse": nil, "sort": nil,
		"count": seqCount, "index": seqIndex, "copy": copyMethod,
	}
	tupleMethods = map[string]methodFunc{"count": seqCount, "index": seqIndex}
	dictMethods  = map[string]methodFunc{
		"clear": nil, "pop": nil, "popitem": nil, "setdefault": nil, "update": nil,
		"get": dictGet, "keys": viewMethod("dict_keys"), "values": viewMethod("dict_values"), "items": viewMethod("dict_items"),
		"copy": copyMethod, "fromkeys": dictFromkeys,
	}
)

func seqCount(r *render, self Value, a args) (Value, error) {
	if err := a.positional("count", 1, 1); err != nil {
		return nil, err
	}
	items, err := collect(r, self)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, item := range items {
		eq, err := equal(r, item, a.pos[0])
		if err != nil {
			return nil, err
		}
		if eq {
			n++
		}
	}
	return Int(n), nil
}

func seqIndex(r *render, self Value, a args) (Value, error) {
	if err := a.positional("index", 1, 3); err != nil {
		return nil, err
	}
	items, err := collect(r, self)
	if err != nil {
		return nil, err
	}
	span, err := newSpan(len(items), a.at(1), a.at(2), nil)
	if err != nil {
		return nil, err
	}
	for i := span.start; i < span.stop; i++ {
		eq, err := equal(r, items[i], a.pos[0])
		if err != nil {
			return nil, err
		}
		if eq {
			return Int(i), nil
		}
	}
	shown, err := repr(r, a.pos[0])
	if err != nil {
		return nil, err
	}
	return nil, valueError("%s is not in list", shown)
}

func copyMethod(r *render, self Value, a args) (Value, error) {
	if err := a.positional("copy", 0, 0); err != nil {
		return nil, err
	}
	if d, ok := self.(*Dict); ok {
		return d.clone(), r.spend(entrySteps * d.Len())
	}
	items, err := collect(r, self)
	return newList(items), err
}

func dictGet(r *render, self Value, a args) (Value, error) {
	if err := a.positional("get", 1, 2); err != nil {
		return nil, err
	}
	v, found, err := self.(*Dict).lookup(r, a.pos[0])
	switch {
	case err != nil:
		return nil, err
	case found:
		return v, nil
	case len(a.pos) == 2:
		return a.pos[1], nil
	}
	return None{}, nil
}

func viewMethod(kind string) methodFunc {
	return func(_ *render, self Value, a args) (Value, error) {
		return View{self.(*Dict), kind}, a.positional(strings.TrimPrefix(kind, "dict_"), 0, 0)
	}
}

func dictFromkeys(r *render, _ Value, a args) (Value, error) {
	if err := a.positional("fromkeys", 1, 2); err != nil {
		return nil, err
	}
	keys, err := collect(r, a.pos[0])
	if err != nil {
		return nil, err
	}
	var value Value = None{}
	if len(a.pos) == 2 {
		value = a.pos[1]
	}
	d := NewDict(len(keys))
	for _, key := range keys {
		if err := d.put(r, key, value); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Bytes is what str.encode returns; it can be printed, measured and decoded.
type Bytes string

func (Bytes) typeName() string { return "bytes" }

func (b Bytes) repr() string {
	quote := byte('\'')
	if strings.Contains(string(b), "'") && !strings.Contains(string(b), `"`) {
		quote = '"'
	}
	out := []byte{'b', quote}
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == quote || c == '\\':
			out = append(out, '\\', c)
		case c == '\n':
			out = append(out, '\\', 'n')
		case c == '\r':
			out = append(out, '\\', 'r')
		case c == '\t':
			out = append(out, '\\', 't')
		case c >= ' ' && c < 0x7f:
			out = append(out, c)
		default:
			out = append(out, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return string(append(out, quote))
}

func bytesDecode(r *render, self Value, a args) (Value, error) {
	b := self.(Bytes)
	if err := a.positional("decode", 0, 1); err != nil {
		return nil, err
	}
	return Str(b), r.spendText(len(b))
}

func strEncode(r *render, self Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "encode", 0, "encoding", "errors"); err != nil {
		return nil, err
	}
	s, _ := text(self)
	if p[0] != nil {
		name, _ := text(p[0])
		switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name)) {
		case "utf8":
		case "ascii", "usascii":
			if strings.IndexFunc(s, func(c rune) bool { return c > unicode.MaxASCII }) >= 0 {
				return nil, raise("UnicodeEncodeError", "'ascii' codec can't encode characters: ordinal not in range(128)")
			}
		default:
			return nil, raise("LookupError", "encode supports only utf-8 and ascii, not "+name)
		}
	}
	return Bytes(s), r.spend(1 + len(s)/8)
}

func strTranslate(r *render, self Value, a args) (Value, error) {
	if err := a.positional("translate", 1, 1); err != nil {
		return nil, err
	}
	s, _ := text(self)
	if err := r.spend(1 + len(s)); err != nil {
		return nil, err
	}
	if s != "" && !isSequence(a.pos[0]) {
		return nil, typeError("'%s' object is not subscriptable", a.pos[0].typeName())
	}
	var b []byte
	for _, c := range s {
		to, found, err := item(r, a.pos[0], Int(c))
		if err != nil {
			return nil, err
		}
		if !found {
			to = nil
		}
		switch t := to.(type) {
		case Int:
			if t < 0 || t > utf8.MaxRune {
				return nil, valueError("character mapping must be in range(0x110000)")
			}
			b = utf8.AppendRune(b, rune(t))
		case Str, Markup:
			part, _ := text(t)
			b = append(b, part...)
		case None:
		case nil:
			b = utf8.AppendRune(b, c)
		default:
			return nil, typeError("character mapping must return integer, None or str")
		}
		if len(b) > r.limits.Output {
			return nil, limitError("output size")
		}
	}
	return sameText(self, string(b)), nil
}

func strMaketrans(r *render, _ Value, a args) (Value, error) {
	if err := a.positional("maketrans", 1, 3); err != nil {
		return nil, err
	}
	table := NewDict(8)
	if len(a.pos) == 1 {
		d, ok := a.pos[0].(*Dict)
		if !ok {
			return nil, typeError("if you give only one argument to maketrans it must be a dict")
		}
		for i, key := range d.keys {
			if s, ok := text(key); ok {
				if runeLen(s) != 1 {
					return nil, valueError("string keys in translate table must be of length 1")
				}
				key = Int([]rune(s)[0])
			}
			if err := table.put(r, key, d.values[i]); err != nil {
				return nil, err
			}
		}
		return table, nil
	}
	var parts [3][]rune
	for i, arg := range a.pos {
		s, ok := text(arg)
		if !ok {
			return nil, typeError("maketrans() argument %s must be str, not %s", strconv.Itoa(i+1), arg.typeName())
		}
		parts[i] = []rune(s)
	}
	if len(parts[0]) != len(parts[1]) {
		return nil, valueError("the first two maketrans arguments must have equal length")
	}
	for i, c := range parts[0] {
		if err := table.put(r, Int(c), Int(parts[1][i])); err != nil {
			return nil, err
		}
	}
	for _, c := range parts[2] {
		if err := table.put(r, Int(c), None{}); err != nil {
			return nil, err
		}
	}
	return table, nil
}
