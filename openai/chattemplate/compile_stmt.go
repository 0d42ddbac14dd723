package chattemplate

func (c *compiler) stmt(sc *scope, s stmt) (execFunc, error) {
	switch s := s.(type) {
	case outputStmt:
		return c.output(sc, s)
	case forStmt:
		return c.forLoop(sc, s)
	case ifStmt:
		return c.ifElse(sc, s)
	case setStmt:
		return c.set(sc, s)
	case setBlockStmt:
		return c.setBlock(sc, s)
	case macroStmt:
		return c.macro(sc, s)
	case callStmt:
		return c.callBlock(sc, s)
	case generationStmt:
		return c.generation(sc, s)
	case filterBlockStmt:
		return c.filterBlock(sc, s)
	case withStmt:
		return c.with(sc, s)
	case autoescapeStmt:
		return c.autoescape(sc, s)
	case blockStmt:
		return c.blockCall(sc, s)
	case loadStmt:
		return c.loadTemplate(sc, s)
	case loopControlStmt:
		if sc.fn.loops == 0 {
			return nil, raise("SyntaxError", "'"+string(s.signal)+"' outside loop")
		}
		return func(*frame) error { return s.signal }, nil
	}
	return nil, nil
}

// output compiles the text and expressions between two statements.
func (c *compiler) output(sc *scope, s outputStmt) (execFunc, error) {
	steps := make([]execFunc, 0, len(s.items))
	for _, item := range s.items {
		if data, ok := item.(dataExpr); ok {
			steps = append(steps, func(f *frame) error { return f.r.write(data.text) })
			continue
		}
		step, err := c.print(sc, item)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	if len(steps) == 1 {
		return steps[0], nil
	}
	return func(f *frame) error {
		for _, step := range steps {
			if err := step(f); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func (c *compiler) print(sc *scope, x expr) (execFunc, error) {
	c.folding = isConstant(x)
	defer func() { c.folding = false }()
	if c.escape == escapeOff {
		if parts, err := c.printSum(sc, x); parts != nil || err != nil {
			return parts, err
		}
	}
	value, err := c.expr(sc, x)
	if err != nil {
		return nil, err
	}
	mode := c.escape
	return func(f *frame) error {
		v, err := value(f)
		if err != nil {
			return err
		}
		if mode == escapeOn || mode == escapeVolatile && f.r.autoescape {
			if v, err = escape(f.r, v); err != nil {
				return err
			}
		}
		return f.r.print(v)
	}, nil
}

// print writes str(v).
func (r *render) print(v Value) error {
	if s, ok := text(v); ok {
		return r.write(s)
	}
	s, err := str(r, v)
	if err != nil {
		return err
	}
	return r.write(s)
}

// printSum writes a + b + c piece by piece when all are plain strings, as they mostly are, and adds them up otherwise.
func (c *compiler) printSum(sc *scope, x expr) (execFunc, error) {
	var terms []expr
	for {
		sum, ok := x.(binaryExpr)
		if !ok || sum.op != "+" {
			break
		}
		terms = append(terms, sum.y)
		x = sum.x
	}
	if len(terms) == 0 {
		return nil, nil
	}
	terms = append(terms, x)
	reverse(terms)
	values, err := c.exprs(sc, terms)
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		mark := len(f.r.out)
		for i, value := range values {
			v, err := value(f)
			if err != nil {
				return err
			}
			if s, ok := v.(Str); ok {
				if err := f.r.write(string(s)); err != nil {
					return err
				}
				continue
			}
			return f.finishSum(mark, i, v, values)
		}
		return nil
	}, nil
}

// finishSum goes on adding after i plain strings, whose sum lies in the output from mark on, and the value v.
func (f *frame) finishSum(mark, i int, v Value, values []evalFunc) error {
	sum := v
	var err error
	if i > 0 {
		head := Str(f.r.out[mark:])
		f.r.out = f.r.out[:mark]
		if sum, err = add(f.r, head, v); err != nil {
			return err
		}
	}
	for _, value := range values[i+1:] {
		v, err := value(f)
		if err != nil {
			return err
		}
		if sum, err = add(f.r, sum, v); err != nil {
			return err
		}
	}
	return f.r.print(sum)
}

func (c *compiler) ifElse(sc *scope, s ifStmt) (execFunc, error) {
	sc = sc.softened()
	type branch struct {
		test condFunc
		body execFunc
	}
	branches := make([]branch, len(s.branches))
	for i, b := range s.branches {
		test, err := c.condition(sc, b.test)
		if err != nil {
			return nil, err
		}
		body, err := c.body(sc, b.body)
		if err != nil {
			return nil, err
		}
		branches[i] = branch{test, body}
	}
	otherwise, err := c.body(sc, s.otherwise)
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		for i := range branches {
			ok, err := branches[i].test(f)
			if err != nil {
				return err
			}
			if ok {
				return branches[i].body(f)
			}
		}
		return otherwise(f)
	}, nil
}

func (c *compiler) set(sc *scope, s setStmt) (execFunc, error) {
	value, err := c.expr(sc, s.value)
	if err != nil {
		return nil, err
	}
	assign, check := c.assign(sc, s.target), c.namespaceCheck(sc, s.target)
	return func(f *frame) error {
		if err := check(f); err != nil {
			return err
		}
		v, err := value(f)
		if err != nil {
			return err
		}
		return assign(f, v)
	}, nil
}

func (c *compiler) setBlock(sc *scope, s setBlockStmt) (execFunc, error) {
	inner := sc.inner()
	inner.syms.exprs(s.filter)
	inner.syms.analyze(s.body)
	loads, slots := c.loads(inner), ownSlots(inner)
	body, err := c.body(inner, s.body)
	if err != nil {
		return nil, err
	}
	filter, err := c.filterText(inner, s.filter)
	if err != nil {
		return nil, err
	}
	assign := c.assign(sc, s.target)
	return func(f *frame) error {
		runLoads(f, loads)
		v, err := f.r.captureValue(f, body)
		if err != nil {
			return err
		}
		if filter != nil {
			if v, err = filter(f, v); err != nil {
				return err
			}
			if f.r.autoescape {
				s, err := str(f.r, v)
				if err != nil {
					return err
				}
				v = Markup(s)
			}
		}
		err = assign(f, v)
		clearSlots(f, slots)
		return err
	}, nil
}

// captureValue runs body and returns its text, as Markup under autoescape.
func (r *render) captureValue(f *frame, body execFunc) (Value, error) {
	s, err := r.capture(f, body)
	if err != nil {
		return nil, err
	}
	if r.autoescape {
		return Markup(s), r.spendCopy(len(s))
	}
	return Str(s), r.spendCopy(len(s))
}

func (c *compiler) filterBlock(sc *scope, s filterBlockStmt) (execFunc, error) {
	inner := sc.inner()
	inner.syms.analyze(s.body)
	inner.syms.exprs(s.filter)
	loads, slots := c.loads(inner), ownSlots(inner)
	body, err := c.body(inner, s.body)
	if err != nil {
		return nil, err
	}
	filter, err := c.filterText(inner, s.filter)
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		runLoads(f, loads)
		v, err := f.r.captureValue(f, body)
		if err != nil {
			return err
		}
		if v, err = filter(f, v); err != nil {
			return err
		}
		clearSlots(f, slots)
		return f.r.writeText(v)
	}, nil
}

// writeText writes what has to be a string already.
func (r *render) writeText(v Value) error {
	s, ok := text(v)
	if !ok {
		return typeError("sequence item 0: expected str instance, %s found", v.typeName())
	}
	return r.write(s)
}

func (c *compiler) with(sc *scope, s withStmt) (execFunc, error) {
	inner := sc.inner()
	for _, t := range s.targets {
		inner.syms.parameters(t)
	}
	inner.syms.analyze(s.body)
	values, err := c.exprs(sc, s.values)
	if err != nil {
		return nil, err
	}
	targets := make([]assignFunc, len(s.targets))
	for i, t := range s.targets {
		targets[i] = c.assign(inner, t)
	}
	loads, slots := c.loads(inner), ownSlots(inner)
	body, err := c.body(inner, s.body)
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		runLoads(f, loads)
		for i, value := range values {
			v, err := value(f)
			if err != nil {
				return err
			}
			if err := targets[i](f, v); err != nil {
				return err
			}
		}
		err := body(f)
		clearSlots(f, slots)
		return err
	}, nil
}

func (c *compiler) autoescape(sc *scope, s autoescapeStmt) (execFunc, error) {
	inner := sc.inner()
	inner.syms.exprs(s.on)
	inner.syms.analyze(s.body)
	loads, slots := c.loads(inner), ownSlots(inner)
	on, err := c.condition(inner, s.on)
	if err != nil {
		return nil, err
	}
	before := c.escape
	c.escape = escapeVolatile
	if x, ok := s.on.(constExpr); ok {
		c.escape = escapeOff
		if truth(x.value) {
			c.escape = escapeOn
		}
	}
	body, err := c.body(inner, s.body)
	c.escape = before
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		runLoads(f, loads)
		was := f.r.autoescape
		is, err := on(f)
		if err != nil {
			return err
		}
		f.r.autoescape = is
		err = body(f)
		f.r.autoescape = was
		clearSlots(f, slots)
		return err
	}, nil
}

func (c *compiler) loadTemplate(sc *scope, s loadStmt) (execFunc, error) {
	name, err := c.expr(sc, s.x)
	if err != nil {
		return nil, err
	}
	if s.tag == "extends" && !sc.toplevel {
		return nil, raise("TemplateAssertionError", "cannot use extend from a non top-level scope")
	}
	return func(f *frame) error {
		if _, err := name(f); err != nil {
			return err
		}
		return typeError("no loader for this environment specified: a chat template cannot use %s", s.tag)
	}, nil
}
