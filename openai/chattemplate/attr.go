package chattemplate

import (
	"cmp"
	"math"
	"math/big"
	"strings"
	"unicode/utf8"
)

// getattr is v.name in a template: an attribute if there is one, else the item of that name.
func getattr(r *render, v Value, name string) (Value, error) {
	if err := r.spendScan(len(name)); err != nil {
		return nil, err
	}
	if d, ok := v.(*Dict); ok {
		if _, isMethod := dictMethods[name]; !isMethod {
			if item, ok := d.Get(name); ok && !strings.HasPrefix(name, "_") {
				return item, nil
			}
		}
	}
	if a, ok, err := attribute(r, v, name); ok || err != nil {
		return a, cmp.Or(err, r.spendMade(a))
	}
	switch v := v.(type) {
	case *Dict:
		if item, ok := v.Get(name); ok {
			return item, nil
		}
	case *Undefined:
		return nil, v.fail()
	case *Func:
		if v == dictType {
			return dictOf(r, Str(name))
		}
	}
	return &Undefined{obj: v, name: Str(name)}, r.spend(2 * itemSteps)
}

// spendMade charges for a value that only lives in a render, whose size steps alone do not show.
func (r *render) spendMade(v Value) error {
	switch v.(type) {
	case *Func, *Undefined:
		return r.spend(2 * itemSteps)
	case *Iter, *Namespace:
		return r.spend(4 * itemSteps)
	}
	return nil
}

// getitem is v[key] in a template: the item if there is one, else the attribute of that name.
func getitem(r *render, v, key Value) (Value, error) {
	item, found, err := item(r, v, key)
	if err != nil || found {
		return item, err
	}
	if name, ok := text(key); ok {
		if a, ok, err := attribute(r, v, name); ok || err != nil {
			return a, cmp.Or(err, r.spendMade(a))
		}
	}
	return &Undefined{obj: v, name: key}, r.spend(2 * itemSteps)
}

// item is v[key]; found is false where Python raises TypeError or LookupError.
func item(r *render, v, key Value) (_ Value, found bool, err error) {
	switch v := v.(type) {
	case *Undefined:
		return nil, false, v.fail()
	case *Dict:
		value, found, err := v.lookup(r, key)
		if isType(err, "TypeError") {
			return nil, false, nil
		}
		return value, found, err
	case *Func:
		if v == dictType {
			value, err := dictOf(r, key)
			return value, err == nil, err
		}
	}
	i, ok := asInt(key)
	if !ok {
		return nil, false, nil
	}
	switch v := v.(type) {
	case *List:
		return itemAt(v.items, i)
	case Tuple:
		return itemAt(v, i)
	case Range:
		if n := v.len(); i < 0 {
			i += n
		}
		if i < 0 || i >= v.len() {
			return nil, false, nil
		}
		return v.at(i), true, nil
	case Str, Markup:
		s, _ := text(v)
		c, ok := runeAt(s, i)
		return sameText(v, c), ok, r.spend(1 + len(s)/textStep)
	}
	return nil, false, nil
}

func itemAt(items []Value, i int) (Value, bool, error) {
	if i < 0 {
		i += len(items)
	}
	if i < 0 || i >= len(items) {
		return nil, false, nil
	}
	return items[i], true, nil
}

// runeAt is s[i] for a Python index.
func runeAt(s string, i int) (string, bool) {
	if i < 0 {
		for ; i < -1 && s != ""; i++ {
			_, n := utf8.DecodeLastRuneInString(s)
			s = s[:len(s)-n]
		}
		_, n := utf8.DecodeLastRuneInString(s)
		return s[len(s)-n:], n > 0
	}
	for ; i > 0 && s != ""; i-- {
		_, n := utf8.DecodeRuneInString(s)
		s = s[n:]
	}
	_, n := utf8.DecodeRuneInString(s)
	return s[:n], n > 0
}

// sameText makes s the kind of string that v is.
func sameText(v Value, s string) Value {
	if _, ok := v.(Markup); ok {
		return Markup(s)
	}
	return Str(s)
}

// attribute finds an attribute of a Python object as the sandbox lets templates see it: ok is false when there is none.
func attribute(r *render, v Value, name string) (_ Value, ok bool, err error) {
	if err := r.spendScan(len(name)); err != nil {
		return nil, false, err
	}
	if u, isUndefined := v.(*Undefined); isUndefined && !isDunder(name) {
		return nil, false, u.fail()
	}
	if strings.HasPrefix(name, "_") {
		if _, plain := v.(*Namespace); !plain && dunders[name] {
			return unsafeAttribute(v, name), true, nil
		}
	}
	switch x := v.(type) {
	case Str, Markup:
		if m, ok := strMethod(name); ok {
			return boundMethod(v, name, m), true, nil
		}
	case *Dict:
		if m, ok := dictMethods[name]; ok {
			return methodOrUnsafe(v, name, m), true, nil
		}
	case *List:
		if m, ok := listMethods[name]; ok {
			return methodOrUnsafe(v, name, m), true, nil
		}
	case Tuple:
		return tupleAttribute(x, name)
	case *Namespace:
		a, ok := x.attrs.Get(name)
		return a, ok, nil
	case Int, Float, Bool, Big:
		a, ok := numberAttribute(v, name)
		return a, ok, nil
	case Range:
		return rangeAttribute(x, name)
	case View:
		if name == "mapping" {
			return x.d, true, nil
		}
	case *Loop:
		return x.attribute(r, name)
	case interface{ attribute(string) (Value, bool) }: // a macro or cycler
		a, ok := x.attribute(name)
		return a, ok, nil
	case *templateRef:
		a, ok := x.attribute(r, name)
		return a, ok, nil
	case *Func:
		if x == dictType && name == "fromkeys" {
			return boundMethod(v, name, dictFromkeys), true, nil
		}
	case Bytes:
		if name == "decode" {
			return boundMethod(v, name, bytesDecode), true, nil
		}
	}
	return nil, false, nil
}

func isDunder(name string) bool {
	return len(name) > 1 && strings.HasPrefix(name, "__") && strings.HasSuffix(name, "__")
}

func unsafeAttribute(v Value, name string) Value {
	return &Undefined{
		hint: "access to attribute " + reprString(name) + " of '" + v.typeName() + "' object is unsafe.",
		obj:  v, name: Str(name), unsafe: true,
	}
}

func boundMethod(self Value, name string, m methodFunc) *Func {
	return &Func{name: name + " of " + self.typeName() + " object", kind: "builtin_function_or_method", call: func(r *render, a args) (Value, error) {
		return m(r, self, a)
	}}
}

// refusedMethod is a method that exists in Python and has no place in a prompt.
func refusedMethod(self Value, name string) *Func {
	return boundMethod(self, name, func(*render, Value, args) (Value, error) {
		return nil, raise("NotImplementedError", "the method "+name+" is not supported")
	})
}

// methodOrUnsafe hides the methods that would change a list or dict; those have no function in the tables.
func methodOrUnsafe(self Value, name string, m methodFunc) Value {
	if m == nil {
		return unsafeAttribute(self, name)
	}
	return boundMethod(self, name, m)
}

func tupleAttribute(t Tuple, name string) (Value, bool, error) {
	if m, ok := tupleMethods[name]; ok {
		return boundMethod(t, name, m), true, nil
	}
	if len(t) == 2 && (name == "grouper" || name == "list") {
		if l, ok := t[1].(*List); ok && l.grouped {
			if name == "list" {
				return l, true, nil
			}
			return t[0], true, nil
		}
	}
	return nil, false, nil
}

func rangeAttribute(x Range, name string) (Value, bool, error) {
	switch name {
	case "start":
		return Int(x.start), true, nil
	case "stop":
		return Int(x.stop), true, nil
	case "step":
		return Int(x.step), true, nil
	}
	if m, ok := tupleMethods[name]; ok { // count and index
		return boundMethod(x, name, m), true, nil
	}
	return nil, false, nil
}

// numberAttribute covers the data attributes and the methods without arguments of int and float.
func numberAttribute(v Value, name string) (Value, bool) {
	constant := func(result Value) (Value, bool) {
		return boundMethod(v, name, func(_ *render, _ Value, a args) (Value, error) {
			return result, a.positional(name, 0, 0)
		}), true
	}
	f, isFloat := v.(Float)
	if isFloat {
		switch name {
		case "real":
			return v, true
		case "imag":
			return Float(0), true
		case "conjugate":
			return constant(v)
		case "hex", "as_integer_ratio":
			return refusedMethod(v, name), true
		case "is_integer":
			return constant(Bool(float64(f) == math.Trunc(float64(f)) && !math.IsInf(float64(f), 0)))
		}
		return nil, false
	}
	n, _ := asBig(v)
	switch name {
	case "real", "numerator":
		return fromBig(n), true
	case "imag":
		return Int(0), true
	case "denominator":
		return Int(1), true
	case "conjugate":
		return constant(fromBig(n))
	case "bit_length":
		return constant(Int(n.BitLen()))
	case "bit_count":
		return constant(Int(strings.Count(new(big.Int).Abs(n).Text(2), "1")))
	case "to_bytes", "from_bytes":
		return refusedMethod(v, name), true
	case "as_integer_ratio":
		return constant(Tuple{fromBig(n), Int(1)})
	}
	return nil, false
}
