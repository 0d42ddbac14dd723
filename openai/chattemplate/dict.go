package chattemplate

import (
	"math"
	"strconv"
)

// Dict is an ordered dict. It is built once and not changed after a template can see it.
type Dict struct {
	keys   []Value
	values []Value
	strs   map[string]int // index of string keys, made when there are more than scanMax entries
	others map[string]int // index of other keys by their hash text
}

// scanMax is how many keys are searched one by one: comparing a few short strings beats a map.
const scanMax = 8

// NewDict returns an empty dict with room for n entries.
func NewDict(n int) *Dict {
	return &Dict{keys: make([]Value, 0, n), values: make([]Value, 0, n)}
}

func (d *Dict) Len() int { return len(d.keys) }

// Get finds a string key.
func (d *Dict) Get(key string) (Value, bool) {
	if i := d.find(key); i >= 0 {
		return d.values[i], true
	}
	return nil, false
}

func (d *Dict) find(key string) int {
	if d.strs != nil {
		if i, ok := d.strs[key]; ok {
			return i
		}
		return -1
	}
	for i, k := range d.keys {
		switch k := k.(type) {
		case Str:
			if string(k) == key {
				return i
			}
		case Markup:
			if string(k) == key {
				return i
			}
		}
	}
	return -1
}

// Set adds a string key or replaces its value.
func (d *Dict) Set(key string, value Value) {
	if i := d.find(key); i >= 0 {
		d.values[i] = value
		return
	}
	d.append(Str(key), value)
	if d.strs != nil {
		d.strs[key] = len(d.keys) - 1
	} else if len(d.keys) > scanMax {
		d.index()
	}
}

func (d *Dict) append(key, value Value) {
	d.keys = append(d.keys, key)
	d.values = append(d.values, value)
}

func (d *Dict) index() {
	d.strs = make(map[string]int, 2*len(d.keys))
	for i, k := range d.keys {
		if s, ok := text(k); ok {
			d.strs[s] = i
		}
	}
}

// lookup finds any key; it fails for an unhashable one.
func (d *Dict) lookup(r *render, key Value) (Value, bool, error) {
	if s, ok := text(key); ok {
		v, found := d.Get(s)
		return v, found, r.spendScan(len(s))
	}
	h, err := hash(r, key, 0)
	if err != nil {
		return nil, false, err
	}
	if i, ok := d.others[h]; ok {
		return d.values[i], true, nil
	}
	return nil, false, nil
}

// put is d[key] = value while d is being built.
func (d *Dict) put(r *render, key, value Value) error {
	if err := r.spend(entrySteps); err != nil {
		return err
	}
	if s, ok := text(key); ok {
		if err := r.spendScan(len(s)); err != nil {
			return err
		}
		if i := d.find(s); i >= 0 {
			d.values[i] = value
			return nil
		}
		if _, plain := key.(Str); plain {
			d.Set(s, value)
			return nil
		}
		d.append(key, value)
		if d.strs != nil {
			d.strs[s] = len(d.keys) - 1
		}
		return nil
	}
	h, err := hash(r, key, 0)
	if err != nil {
		return err
	}
	if i, ok := d.others[h]; ok {
		d.values[i] = value
		return nil
	}
	if d.others == nil {
		d.others = make(map[string]int)
	}
	d.others[h] = len(d.keys)
	d.append(key, value)
	return nil
}

// item returns entry i as a tuple.
func (d *Dict) item(i int) Value { return Tuple{d.keys[i], d.values[i]} }

func (d *Dict) clone() *Dict {
	c := NewDict(len(d.keys) + 1)
	c.keys = append(c.keys, d.keys...)
	c.values = append(c.values, d.values...)
	if d.strs != nil {
		c.index()
	}
	if d.others != nil {
		c.others = make(map[string]int, len(d.others))
		for k, i := range d.others {
			c.others[k] = i
		}
	}
	return c
}

// hash gives equal keys equal texts: 1, 1.0 and True are one key.
func hash(r *render, v Value, depth int) (string, error) {
	if err := r.walk(depth); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case Str:
		return "s" + string(v), r.spendScan(len(v))
	case Markup:
		return "s" + string(v), r.spendScan(len(v))
	case None:
		return "n", nil
	case Bool:
		if v {
			return "1", nil
		}
		return "0", nil
	case Int:
		return strconv.FormatInt(int64(v), 10), nil
	case Big:
		return "b" + v.n.Text(32), r.spendWork(v.n.BitLen() / 8)
	case Float:
		if f := float64(v); f == math.Trunc(f) && !math.IsInf(f, 0) {
			return hash(r, fromBig(bigFromFloat(f)), depth)
		}
		return "f" + strconv.FormatFloat(float64(v), 'g', -1, 64), nil
	case *Undefined:
		return "u", nil
	case Tuple:
		return hashTuple(r, v, depth)
	case *List, *Dict:
		return "", typeError("unhashable type: '%s'", v.typeName())
	}
	return "p" + pointerText(v), nil
}

func hashTuple(r *render, t Tuple, depth int) (string, error) {
	text := "("
	for _, item := range t {
		h, err := hash(r, item, depth+1)
		if err != nil {
			return "", err
		}
		if err := r.spend(1 + len(text)/64); err != nil {
			return "", err
		}
		text += strconv.Itoa(len(h)) + ":" + h
	}
	return text + ")", nil
}
