package chattemplate

// templateRef is the variable self: its attributes are the template's blocks.
type templateRef struct{}

func (*templateRef) typeName() string { return "TemplateReference" }

// block compiles a block's body as a function that sees the template's own variables only through the context.
func (c *compiler) block(s blockStmt) (*blockFunc, error) {
	fn := newFunction(nil)
	sc := &scope{syms: newSymbols(nil, fn), fn: fn}
	superSlot := -1
	if undeclared(s.body, "super")["super"] {
		superSlot = sc.syms.parameter("super").slot
	}
	run, err := c.templateBody(sc, s.body)
	if err != nil {
		return nil, err
	}
	b := &blockFunc{name: s.name}
	b.body = func(f *frame) error {
		if superSlot >= 0 {
			f.slots[superSlot] = &Undefined{hint: "there is no parent block called " + reprString(s.name) + ".", name: Str("super")}
		}
		return run(f)
	}
	b.slots = len(fn.slots)
	return b, nil
}

func (c *compiler) blockCall(sc *scope, s blockStmt) (execFunc, error) {
	if s.required {
		return func(*frame) error {
			return raise("TemplateRuntimeError", "Required block "+reprString(s.name)+" not found")
		}, nil
	}
	locals := c.visibleStores(sc, s.scoped)
	return func(f *frame) error {
		was := f.r.vars
		if s.scoped {
			f.r.vars = was.clone()
			for name, read := range locals {
				if v, _ := read(f); v != nil { // reading a variable cannot fail
					f.r.vars.Set(name, v)
				}
			}
		}
		err := f.r.runBlock(s.name)
		f.r.vars = was
		return err
	}, nil
}

func (r *render) runBlock(name string) error {
	if err := r.enter(); err != nil {
		return err
	}
	defer r.leave()
	b := r.blocks[name]
	return b.body(&frame{slots: make([]Value, b.slots), r: r})
}

// visibleStores reads what the scope and those around it have assigned, for a scoped block.
func (c *compiler) visibleStores(sc *scope, scoped bool) map[string]evalFunc {
	locals := map[string]evalFunc{}
	if !scoped {
		return locals
	}
	for s := sc.syms; s != nil; s = s.parent {
		for name := range s.stores {
			if v, ok := sc.syms.find(name); ok {
				locals[name] = readVariable(sc.fn, v)
			}
		}
	}
	return locals
}

func (t *templateRef) attribute(r *render, name string) (Value, bool) {
	if r.blocks[name] == nil {
		return nil, false
	}
	return &Func{name: name, kind: "BlockReference", call: func(r *render, a args) (Value, error) {
		if err := a.positional(name, 0, 0); err != nil {
			return nil, err
		}
		return r.captureValue(nil, func(*frame) error { return r.runBlock(name) })
	}}, true
}
