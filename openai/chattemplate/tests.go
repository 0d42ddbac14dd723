package chattemplate

func testTable() map[string]testFunc {
	eq := opTest(func(r *render, a, b Value) (bool, error) { return equal(r, a, b) })
	ne := opTest(func(r *render, a, b Value) (bool, error) { ok, err := equal(r, a, b); return !ok, err })
	gt, ge, lt, le := orderTest(">"), orderTest(">="), orderTest("<"), orderTest("<=")
	return map[string]testFunc{
		"==": eq, "eq": eq, "equalto": eq, "!=": ne, "ne": ne, ">": gt, "gt": gt, "greaterthan": gt, ">=": ge, "ge": ge,
		"<": lt, "lt": lt, "lessthan": lt, "<=": le, "le": le,
		"in": opTest(func(r *render, a, b Value) (bool, error) { return contains(r, b, a) }),
		"sameas": opTest(func(r *render, a, b Value) (bool, error) {
			s, _ := text(a)
			return identical(a, b), r.spendScan(len(s))
		}),
		"divisibleby": opTest(divisible),
		"odd":         plainTest(func(r *render, v Value) (bool, error) { return remainderIs(r, v, Int(2), 1) }),
		"even":        plainTest(func(r *render, v Value) (bool, error) { return remainderIs(r, v, Int(2), 0) }),
		"lower":       caseTest(isLower), "upper": caseTest(isUpper),
		"defined": kindTest(func(v Value) bool { return !isUndefined(v) }), "undefined": kindTest(isUndefined),
		"none":     kindTest(isNone),
		"boolean":  kindTest(func(v Value) bool { _, ok := v.(Bool); return ok }),
		"true":     kindTest(func(v Value) bool { return v == Bool(true) }),
		"false":    kindTest(func(v Value) bool { return v == Bool(false) }),
		"float":    kindTest(func(v Value) bool { _, ok := v.(Float); return ok }),
		"integer":  kindTest(isInteger),
		"number":   kindTest(isNumber),
		"string":   kindTest(func(v Value) bool { _, ok := text(v); return ok }),
		"mapping":  kindTest(func(v Value) bool { _, ok := v.(*Dict); return ok }),
		"sequence": kindTest(isSequence),
		"iterable": kindTest(isIterable),
		"callable": kindTest(isCallable),
		"escaped":  kindTest(func(v Value) bool { _, ok := v.(Markup); return ok }),
		"filter": plainTest(func(r *render, v Value) (bool, error) {
			s, err := tableKey(r, v)
			return r.lib.filters[s] != nil, err
		}),
		"test": plainTest(func(r *render, v Value) (bool, error) {
			s, err := tableKey(r, v)
			return r.lib.tests[s] != nil, err
		}),
	}
}

// tableKey is v as a key of the tables of filters and tests; an unhashable one is an error.
func tableKey(r *render, v Value) (string, error) {
	if s, ok := text(v); ok {
		return s, r.spendScan(len(s))
	}
	_, err := hash(r, v, 0)
	return "", err
}

func plainTest(f func(r *render, v Value) (bool, error)) testFunc {
	return func(r *render, v Value, a args) (bool, error) {
		if len(a.pos)+len(a.kw) > 0 {
			return false, typeError("the test takes no arguments, but %s were given", reprInt(len(a.pos)+len(a.kw)))
		}
		return f(r, v)
	}
}

func kindTest(f func(v Value) bool) testFunc {
	return plainTest(func(_ *render, v Value) (bool, error) { return f(v), nil })
}

func opTest(f func(r *render, a, b Value) (bool, error)) testFunc {
	return func(r *render, v Value, a args) (bool, error) {
		var p [6]Value
		if err := a.bind(&p, "test", 1, "other"); err != nil {
			return false, err
		}
		return f(r, v, p[0])
	}
}

func orderTest(op string) testFunc {
	return opTest(func(r *render, a, b Value) (bool, error) { return compareOp(r, op, a, b) })
}

func caseTest(is func(rune) bool) testFunc {
	return plainTest(func(r *render, v Value) (bool, error) {
		s, err := str(r, v)
		if err != nil {
			return false, err
		}
		return hasCase(s, is), r.spendWork(len(s))
	})
}

func divisible(r *render, v, by Value) (bool, error) { return remainderIs(r, v, by, 0) }

func remainderIs(r *render, v, by Value, want int) (bool, error) {
	rest, err := binary(r, "%", v, by)
	if err != nil {
		return false, err
	}
	return equal(r, rest, Int(want))
}

func isUndefined(v Value) bool {
	_, ok := v.(*Undefined)
	return ok
}

func isInteger(v Value) bool {
	switch v.(type) {
	case Int, Big:
		return true
	}
	return false
}

func isSequence(v Value) bool {
	switch v.(type) {
	case Str, Markup, *List, Tuple, *Dict, Range, *Undefined, Bytes:
		return true
	}
	return false
}

func isCallable(v Value) bool {
	switch v.(type) {
	case *Func, *Macro, *Loop, *Undefined:
		return true
	}
	return false
}

// identical is a is b. Numbers and strings have no identity here: equal ones of one type count as the same object, as
// constants and small values mostly are in Python.
func identical(a, b Value) bool {
	if a.typeName() != b.typeName() {
		return false
	}
	if t, ok := a.(Tuple); ok {
		u, ok := b.(Tuple)
		return ok && len(t) == len(u) && (len(t) == 0 || &t[0] == &u[0])
	}
	if x, ok := a.(Big); ok {
		y, ok := b.(Big)
		return ok && x.n == y.n
	}
	return a == b
}
