package chattemplate

// forCode is a compiled for loop.
type forCode struct {
	iter      evalFunc
	filter    *loopFilter
	target    assignFunc
	loopSlot  int // of the variable loop, or -1 when the body does not use it
	loads     []loadOp
	slots     []int
	body      execFunc
	otherwise execFunc // nil: none
	elseLoads []loadOp
	elseSlots []int
	fn        *function // of a recursive loop
}

// loopFilter is the condition of "for … if": a function of its own, run as the loop asks for items.
type loopFilter struct {
	fn     *function
	target assignFunc
	loads  []loadOp
	test   condFunc
}

func (c *compiler) forLoop(sc *scope, s forStmt) (execFunc, error) {
	if stores(s, "loop") {
		return nil, raise("TemplateAssertionError", "Can't assign to special loop variable in for-loop target")
	}
	code := &forCode{loopSlot: -1}
	var err error
	if code.iter, err = c.expr(sc, s.iter); err != nil {
		return nil, err
	}
	if s.test != nil {
		if code.filter, err = c.loopFilter(sc, s); err != nil {
			return nil, err
		}
	}
	fn := sc.fn
	if s.recursive {
		fn = newFunction(sc.fn)
		code.fn = fn
	}
	if err := c.loopBody(sc, fn, s, code); err != nil {
		return nil, err
	}
	if s.recursive {
		return code.runRecursive, nil
	}
	return code.run, nil
}

func (c *compiler) loopBody(sc *scope, fn *function, s forStmt, code *forCode) error {
	loop := sc.innerIn(fn)
	if s.recursive || undeclared(s.body, "loop")["loop"] || hasScopedBlock(s) {
		code.loopSlot = loop.syms.parameter("loop").slot
	}
	loop.syms.parameters(s.target)
	loop.syms.analyze(s.body)
	otherwise := sc.innerIn(fn)
	otherwise.syms.analyze(s.otherwise)
	code.target = c.assign(loop, s.target)
	code.loads, code.slots = c.loads(loop), ownSlots(loop)
	fn.loops++
	var err error
	code.body, err = c.body(loop, s.body)
	fn.loops--
	if err != nil || s.otherwise == nil {
		return err
	}
	code.elseLoads, code.elseSlots = c.loads(otherwise), ownSlots(otherwise)
	code.otherwise, err = c.body(otherwise, s.otherwise)
	return err
}

func hasScopedBlock(s forStmt) bool {
	for _, b := range blocksIn([]stmt{s}) {
		if b.scoped {
			return true
		}
	}
	return false
}

func (c *compiler) loopFilter(sc *scope, s forStmt) (*loopFilter, error) {
	fn := newFunction(sc.fn)
	test := sc.innerIn(fn)
	test.syms.parameters(s.target)
	test.syms.exprs(s.test)
	l := &loopFilter{fn: fn, target: c.assign(test, s.target), loads: c.loads(test)}
	var err error
	l.test, err = c.condition(test, s.test)
	return l, err
}

// apply keeps the items for which the condition holds.
func (l *loopFilter) apply(f *frame, items cursor) cursor {
	test := &frame{slots: make([]Value, len(l.fn.slots)), up: f, r: f.r}
	runLoads(test, l.loads)
	return cursor{next: func() (Value, bool, error) {
		for {
			v, ok, err := items.advance()
			if err != nil || !ok {
				return nil, false, err
			}
			if err := l.target(test, v); err != nil {
				return nil, false, err
			}
			if err := f.r.spend(1); err != nil {
				return nil, false, err
			}
			if ok, err := l.test(test); err != nil {
				return nil, false, err
			} else if ok {
				return v, true, nil
			}
		}
	}}
}

func (code *forCode) run(f *frame) error {
	v, err := code.iter(f)
	if err != nil {
		return err
	}
	return code.iterate(f, f, v, nil, 0)
}

// iterate runs the loop in frame f; its filter runs in frames under outer.
func (code *forCode) iterate(f, outer *frame, v Value, recurse func(v Value, depth int) (Value, error), depth int) error {
	items, err := iterate(v)
	if err != nil {
		return err
	}
	var loop *Loop
	if code.filter != nil {
		items = code.filter.apply(outer, items)
		v = nil
	}
	if code.loopSlot >= 0 {
		if err := f.r.spend(2 * itemSteps); err != nil {
			return err
		}
		loop = &Loop{items: items, of: v, index0: -1, length: -1, depth0: depth, recurse: recurse, r: f.r}
	}
	finished := false // some pass came to the end of the body
	for {
		item, ok, err := code.advance(&items, loop)
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		stop, err := code.pass(f, item, loop, &finished)
		if err != nil {
			return err
		}
		if stop {
			break
		}
	}
	clearSlots(f, code.slots)
	if code.otherwise == nil || finished {
		return nil
	}
	runLoads(f, code.elseLoads)
	err = code.otherwise(f)
	clearSlots(f, code.elseSlots)
	return err
}

func (code *forCode) advance(items *cursor, loop *Loop) (Value, bool, error) {
	if loop != nil {
		return loop.advance()
	}
	return items.advance()
}

// pass runs the body for one item.
func (code *forCode) pass(f *frame, item Value, loop *Loop, finished *bool) (stop bool, err error) {
	if err := f.r.spend(1); err != nil {
		return true, err
	}
	if err := code.target(f, item); err != nil {
		return true, err
	}
	if loop != nil {
		f.slots[code.loopSlot] = loop
	}
	runLoads(f, code.loads)
	switch err := code.body(f); err {
	case nil:
		*finished = true
		return false, nil
	case errBreak:
		return true, nil
	case errContinue:
		return false, nil
	default:
		return true, err
	}
}

func (code *forCode) runRecursive(f *frame) error {
	v, err := code.iter(f)
	if err != nil {
		return err
	}
	var recurse func(v Value, depth int) (Value, error)
	recurse = func(v Value, depth int) (Value, error) {
		if err := f.r.enter(); err != nil {
			return nil, err
		}
		defer f.r.leave()
		inner := &frame{slots: make([]Value, len(code.fn.slots)), up: f, r: f.r}
		return f.r.captureValue(inner, func(inner *frame) error {
			return code.iterate(inner, f, v, recurse, depth)
		})
	}
	out, err := recurse(v, 0)
	if err != nil {
		return err
	}
	return f.r.writeText(out)
}
