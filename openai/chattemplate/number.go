package chattemplate

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

func fromBig(n *big.Int) Value {
	if n.IsInt64() {
		return Int(n.Int64())
	}
	return Big{n}
}

// bigFromFloat truncates a finite float.
func bigFromFloat(f float64) *big.Int {
	n, _ := new(big.Float).SetFloat64(math.Trunc(f)).Int(nil)
	return n
}

// asBig returns any int, bools included.
func asBig(v Value) (*big.Int, bool) {
	switch v := v.(type) {
	case Int:
		return big.NewInt(int64(v)), true
	case Big:
		return v.n, true
	case Bool:
		i, _ := asInt(v)
		return big.NewInt(int64(i)), true
	}
	return nil, false
}

func isNumber(v Value) bool {
	switch v.(type) {
	case Int, Float, Bool, Big:
		return true
	}
	return false
}

// asFloat is float(v) for a number; it fails as Python does for an int beyond the range.
func asFloat(v Value) (float64, error) {
	switch v := v.(type) {
	case Float:
		return float64(v), nil
	case Int:
		return float64(v), nil
	case Bool:
		i, _ := asInt(v)
		return float64(i), nil
	case Big:
		f, _ := new(big.Float).SetInt(v.n).Float64()
		if math.IsInf(f, 0) {
			return 0, raise("OverflowError", "int too large to convert to float")
		}
		return f, nil
	}
	return 0, typeError("float() argument must be a string or a real number, not '%s'", v.typeName())
}

// reprFloat is repr(f): the shortest digits that read back, in exponent form below 1e-4 and from 1e16 on.
func reprFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64) // two exponent digits at least, as Python
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if strings.IndexByte(s, '.') < 0 {
		s += ".0"
	}
	return s
}

// bigText is str(n), which Python refuses for very long integers.
func bigText(n *big.Int) (string, error) {
	if n.BitLen() > maxDigits*10/3+1 {
		return "", valueError("Exceeds the limit (4300 digits) for integer string conversion")
	}
	s := n.String()
	if len(strings.TrimPrefix(s, "-")) > maxDigits {
		return "", valueError("Exceeds the limit (4300 digits) for integer string conversion")
	}
	return s, nil
}

// parseInt is int(s, base).
func parseInt(s string, base int) (Value, error) {
	fail := func() (Value, error) {
		return nil, valueError("invalid literal for int() with base %s: %s", strconv.Itoa(base), reprString(s))
	}
	if base != 0 && (base < 2 || base > 36) {
		return nil, valueError("int() base must be >= 2 and <= 36, or 0")
	}
	t := asciiDigits(strings.TrimFunc(s, unicode.IsSpace))
	negative := strings.HasPrefix(t, "-")
	if negative || strings.HasPrefix(t, "+") {
		t = t[1:]
	}
	if len(t) > 2 && t[0] == '0' {
		prefixBase := map[byte]int{'x': 16, 'o': 8, 'b': 2}[t[1]|0x20]
		if prefixBase != 0 && (base == prefixBase || base == 0) {
			t, base = strings.TrimPrefix(t[2:], "_"), prefixBase
		}
	}
	if base == 0 {
		if len(t) > 1 && t[0] == '0' && strings.Trim(t, "0_") != "" {
			return fail()
		}
		base = 10
	}
	if t == "" || t[0] == '_' || t[len(t)-1] == '_' || strings.Contains(t, "__") || t[0] == '-' || t[0] == '+' {
		return fail()
	}
	t = strings.ReplaceAll(t, "_", "")
	if len(t) > maxDigits {
		return nil, valueError("Exceeds the limit (4300 digits) for integer string conversion: value has %s digits", strconv.Itoa(len(t)))
	}
	n, ok := new(big.Int).SetString(t, base)
	if !ok {
		return fail()
	}
	if negative {
		n.Neg(n)
	}
	return fromBig(n), nil
}

// parseFloat is float(s).
func parseFloat(s string) (float64, error) {
	fail := func() (float64, error) {
		return 0, valueError("could not convert string to float: %s", reprString(s))
	}
	t := asciiDigits(strings.TrimFunc(s, unicode.IsSpace))
	low := strings.ToLower(strings.TrimLeft(t, "+-"))
	switch low {
	case "inf", "infinity", "nan":
		if len(t)-len(low) > 1 {
			return fail()
		}
		f, err := strconv.ParseFloat(t, 64)
		if err != nil {
			return fail()
		}
		return f, nil
	}
	for i := 0; i < len(t); i++ {
		if c := t[i]; c == '_' && (i == 0 || i+1 == len(t) || !isDecimalDigit(t[i-1]) || !isDecimalDigit(t[i+1])) ||
			!isDecimalDigit(c) && strings.IndexByte("_.eE+-", c) < 0 {
			return fail()
		}
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(t, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) {
		return fail()
	}
	return f, nil
}

// asciiDigits replaces the decimal digits of other scripts.
func asciiDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			if d := digitValue(r); d >= 0 {
				return rune('0' + d)
			}
		}
		return r
	}, s)
}

// roundHalfEven is round(f, digits).
func roundHalfEven(f float64, digits int) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) || digits > 323 {
		return f
	}
	if digits < -308 {
		return 0 * f
	}
	if digits >= 0 {
		// Correctly rounded decimal text, ties to even on the exact binary value, is how Python rounds too.
		out, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
		if err != nil {
			return f
		}
		return out
	}
	n := roundRat(new(big.Rat).SetFloat64(f), powerOfTen(-digits))
	out, _ := new(big.Float).SetInt(n).Float64()
	return math.Copysign(out, f)
}

func powerOfTen(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// roundInt is round(n, -digits).
func roundInt(n *big.Int, digits int) Value {
	if digits > n.BitLen() { // 10**digits is far above 2n
		return Int(0)
	}
	scale := powerOfTen(digits)
	q, m := floorDiv(n, scale)
	if c := m.Lsh(m, 1).Cmp(scale); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return fromBig(q.Mul(q, scale))
}

// roundRat rounds q to a multiple of scale, ties to even.
func roundRat(q *big.Rat, scale *big.Int) *big.Int {
	q.Quo(q, new(big.Rat).SetInt(scale))
	floor := new(big.Int).Div(q.Num(), q.Denom())
	rest := new(big.Rat).Sub(q, new(big.Rat).SetInt(floor))
	if c := rest.Cmp(big.NewRat(1, 2)); c > 0 || c == 0 && floor.Bit(0) == 1 {
		floor.Add(floor, big.NewInt(1))
	}
	return floor.Mul(floor, scale)
}

func pointerText(v Value) string { return fmt.Sprintf("%T%p", v, v) }
