package chattemplate

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// jsonStyle holds the options of json.dumps that tojson passes on.
type jsonStyle struct {
	ensureASCII, sortKeys bool
	multiline             bool // an indent was given, be it empty
	indent                string
	itemSep, keySep       string
}

var compactJSON = jsonStyle{itemSep: ", ", keySep: ": "}

// errJSONStyle is not noticed by json.dumps when the value is a string.
var errJSONStyle = typeError("tojson needs an int or str indent and a pair of str separators")

// toJSON is the tojson filter as transformers defines it: json.dumps without HTML escapes, ensure_ascii off by default.
func toJSON(r *render, v Value, a args) (Value, error) {
	style := compactJSON
	if len(a.pos)+len(a.kw) > 0 {
		var err error
		style, err = parseJSONStyle(r, a)
		if _, isText := text(v); err != nil && (!isText || err != errJSONStyle) {
			return nil, err
		}
	}
	b, err := style.append(r, nil, v, 0)
	if err != nil {
		return nil, err
	}
	return Str(b), nil
}

func parseJSONStyle(r *render, a args) (jsonStyle, error) {
	style := compactJSON
	var p [6]Value
	if err := a.bind(&p, "tojson", 0, "ensure_ascii", "indent", "separators", "sort_keys"); err != nil {
		return style, err
	}
	style.ensureASCII = p[0] != nil && truth(p[0])
	style.sortKeys = p[3] != nil && truth(p[3])
	if !isNone(p[1]) {
		style.multiline, style.itemSep = true, ","
		n, isInt := asInt(p[1])
		switch s, isStr := text(p[1]); {
		case isStr:
			style.indent = s
		case isInt:
			if err := r.spendText(max(n, 0)); err != nil {
				return style, err
			}
			style.indent = strings.Repeat(" ", max(n, 0))
		default:
			return style, errJSONStyle
		}
	}
	if isNone(p[2]) {
		return style, nil
	}
	seps, err := unpack(r, p[2], 2)
	if err != nil {
		return style, err
	}
	item, ok1 := text(seps[0])
	key, ok2 := text(seps[1])
	if !ok1 || !ok2 {
		return style, errJSONStyle
	}
	style.itemSep, style.keySep = item, key
	return style, nil
}

func (s *jsonStyle) append(r *render, b []byte, v Value, depth int) ([]byte, error) {
	if err := r.walk(depth); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case Str:
		return s.appendText(r, b, string(v))
	case Markup:
		return s.appendText(r, b, string(v))
	case None:
		return append(b, "null"...), nil
	case Bool:
		return strconv.AppendBool(b, bool(v)), nil
	case Int:
		return strconv.AppendInt(b, int64(v), 10), nil
	case Big:
		text, err := bigText(v.n)
		return append(b, text...), err
	case Float:
		return append(b, jsonFloat(float64(v))...), nil
	case *List:
		return s.appendList(r, b, v.items, depth)
	case Tuple:
		return s.appendList(r, b, v, depth)
	case *Dict:
		return s.appendDict(r, b, v, depth)
	}
	return nil, typeError("Object of type %s is not JSON serializable", v.typeName())
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return reprFloat(f)
}

// appendText refuses a text before its escapes outgrow the limit.
func (s *jsonStyle) appendText(r *render, b []byte, text string) ([]byte, error) {
	if err := r.spendWork(len(text)); err != nil {
		return nil, err
	}
	const short = 4096
	if len(text) > short {
		n := jsonLength(text, s.ensureASCII)
		if err := r.bound(len(b) + n); err != nil {
			return nil, err
		}
		b = slices.Grow(b, n)
	}
	return appendJSONString(b, text, s.ensureASCII), nil
}

// jsonLength is the length of a text with its escapes and quotes.
func jsonLength(s string, ensureASCII bool) int {
	n := len(s) + len(`""`)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c >= '\b' && c <= '\r' && c != '\v':
			n++
		case c < ' ' || ensureASCII && c == 0x7f:
			n += len(`\u0000`) - 1
		case !ensureASCII || c < 0xc0:
		case c < 0xe0:
			n += len(`\u0000`) - 2
		case c < 0xf0:
			n += len(`\u0000`) - 3
		default:
			n += len(`\ud800\udc00`) - 4
		}
	}
	return n
}

// newline starts the line of an item or a closing bracket.
func (s *jsonStyle) newline(r *render, b []byte, depth int) ([]byte, error) {
	n := depth * len(s.indent)
	if err := r.bound(len(b) + n); err != nil {
		return nil, err
	}
	if s.multiline {
		b = append(b, '\n')
		for range depth {
			b = append(b, s.indent...)
		}
	}
	return b, r.spend((n + len(s.itemSep) + len(s.keySep)) / copyStep)
}

func (s *jsonStyle) appendList(r *render, b []byte, items []Value, depth int) ([]byte, error) {
	if len(items) == 0 {
		return append(b, "[]"...), nil
	}
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, s.itemSep...)
		}
		var err error
		if b, err = s.newline(r, b, depth+1); err != nil {
			return nil, err
		}
		if b, err = s.append(r, b, item, depth+1); err != nil {
			return nil, err
		}
		if err := r.bound(len(b)); err != nil {
			return nil, err
		}
	}
	b, err := s.newline(r, b, depth)
	return append(b, ']'), err
}

func (s *jsonStyle) appendDict(r *render, b []byte, d *Dict, depth int) ([]byte, error) {
	if d.Len() == 0 {
		return append(b, "{}"...), nil
	}
	order, err := s.keyOrder(r, d)
	if err != nil {
		return nil, err
	}
	b = append(b, '{')
	for n := range d.keys {
		i := n
		if order != nil {
			i = order[n]
		}
		if n > 0 {
			b = append(b, s.itemSep...)
		}
		key, err := jsonKey(d.keys[i])
		if err != nil {
			return nil, err
		}
		if b, err = s.newline(r, b, depth+1); err != nil {
			return nil, err
		}
		if b, err = s.appendText(r, b, key); err != nil {
			return nil, err
		}
		b = append(b, s.keySep...)
		if b, err = s.append(r, b, d.values[i], depth+1); err != nil {
			return nil, err
		}
		if err := r.bound(len(b)); err != nil {
			return nil, err
		}
	}
	b, err = s.newline(r, b, depth)
	return append(b, '}'), err
}

// keyOrder is nil for the dict's own order.
func (s *jsonStyle) keyOrder(r *render, d *Dict) ([]int, error) {
	if !s.sortKeys {
		return nil, nil
	}
	if err := r.spend(d.Len()); err != nil {
		return nil, err
	}
	order := make([]int, d.Len())
	for i := range order {
		order[i] = i
	}
	var failure error
	slices.SortStableFunc(order, func(i, j int) int {
		c, err := order3(r, d.keys[i], d.keys[j])
		if err != nil && failure == nil {
			failure = err
		}
		return c
	})
	return order, failure
}

func jsonKey(key Value) (string, error) {
	switch key := key.(type) {
	case Str:
		return string(key), nil
	case Markup:
		return string(key), nil
	case None:
		return "null", nil
	case Bool:
		return strconv.FormatBool(bool(key)), nil
	case Int:
		return strconv.FormatInt(int64(key), 10), nil
	case Big:
		return bigText(key.n)
	case Float:
		return jsonFloat(float64(key)), nil
	}
	return "", typeError("keys must be str, int, float, bool or None, not %s", key.typeName())
}

func appendJSONString(b []byte, s string, ensureASCII bool) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && (!ensureASCII || c < 0x7f) {
			i++
			continue
		}
		b = append(b, s[from:i]...)
		n := 1
		if c < utf8.RuneSelf {
			b = appendJSONEscape(b, c)
		} else {
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			b = appendJSONUnicode(b, r)
		}
		i += n
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

const hexDigits = "0123456789abcdef"

func appendJSONEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

func appendJSONUnicode(b []byte, r rune) []byte {
	if r < 0x10000 {
		return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
	}
	r -= 0x10000
	b = appendJSONUnicode(b, 0xd800+(r>>10))
	return appendJSONUnicode(b, 0xdc00+(r&0x3ff))
}
