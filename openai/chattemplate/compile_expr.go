package chattemplate

import (
	"cmp"
	"math/big"
)

// condFunc is an expression of which only the truth counts.
type condFunc func(f *frame) (bool, error)

func (c *compiler) exprs(sc *scope, list []expr) ([]evalFunc, error) {
	out := make([]evalFunc, len(list))
	for i, x := range list {
		var err error
		if out[i], err = c.expr(sc, x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *compiler) expr(sc *scope, x expr) (evalFunc, error) {
	if c.depth++; c.depth > maxTree {
		return nil, raise("RecursionError", "the template's expressions nest too deep")
	}
	defer func() { c.depth-- }()
	switch x := x.(type) {
	case dataExpr:
		return constant(Str(x.text)), nil
	case constExpr:
		return constant(x.value), nil
	case nameExpr:
		return c.name(sc, x.name), nil
	case tupleExpr:
		return c.items(sc, x.items, func(items []Value) Value { return Tuple(items) })
	case listExpr:
		return c.items(sc, x.items, func(items []Value) Value { return newList(items) })
	case dictExpr:
		return c.dict(sc, x)
	case unaryExpr:
		return c.unary(sc, x)
	case binaryExpr:
		return c.binary(sc, x)
	case concatExpr:
		return c.concat(sc, x)
	case compareExpr:
		return asValue(c.compare(sc, x))
	case attrExpr:
		return c.attr(sc, x)
	case itemExpr:
		return c.item(sc, x)
	case condExpr:
		return c.cond(sc, x)
	case callExpr:
		return c.call(sc, x)
	case filterExpr:
		return c.filter(sc, x)
	case testExpr:
		return asValue(c.test(sc, x))
	}
	return nil, raise("TemplateSyntaxError", "a slice needs a value to be taken from")
}

func constant(v Value) evalFunc { return func(*frame) (Value, error) { return v, nil } }

func asValue(cond condFunc, err error) (evalFunc, error) {
	return func(f *frame) (Value, error) {
		ok, err := cond(f)
		return Bool(ok), err
	}, err
}

// condition compiles an expression for its truth, without making a bool of what is one already.
func (c *compiler) condition(sc *scope, x expr) (condFunc, error) {
	switch x := x.(type) {
	case compareExpr:
		return c.compare(sc, x)
	case testExpr:
		return c.test(sc, x)
	case unaryExpr:
		if x.op == "not" {
			inner, err := c.condition(sc, x.x)
			return func(f *frame) (bool, error) {
				ok, err := inner(f)
				return !ok, err
			}, err
		}
	case binaryExpr:
		if x.op == "and" || x.op == "or" {
			return c.logic(sc, x)
		}
	}
	value, err := c.expr(sc, x)
	return func(f *frame) (bool, error) {
		v, err := value(f)
		if err != nil {
			return false, err
		}
		if l, ok := v.(*Loop); ok {
			n, err := l.len()
			return n > 0, err
		}
		return truth(v), nil
	}, err
}

func (c *compiler) logic(sc *scope, x binaryExpr) (condFunc, error) {
	left, err := c.condition(sc, x.x)
	if err != nil {
		return nil, err
	}
	right, err := c.condition(sc, x.y)
	stop := x.op == "or"
	return func(f *frame) (bool, error) {
		ok, err := left(f)
		if err != nil || ok == stop {
			return ok, err
		}
		return right(f)
	}, err
}

func (c *compiler) name(sc *scope, name string) evalFunc {
	missing := &Undefined{name: Str(name)}
	v, ok := sc.syms.find(name)
	if !ok { // a name that no analysis met, such as one in a set block's filter
		v = sc.syms.define(name, load{action: loadUnset})
	}
	if v.fn == sc.fn {
		slot := v.slot
		return func(f *frame) (Value, error) {
			if v := f.slots[slot]; v != nil {
				return v, nil
			}
			return missing, nil
		}
	}
	read := readVariable(sc.fn, v)
	return func(f *frame) (Value, error) {
		v, err := read(f)
		if v == nil {
			return missing, err
		}
		return v, err
	}
}

func (c *compiler) items(sc *scope, list []expr, build func([]Value) Value) (evalFunc, error) {
	values, err := c.exprs(sc, list)
	return func(f *frame) (Value, error) {
		items := make([]Value, len(values))
		for i, value := range values {
			var err error
			if items[i], err = value(f); err != nil {
				return nil, err
			}
			if err := f.r.spendHeld(items[i]); err != nil {
				return nil, err
			}
		}
		return build(items), f.r.spend(itemSteps)
	}, err
}

func (c *compiler) dict(sc *scope, x dictExpr) (evalFunc, error) {
	keys, err := c.exprs(sc, x.keys)
	if err != nil {
		return nil, err
	}
	values, err := c.exprs(sc, x.values)
	return func(f *frame) (Value, error) {
		d := NewDict(len(keys))
		for i := range keys {
			k, err := keys[i](f)
			if err != nil {
				return nil, err
			}
			v, err := values[i](f)
			if err != nil {
				return nil, err
			}
			if err := cmp.Or(d.put(f.r, k, v), f.r.spendHeld(k), f.r.spendHeld(v)); err != nil {
				return nil, err
			}
		}
		return d, f.r.spend(entrySteps)
	}, err
}

func (c *compiler) unary(sc *scope, x unaryExpr) (evalFunc, error) {
	if x.op == "not" {
		return asValue(c.condition(sc, x))
	}
	value, err := c.expr(sc, x.x)
	apply := negate
	if x.op == "+" {
		apply = plus
	}
	return func(f *frame) (Value, error) {
		v, err := value(f)
		if err != nil {
			return nil, err
		}
		return apply(f.r, v)
	}, err
}

func (c *compiler) binary(sc *scope, x binaryExpr) (evalFunc, error) {
	if x.op == "and" || x.op == "or" {
		return c.choice(sc, x)
	}
	negative := false
	if x.op == "**" {
		x.x, negative = powerBase(x)
	}
	left, err := c.expr(sc, x.x)
	if err != nil {
		return nil, err
	}
	right, err := c.expr(sc, x.y)
	op := x.op
	return func(f *frame) (Value, error) {
		a, err := left(f)
		if err != nil {
			return nil, err
		}
		b, err := right(f)
		if err != nil {
			return nil, err
		}
		if op == "+" {
			return add(f.r, a, b)
		}
		v, err := binary(f.r, op, a, b)
		if err == nil && negative {
			return negate(f.r, v)
		}
		return v, err
	}, err
}

// powerBase strips the sign of a negative literal to the power of something not constant: jinja2 writes "-2 ** x" in the
// Python it generates, where the power binds first.
func powerBase(x binaryExpr) (base expr, negative bool) {
	u, ok := x.x.(unaryExpr)
	if !ok || u.op != "-" || isConstant(x.y) {
		return x.x, false
	}
	number, ok := u.x.(constExpr)
	if !ok || !isNumber(number.value) {
		return x.x, false
	}
	if n, isInt := asBig(number.value); isInt && n.Cmp(new(big.Int)) == 0 {
		return x.x, false
	}
	return u.x, true
}

// choice compiles and and or, whose value is one of the operands.
func (c *compiler) choice(sc *scope, x binaryExpr) (evalFunc, error) {
	left, err := c.expr(sc, x.x)
	if err != nil {
		return nil, err
	}
	right, err := c.expr(sc, x.y)
	stop := x.op == "or"
	return func(f *frame) (Value, error) {
		v, err := left(f)
		if err != nil || truth(v) == stop {
			return v, err
		}
		return right(f)
	}, err
}

func (c *compiler) concat(sc *scope, x concatExpr) (evalFunc, error) {
	values, err := c.exprs(sc, x.items)
	mode := c.escape
	return func(f *frame) (Value, error) {
		items := make([]Value, len(values))
		for i, value := range values {
			var err error
			if items[i], err = value(f); err != nil {
				return nil, err
			}
		}
		if mode == escapeOn || mode == escapeVolatile && f.r.autoescape {
			return markupJoin(f.r, items)
		}
		return joinText(f.r, items)
	}, err
}

// joinText is the concatenation of every str(item).
func joinText(r *render, items []Value) (Value, error) {
	var b []byte
	for _, item := range items {
		s, err := str(r, item)
		if err != nil {
			return nil, err
		}
		b = append(b, s...)
	}
	return Str(b), r.spendCopy(len(b))
}

// markupJoin escapes all once one of them is Markup.
func markupJoin(r *render, items []Value) (Value, error) {
	hasMarkup := false
	for _, item := range items {
		_, isMarkup := item.(Markup)
		hasMarkup = hasMarkup || isMarkup
	}
	if !hasMarkup {
		return joinText(r, items)
	}
	escaped := make([]Value, len(items))
	for i, item := range items {
		var err error
		if escaped[i], err = escape(r, item); err != nil {
			return nil, err
		}
	}
	s, err := joinText(r, escaped)
	if err != nil {
		return nil, err
	}
	return Markup(s.(Str)), nil
}

func (c *compiler) cond(sc *scope, x condExpr) (evalFunc, error) {
	sc = sc.softened()
	test, err := c.condition(sc, x.test)
	if err != nil {
		return nil, err
	}
	then, err := c.expr(sc, x.then)
	if err != nil {
		return nil, err
	}
	otherwise := constant(&Undefined{hint: "the inline if-expression evaluated to false and no else section was defined."})
	if x.otherwise != nil {
		otherwise, err = c.expr(sc, x.otherwise)
	}
	return func(f *frame) (Value, error) {
		ok, err := test(f)
		if err != nil {
			return nil, err
		}
		if ok {
			return then(f)
		}
		return otherwise(f)
	}, err
}
