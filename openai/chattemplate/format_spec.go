package chattemplate

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatFloat formats |f| with a printf verb; alternate keeps the point and trailing zeros.
func formatFloat(f float64, verb byte, precision int, alternate bool) string {
	upper := verb >= 'A' && verb <= 'Z'
	lower := verb | 0x20
	var s string
	switch {
	case math.IsNaN(f):
		s = "nan"
	case math.IsInf(f, 0):
		s = "inf"
	case lower == 'g':
		s = formatGeneral(f, max(precision, 1), alternate)
	default:
		s = strconv.FormatFloat(f, lower, precision, 64)
		if alternate && precision == 0 {
			mantissa, exponent, found := strings.Cut(s, "e")
			s = mantissa + "."
			if found {
				s += "e" + exponent
			}
		}
	}
	if upper {
		return strings.ToUpper(s)
	}
	return s
}

func formatGeneral(f float64, precision int, alternate bool) string {
	scientific := strconv.FormatFloat(f, 'e', precision-1, 64)
	mantissa, exponent, _ := strings.Cut(scientific, "e")
	exp, _ := strconv.Atoi(exponent) // FormatFloat wrote it
	trim := func(s string) string {
		switch hasPoint := strings.Contains(s, "."); {
		case alternate && !hasPoint:
			return s + "."
		case alternate || !hasPoint:
			return s
		}
		return strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if exp < -4 || exp >= precision {
		return trim(mantissa) + "e" + exponent
	}
	return trim(strconv.FormatFloat(f, 'f', precision-1-exp, 64))
}

// formatSpec is a parsed format specification of str.format.
type formatSpec struct {
	fill      string
	align     byte // 0: the type's own
	sign      byte
	alternate bool
	zeroPad   bool // the zero of the width set the alignment
	noNegZero bool
	width     int
	grouping  byte
	precision int // -1: none
	verb      byte
}

// specReader takes a format specification apart from the left.
type specReader struct {
	r    *render
	rest string
}

func (s *specReader) take(set string) byte {
	if s.rest != "" && strings.IndexByte(set, s.rest[0]) >= 0 {
		c := s.rest[0]
		s.rest = s.rest[1:]
		return c
	}
	return 0
}

func (s *specReader) number(absent int) (int, error) {
	n := 0
	for n < len(s.rest) && isDecimalDigit(s.rest[n]) {
		n++
	}
	if n == 0 {
		return absent, nil
	}
	v, err := strconv.Atoi(s.rest[:n])
	if err != nil || v > math.MaxInt32 {
		return 0, valueError("Too many decimal digits in format string")
	}
	s.rest = s.rest[n:]
	return v, s.r.spendText(v)
}

// alignment reads fill and align, the fill being any character in front of an align.
func (s *specReader) alignment(f *formatSpec) {
	if _, n := utf8.DecodeRuneInString(s.rest); n > 0 && n < len(s.rest) && strings.IndexByte("<>=^", s.rest[n]) >= 0 {
		f.fill, f.align, s.rest = s.rest[:n], s.rest[n], s.rest[n+1:]
		return
	}
	f.align = s.take("<>=^")
}

func parseFormatSpec(r *render, spec string) (formatSpec, error) {
	f := formatSpec{precision: -1}
	s := &specReader{r, spec}
	s.alignment(&f)
	f.sign = s.take("+- ")
	f.noNegZero = s.take("z") != 0
	f.alternate = s.take("#") != 0
	zeros := s.take("0") != 0
	if zeros && f.align == 0 {
		f.align, f.zeroPad = '=', true
	}
	if f.fill == "" {
		f.fill = " "
		if zeros {
			f.fill = "0"
		}
	}
	var err error
	if f.width, err = s.number(0); err != nil {
		return f, err
	}
	f.grouping = s.take(",_")
	if s.take(".") != 0 {
		if f.precision, err = s.number(-1); err != nil {
			return f, err
		}
		if f.precision < 0 {
			return f, valueError("Format specifier missing precision")
		}
	}
	if len(s.rest) > 1 {
		return f, valueError("Invalid format specifier")
	}
	if s.rest != "" {
		f.verb = s.rest[0]
	}
	return f, nil
}

// formatValue is format(v, spec).
func formatValue(r *render, v Value, spec string) (string, error) {
	if spec == "" {
		return str(r, v)
	}
	switch v.(type) {
	case Str, Markup, Int, Big, Bool, Float:
	default:
		return "", typeError("unsupported format string passed to %s.__format__", v.typeName())
	}
	s, err := parseFormatSpec(r, spec)
	if err != nil {
		return "", err
	}
	if s.grouping != 0 && s.verb == 'n' {
		return "", valueError("Cannot specify '%s' with 'n'.", string(rune(s.grouping)))
	}
	if n, isBig := v.(Big); isBig {
		if err := r.spendWork(n.n.BitLen()); err != nil {
			return "", err
		}
	}
	switch v := v.(type) {
	case Float:
		return s.float(float64(v), v)
	case Int, Big, Bool:
		if s.verb != 0 && strings.IndexByte("eEfFgG%", s.verb) >= 0 {
			f, err := asFloat(v)
			if err != nil {
				return "", err
			}
			return s.float(f, v)
		}
		return s.int(v)
	}
	t, _ := text(v)
	return s.str(t, v)
}

func (s formatSpec) unknown(v Value) error {
	return valueError("Unknown format code '%s' for object of type '%s'", string(rune(s.verb)), v.typeName())
}

func (s formatSpec) str(t string, v Value) (string, error) {
	switch {
	case s.verb != 0 && s.verb != 's':
		return "", s.unknown(v)
	case s.sign != 0:
		return "", valueError("Sign not allowed in string format specifier")
	case s.noNegZero:
		return "", valueError("Negative zero coercion (z) not allowed in string format specifier")
	case s.alternate:
		return "", valueError("Alternate form (#) not allowed in string format specifier")
	case s.grouping != 0:
		return "", valueError("Cannot specify '%s' with 's'.", string(rune(s.grouping)))
	case s.align == '=' && !s.zeroPad:
		return "", valueError("'=' alignment not allowed in string format specifier")
	}
	if s.precision >= 0 {
		t = t[:byteOffset(t, s.precision)]
	}
	if s.align == 0 || s.align == '=' {
		s.align = '<'
	}
	return s.pad("", t), nil
}

func (s formatSpec) int(v Value) (string, error) {
	n, _ := asBig(v)
	if s.noNegZero {
		return "", valueError("Negative zero coercion (z) not allowed in integer format specifier")
	}
	if s.precision >= 0 {
		return "", valueError("Precision not allowed in integer format specifier")
	}
	base, prefix := 10, ""
	switch s.verb {
	case 0, 'd', 'n':
		if _, err := bigText(n); err != nil {
			return "", err
		}
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x', 'X':
		base, prefix = 16, "0"+string(rune(s.verb))
	case 'c':
		if s.sign != 0 || !n.IsInt64() || n.Int64() < 0 || n.Int64() > utf8.MaxRune {
			return "", raise("OverflowError", "%c arg not in range(0x110000)")
		}
		if s.grouping != 0 || s.alternate {
			return "", valueError("Cannot specify grouping or the alternate form with 'c'.")
		}
		if s.align == 0 {
			s.align = '>'
		}
		return s.pad("", string(rune(n.Int64()))), nil
	default:
		return "", s.unknown(v)
	}
	if s.grouping == ',' && base != 10 {
		return "", valueError("Cannot specify ',' with '%s'.", string(rune(s.verb)))
	}
	digits := new(big.Int).Abs(n).Text(base)
	if s.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	if !s.alternate {
		prefix = ""
	}
	size := 3
	if base != 10 {
		size = 4
	}
	return s.number(n.Sign() < 0, prefix, digits, "", size), nil
}

func (s formatSpec) float(f float64, v Value) (string, error) {
	verb, precision, tail := s.verb, s.precision, ""
	switch verb {
	case '%':
		f *= 100
		verb, tail = 'f', "%"
	case 'n':
		verb = 'g'
	case 0, 'e', 'E', 'f', 'F', 'g', 'G':
	default:
		return "", s.unknown(v)
	}
	if verb != 0 && precision < 0 {
		precision = 6
	}
	var digits string
	switch a := math.Abs(f); {
	case verb != 0:
		digits = formatFloat(a, verb, precision, s.alternate)
	case precision < 0:
		digits = reprFloat(a)
	default: // as repr, but to so many digits
		digits = formatFloat(a, 'g', precision, s.alternate)
		if _, exponent, ok := strings.Cut(strconv.FormatFloat(a, 'e', max(precision, 1)-1, 64), "e"); ok {
			if e, _ := strconv.Atoi(exponent); e == max(precision, 1)-1 && !strings.Contains(digits, "e") {
				digits = strconv.FormatFloat(a, 'e', max(precision, 1)-1, 64)
				digits = trimMantissa(digits)
			}
		}
		if !strings.ContainsAny(digits, ".en") {
			digits += ".0"
		}
	}
	if mantissa, exponent, found := strings.Cut(digits, "e"); s.alternate && found && !strings.Contains(mantissa, ".") {
		digits = mantissa + ".e" + exponent
	}
	negative := math.Signbit(f) && !math.IsNaN(f)
	if s.noNegZero && strings.Trim(digits, "0.e+-") == "" {
		negative = false
	}
	whole, rest := digits, ""
	if i := strings.IndexFunc(digits, func(c rune) bool { return c < '0' || c > '9' }); i >= 0 {
		whole, rest = digits[:i], digits[i:]
	}
	return s.number(negative, "", whole, rest+tail, 3), nil
}

func trimMantissa(s string) string {
	mantissa, exponent, _ := strings.Cut(s, "e")
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + "e" + exponent
}

// number puts sign, prefix, grouped digits and the rest together.
func (s formatSpec) number(negative bool, prefix, digits, rest string, groupSize int) string {
	sign := ""
	switch {
	case negative:
		sign = "-"
	case s.sign == '+' || s.sign == ' ':
		sign = string(rune(s.sign))
	}
	if s.align == 0 {
		s.align = '>'
	}
	if s.grouping != 0 {
		least := 0
		if s.fill == "0" && s.align == '=' { // the zeros are grouped as well
			least = s.width - len(sign) - len(prefix) - len(rest)
		}
		digits = group(digits, s.grouping, groupSize, least)
	}
	return s.pad(sign+prefix, digits+rest)
}

// group separates digits and adds leading zeros up to a width.
func group(digits string, sep byte, size, least int) string {
	if digits == "" {
		return digits
	}
	var b []byte // backwards
	for i := 0; i < len(digits) || len(b) < least; i++ {
		if i > 0 && i%size == 0 {
			b = append(b, sep)
			if i >= len(digits) && len(b) >= least {
				b = append(b, '0')
				break
			}
		}
		if i < len(digits) {
			b = append(b, digits[len(digits)-1-i])
		} else {
			b = append(b, '0')
		}
	}
	reverse(b)
	return string(b)
}

func (s formatSpec) pad(sign, body string) string {
	fill := max(s.width-runeLen(sign)-runeLen(body), 0)
	switch s.align {
	case '<':
		return sign + body + strings.Repeat(s.fill, fill)
	case '^':
		return strings.Repeat(s.fill, fill/2) + sign + body + strings.Repeat(s.fill, fill-fill/2)
	case '=':
		return sign + strings.Repeat(s.fill, fill) + body
	}
	return strings.Repeat(s.fill, fill) + sign + body
}
