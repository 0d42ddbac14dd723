package chattemplate

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxJSONDepth is how deep JSON values may nest; Python's json stops at about its recursion limit too.
const maxJSONDepth = 900

// ParseJSON reads one JSON value as Python's json.loads does: objects keep the order of their keys and the last value of
// a key given twice, and 1 stays apart from 1.0. Unlike Python it knows no NaN and no Infinity.
func ParseJSON(data []byte) (Value, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("JSON: not valid UTF-8")
	}
	d := jsonDecoder{src: string(data)}
	v, err := d.value(0)
	if err == nil {
		if d.space(); d.pos < len(d.src) {
			err = d.fail("unexpected data after the value")
		}
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

type jsonDecoder struct {
	src string
	pos int
}

func (d *jsonDecoder) fail(what string) error {
	return fmt.Errorf("JSON: %s at byte %d", what, d.pos)
}

func (d *jsonDecoder) space() {
	for d.pos < len(d.src) {
		switch d.src[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

func (d *jsonDecoder) skip(c byte) bool {
	d.space()
	if d.pos < len(d.src) && d.src[d.pos] == c {
		d.pos++
		return true
	}
	return false
}

func (d *jsonDecoder) value(depth int) (Value, error) {
	if depth > maxJSONDepth {
		return nil, d.fail("values nest too deep")
	}
	d.space()
	if d.pos == len(d.src) {
		return nil, d.fail("unexpected end")
	}
	switch c := d.src[d.pos]; {
	case c == '"':
		s, err := d.str()
		return Str(s), err
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.array(depth)
	case c == '-' || isDecimalDigit(c):
		return d.number()
	}
	for word, v := range map[string]Value{"true": Bool(true), "false": Bool(false), "null": None{}} {
		if strings.HasPrefix(d.src[d.pos:], word) {
			d.pos += len(word)
			return v, nil
		}
	}
	return nil, d.fail("unexpected character")
}

func (d *jsonDecoder) object(depth int) (Value, error) {
	d.pos++
	o := NewDict(4)
	if d.skip('}') {
		return o, nil
	}
	for {
		d.space()
		if d.pos == len(d.src) || d.src[d.pos] != '"' {
			return nil, d.fail("expected a key in double quotes")
		}
		key, err := d.str()
		if err != nil {
			return nil, err
		}
		if !d.skip(':') {
			return nil, d.fail("expected ':'")
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		o.Set(key, v)
		if d.skip('}') {
			return o, nil
		}
		if !d.skip(',') {
			return nil, d.fail("expected ',' or '}'")
		}
	}
}

func (d *jsonDecoder) array(depth int) (Value, error) {
	d.pos++
	items := []Value{}
	if d.skip(']') {
		return newList(items), nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		items = append(items, v)
		if d.skip(']') {
			return newList(items), nil
		}
		if !d.skip(',') {
			return nil, d.fail("expected ',' or ']'")
		}
	}
}

func (d *jsonDecoder) number() (Value, error) {
	start := d.pos
	digits := func() bool {
		from := d.pos
		for d.pos < len(d.src) && isDecimalDigit(d.src[d.pos]) {
			d.pos++
		}
		return d.pos > from
	}
	at := func(set string) bool { return d.pos < len(d.src) && strings.IndexByte(set, d.src[d.pos]) >= 0 }
	if at("-") {
		d.pos++
	}
	if at("0") {
		d.pos++
	} else if !digits() {
		return nil, d.fail("expected a digit")
	}
	isFloat := false
	if at(".") {
		isFloat = true
		if d.pos++; !digits() {
			return nil, d.fail("expected a digit")
		}
	}
	if at("eE") {
		isFloat = true
		if d.pos++; at("+-") {
			d.pos++
		}
		if !digits() {
			return nil, d.fail("expected a digit")
		}
	}
	text := d.src[start:d.pos]
	if isFloat {
		f, _ := strconv.ParseFloat(text, 64) // beyond the range is inf, as in Python
		return Float(f), nil
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Int(i), nil
	}
	if len(text) > maxDigits {
		return nil, d.fail("integer too long")
	}
	n, _ := new(big.Int).SetString(text, 10)
	return fromBig(n), nil
}

// str reads a string; a surrogate without its half becomes U+FFFD, as it has no place in UTF-8.
func (d *jsonDecoder) str() (string, error) {
	d.pos++
	start := d.pos
	for d.pos < len(d.src) {
		switch c := d.src[d.pos]; {
		case c == '"':
			d.pos++
			return d.src[start : d.pos-1], nil
		case c == '\\':
			return d.escaped(start)
		case c < ' ':
			return "", d.fail("control character in a string")
		}
		d.pos++
	}
	return "", d.fail("unterminated string")
}

func (d *jsonDecoder) escaped(start int) (string, error) {
	b := []byte(d.src[start:d.pos])
	for d.pos < len(d.src) {
		switch c := d.src[d.pos]; {
		case c == '"':
			d.pos++
			return string(b), nil
		case c < ' ':
			return "", d.fail("control character in a string")
		case c != '\\':
			b = append(b, c)
			d.pos++
			continue
		}
		if d.pos+1 == len(d.src) {
			break
		}
		const letters, values = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
		if i := strings.IndexByte(letters, d.src[d.pos+1]); i >= 0 {
			b = append(b, values[i])
			d.pos += 2
			continue
		}
		r, ok := d.hex4(d.pos)
		if !ok {
			return "", d.fail("invalid escape")
		}
		d.pos += 6
		if low, ok := d.hex4(d.pos); ok && utf16.IsSurrogate(r) {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				r = pair
				d.pos += 6
			}
		}
		b = utf8.AppendRune(b, r)
	}
	return "", d.fail("unterminated string")
}

// hex4 reads \uXXXX at pos.
func (d *jsonDecoder) hex4(pos int) (rune, bool) {
	if pos+6 > len(d.src) || d.src[pos] != '\\' || d.src[pos+1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(d.src[pos+2:pos+6], 16, 16)
	return rune(v), err == nil
}
