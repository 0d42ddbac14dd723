package chattemplate

import (
	"cmp"
	"strconv"
)

func reprInt(n int) string { return strconv.Itoa(n) }

type argsFunc func(f *frame) (args, error)

func (c *compiler) args(sc *scope, a argList) (argsFunc, error) {
	seen := map[string]bool{}
	for _, kw := range a.kw {
		if seen[kw.name] {
			return nil, raise("SyntaxError", "keyword argument repeated: "+kw.name)
		}
		seen[kw.name] = true
	}
	pos, err := c.exprs(sc, a.pos)
	if err != nil {
		return nil, err
	}
	kwExprs := make([]expr, len(a.kw))
	for i, kw := range a.kw {
		kwExprs[i] = kw.value
	}
	kw, err := c.exprs(sc, kwExprs)
	if err != nil {
		return nil, err
	}
	simple := func(f *frame) (args, error) {
		var out args
		if len(pos) > 0 {
			out.pos = make([]Value, len(pos))
		}
		for i, value := range pos {
			var err error
			if out.pos[i], err = value(f); err != nil {
				return out, err
			}
		}
		for i, value := range kw {
			v, err := value(f)
			if err != nil {
				return out, err
			}
			out.kw = append(out.kw, kwarg{a.kw[i].name, v})
		}
		return out, nil
	}
	if a.star == nil && a.starStar == nil {
		return simple, nil
	}
	return c.starArgs(sc, a, simple)
}

func (c *compiler) starArgs(sc *scope, a argList, simple argsFunc) (argsFunc, error) {
	star, starStar := constant(Tuple(nil)), constant(NewDict(0))
	var err error
	if a.star != nil {
		if star, err = c.expr(sc, a.star); err != nil {
			return nil, err
		}
	}
	if a.starStar != nil {
		if starStar, err = c.expr(sc, a.starStar); err != nil {
			return nil, err
		}
	}
	return func(f *frame) (args, error) {
		out, err := simple(f)
		if err != nil {
			return out, err
		}
		more, err := star(f)
		if err != nil {
			return out, err
		}
		items, err := collect(f.r, more)
		if err != nil {
			return out, typeError("argument after * must be an iterable, not %s", more.typeName())
		}
		if err := f.r.spend(len(items)); err != nil {
			return out, err
		}
		out.pos = append(out.pos, items...)
		kw, err := starStar(f)
		if err != nil {
			return out, err
		}
		return out, out.addKeywords(f.r, kw)
	}, nil
}

func (a *args) addKeywords(r *render, v Value) error {
	d, ok := v.(*Dict)
	if !ok {
		return typeError("argument after ** must be a mapping, not %s", v.typeName())
	}
	for i, key := range d.keys {
		name, ok := text(key)
		if !ok {
			return typeError("keywords must be strings")
		}
		if err := r.spend(1 + len(a.kw)); err != nil {
			return err
		}
		for _, kw := range a.kw {
			if kw.name == name {
				return typeError("got multiple values for keyword argument '%s'", name)
			}
		}
		a.kw = append(a.kw, kwarg{name, d.values[i]})
	}
	return nil
}

func (c *compiler) call(sc *scope, x callExpr) (evalFunc, error) {
	eval, err := c.args(sc, x.args)
	if err != nil {
		return nil, err
	}
	if method, ok := x.x.(attrExpr); ok {
		return c.methodCall(sc, method, eval)
	}
	target, err := c.expr(sc, x.x)
	return func(f *frame) (Value, error) {
		fn, err := target(f)
		if err != nil {
			return nil, err
		}
		a, err := eval(f)
		if err != nil {
			return nil, err
		}
		return call(f.r, fn, a)
	}, err
}

// methodCall calls the methods of str and dict, the most common ones, without making a bound method first.
func (c *compiler) methodCall(sc *scope, x attrExpr, eval argsFunc) (evalFunc, error) {
	self, err := c.expr(sc, x.x)
	name := x.name
	ofDict := dictMethods[name]
	ofStr, _ := strMethod(name)
	return func(f *frame) (Value, error) {
		v, err := self(f)
		if err != nil {
			return nil, err
		}
		var method methodFunc
		switch v.(type) {
		case Str, Markup:
			method = ofStr
		case *Dict:
			method = ofDict
		}
		if method == nil {
			fn, err := getattr(f.r, v, name)
			if err != nil {
				return nil, err
			}
			a, err := eval(f)
			if err != nil {
				return nil, err
			}
			return call(f.r, fn, a)
		}
		a, err := eval(f)
		if err != nil {
			return nil, err
		}
		if err := f.r.spend(1); err != nil {
			return nil, err
		}
		return method(f.r, v, a)
	}, err
}

// call is fn(*a).
func call(r *render, fn Value, a args) (Value, error) {
	if err := r.spend(1); err != nil {
		return nil, err
	}
	switch fn := fn.(type) {
	case *Func:
		v, err := fn.call(r, a)
		return v, cmp.Or(err, r.spendMade(v))
	case *Macro:
		return fn.call(r, a)
	case *Loop:
		return fn.call(a)
	case *Undefined:
		return nil, fn.fail()
	}
	return nil, typeError("'%s' object is not callable", fn.typeName())
}

func (c *compiler) filter(sc *scope, x filterExpr) (evalFunc, error) {
	value, err := c.expr(sc, x.x)
	if err != nil {
		return nil, err
	}
	apply, err := c.filterCall(sc, x)
	return func(f *frame) (Value, error) {
		v, err := value(f)
		if err != nil {
			return nil, err
		}
		return apply(f, v)
	}, err
}

type applyFunc func(f *frame, v Value) (Value, error)

func (c *compiler) filterCall(sc *scope, x filterExpr) (applyFunc, error) {
	filter, known := builtins.filters[x.name]
	if !known && !sc.soft {
		return nil, &Error{Type: "TemplateAssertionError", Message: "No filter named " + reprString(x.name) + ".", Line: x.line}
	}
	if !known {
		filter = func(*render, Value, args) (Value, error) { return nil, unknown("filter", x.name) }
	}
	eval, err := c.args(sc, x.args)
	return func(f *frame, v Value) (Value, error) {
		a, err := eval(f)
		if err != nil {
			return nil, err
		}
		if err := f.r.spend(1); err != nil {
			return nil, err
		}
		if v, err = filter(f.r, v, a); err != nil {
			return nil, err
		}
		return v, f.r.spendMade(v)
	}, err
}

func unknown(what, name string) error {
	return raise("TemplateRuntimeError", "No "+what+" named "+reprString(name)+" found.")
}

// filterText compiles the filters of a filter or set block, to be applied to its text; nil stands for none.
func (c *compiler) filterText(sc *scope, x expr) (applyFunc, error) {
	filter, ok := x.(filterExpr)
	if !ok {
		return nil, nil
	}
	before, err := c.filterText(sc, filter.x)
	if err != nil {
		return nil, err
	}
	apply, err := c.filterCall(sc, filter)
	if before == nil {
		return apply, err
	}
	return func(f *frame, v Value) (Value, error) {
		v, err := before(f, v)
		if err != nil {
			return nil, err
		}
		return apply(f, v)
	}, err
}

func (c *compiler) test(sc *scope, x testExpr) (condFunc, error) {
	value, err := c.expr(sc, x.x)
	if err != nil {
		return nil, err
	}
	test, known := builtins.tests[x.name]
	if !known && !sc.soft {
		return nil, &Error{Type: "TemplateAssertionError", Message: "No test named " + reprString(x.name) + ".", Line: x.line}
	}
	if !known {
		test = func(*render, Value, args) (bool, error) { return false, unknown("test", x.name) }
	}
	eval, err := c.args(sc, x.args)
	return func(f *frame) (bool, error) {
		v, err := value(f)
		if err != nil {
			return false, err
		}
		a, err := eval(f)
		if err != nil {
			return false, err
		}
		return test(f.r, v, a)
	}, err
}
