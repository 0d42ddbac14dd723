package chattemplate

import "cmp"

// macroCode is the compiled body of a macro or of a call block.
type macroCode struct {
	name     string
	fn       *function
	params   []string
	slots    []int      // of the params
	defaults []evalFunc // of every param; nil: none
	// Slots of the special variables, -1 when the body does not use them.
	caller, kwargs, varargs int
	explicitCaller          bool // caller is a param
	loads                   []loadOp
	body                    execFunc
}

// Macro is a macro, or the caller of a call block, together with the frame it was defined in.
type Macro struct {
	*macroCode
	frame *frame
}

func (*Macro) typeName() string { return "Macro" }

func (m *Macro) attribute(name string) (Value, bool) {
	switch name {
	case "name":
		if m.name == "" {
			return None{}, true
		}
		return Str(m.name), true
	case "arguments":
		t := make(Tuple, len(m.params))
		for i, p := range m.params {
			t[i] = Str(p)
		}
		return t, true
	case "catch_kwargs":
		return Bool(m.kwargs >= 0), true
	case "catch_varargs":
		return Bool(m.varargs >= 0), true
	case "caller":
		return Bool(m.caller >= 0), true
	}
	return nil, false
}

// macroBody compiles what macros and call blocks share.
func (c *compiler) macroBody(sc *scope, name string, sig signature, body []stmt, line int) (*macroCode, error) {
	fn := newFunction(sc.fn)
	inner := sc.innerIn(fn)
	m := &macroCode{name: name, fn: fn, params: sig.params, caller: -1, kwargs: -1, varargs: -1}
	m.explicitCaller = indexOf(sig.params, "caller") >= 0
	special := undeclared(body, "caller", "kwargs", "varargs")
	for _, p := range sig.params {
		m.slots = append(m.slots, inner.syms.parameter(p).slot)
	}
	if special["caller"] {
		if i := indexOf(sig.params, "caller"); i < 0 {
			m.caller = inner.syms.parameter("caller").slot
		} else if i < len(sig.params)-len(sig.defaults) {
			err := raise("TemplateAssertionError", `When defining macros or call blocks the special "caller" argument must be omitted or be given a default.`).(*Error)
			err.Line = line
			return nil, err
		}
	}
	if special["kwargs"] && indexOf(sig.params, "kwargs") < 0 {
		m.kwargs = inner.syms.parameter("kwargs").slot
	}
	if special["varargs"] && indexOf(sig.params, "varargs") < 0 {
		m.varargs = inner.syms.parameter("varargs").slot
	}
	inner.syms.exprs(sig.defaults...)
	inner.syms.analyze(body)
	m.loads = c.loads(inner)
	defaults, err := c.exprs(inner, sig.defaults)
	if err != nil {
		return nil, err
	}
	m.defaults = append(make([]evalFunc, len(sig.params)-len(defaults)), defaults...)
	m.body, err = c.body(inner, body)
	return m, err
}

func (c *compiler) macro(sc *scope, s macroStmt) (execFunc, error) {
	code, err := c.macroBody(sc, s.name, s.sig, s.body, s.line)
	if err != nil {
		return nil, err
	}
	assign := c.assignName(sc, s.name)
	return func(f *frame) error { return assign(f, &Macro{code, f}) }, nil
}

func (c *compiler) callBlock(sc *scope, s callStmt) (execFunc, error) {
	code, err := c.macroBody(sc, "", s.sig, s.body, s.line)
	if err != nil {
		return nil, err
	}
	target, err := c.expr(sc, s.call.x)
	if err != nil {
		return nil, err
	}
	eval, err := c.args(sc, s.call.args)
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		x, err := target(f)
		if err != nil {
			return err
		}
		a, err := eval(f)
		if err != nil {
			return err
		}
		a.kw = append(a.kw, kwarg{"caller", &Macro{code, f}})
		v, err := call(f.r, x, a)
		if err != nil {
			return err
		}
		return f.r.writeText(v)
	}, nil
}

// generation compiles the tag that marks what the model writes: a function of its own without effect on the text.
func (c *compiler) generation(sc *scope, s generationStmt) (execFunc, error) {
	fn := newFunction(sc.fn)
	inner := sc.innerIn(fn)
	inner.syms.analyze(s.body)
	loads := c.loads(inner)
	body, err := c.body(inner, s.body)
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		g := &frame{slots: make([]Value, len(fn.slots)), up: f, r: f.r}
		runLoads(g, loads)
		return body(g)
	}, nil
}

// bindArgs gives the params their values; the rest goes to varargs and kwargs, or is an error.
func (m *Macro) bindArgs(f *frame, a args) error {
	kw := append([]kwarg(nil), a.kw...)
	take := func(name string) Value {
		for i, k := range kw {
			if k.name == name {
				kw = append(kw[:i], kw[i+1:]...)
				return k.value
			}
		}
		return nil
	}
	foundCaller := len(a.pos) >= len(m.params) && m.explicitCaller
	for i, slot := range m.slots {
		if i < len(a.pos) {
			f.slots[slot] = a.pos[i]
			continue
		}
		f.slots[slot] = take(m.params[i])
		foundCaller = foundCaller || m.params[i] == "caller"
	}
	if m.caller >= 0 && !foundCaller {
		caller := take("caller")
		if isNone(caller) {
			caller = &Undefined{hint: "No caller defined", name: Str("caller")}
		}
		f.slots[m.caller] = caller
	}
	if err := m.bindKwargs(f, kw); err != nil {
		return err
	}
	rest := []Value{}
	if len(a.pos) > len(m.params) {
		rest = a.pos[len(m.params):]
		for _, v := range rest {
			if err := f.r.spendHeld(v); err != nil {
				return err
			}
		}
	}
	if m.varargs >= 0 {
		f.slots[m.varargs] = Tuple(rest)
	} else if len(rest) > 0 {
		return typeError("macro %s takes not more than %s argument(s)", reprString(m.name), reprInt(len(m.params)))
	}
	return nil
}

func (m *Macro) bindKwargs(f *frame, kw []kwarg) error {
	if m.kwargs >= 0 {
		d := NewDict(len(kw))
		for _, k := range kw {
			if err := cmp.Or(f.r.spend(entrySteps), f.r.spendHeld(k.value)); err != nil {
				return err
			}
			d.Set(k.name, k.value)
		}
		f.slots[m.kwargs] = d
		return nil
	}
	for _, k := range kw {
		if k.name == "caller" {
			return typeError("macro %s was invoked with two values for the special caller argument. This is most likely a bug.", reprString(m.name))
		}
	}
	if len(kw) > 0 {
		return typeError("macro %s takes no keyword argument %s", reprString(m.name), reprString(kw[0].name))
	}
	return nil
}

func (m *Macro) call(r *render, a args) (Value, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	f := &frame{slots: make([]Value, len(m.fn.slots)), up: m.frame, r: r}
	if err := m.bindArgs(f, a); err != nil {
		return nil, err
	}
	return r.captureValue(f, m.run)
}

func (m *Macro) run(f *frame) error {
	runLoads(f, m.loads)
	for i, slot := range m.slots {
		if f.slots[slot] != nil {
			continue
		}
		if m.defaults[i] == nil {
			name := m.params[i]
			f.slots[slot] = &Undefined{hint: "parameter " + reprString(name) + " was not provided", name: Str(name)}
			continue
		}
		v, err := m.defaults[i](f)
		if err != nil {
			return err
		}
		f.slots[slot] = v
	}
	return m.body(f)
}
