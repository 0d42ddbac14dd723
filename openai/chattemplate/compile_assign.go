package chattemplate

import "strconv"

var errNoNamespace = raise("TemplateRuntimeError", "cannot assign attribute on non-namespace object")

type assignFunc func(f *frame, v Value) error

// assign compiles the storing of a value into a target.
func (c *compiler) assign(sc *scope, target expr) assignFunc {
	switch t := target.(type) {
	case nameExpr:
		return c.assignName(sc, t.name)
	case nsRefExpr:
		ns := c.name(sc, t.name)
		return func(f *frame, v Value) error {
			x, err := ns(f)
			if err != nil {
				return err
			}
			namespace, ok := x.(*Namespace)
			if !ok {
				return errNoNamespace
			}
			namespace.attrs.Set(t.attr, v)
			return nil
		}
	}
	items := target.(tupleExpr).items
	targets := make([]assignFunc, len(items))
	for i, item := range items {
		targets[i] = c.assign(sc, item)
	}
	return func(f *frame, v Value) error {
		values, err := unpack(f.r, v, len(targets))
		if err != nil {
			return err
		}
		for i, assign := range targets {
			if err := assign(f, values[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

func (c *compiler) assignName(sc *scope, name string) assignFunc {
	v, _ := sc.syms.find(name)
	slot := v.slot
	if c.hasBlocks && sc.toplevel {
		return func(f *frame, v Value) error {
			f.slots[slot] = v
			f.r.vars.Set(name, v)
			return nil
		}
	}
	return func(f *frame, v Value) error {
		f.slots[slot] = v
		return nil
	}
}

// unpack takes exactly n values out of an iterable.
func unpack(r *render, v Value, n int) ([]Value, error) {
	c, err := iterate(v)
	if err != nil {
		return nil, typeError("cannot unpack non-iterable %s object", v.typeName())
	}
	if c.next == nil && len(c.items) == n {
		return c.items, nil
	}
	values := make([]Value, 0, n)
	for {
		item, ok, err := c.advance()
		switch {
		case err != nil:
			return nil, err
		case !ok && len(values) < n:
			return nil, valueError("not enough values to unpack (expected %s, got %s)", strconv.Itoa(n), strconv.Itoa(len(values)))
		case !ok:
			return values, nil
		case len(values) == n:
			return nil, valueError("too many values to unpack (expected %s)", strconv.Itoa(n))
		}
		values = append(values, item)
	}
}

// namespaceCheck compiles the check that every ns in a target ns.attr is a namespace, made before the value is computed.
func (c *compiler) namespaceCheck(sc *scope, target expr) execFunc {
	var names []evalFunc
	var find func(x expr)
	find = func(x expr) {
		switch x := x.(type) {
		case nsRefExpr:
			names = append(names, c.name(sc, x.name))
		case tupleExpr:
			for _, item := range x.items {
				find(item)
			}
		}
	}
	find(target)
	return func(f *frame) error {
		for _, name := range names {
			v, err := name(f)
			if err != nil {
				return err
			}
			if _, ok := v.(*Namespace); !ok {
				return errNoNamespace
			}
		}
		return nil
	}
}
