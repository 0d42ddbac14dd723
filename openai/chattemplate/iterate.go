package chattemplate

import (
	"cmp"
	"unicode/utf8"
)

// cursor walks any iterable: a slice of items, or what next yields.
type cursor struct {
	items []Value
	pos   int
	next  func() (Value, bool, error) // when not nil, used instead of items
}

func (c *cursor) advance() (Value, bool, error) {
	if c.next != nil {
		return c.next()
	}
	if c.pos == len(c.items) {
		return nil, false, nil
	}
	c.pos++
	return c.items[c.pos-1], true, nil
}

// iterate is iter(v).
func iterate(v Value) (cursor, error) {
	switch v := v.(type) {
	case *List:
		return cursor{items: v.items}, nil
	case Tuple:
		return cursor{items: v}, nil
	case *Dict:
		return cursor{items: v.keys}, nil
	case Str:
		return runes(string(v), false), nil
	case Markup:
		return runes(string(v), false), nil
	case View:
		return v.cursor(), nil
	case Range:
		return counted(v.len(), v.at), nil
	case Bytes:
		return counted(len(v), func(i int) Value { return Int(v[i]) }), nil
	case *Iter:
		return cursor{next: v.next}, nil
	case *Loop:
		return cursor{next: v.pair}, nil
	case *Undefined:
		return cursor{}, nil
	}
	return cursor{}, typeError("'%s' object is not iterable", v.typeName())
}

// counted yields the n values that at makes.
func counted(n int, at func(i int) Value) cursor {
	i := 0
	return cursor{next: func() (Value, bool, error) {
		if i == n {
			return nil, false, nil
		}
		i++
		return at(i - 1), true, nil
	}}
}

func (v View) cursor() cursor {
	if v.kind == "dict_items" {
		return counted(v.d.Len(), v.d.item)
	}
	return cursor{items: v.list()}
}

func runes(s string, markup bool) cursor {
	return cursor{next: func() (Value, bool, error) {
		if s == "" {
			return nil, false, nil
		}
		_, n := utf8.DecodeRuneInString(s)
		c := s[:n]
		s = s[n:]
		if markup {
			return Markup(c), true, nil
		}
		return Str(c), true, nil
	}}
}

// collect is list(v). The result may be v's own items: it must not be changed.
func collect(r *render, v Value) ([]Value, error) {
	c, err := iterate(v)
	if err != nil {
		return nil, err
	}
	if c.next == nil {
		return c.items, r.spend(1)
	}
	items := []Value{}
	for {
		item, ok, err := c.advance()
		if err != nil {
			return nil, err
		}
		if !ok {
			return items, nil
		}
		if err := cmp.Or(r.spend(itemSteps-1), r.spendHeld(item)); err != nil {
			return nil, err
		}
		items = append(items, item)
	}
}

func isIterable(v Value) bool {
	_, err := iterate(v)
	return err == nil
}

// generator wraps next as a value that can be read once.
func generator(next func() (Value, bool, error)) *Iter {
	return &Iter{kind: "generator", next: next}
}

// sliceIter reads items once.
func sliceIter(kind string, items []Value) *Iter {
	c := &cursor{items: items}
	return &Iter{kind: kind, next: c.advance}
}

func isNone(v Value) bool {
	if v == nil {
		return true
	}
	_, ok := v.(None)
	return ok
}
