package chattemplate

import (
	"cmp"
	"slices"
	"strings"
)

// getter extracts the attribute that a filter works on from an item.
type getter func(item Value) (Value, error)

// attrGetter follows a path such as "a.b.0"; None is the item itself. A missing part becomes fallback, if there is one.
func attrGetter(r *render, attribute, fallback Value, ignoreCase bool) (getter, error) {
	path, _ := text(attribute)
	if err := r.spendWork(4 * len(path)); err != nil {
		return nil, err
	}
	parts := attributeParts(attribute)
	return func(v Value) (Value, error) {
		if err := r.spend(entrySteps * len(parts)); err != nil {
			return nil, err
		}
		for _, part := range parts {
			var err error
			if v, err = getitem(r, v, part); err != nil {
				return nil, err
			}
			if isUndefined(v) && !isNone(fallback) {
				v = fallback
			}
		}
		if s, ok := text(v); ok && ignoreCase {
			return sameText(v, lower(s)), r.spendWork(len(s))
		}
		return v, nil
	}, nil
}

func attributeParts(attribute Value) []Value {
	if isNone(attribute) {
		return nil
	}
	path, ok := text(attribute)
	if !ok {
		return []Value{attribute}
	}
	var parts []Value
	for _, part := range strings.Split(path, ".") {
		if part != "" && strings.IndexFunc(part, func(c rune) bool { return !isDigit(c) }) < 0 {
			if n, err := parseInt(part, 10); err == nil {
				parts = append(parts, n)
				continue
			}
		}
		parts = append(parts, Str(part))
	}
	return parts
}

// multiGetter extracts several attributes, separated by commas, as a list.
func multiGetter(r *render, attribute Value, ignoreCase bool) (getter, error) {
	path, ok := text(attribute)
	if !ok {
		single, err := attrGetter(r, attribute, nil, ignoreCase)
		return func(v Value) (Value, error) {
			key, err := single(v)
			return newList([]Value{key}), err
		}, err
	}
	var getters []getter
	for part := range strings.SplitSeq(path, ",") {
		get, err := attrGetter(r, Str(part), nil, ignoreCase)
		if err := cmp.Or(err, r.spend(2*entrySteps)); err != nil {
			return nil, err
		}
		getters = append(getters, get)
	}
	return func(v Value) (Value, error) {
		keys := make([]Value, len(getters))
		for i, get := range getters {
			var err error
			if keys[i], err = get(v); err != nil {
				return nil, err
			}
		}
		return newList(keys), nil
	}, nil
}

// sortBy is sorted(items, key=key, reverse=reverse): stable also when reversed.
func sortBy(r *render, items []Value, key getter, descending bool) ([]Value, error) {
	type keyed struct{ key, item Value }
	if err := r.spend(itemSteps * len(items)); err != nil {
		return nil, err
	}
	list := make([]keyed, len(items))
	for i, item := range items {
		k, err := key(item)
		if err != nil {
			return nil, err
		}
		list[i] = keyed{k, item}
	}
	var failure error
	slices.SortStableFunc(list, func(a, b keyed) int {
		if failure != nil {
			return 0
		}
		if descending {
			a, b = b, a
		}
		c, err := order3(r, a.key, b.key)
		failure = err
		return c
	})
	sorted := make([]Value, len(list))
	for i := range list {
		sorted[i] = list[i].item
	}
	return sorted, failure
}

func sortFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "sort", 0, "reverse", "case_sensitive", "attribute"); err != nil {
		return nil, err
	}
	items, err := collect(r, v)
	if err != nil {
		return nil, err
	}
	descending, err := flag(p[0])
	if err != nil {
		return nil, err
	}
	key, err := multiGetter(r, p[2], !isTrue(p[1]))
	if err != nil {
		return nil, err
	}
	sorted, err := sortBy(r, items, key, descending)
	return newList(sorted), err
}

// flag is an optional argument that Python takes for an int.
func flag(v Value) (bool, error) {
	if v == nil {
		return false, nil
	}
	if _, isBig := v.(Big); isBig {
		return false, raise("OverflowError", "Python int too large to convert to C int")
	}
	if _, isInt := asInt(v); !isInt {
		return false, typeError("'%s' object cannot be interpreted as an integer", v.typeName())
	}
	return truth(v), nil
}

// isTrue is the truth of an optional argument.
func isTrue(v Value) bool { return v != nil && truth(v) }

func dictsortFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "dictsort", 0, "case_sensitive", "by", "reverse"); err != nil {
		return nil, err
	}
	pos := 0
	if p[1] != nil {
		by, _ := text(p[1])
		switch by {
		case "key":
		case "value":
			pos = 1
		default:
			return nil, argumentError(`You can only sort by either "key" or "value"`)
		}
	}
	d, ok := v.(*Dict)
	if !ok {
		if u, isU := v.(*Undefined); isU {
			return nil, u.fail()
		}
		return nil, raise("AttributeError", "'"+v.typeName()+"' object has no attribute 'items'")
	}
	descending, err := flag(p[2])
	if err != nil {
		return nil, err
	}
	key, err := attrGetter(r, nil, nil, !isTrue(p[0]))
	if err != nil {
		return nil, err
	}
	sorted, err := sortBy(r, View{d, "dict_items"}.list(), func(item Value) (Value, error) {
		return key(item.(Tuple)[pos])
	}, descending)
	return newList(sorted), err
}

func uniqueFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "unique", 0, "case_sensitive", "attribute"); err != nil {
		return nil, err
	}
	key, err := attrGetter(r, p[1], nil, !isTrue(p[0]))
	if err != nil {
		return nil, err
	}
	seen := NewDict(0)
	return lazy(v, func(item Value) (bool, error) {
		k, err := key(item)
		if err != nil {
			return false, err
		}
		known := seen.Len()
		err = seen.put(r, k, None{})
		return seen.Len() > known, err
	}), nil
}

// lazy yields the items of v that keep lets through. Errors come when the items are asked for, as with Python's
// generators.
func lazy(v Value, keep func(item Value) (bool, error)) *Iter {
	var c cursor
	started := false
	return generator(func() (Value, bool, error) {
		if !started {
			var err error
			if c, err = iterate(v); err != nil {
				return nil, false, err
			}
			started = true
		}
		for {
			item, ok, err := c.advance()
			if err != nil || !ok {
				return nil, false, err
			}
			if ok, err := keep(item); err != nil {
				return nil, false, err
			} else if ok {
				return item, true, nil
			}
		}
	})
}

// extremeFilter makes min and max: the first item whose key has the sign in comparison with all others.
func extremeFilter(name string, sign int) filterFunc {
	return func(r *render, v Value, a args) (Value, error) {
		var p [6]Value
		if err := a.bind(&p, name, 0, "case_sensitive", "attribute"); err != nil {
			return nil, err
		}
		items, err := collect(r, v)
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			return &Undefined{hint: "No aggregated item, sequence was empty."}, nil
		}
		key, err := attrGetter(r, p[1], nil, !isTrue(p[0]))
		if err != nil {
			return nil, err
		}
		var best, bestKey Value
		for _, item := range items {
			k, err := key(item)
			if err != nil {
				return nil, err
			}
			if best != nil {
				op := "<"
				if sign > 0 {
					op = ">"
				}
				if better, err := compareOp(r, op, k, bestKey); err != nil {
					return nil, err
				} else if !better {
					continue
				}
			}
			best, bestKey = item, k
		}
		return best, nil
	}
}

func groupbyFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "groupby", 1, "attribute", "default", "case_sensitive"); err != nil {
		return nil, err
	}
	items, err := collect(r, v)
	if err != nil {
		return nil, err
	}
	key, err := attrGetter(r, p[0], p[1], !isTrue(p[2]))
	if err != nil {
		return nil, err
	}
	sorted, err := sortBy(r, items, key, false)
	if err != nil {
		return nil, err
	}
	shown, err := attrGetter(r, p[0], p[1], false)
	if err != nil {
		return nil, err
	}
	groups := []Value{}
	var last Value
	for _, item := range sorted {
		k, err := key(item)
		if err != nil {
			return nil, err
		}
		if last != nil {
			eq, err := equal(r, last, k)
			if err != nil {
				return nil, err
			}
			if eq {
				members := groups[len(groups)-1].(Tuple)[1].(*List)
				members.items = append(members.items, item)
				continue
			}
		}
		last = k
		if k, err = shown(item); err != nil {
			return nil, err
		}
		groups = append(groups, Tuple{k, &List{items: []Value{item}, grouped: true}})
	}
	return newList(groups), nil
}

func sumFilter(r *render, v Value, a args) (Value, error) {
	var p [6]Value
	if err := a.bind(&p, "sum", 0, "attribute", "start"); err != nil {
		return nil, err
	}
	total := p[1]
	if total == nil {
		total = Int(0)
	}
	if _, ok := text(total); ok {
		return nil, typeError("sum() can't sum strings [use ''.join(seq) instead]")
	}
	c, err := iterate(v)
	if err != nil {
		return nil, err
	}
	key, err := attrGetter(r, p[0], nil, false)
	if err != nil {
		return nil, err
	}
	for {
		item, ok, err := c.advance()
		if err != nil || !ok {
			return total, err
		}
		if item, err = key(item); err != nil {
			return nil, err
		}
		if total, err = add(r, total, item); err != nil {
			return nil, err
		}
		if err := r.spend(1); err != nil {
			return nil, err
		}
	}
}
