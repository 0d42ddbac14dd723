package chattemplate

import "cmp"

// mapFilter applies a filter or takes an attribute, item by item as they are asked for.
func mapFilter(r *render, v Value, a args) (Value, error) {
	var apply func(item Value) (Value, error)
	var c cursor
	return generator(func() (Value, bool, error) {
		if apply == nil {
			if !truth(v) {
				return nil, false, nil
			}
			var err error
			if apply, err = mapFunction(r, a); err != nil {
				return nil, false, err
			}
			if c, err = iterate(v); err != nil {
				return nil, false, err
			}
		}
		item, ok, err := c.advance()
		if err != nil || !ok {
			return nil, false, err
		}
		if err := r.spend(1); err != nil {
			return nil, false, err
		}
		item, err = apply(item)
		return item, true, err
	}), nil
}

func mapFunction(r *render, a args) (func(Value) (Value, error), error) {
	if attribute, ok := a.keyword("attribute"); ok && len(a.pos) == 0 {
		fallback, _ := a.keyword("default")
		for _, kw := range a.kw {
			if kw.name != "attribute" && kw.name != "default" {
				return nil, argumentError("Unexpected keyword argument %s", reprString(kw.name))
			}
		}
		return attrGetter(r, attribute, fallback, false)
	}
	if len(a.pos) == 0 {
		return nil, argumentError("map requires a filter argument")
	}
	name, _ := text(a.pos[0])
	filter := r.lib.filters[name]
	if filter == nil {
		return nil, raise("TemplateRuntimeError", "No filter named "+reprString(name)+".")
	}
	rest := args{a.pos[1:], a.kw}
	return func(item Value) (Value, error) {
		v, err := filter(r, item, rest)
		return v, cmp.Or(err, r.spendMade(v))
	}, nil
}

func (a args) keyword(name string) (Value, bool) {
	for _, kw := range a.kw {
		if kw.name == name {
			return kw.value, true
		}
	}
	return nil, false
}

// selectFilter makes select, reject, selectattr and rejectattr.
func selectFilter(name string, byAttribute, want bool) filterFunc {
	return func(r *render, v Value, a args) (Value, error) {
		if !truth(v) {
			return sliceIter("generator", nil), nil
		}
		var holds func(item Value) (bool, error)
		return lazy(v, func(item Value) (bool, error) {
			if holds == nil {
				var err error
				if holds, err = selectFunction(r, a, byAttribute); err != nil {
					return false, err
				}
			}
			if err := r.spend(1); err != nil {
				return false, err
			}
			ok, err := holds(item)
			return ok == want, err
		}), nil
	}
}

func selectFunction(r *render, a args, byAttribute bool) (func(Value) (bool, error), error) {
	var path Value
	if byAttribute {
		if len(a.pos) == 0 {
			return nil, argumentError("Missing parameter for attribute name")
		}
		path, a.pos = a.pos[0], a.pos[1:]
	}
	get, err := attrGetter(r, path, nil, false)
	if err != nil {
		return nil, err
	}
	if len(a.pos) == 0 {
		return func(item Value) (bool, error) {
			v, err := get(item)
			return err == nil && truth(v), err
		}, nil
	}
	name, _ := text(a.pos[0])
	test := r.lib.tests[name]
	if err := r.spendScan(len(name)); err != nil {
		return nil, err
	}
	if test == nil {
		return nil, raise("TemplateRuntimeError", "No test named "+reprString(name)+".")
	}
	rest := args{a.pos[1:], a.kw}
	return func(item Value) (bool, error) {
		v, err := get(item)
		if err != nil {
			return false, err
		}
		return test(r, v, rest)
	}, nil
}

func joinFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "join", 0, "d", "attribute"); err != nil {
		return nil, err
	}
	if p[0] == nil {
		p[0] = Str("")
	}
	c, err := iterate(v)
	if err != nil {
		return nil, err
	}
	get, err := attrGetter(r, p[1], nil, false)
	if err != nil {
		return nil, err
	}
	if r.autoescape {
		return joinEscaped(r, v, p[0], get)
	}
	sep, err := str(r, p[0])
	if err != nil {
		return nil, err
	}
	var b []byte
	for n := 0; ; n++ {
		item, ok, err := c.advance()
		if err != nil {
			return nil, err
		}
		if !ok {
			return Str(b), nil
		}
		if item, err = get(item); err != nil {
			return nil, err
		}
		s, err := str(r, item)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			b = append(b, sep...)
		}
		b = append(b, s...)
		if err := r.spend(1 + (len(s)+len(sep))/scanStep); err != nil {
			return nil, err
		}
		if len(b) > r.limits.Output {
			return nil, limitError("output size")
		}
	}
}

// joinEscaped joins under autoescape: once one part is Markup, all others are escaped.
func joinEscaped(r *render, v, sep Value, get getter) (Value, error) {
	items, err := collect(r, v)
	if err != nil {
		return nil, err
	}
	_, hasMarkup := sep.(Markup)
	if err := r.spend(2 * len(items)); err != nil {
		return nil, err
	}
	parts := make([]Value, 0, 2*len(items))
	for i, item := range items {
		if item, err = get(item); err != nil {
			return nil, err
		}
		_, isMarkup := item.(Markup)
		hasMarkup = hasMarkup || isMarkup
		if i > 0 {
			parts = append(parts, sep)
		}
		parts = append(parts, item)
	}
	if !hasMarkup {
		return joinText(r, parts)
	}
	for i, part := range parts {
		if parts[i], err = escape(r, part); err != nil {
			return nil, err
		}
	}
	s, err := joinText(r, parts)
	if err != nil {
		return nil, err
	}
	return Markup(s.(Str)), nil
}

func batchFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "batch", 1, "linecount", "fill_with"); err != nil {
		return nil, err
	}
	var c cursor
	started := false
	var pending []Value
	done := false
	return generator(func() (Value, bool, error) {
		if !started {
			var err error
			if c, err = iterate(v); err != nil {
				return nil, false, err
			}
			started = true
		}
		for !done {
			item, ok, err := c.advance()
			if err != nil {
				return nil, false, err
			}
			if !ok {
				done = true
				break
			}
			full, err := equal(r, Int(len(pending)), p[0])
			if err != nil {
				return nil, false, err
			}
			if full {
				batch := newList(pending)
				pending = []Value{item}
				return batch, true, nil
			}
			pending = append(pending, item)
		}
		return lastBatch(r, &pending, p[0], p[1])
	}), nil
}

func lastBatch(r *render, pending *[]Value, size, fill Value) (Value, bool, error) {
	batch := *pending
	*pending = nil
	if len(batch) == 0 {
		return nil, false, nil
	}
	if !isNone(fill) {
		n, ok := asInt(size)
		if !ok {
			return nil, false, typeError("'<' not supported between instances of 'int' and '%s'", size.typeName())
		}
		if err := r.spend(max(n-len(batch), 0)); err != nil {
			return nil, false, err
		}
		for len(batch) < n {
			batch = append(batch, fill)
		}
	}
	return newList(batch), true, nil
}

func sliceFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "slice", 1, "slices", "fill_with"); err != nil {
		return nil, err
	}
	number, offset := 0, 0
	var items []Value
	return generator(func() (Value, bool, error) {
		n, ok := asInt(p[0])
		if number == 0 {
			all, err := collect(r, v)
			if err != nil {
				return nil, false, err
			}
			if !ok {
				return nil, false, typeError("unsupported operand type(s) for //: 'int' and '%s'", p[0].typeName())
			}
			if n == 0 {
				return nil, false, raise("ZeroDivisionError", "integer division or modulo by zero")
			}
			items = all
		}
		if number >= n {
			return nil, false, nil
		}
		per, extra := len(items)/n, len(items)%n
		start := offset + number*per
		if number < extra {
			offset++
		}
		part := append([]Value{}, items[start:offset+(number+1)*per]...)
		if !isNone(p[1]) && number >= extra {
			part = append(part, p[1])
		}
		number++
		return newList(part), true, r.spend(1 + len(part))
	}), nil
}
