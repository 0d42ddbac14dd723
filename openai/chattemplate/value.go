package chattemplate

import (
	"math/big"
	"unicode/utf8"
)

// Value is a Python object as templates see them. None, Bool, Int, Big, Float, Str, Markup, Tuple, *List and *Dict are
// data; the other kinds come and go within a render. A nil Value is a variable that is not set.
type Value interface {
	typeName() string // as type(x).__name__
}

type (
	None   struct{}
	Bool   bool
	Int    int64
	Big    struct{ n *big.Int } // only what Int cannot hold
	Float  float64
	Str    string // UTF-8; lengths and indices count code points
	Markup string // a str that autoescape leaves alone
	Tuple  []Value
	List   struct {
		items   []Value
		grouped bool // the list of a groupby pair, whose tuple then has .grouper and .list
	}

	// Undefined is the value of a missing variable, key or attribute: it prints as nothing and fails in most other uses.
	Undefined struct {
		hint   string
		obj    Value // whose attribute or element is missing, or nil
		name   Value
		unsafe bool // the sandbox hides it: use raises SecurityError
	}

	// Namespace is the one mutable object that a template can make.
	Namespace struct{ attrs *Dict }

	// Func is a function or a bound method.
	Func struct {
		name string
		kind string // type name
		call func(r *render, a args) (Value, error)
	}

	// Range is Python's range.
	Range struct{ start, stop, step int }

	// View is what keys(), values() and items() of a dict return.
	View struct {
		d    *Dict
		kind string // "dict_keys", "dict_values", "dict_items"
	}

	// Iter is a generator or iterator: it can be read once.
	Iter struct {
		kind string
		next func() (Value, bool, error)
	}
)

func (None) typeName() string       { return "NoneType" }
func (Bool) typeName() string       { return "bool" }
func (Int) typeName() string        { return "int" }
func (Big) typeName() string        { return "int" }
func (Float) typeName() string      { return "float" }
func (Str) typeName() string        { return "str" }
func (Markup) typeName() string     { return "Markup" }
func (Tuple) typeName() string      { return "tuple" }
func (*List) typeName() string      { return "list" }
func (*Dict) typeName() string      { return "dict" }
func (*Undefined) typeName() string { return "Undefined" }
func (*Namespace) typeName() string { return "Namespace" }
func (f *Func) typeName() string    { return f.kind }
func (Range) typeName() string      { return "range" }
func (v View) typeName() string     { return v.kind }
func (i *Iter) typeName() string    { return i.kind }

// fail is the exception that using u raises.
func (u *Undefined) fail() error {
	kind := "UndefinedError"
	if u.unsafe {
		kind = "SecurityError"
	}
	return &Error{Type: kind, Message: u.message()}
}

func (u *Undefined) message() string {
	name, isStr := u.name.(Str)
	switch {
	case u.hint != "":
		return u.hint
	case u.obj == nil:
		return reprString(string(name)) + " is undefined"
	case isStr:
		return "'" + objectRepr(u.obj) + "' has no attribute " + reprString(string(name))
	}
	text, err := repr(&render{limits: Limits{Steps: maxMessage, Output: maxMessage}}, u.name)
	if err != nil {
		text = "…"
	}
	return objectRepr(u.obj) + " has no element " + text
}

// objectRepr names an object in an error about what it lacks.
func objectRepr(v Value) string {
	switch v.(type) {
	case None:
		return "None"
	case Markup:
		return "markupsafe.Markup object"
	case *Namespace, *Loop, *Macro:
		return "jinja2 " + v.typeName() + " object"
	}
	return v.typeName() + " object"
}

// truth is bool(v).
func truth(v Value) bool {
	switch v := v.(type) {
	case None, *Undefined:
		return false
	case Bool:
		return bool(v)
	case Int:
		return v != 0
	case Float:
		return v != 0
	case Str:
		return v != ""
	case Markup:
		return v != ""
	case Tuple:
		return len(v) > 0
	case *List:
		return len(v.items) > 0
	case *Dict:
		return v.Len() > 0
	case View:
		return v.d.Len() > 0
	case Range:
		return v.len() > 0
	case Bytes:
		return v != ""
	}
	return v != nil
}

// text returns the string in a Str or Markup.
func text(v Value) (string, bool) {
	switch v := v.(type) {
	case Str:
		return string(v), true
	case Markup:
		return string(v), true
	}
	return "", false
}

// runeLen is Python's len(s).
func runeLen(s string) int { return utf8.RuneCountInString(s) }

// length is len(v).
func length(v Value) (int, error) {
	switch v := v.(type) {
	case Str:
		return runeLen(string(v)), nil
	case Markup:
		return runeLen(string(v)), nil
	case Tuple:
		return len(v), nil
	case *List:
		return len(v.items), nil
	case *Dict:
		return v.Len(), nil
	case View:
		return v.d.Len(), nil
	case Range:
		return v.len(), nil
	case Bytes:
		return len(v), nil
	case *Loop:
		return v.len()
	case *Undefined:
		return 0, nil
	}
	return 0, typeError("object of type '%s' has no len()", v.typeName())
}

func (r Range) len() int {
	switch {
	case r.step > 0 && r.start < r.stop:
		return (r.stop-r.start-1)/r.step + 1
	case r.step < 0 && r.start > r.stop:
		return (r.start-r.stop-1)/-r.step + 1
	}
	return 0
}

// contains is v in r, which only numbers can be.
func (r Range) contains(v Value) bool {
	n, ok := asInt(v)
	if f, isFloat := v.(Float); isFloat {
		n = int(max(min(f, 1<<62), -1<<62))
		ok = Float(n) == f
	}
	last := r.start + (r.len()-1)*r.step
	return ok && r.len() > 0 && n >= min(r.start, last) && n <= max(r.start, last) && (n-r.start)%r.step == 0
}

func (r Range) at(i int) Value { return Int(r.start + i*r.step) }

func newList(items []Value) *List { return &List{items: items} }

// asInt is operator.index for the ints that fit; ok is false for any other value.
func asInt(v Value) (int, bool) {
	switch v := v.(type) {
	case Int:
		return int(v), true
	case Bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}
