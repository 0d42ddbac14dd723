package chattemplate

import (
	"math"
	"math/big"
)

func bigPower(x, y *big.Int) (Value, error) {
	if y.Sign() < 0 {
		f, err := asFloat(fromBig(x))
		if err != nil {
			return nil, err
		}
		g, err := asFloat(fromBig(y))
		if err != nil {
			return nil, err
		}
		return floatOp("**", f, g)
	}
	if x.BitLen() > 1 && (!y.IsInt64() || y.Int64() > maxBits || int64(x.BitLen())*y.Int64() > maxBits) {
		return nil, limitError("integer size")
	}
	if x.BitLen() <= 1 { // -1, 0, 1: only the parity and zeroness of y count
		y = new(big.Int).SetUint64(uint64(y.Bit(0)) + 2*uint64(min(y.Sign(), 1)))
	}
	return fromBig(new(big.Int).Exp(x, y, nil)), nil
}

func floatPower(x, y float64) (Value, error) {
	if x == 0 && y < 0 {
		return nil, raise("ZeroDivisionError", "0.0 cannot be raised to a negative power")
	}
	if x < 0 && y != math.Trunc(y) && !math.IsInf(x, 0) {
		return nil, typeError("complex numbers are not supported: a negative number to a fractional power")
	}
	z := power(x, y)
	if math.IsInf(z, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return nil, raise("OverflowError", "(34, 'Numerical result out of range')")
	}
	return Float(z), nil
}

// power is pow(x, y) as C rounds it. Go's own is off by a few units in the last place; whole and half exponents, which
// are those that occur, are computed exactly and rounded once.
func power(x, y float64) float64 {
	if n := 2 * y; n != math.Trunc(n) || math.Abs(n) > 4096 || x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return math.Pow(x, y)
	}
	const precision = 300
	base := new(big.Float).SetPrec(precision).SetFloat64(x)
	z := new(big.Float).SetPrec(precision).SetInt64(1)
	whole, half := math.Modf(math.Abs(y))
	for range int(whole) {
		z.Mul(z, base)
	}
	if half != 0 {
		z.Mul(z, new(big.Float).SetPrec(precision).Sqrt(base))
	}
	if y < 0 {
		z.Quo(new(big.Float).SetPrec(precision).SetInt64(1), z)
	}
	f, _ := z.Float64()
	return f
}
