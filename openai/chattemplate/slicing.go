package chattemplate

import (
	"math"
	"unicode/utf8"
)

// slice is v[start:stop:step]; an absent bound is None.
func slice(r *render, v, start, stop, step Value) (Value, error) {
	n := 0
	switch v := v.(type) {
	case *Undefined:
		return nil, v.fail()
	case *Dict:
		return nil, typeError("unhashable type: 'slice'")
	case Str, Markup:
		return sliceText(r, v, start, stop, step)
	case *List:
		n = len(v.items)
	case Tuple:
		n = len(v)
	case Range:
		n = v.len()
	default:
		return nil, typeError("'%s' object is not subscriptable", v.typeName())
	}
	s, err := newSpan(n, start, stop, step)
	if err != nil {
		return nil, err
	}
	if err := r.spend(1 + s.len()); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *List:
		return newList(sliceItems(v.items, s)), nil
	case Tuple:
		return Tuple(sliceItems(v, s)), nil
	}
	x := v.(Range)
	return Range{x.start + s.start*x.step, x.start + s.stop*x.step, x.step * s.step}, nil
}

func newSpan(n int, start, stop, step Value) (Range, error) {
	by, err := sliceIndex(step, 1)
	if err != nil {
		return Range{}, err
	}
	if by == 0 {
		return Range{}, valueError("slice step cannot be zero")
	}
	first, last, low := 0, n, 0
	if by < 0 {
		first, last, low = n-1, -1, -1
	}
	clamp := func(v Value, absent int) (int, error) {
		if isNone(v) {
			return absent, nil
		}
		i, err := sliceIndex(v, 0)
		if i < 0 {
			i += n
		}
		return min(max(i, low), n+low), err
	}
	from, err := clamp(start, first)
	if err != nil {
		return Range{}, err
	}
	to, err := clamp(stop, last)
	return Range{from, to, by}, err
}

func sliceIndex(v Value, absent int) (int, error) {
	if isNone(v) {
		return absent, nil
	}
	if i, ok := asInt(v); ok {
		return max(i, math.MinInt32), nil
	}
	if b, ok := v.(Big); ok {
		return math.MaxInt32 * b.n.Sign(), nil
	}
	return 0, typeError("slice indices must be integers or None or have an __index__ method")
}

func sliceItems(items []Value, s Range) []Value {
	if s.step == 1 {
		if s.start >= s.stop {
			return []Value{}
		}
		return items[s.start:s.stop:s.stop]
	}
	out := make([]Value, 0, s.len())
	for i := range s.len() {
		out = append(out, items[s.start+i*s.step])
	}
	return out
}

func sliceText(r *render, v, start, stop, step Value) (Value, error) {
	s, _ := text(v)
	if err := r.spendText(len(s)); err != nil {
		return nil, err
	}
	span, err := newSpan(runeLen(s), start, stop, step)
	if err != nil {
		return nil, err
	}
	if span.step == 1 {
		if span.start >= span.stop {
			return sameText(v, ""), nil
		}
		from := byteOffset(s, span.start)
		return sameText(v, s[from:from+byteOffset(s[from:], span.stop-span.start)]), nil
	}
	all := []rune(s)
	out := make([]byte, 0, len(s))
	for i := range span.len() {
		out = utf8.AppendRune(out, all[span.start+i*span.step])
	}
	return sameText(v, string(out)), nil
}

// byteOffset is where the n-th code point of s starts.
func byteOffset(s string, n int) int {
	if n >= len(s) {
		return len(s)
	}
	ascii := 0
	for ascii < n && s[ascii] < utf8.RuneSelf {
		ascii++
	}
	if ascii == n {
		return n
	}
	i := ascii
	for ; n > ascii && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return i
}
