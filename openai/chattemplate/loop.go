package chattemplate

// Loop is the variable loop inside a for loop.
type Loop struct {
	items   cursor
	of      Value // what is iterated, when its length can be asked for
	index0  int
	length  int // -1: not known yet
	depth0  int
	recurse func(v Value, depth int) (Value, error) // nil unless the loop is recursive
	r       *render

	current, before Value
	after           Value // peeked item
	peeked, ended   bool
	lastChanged     Tuple
	hasChanged      bool
}

func (*Loop) typeName() string { return "LoopContext" }

func (l *Loop) advance() (Value, bool, error) {
	v, ok, err := l.peek()
	if err != nil || !ok {
		return nil, false, err
	}
	l.after, l.peeked = nil, false
	l.index0++
	l.before, l.current = l.current, v
	return v, true, nil
}

// pair yields what iterating over the loop itself does.
func (l *Loop) pair() (Value, bool, error) {
	v, ok, err := l.advance()
	return Tuple{v, l}, ok, err
}

func (l *Loop) peek() (Value, bool, error) {
	if l.peeked {
		return l.after, true, nil
	}
	if l.ended {
		return nil, false, nil
	}
	v, ok, err := l.items.advance()
	l.after, l.peeked, l.ended = v, ok, !ok
	return v, ok, err
}

func (l *Loop) len() (int, error) {
	if l.length >= 0 {
		return l.length, nil
	}
	if l.of != nil {
		if n, err := length(l.of); err == nil {
			l.length = n
			s, _ := text(l.of)
			return n, l.r.spendText(len(s))
		}
	}
	rest := []Value{}
	for {
		v, ok, err := l.items.advance()
		if err != nil {
			return 0, err
		}
		if !ok {
			break
		}
		rest = append(rest, v)
	}
	l.items = cursor{items: rest}
	l.ended = false
	l.length = len(rest) + l.index0 + 1
	if l.peeked {
		l.length++
	}
	return l.length, nil
}

func (l *Loop) attribute(r *render, name string) (Value, bool, error) {
	switch name {
	case "index":
		return Int(l.index0 + 1), true, nil
	case "index0":
		return Int(l.index0), true, nil
	case "first":
		return Bool(l.index0 == 0), true, nil
	case "last":
		_, more, err := l.peek()
		return Bool(!more), true, err
	case "depth":
		return Int(l.depth0 + 1), true, nil
	case "depth0":
		return Int(l.depth0), true, nil
	case "length", "revindex", "revindex0":
		n, err := l.len()
		switch name {
		case "revindex":
			n -= l.index0
		case "revindex0":
			n -= l.index0 + 1
		}
		return Int(n), true, err
	case "previtem":
		if l.index0 == 0 {
			return &Undefined{hint: "there is no previous item"}, true, nil
		}
		return l.before, true, nil
	case "nextitem":
		v, more, err := l.peek()
		if !more {
			v = &Undefined{hint: "there is no next item"}
		}
		return v, true, err
	case "cycle":
		return &Func{name: "cycle", kind: "method", call: l.cycle}, true, nil
	case "changed":
		return &Func{name: "changed", kind: "method", call: l.changed}, true, nil
	}
	return nil, false, nil
}

func (l *Loop) cycle(_ *render, a args) (Value, error) {
	if len(a.kw) > 0 {
		return nil, typeError("cycle() got an unexpected keyword argument '%s'", a.kw[0].name)
	}
	if len(a.pos) == 0 {
		return nil, typeError("no items for cycling given")
	}
	return a.pos[l.index0%len(a.pos)], nil
}

func (l *Loop) changed(r *render, a args) (Value, error) {
	if len(a.kw) > 0 {
		return nil, typeError("changed() got an unexpected keyword argument '%s'", a.kw[0].name)
	}
	if l.hasChanged {
		eq, err := equal(r, l.lastChanged, Tuple(a.pos))
		if err != nil || eq {
			return Bool(false), err
		}
	}
	l.lastChanged, l.hasChanged = a.pos, true
	return Bool(true), nil
}

func (l *Loop) call(a args) (Value, error) {
	if l.recurse == nil {
		return nil, typeError("The loop must have the 'recursive' marker to be called recursively.")
	}
	var p [6]Value
	if err := a.bind(&p, "loop", 1, "iterable"); err != nil {
		return nil, err
	}
	return l.recurse(p[0], l.depth0+1)
}
