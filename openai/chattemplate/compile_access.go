package chattemplate

func (c *compiler) compare(sc *scope, x compareExpr) (condFunc, error) {
	first, err := c.expr(sc, x.x)
	if err != nil {
		return nil, err
	}
	type operand struct {
		value evalFunc
		holds func(r *render, a, b Value) (bool, error)
	}
	rest := make([]operand, len(x.rest))
	for i, o := range x.rest {
		value, err := c.expr(sc, o.x)
		if err != nil {
			return nil, err
		}
		rest[i] = operand{value, relation(o.op)}
	}
	return func(f *frame) (bool, error) {
		a, err := first(f)
		if err != nil {
			return false, err
		}
		for i := range rest {
			b, err := rest[i].value(f)
			if err != nil {
				return false, err
			}
			ok, err := rest[i].holds(f.r, a, b)
			if err != nil || !ok {
				return false, err
			}
			a = b
		}
		return true, nil
	}, nil
}

func relation(op string) func(r *render, a, b Value) (bool, error) {
	not := func(f func(r *render, a, b Value) (bool, error)) func(r *render, a, b Value) (bool, error) {
		return func(r *render, a, b Value) (bool, error) {
			ok, err := f(r, a, b)
			return !ok, err
		}
	}
	in := func(r *render, a, b Value) (bool, error) { return contains(r, b, a) }
	switch op {
	case "==":
		return equal
	case "!=":
		return not(equal)
	case "in":
		return in
	case "not in":
		return not(in)
	}
	return func(r *render, a, b Value) (bool, error) { return compareOp(r, op, a, b) }
}

func (c *compiler) attr(sc *scope, x attrExpr) (evalFunc, error) {
	value, err := c.expr(sc, x.x)
	name := x.name
	return func(f *frame) (Value, error) {
		v, err := value(f)
		if err != nil {
			return nil, err
		}
		return getattr(f.r, v, name)
	}, err
}

func (c *compiler) item(sc *scope, x itemExpr) (evalFunc, error) {
	value, err := c.expr(sc, x.x)
	if err != nil {
		return nil, err
	}
	switch key := x.key.(type) {
	case sliceExpr:
		return c.slice(sc, value, key, c.folding)
	case constExpr:
		if name, ok := key.value.(Str); ok {
			return constItem(value, string(name)), nil
		}
	case tupleExpr:
		for _, item := range key.items {
			if _, ok := item.(sliceExpr); ok { // unhashable, and so no key of anything
				return missingItem(value), nil
			}
		}
	}
	key, err := c.expr(sc, x.key)
	return func(f *frame) (Value, error) {
		v, err := value(f)
		if err != nil {
			return nil, err
		}
		k, err := key(f)
		if err != nil {
			return nil, err
		}
		return getitem(f.r, v, k)
	}, err
}

// constItem is x["name"].
func constItem(value evalFunc, name string) evalFunc {
	key := Str(name)
	return func(f *frame) (Value, error) {
		v, err := value(f)
		if err != nil {
			return nil, err
		}
		if d, ok := v.(*Dict); ok {
			if item, found := d.Get(name); found {
				return item, f.r.spendScan(len(name))
			}
		}
		return getitem(f.r, v, key)
	}
}

func missingItem(value evalFunc) evalFunc {
	return func(f *frame) (Value, error) {
		v, err := value(f)
		if err != nil {
			return nil, err
		}
		if u, ok := v.(*Undefined); ok {
			return nil, u.fail()
		}
		return &Undefined{obj: v, name: Str("slices")}, nil
	}
}

// slice compiles x[a:b:c]. It fails on what cannot be sliced; only when jinja2 folds constants the result is undefined.
func (c *compiler) slice(sc *scope, value evalFunc, s sliceExpr, folding bool) (evalFunc, error) {
	var bounds [3]evalFunc
	for i, x := range []expr{s.start, s.stop, s.step} {
		bounds[i] = constant(None{})
		if x != nil {
			var err error
			if bounds[i], err = c.expr(sc, x); err != nil {
				return nil, err
			}
		}
	}
	return func(f *frame) (Value, error) {
		v, err := value(f)
		if err != nil {
			return nil, err
		}
		var at [3]Value
		for i, bound := range bounds {
			if at[i], err = bound(f); err != nil {
				return nil, err
			}
		}
		part, err := slice(f.r, v, at[0], at[1], at[2])
		if folding && isType(err, "TypeError") {
			return &Undefined{obj: v, name: Str("slice")}, nil
		}
		return part, err
	}, nil
}
