package chattemplate

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"
)

// percentState is one run of the % operator on a str.
type percentState struct {
	r      *render
	format string
	self   Value // the format; Markup escapes what it inserts
	values Value
	tuple  Tuple // of the values, when they are taken one by one
	next   int
	out    []byte
}

// percentSpec is one conversion.
type percentSpec struct {
	flags     string
	width     int
	precision int // -1: none
	verb      rune
	value     Value
}

// percent is format % values.
func percent(r *render, format string, self, values Value) (Value, error) {
	if err := r.spendWork(len(format)); err != nil {
		return nil, err
	}
	p := &percentState{r: r, format: format, self: self, values: values}
	if t, ok := values.(Tuple); ok {
		p.tuple = t
	} else {
		p.tuple = Tuple{values}
	}
	for {
		i := strings.IndexByte(p.format, '%')
		if i < 0 {
			break
		}
		p.out = append(p.out, p.format[:i]...)
		p.format = p.format[i+1:]
		if err := p.conversion(); err != nil {
			return nil, err
		}
		if err := r.bound(len(p.out)); err != nil {
			return nil, err
		}
	}
	p.out = append(p.out, p.format...)
	if p.next < len(p.tuple) && !p.isMapping() {
		return nil, typeError("not all arguments converted during string formatting")
	}
	return sameText(self, string(p.out)), r.spendText(len(p.out))
}

// isMapping tells whether values may go unused: Python takes anything subscriptable but strings and tuples for a mapping.
func (p *percentState) isMapping() bool {
	switch p.values.(type) {
	case *Dict, *List, Range, *Undefined:
		return true
	}
	return false
}

func (p *percentState) char() (rune, error) {
	c, n := utf8.DecodeRuneInString(p.format)
	if n == 0 {
		return 0, valueError("incomplete format")
	}
	p.format = p.format[n:]
	return c, nil
}

func (p *percentState) conversion() error {
	s := percentSpec{precision: -1}
	if strings.HasPrefix(p.format, "%") {
		p.out, p.format = append(p.out, '%'), p.format[1:]
		return nil
	}
	if strings.HasPrefix(p.format, "(") {
		if err := p.key(&s); err != nil {
			return err
		}
	}
	n := len(p.format) - len(strings.TrimLeft(p.format, "-+ #0"))
	s.flags, p.format = p.format[:n], p.format[n:]
	var err error
	if s.width, err = p.count(&s, 0); err != nil {
		return err
	}
	if s.width < 0 {
		s.flags, s.width = s.flags+"-", -s.width
	}
	if strings.HasPrefix(p.format, ".") {
		p.format = p.format[1:]
		if s.precision, err = p.count(&s, 0); err != nil {
			return err
		}
		s.precision = max(s.precision, 0)
	}
	if p.format != "" && strings.IndexByte("hlL", p.format[0]) >= 0 {
		p.format = p.format[1:]
	}
	if s.verb, err = p.char(); err != nil {
		return err
	}
	if s.value == nil {
		if s.value, err = p.take(); err != nil {
			return err
		}
	}
	return p.insert(s)
}

// key reads "(name)" and takes that value.
func (p *percentState) key(s *percentSpec) error {
	depth := 0
	for i, c := range p.format {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				key := Str(p.format[1:i])
				p.format = p.format[i+1:]
				if !p.isMapping() {
					return typeError("format requires a mapping")
				}
				v, found, err := item(p.r, p.values, key)
				if err == nil && !found {
					err = raise("KeyError", reprString(string(key)))
				}
				s.value = v
				return err
			}
		}
	}
	return valueError("incomplete format key")
}

func (p *percentState) take() (Value, error) {
	if p.next >= len(p.tuple) {
		return nil, typeError("not enough arguments for format string")
	}
	p.next++
	return p.tuple[p.next-1], nil
}

// count reads digits or "*".
func (p *percentState) count(s *percentSpec, absent int) (int, error) {
	if strings.HasPrefix(p.format, "*") {
		p.format = p.format[1:]
		v, err := p.take()
		if err != nil {
			return 0, err
		}
		n, ok := asInt(v)
		if !ok {
			return 0, typeError("* wants int")
		}
		return n, p.r.spendText(max(n, -n))
	}
	n := digitsLength(p.format, isDecimalDigit)
	for i, c := range []byte(p.format[:n]) {
		if c == '_' {
			n = i
			break
		}
	}
	if n == 0 {
		return absent, nil
	}
	v, err := parseInt(p.format[:n], 10)
	if err != nil {
		return 0, err
	}
	p.format = p.format[n:]
	count, ok := asInt(v)
	if !ok || count > math.MaxInt32 {
		return 0, valueError("width too big")
	}
	return count, p.r.spendText(count)
}

// insert appends the value as the verb says.
func (p *percentState) insert(s percentSpec) error {
	switch s.verb {
	case 's', 'r', 'a':
		return p.insertText(s)
	case 'c':
		return p.insertChar(s)
	case 'd', 'i', 'u', 'o', 'x', 'X':
		return p.insertInt(s)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		return p.insertFloat(s)
	}
	return valueError("unsupported format character %s (0x%s) at index", reprString(string(s.verb)), big.NewInt(int64(s.verb)).Text(16))
}

func (p *percentState) insertText(s percentSpec) error {
	var t string
	var err error
	if s.verb == 's' {
		t, err = str(p.r, s.value)
	} else {
		t, err = repr(p.r, s.value)
	}
	if err != nil {
		return err
	}
	if s.verb == 'a' {
		t = asciiOnly(t)
	}
	if _, markup := p.self.(Markup); markup {
		if s.verb == 's' {
			t = escapeValue(s.value, t)
		} else {
			t = escapeHTML(t)
		}
	}
	if s.precision >= 0 {
		t = t[:byteOffset(t, s.precision)]
	}
	p.pad(s, "", t, false)
	return nil
}

func asciiOnly(s string) string {
	return mapRunes(s, func(_ int, c rune) string {
		if c < utf8.RuneSelf {
			return string(c)
		}
		return escapeRune(c)
	})
}

func (p *percentState) insertChar(s percentSpec) error {
	if t, ok := text(s.value); ok {
		if runeLen(t) != 1 {
			return typeError("%%c requires int or char")
		}
		p.pad(s, "", t, false)
		return nil
	}
	n, ok := asInt(s.value)
	if !ok {
		return typeError("%%c requires int or char")
	}
	if n < 0 || n > utf8.MaxRune || n >= 0xd800 && n < 0xe000 {
		return raise("OverflowError", "%c arg not in range(0x110000)")
	}
	p.pad(s, "", string(rune(n)), false)
	return nil
}

func (p *percentState) insertInt(s percentSpec) error {
	n, ok := asBig(s.value)
	if f, isFloat := s.value.(Float); isFloat && strings.ContainsRune("diu", s.verb) {
		if math.IsInf(float64(f), 0) || math.IsNaN(float64(f)) {
			return raise("OverflowError", "cannot convert float infinity or NaN to integer")
		}
		n, ok = bigFromFloat(float64(f)), true
	}
	if !ok {
		if strings.ContainsRune("diu", s.verb) {
			return typeError("%%%s format: a real number is required, not %s", string(s.verb), s.value.typeName())
		}
		return typeError("%%%s format: an integer is required, not %s", string(s.verb), s.value.typeName())
	}
	base, prefix := 10, ""
	switch s.verb {
	case 'o':
		base, prefix = 8, "0o"
	case 'x':
		base, prefix = 16, "0x"
	case 'X':
		base, prefix = 16, "0X"
	}
	digits := new(big.Int).Abs(n).Text(base)
	if base == 10 {
		if _, err := bigText(n); err != nil {
			return err
		}
	}
	if s.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	if len(digits) < s.precision {
		digits = strings.Repeat("0", s.precision-len(digits)) + digits
	}
	if !strings.Contains(s.flags, "#") {
		prefix = ""
	}
	p.pad(s, p.sign(s, n.Sign() < 0)+prefix, digits, true)
	return nil
}

func (p *percentState) sign(s percentSpec, negative bool) string {
	switch {
	case negative:
		return "-"
	case strings.Contains(s.flags, "+"):
		return "+"
	case strings.Contains(s.flags, " "):
		return " "
	}
	return ""
}

func (p *percentState) insertFloat(s percentSpec) error {
	if !isNumber(s.value) {
		if u, ok := s.value.(*Undefined); ok {
			return u.fail()
		}
		return typeError("must be real number, not %s", s.value.typeName())
	}
	f, err := asFloat(s.value)
	if err != nil {
		return err
	}
	precision := s.precision
	if precision < 0 {
		precision = 6
	}
	digits := formatFloat(math.Abs(f), byte(s.verb), precision, strings.Contains(s.flags, "#"))
	p.pad(s, p.sign(s, math.Signbit(f) && !math.IsNaN(f)), digits, true)
	return nil
}

// pad appends sign and body at the width that is asked for.
func (p *percentState) pad(s percentSpec, sign, body string, number bool) {
	fill := max(s.width-runeLen(sign)-runeLen(body), 0)
	switch {
	case strings.Contains(s.flags, "-"):
		p.out = append(append(append(p.out, sign...), body...), strings.Repeat(" ", fill)...)
	case number && strings.Contains(s.flags, "0"):
		p.out = append(append(append(p.out, sign...), strings.Repeat("0", fill)...), body...)
	default:
		p.out = append(append(append(p.out, strings.Repeat(" ", fill)...), sign...), body...)
	}
}
