package chattemplate

import (
	"math"
	"math/rand/v2"
)

func noArgs(name string, a args) error { return a.positional(name, 0, 0) }

func absFilter(r *render, v Value, a args) (Value, error) {
	if err := noArgs("abs", a); err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case Float:
		return Float(math.Abs(float64(x))), nil
	case Int, Bool, Big:
		n, _ := asBig(x)
		if n.Sign() < 0 {
			return negate(r, v)
		}
		return plus(r, v)
	}
	return nil, typeError("bad operand type for abs(): '%s'", v.typeName())
}

func lengthFilter(r *render, v Value, a args) (Value, error) {
	if s, ok := text(v); ok {
		if err := r.spend(1 + len(s)/textStep); err != nil {
			return nil, err
		}
	}
	n, err := length(v)
	if err != nil {
		return nil, err
	}
	return Int(n), noArgs("length", a)
}

func defaultFilter(_ *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "default", 0, "default_value", "boolean"); err != nil {
		return nil, err
	}
	if p[0] == nil {
		p[0] = Str("")
	}
	if isUndefined(v) || p[1] != nil && truth(p[1]) && !truth(v) {
		return p[0], nil
	}
	return v, nil
}

func attrFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "attr", 1, "name"); err != nil {
		return nil, err
	}
	name, ok := text(p[0])
	if !ok {
		return nil, typeError("attribute name must be string, not '%s'", p[0].typeName())
	}
	found, ok, err := attribute(r, v, name)
	if err != nil || ok {
		return found, err
	}
	return &Undefined{obj: v, name: Str(name)}, nil
}

func itemsFilter(_ *render, v Value, a args) (Value, error) {
	if err := noArgs("items", a); err != nil {
		return nil, err
	}
	d, isDict := v.(*Dict)
	i := 0
	return generator(func() (Value, bool, error) {
		switch {
		case isUndefined(v):
			return nil, false, nil
		case !isDict:
			return nil, false, typeError("Can only get item pairs from a mapping.")
		case i == d.Len():
			return nil, false, nil
		}
		i++
		return d.item(i - 1), true, nil
	}), nil
}

func listFilter(r *render, v Value, a args) (Value, error) {
	if err := noArgs("list", a); err != nil {
		return nil, err
	}
	items, err := collect(r, v)
	return newList(items), err
}

func firstFilter(_ *render, v Value, a args) (Value, error) {
	if err := noArgs("first", a); err != nil {
		return nil, err
	}
	c, err := iterate(v)
	if err != nil {
		return nil, err
	}
	item, ok, err := c.advance()
	if err != nil || ok {
		return item, err
	}
	return &Undefined{hint: "No first item, sequence was empty."}, nil
}

// reversed is reversed(v); ok is false for what cannot be read backwards.
func reversed(r *render, v Value) (items []Value, kind string, ok bool, err error) {
	switch v.(type) {
	case *List:
		kind = "list_reverseiterator"
	case *Dict:
		kind = "dict_reversekeyiterator"
	case View:
		kind = "dict_reverseitemiterator"
	case Range:
		kind = "range_iterator"
	case Tuple, Str, Markup:
		kind = "reversed"
	case *Undefined: // it has __len__ and __getitem__
		return nil, "reversed", true, nil
	default:
		return nil, "", false, nil
	}
	items, err = reversedItems(r, v)
	return items, kind, true, err
}

func reversedItems(r *render, v Value) ([]Value, error) {
	all, err := collect(r, v)
	if err != nil {
		return nil, err
	}
	items := append([]Value(nil), all...)
	reverse(items)
	return items, r.spend(len(items))
}

func lastFilter(r *render, v Value, a args) (Value, error) {
	if err := noArgs("last", a); err != nil {
		return nil, err
	}
	switch v.(type) {
	case *List, Tuple, Str, Markup, Range:
		if last, found, err := item(r, v, Int(-1)); found || err != nil {
			return last, err
		}
	}
	items, _, ok, err := reversed(r, v)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, typeError("'%s' object is not reversible", v.typeName())
	}
	if len(items) == 0 {
		return &Undefined{hint: "No last item, sequence was empty."}, nil
	}
	return items[0], nil
}

func reverseFilter(r *render, v Value, a args) (Value, error) {
	if err := noArgs("reverse", a); err != nil {
		return nil, err
	}
	if _, ok := text(v); ok {
		return slice(r, v, None{}, None{}, Int(-1))
	}
	items, kind, ok, err := reversed(r, v)
	if err != nil {
		return nil, err
	}
	if ok {
		return sliceIter(kind, items), nil
	}
	if items, err = reversedItems(r, v); isType(err, "TypeError") {
		return nil, argumentError("argument must be iterable")
	}
	return newList(items), err
}

func randomFilter(r *render, v Value, a args) (Value, error) {
	if err := noArgs("random", a); err != nil {
		return nil, err
	}
	count, err := lengthFilter(r, v, a)
	if err != nil {
		return nil, err
	}
	n, _ := asInt(count)
	if n == 0 {
		return &Undefined{hint: "No random item, sequence was empty."}, nil
	}
	item, ok, err := item(r, v, Int(rand.IntN(n)))
	if err == nil && !ok {
		err = typeError("'%s' object is not subscriptable", v.typeName())
	}
	return item, err
}

func intFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "int", 0, "default", "base"); err != nil {
		return nil, err
	}
	if p[0] == nil {
		p[0] = Int(0)
	}
	if u, ok := v.(*Undefined); ok {
		return nil, u.fail()
	}
	if s, ok := text(v); ok {
		base, isInt := 10, true
		if p[1] != nil {
			base, isInt = asInt(p[1])
		}
		if err := r.spendWork(len(s)); err != nil {
			return nil, err
		}
		if isInt {
			if n, err := parseInt(s, base); err == nil {
				return n, nil
			}
		}
		f, err := parseFloat(s)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return p[0], nil
		}
		return fromBig(bigFromFloat(f)), nil
	}
	switch x := v.(type) {
	case Float:
		switch f := float64(x); {
		case math.IsInf(f, 0):
			return nil, raise("OverflowError", "cannot convert float infinity to integer")
		case math.IsNaN(f):
			return p[0], nil
		default:
			return fromBig(bigFromFloat(f)), nil
		}
	case Int, Bool, Big:
		n, _ := asBig(x)
		return fromBig(n), nil
	}
	return p[0], nil
}

func floatFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "float", 0, "default"); err != nil {
		return nil, err
	}
	if p[0] == nil {
		p[0] = Float(0)
	}
	if u, ok := v.(*Undefined); ok {
		return nil, u.fail()
	}
	if s, ok := text(v); ok {
		if err := r.spendWork(len(s)); err != nil {
			return nil, err
		}
		if f, err := parseFloat(s); err == nil {
			return Float(f), nil
		}
		return p[0], nil
	}
	if !isNumber(v) {
		return p[0], nil
	}
	f, err := asFloat(v)
	return Float(f), err
}

func roundFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "round", 0, "precision", "method"); err != nil {
		return nil, err
	}
	method := "common"
	if p[1] != nil {
		method, _ = text(p[1])
	}
	if method != "common" && method != "ceil" && method != "floor" {
		return nil, argumentError("method must be common, ceil or floor")
	}
	if p[0] == nil {
		p[0] = Int(0)
	}
	if method == "common" {
		return roundCommon(r, v, p[0])
	}
	scale, err := binary(r, "**", Int(10), p[0])
	if err != nil {
		return nil, err
	}
	scaled, err := binary(r, "*", v, scale)
	if err != nil {
		return nil, err
	}
	whole := scaled
	if f, ok := scaled.(Float); ok {
		if math.IsInf(float64(f), 0) || math.IsNaN(float64(f)) {
			return nil, raise("OverflowError", "cannot convert float infinity or NaN to integer")
		}
		if method == "ceil" {
			whole = fromBig(bigFromFloat(math.Ceil(float64(f))))
		} else {
			whole = fromBig(bigFromFloat(math.Floor(float64(f))))
		}
	} else if !isNumber(scaled) {
		return nil, typeError("must be real number, not %s", scaled.typeName())
	}
	return binary(r, "/", whole, scale)
}

func roundCommon(r *render, v, precision Value) (Value, error) {
	if isNone(precision) {
		precision = nil
	}
	digits, ok := 0, true
	if precision != nil {
		digits, ok = asInt(precision)
	}
	if !ok && isNumber(v) {
		return nil, typeError("'%s' object cannot be interpreted as an integer", precision.typeName())
	}
	switch x := v.(type) {
	case Float:
		f := roundHalfEven(float64(x), digits)
		if math.IsInf(f, 0) && !math.IsInf(float64(x), 0) {
			return nil, raise("OverflowError", "rounded value too large to represent")
		}
		if precision != nil {
			return Float(f), nil
		}
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, raise("OverflowError", "cannot convert float infinity or NaN to integer")
		}
		return fromBig(bigFromFloat(f)), nil
	case Int, Bool, Big:
		n, _ := asBig(x)
		if digits >= 0 {
			return fromBig(n), nil
		}
		return roundInt(n, -digits), r.spend(n.BitLen() / 8)
	case *Undefined:
		return nil, typeError("type Undefined doesn't define __round__ method")
	}
	return nil, typeError("type %s doesn't define __round__ method", v.typeName())
}
