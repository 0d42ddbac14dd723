package chattemplate

import (
	"math"
	"math/big"
	"strings"
)

// equal is a == b.
func equal(r *render, a, b Value) (bool, error) { return equalAt(r, a, b, 0) }

func equalAt(r *render, a, b Value, depth int) (bool, error) {
	if s, ok := text(a); ok {
		t, ok := text(b)
		if ok && len(s) == len(t) {
			return s == t, r.spend(1 + len(s)/scanStep)
		}
		return false, r.spend(1)
	}
	if err := r.walk(depth); err != nil {
		return false, err
	}
	switch a := a.(type) {
	case None:
		_, ok := b.(None)
		return ok, nil
	case Int, Float, Bool, Big:
		if !isNumber(b) {
			return false, nil
		}
		c, ordered := compareNumbers(a, b)
		return ordered && c == 0, spendNumbers(r, a, b)
	case *Undefined:
		_, ok := b.(*Undefined)
		return ok, nil
	case *List:
		if b, ok := b.(*List); ok {
			return equalItems(r, a.items, b.items, depth)
		}
		return false, nil
	case Tuple:
		if b, ok := b.(Tuple); ok {
			return equalItems(r, a, b, depth)
		}
		return false, nil
	case *Dict:
		if b, ok := b.(*Dict); ok {
			return equalDicts(r, a, b, depth)
		}
		return false, nil
	case View:
		b, ok := b.(View)
		if !ok || a.kind == "dict_values" || b.kind == "dict_values" {
			return ok && a == b, nil
		}
		return equalSets(r, a.list(), b.list())
	case Range:
		if b, ok := b.(Range); ok {
			n := a.len()
			return n == b.len() && (n == 0 || a.start == b.start && (n == 1 || a.step == b.step)), nil
		}
		return false, nil
	}
	if _, ok := b.(Tuple); ok {
		return false, nil
	}
	return a == b, nil // functions and objects are equal to themselves
}

// same is a is b, for values that have an identity.
func same(a, b Value) bool {
	switch a.(type) {
	case *List, *Dict, *Undefined, *Namespace, *Macro, *Func, *Iter, *Loop, None, Bool:
		return a == b
	}
	return false
}

func equalItems(r *render, a, b []Value, depth int) (bool, error) {
	if len(a) != len(b) {
		return false, nil
	}
	for i := range a {
		if same(a[i], b[i]) {
			continue
		}
		if ok, err := equalAt(r, a[i], b[i], depth+1); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func equalDicts(r *render, a, b *Dict, depth int) (bool, error) {
	if a.Len() != b.Len() {
		return false, nil
	}
	for i, key := range a.keys {
		other, found, err := b.lookup(r, key)
		if err != nil || !found {
			return false, err
		}
		if same(a.values[i], other) {
			continue
		}
		if ok, err := equalAt(r, a.values[i], other, depth+1); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

func equalSets(r *render, a, b []Value) (bool, error) {
	if len(a) != len(b) {
		return false, nil
	}
	for _, item := range a {
		if ok, err := containsItem(r, b, item); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// spendNumbers charges for reading long ints.
func spendNumbers(r *render, a, b Value) error {
	n := 0
	for _, v := range [2]Value{a, b} {
		if x, ok := v.(Big); ok {
			n += x.n.BitLen() / 8
		}
	}
	return r.spendScan(n)
}

// compareNumbers is exact also between a float and an int that no float holds; ordered is false with a NaN.
func compareNumbers(a, b Value) (c int, ordered bool) {
	x, xInt := a.(Int)
	y, yInt := b.(Int)
	if xInt && yInt {
		return compareOrdered(x, y), true
	}
	f, fFloat := a.(Float)
	g, gFloat := b.(Float)
	switch {
	case fFloat && gFloat:
		return compareFloats(float64(f), float64(g))
	case fFloat:
		c, ordered = compareFloatInt(float64(f), b)
		return c, ordered
	case gFloat:
		c, ordered = compareFloatInt(float64(g), a)
		return -c, ordered
	}
	m, _ := asBig(a)
	n, _ := asBig(b)
	return m.Cmp(n), true
}

func compareOrdered[T Int | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareFloats(f, g float64) (int, bool) {
	return compareOrdered(f, g), !math.IsNaN(f) && !math.IsNaN(g)
}

func compareFloatInt(f float64, v Value) (int, bool) {
	if math.IsNaN(f) {
		return 0, false
	}
	if math.IsInf(f, 0) {
		return compareOrdered(f, 0), true
	}
	n, _ := asBig(v)
	return new(big.Float).SetFloat64(f).Cmp(new(big.Float).SetPrec(uint(n.BitLen()) + 64).SetInt(n)), true
}

// order3 is -1, 0 or 1 for values that < can compare.
func order3(r *render, a, b Value) (int, error) {
	less, err := compareOp(r, "<", a, b)
	if err != nil || less {
		return -1, err
	}
	greater, err := compareOp(r, "<", b, a)
	if err != nil || !greater {
		return 0, err
	}
	return 1, nil
}

// compareOp is a op b for <, <=, > and >=.
func compareOp(r *render, op string, a, b Value) (bool, error) { return compareAt(r, op, a, b, 0) }

func compareAt(r *render, op string, a, b Value, depth int) (bool, error) {
	if err := r.walk(depth); err != nil {
		return false, err
	}
	if isNumber(a) && isNumber(b) {
		c, ordered := compareNumbers(a, b)
		return ordered && opHolds(op, c), spendNumbers(r, a, b)
	}
	if s, ok := text(a); ok {
		if t, ok := text(b); ok {
			return opHolds(op, strings.Compare(s, t)), r.spendScan(min(len(s), len(t)))
		}
	}
	if u, ok := a.(*Undefined); ok {
		return false, u.fail()
	}
	if u, ok := b.(*Undefined); ok {
		return false, u.fail()
	}
	switch x := a.(type) {
	case *List:
		if y, ok := b.(*List); ok {
			return compareItems(r, op, x.items, y.items, depth)
		}
	case Tuple:
		if y, ok := b.(Tuple); ok {
			return compareItems(r, op, x, y, depth)
		}
	}
	return false, typeError("'%s' not supported between instances of '%s' and '%s'", op, a.typeName(), b.typeName())
}

func opHolds(op string, c int) bool {
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// compareItems orders sequences by their first items that differ, then by length.
func compareItems(r *render, op string, a, b []Value, depth int) (bool, error) {
	for i := 0; i < len(a) && i < len(b); i++ {
		if same(a[i], b[i]) {
			continue
		}
		eq, err := equalAt(r, a[i], b[i], depth+1)
		if err != nil {
			return false, err
		}
		if !eq {
			return compareAt(r, op, a[i], b[i], depth+1)
		}
	}
	return opHolds(op, compareOrdered(Int(len(a)), Int(len(b)))), nil
}

func containsItem(r *render, items []Value, item Value) (bool, error) {
	for _, other := range items {
		if same(item, other) {
			return true, nil
		}
		if ok, err := equal(r, item, other); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// contains is item in v.
func contains(r *render, v, item Value) (bool, error) {
	switch v := v.(type) {
	case Str:
		return containsText(r, string(v), item)
	case Markup:
		return containsText(r, string(v), item)
	case *List:
		return containsItem(r, v.items, item)
	case Tuple:
		return containsItem(r, v, item)
	case *Dict:
		_, found, err := v.lookup(r, item)
		return found, err
	case Range:
		return v.contains(item), nil
	}
	c, err := iterate(v)
	if err != nil {
		return false, typeError("argument of type '%s' is not iterable", v.typeName())
	}
	for {
		other, ok, err := c.advance()
		if err != nil || !ok {
			return false, err
		}
		if ok, err := containsItem(r, []Value{other}, item); ok || err != nil {
			return ok, err
		}
	}
}

func containsText(r *render, s string, item Value) (bool, error) {
	sub, ok := text(item)
	if !ok {
		return false, typeError("'in <string>' requires string as left operand, not %s", item.typeName())
	}
	return strings.Contains(s, sub), r.spendScan(len(s))
}
