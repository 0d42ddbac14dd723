package chattemplate

import (
	"math"
	"math/big"
	"strings"
)

// binary is a op b for an arithmetic operator.
func binary(r *render, op string, a, b Value) (Value, error) {
	if op == "+" {
		return add(r, a, b)
	}
	if isNumber(a) && isNumber(b) {
		return numeric(r, op, a, b)
	}
	if s, ok := text(a); ok && op == "%" {
		return percent(r, s, a, b)
	}
	if u, ok := a.(*Undefined); ok {
		return nil, u.fail()
	}
	if u, ok := b.(*Undefined); ok {
		return nil, u.fail()
	}
	if op == "*" {
		return repeat(r, a, b)
	}
	return nil, operandError(op, a, b)
}

func operandError(op string, a, b Value) error {
	if op == "**" {
		op = "** or pow()"
	}
	return typeError("unsupported operand type(s) for %s: '%s' and '%s'", op, a.typeName(), b.typeName())
}

func add(r *render, a, b Value) (Value, error) {
	switch x := a.(type) {
	case Int:
		if y, ok := b.(Int); ok {
			if sum := x + y; (sum > x) == (y > 0) {
				return sum, nil
			}
		}
	case Str:
		if y, ok := b.(Str); ok {
			return concatText(r, string(x), string(y))
		}
	}
	if isNumber(a) && isNumber(b) {
		return numeric(r, "+", a, b)
	}
	if u, ok := a.(*Undefined); ok {
		return nil, u.fail()
	}
	if u, ok := b.(*Undefined); ok {
		return nil, u.fail()
	}
	return addSequences(r, a, b)
}

func concatText(r *render, a, b string) (Value, error) {
	if err := r.spendCopy(len(a) + len(b)); err != nil {
		return nil, err
	}
	return Str(a + b), nil
}

func addSequences(r *render, a, b Value) (Value, error) {
	_, aMarkup := a.(Markup)
	_, bMarkup := b.(Markup)
	s, aText := text(a)
	t, bText := text(b)
	switch {
	case aText && bText && (aMarkup || bMarkup):
		v, err := concatText(r, escapeValue(a, s), escapeValue(b, t))
		if err != nil {
			return nil, err
		}
		return Markup(v.(Str)), nil
	case aText && !aMarkup:
		return nil, typeError(`can only concatenate str (not "%s") to str`, b.typeName())
	}
	switch x := a.(type) {
	case *List:
		y, ok := b.(*List)
		if !ok {
			return nil, typeError(`can only concatenate list (not "%s") to list`, b.typeName())
		}
		items, err := joinItems(r, x.items, y.items)
		return newList(items), err
	case Tuple:
		y, ok := b.(Tuple)
		if !ok {
			return nil, typeError(`can only concatenate tuple (not "%s") to tuple`, b.typeName())
		}
		items, err := joinItems(r, x, y)
		return Tuple(items), err
	}
	return nil, operandError("+", a, b)
}

func joinItems(r *render, a, b []Value) ([]Value, error) {
	if err := r.spend(len(a) + len(b)); err != nil {
		return nil, err
	}
	items := make([]Value, 0, len(a)+len(b))
	return append(append(items, a...), b...), nil
}

// repeat is a sequence times an int, either way round.
func repeat(r *render, a, b Value) (Value, error) {
	n, ok := asInt(b)
	seq := a
	if !ok {
		if n, ok = asInt(a); !ok {
			return nil, repeatError(a, b)
		}
		seq = b
	}
	n = max(n, 0)
	switch x := seq.(type) {
	case Str, Markup:
		s, _ := text(x)
		if n > 0 && len(s) > r.limits.Output/n {
			return nil, limitError("output size")
		}
		if err := r.spendCopy(n * len(s)); err != nil {
			return nil, err
		}
		return sameText(x, strings.Repeat(s, n)), nil
	case *List:
		items, err := repeatItems(r, x.items, n)
		return newList(items), err
	case Tuple:
		items, err := repeatItems(r, x, n)
		return Tuple(items), err
	}
	return nil, operandError("*", a, b)
}

func repeatError(a, b Value) error {
	switch {
	case isRepeatable(a):
		return typeError("can't multiply sequence by non-int of type '%s'", b.typeName())
	case isRepeatable(b):
		return typeError("can't multiply sequence by non-int of type '%s'", a.typeName())
	}
	return operandError("*", a, b)
}

func isRepeatable(v Value) bool {
	switch v.(type) {
	case Str, Markup, *List, Tuple:
		return true
	}
	return false
}

func repeatItems(r *render, items []Value, n int) ([]Value, error) {
	if len(items) == 0 {
		return nil, nil
	}
	if n > r.limits.Steps/len(items) {
		return nil, limitError("steps")
	}
	if err := r.spend(n * len(items)); err != nil {
		return nil, err
	}
	out := make([]Value, 0, n*len(items))
	for range n {
		out = append(out, items...)
	}
	return out, nil
}

// numeric is a op b for numbers: in floats when one is a float, else in ints of any size.
func numeric(r *render, op string, a, b Value) (Value, error) {
	_, aFloat := a.(Float)
	_, bFloat := b.(Float)
	if aFloat || bFloat {
		x, err := asFloat(a)
		if err != nil {
			return nil, err
		}
		y, err := asFloat(b)
		if err != nil {
			return nil, err
		}
		return floatOp(op, x, y)
	}
	if x, ok := asInt(a); ok {
		if y, ok := asInt(b); ok {
			if v, ok := smallOp(op, x, y); ok {
				return v, nil
			}
		}
	}
	x, _ := asBig(a)
	y, _ := asBig(b)
	if err := r.spend(itemSteps + bigCost(op, x, y)); err != nil {
		return nil, err
	}
	return bigOp(op, x, y)
}

// smallOp covers what is certain to fit.
func smallOp(op string, x, y int) (Value, bool) {
	const half = 1 << 31
	if x <= -half || x >= half || y <= -half || y >= half {
		return nil, false
	}
	switch op {
	case "+":
		return Int(x + y), true
	case "-":
		return Int(x - y), true
	case "*":
		return Int(x * y), true
	}
	if y == 0 {
		return nil, false
	}
	switch op {
	case "/":
		return Float(float64(x) / float64(y)), true
	case "//":
		q := x / y
		if x%y != 0 && (x < 0) != (y < 0) {
			q--
		}
		return Int(q), true
	case "%":
		m := x % y
		if m != 0 && (m < 0) != (y < 0) {
			m += y
		}
		return Int(m), true
	}
	return nil, false
}

// bigCost is the steps of an operation on ints: by the size of the result where that is longer than what goes in.
func bigCost(op string, x, y *big.Int) int {
	bits := x.BitLen() + y.BitLen()
	switch op {
	case "/", "//", "%":
		return bits / 8
	case "**":
		if y.Sign() > 0 && y.BitLen() <= 20 {
			bits += min(x.BitLen()*int(y.Int64()), maxBits)
		}
	}
	return bits / 32
}

func bigOp(op string, x, y *big.Int) (Value, error) {
	z := new(big.Int)
	switch op {
	case "+":
		return fromBig(z.Add(x, y)), nil
	case "-":
		return fromBig(z.Sub(x, y)), nil
	case "*":
		if x.BitLen()+y.BitLen() > maxBits {
			return nil, limitError("integer size")
		}
		return fromBig(z.Mul(x, y)), nil
	case "**":
		return bigPower(x, y)
	}
	if y.Sign() == 0 {
		what := map[string]string{"/": "division by zero", "//": "integer division or modulo by zero", "%": "integer modulo by zero"}[op]
		return nil, raise("ZeroDivisionError", what)
	}
	switch op {
	case "/":
		if x.Sign() == 0 {
			return Float(math.Copysign(0, float64(y.Sign()))), nil
		}
		f := quotient(x, y)
		if math.IsInf(f, 0) {
			return nil, raise("OverflowError", "integer division result too large for a float")
		}
		return Float(f), nil
	case "//":
		q, _ := floorDiv(x, y)
		return fromBig(q), nil
	}
	_, m := floorDiv(x, y)
	return fromBig(m), nil
}

// quotient is x/y rounded once. A fraction reduces its terms, which takes too long for large ones.
func quotient(x, y *big.Int) float64 {
	if x.BitLen()+y.BitLen() <= 4096 {
		f, _ := new(big.Rat).SetFrac(x, y).Float64()
		return f
	}
	f, _ := new(big.Float).SetPrec(53).Quo(new(big.Float).SetInt(x), new(big.Float).SetInt(y)).Float64()
	return f
}

// floorDiv rounds the quotient down; the remainder has y's sign.
func floorDiv(x, y *big.Int) (q, m *big.Int) {
	q, m = new(big.Int).QuoRem(x, y, new(big.Int))
	if m.Sign() != 0 && m.Sign() != y.Sign() {
		q.Sub(q, big.NewInt(1))
		m.Add(m, y)
	}
	return q, m
}

func floatOp(op string, x, y float64) (Value, error) {
	switch op {
	case "+":
		return Float(x + y), nil
	case "-":
		return Float(x - y), nil
	case "*":
		return Float(x * y), nil
	case "**":
		return floatPower(x, y)
	}
	if y == 0 {
		what := map[string]string{"/": "float division by zero", "//": "float floor division by zero", "%": "float modulo"}[op]
		return nil, raise("ZeroDivisionError", what)
	}
	if op == "/" {
		return Float(x / y), nil
	}
	div, mod := floatDivmod(x, y)
	if op == "//" {
		return Float(div), nil
	}
	return Float(mod), nil
}

// floatDivmod follows CPython's, whose quotient is rounded from the exact remainder.
func floatDivmod(x, y float64) (div, mod float64) {
	mod = math.Mod(x, y)
	div = (x - mod) / y
	if mod != 0 {
		if (y < 0) != (mod < 0) {
			mod += y
			div--
		}
	} else {
		mod = math.Copysign(0, y)
	}
	if div == 0 {
		return math.Copysign(0, x/y), mod
	}
	floor := math.Floor(div)
	if div-floor > 0.5 {
		floor++
	}
	return floor, mod
}

// negate is -v, plus is +v.
func negate(r *render, v Value) (Value, error) {
	switch v := v.(type) {
	case Float:
		return -v, nil
	case Int, Bool, Big:
		return numeric(r, "-", Int(0), v)
	case *Undefined:
		return nil, v.fail()
	}
	return nil, typeError("bad operand type for unary -: '%s'", v.typeName())
}

func plus(r *render, v Value) (Value, error) {
	switch v := v.(type) {
	case Float, Int, Big:
		return v, nil
	case Bool:
		return numeric(r, "+", Int(0), v)
	case *Undefined:
		return nil, v.fail()
	}
	return nil, typeError("bad operand type for unary +: '%s'", v.typeName())
}
