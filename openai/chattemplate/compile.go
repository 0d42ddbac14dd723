package chattemplate

import (
	"slices"
	"sync/atomic"
	"time"
)

type (
	evalFunc func(f *frame) (Value, error)
	execFunc func(f *frame) error
)

// Template is a compiled template. Its code does not change, and it can be rendered by several goroutines at once.
type Template struct {
	source string
	names  []string // free names, in the order of render.context
	slots  int
	body   execFunc
	blocks map[string]*blockFunc
	size   atomic.Int64 // of the text rendered last: room for the next one
}

// maxRoom bounds what is set aside for a text before it is written.
const maxRoom = 1 << 20

// blockFunc is a compiled block, which runs in a frame of its own.
type blockFunc struct {
	name  string
	slots int
	body  execFunc
}

// RenderOptions are what a render depends on besides its variables.
type RenderOptions struct {
	Now    time.Time // what strftime_now prints
	Limits Limits
}

// Compile parses a template and compiles it to closures. The error is a *Error.
func Compile(source string) (*Template, error) {
	t, err := compile(source)
	return t, clipped(err)
}

func compile(source string) (*Template, error) {
	body, err := parse(source)
	if err != nil {
		return nil, err
	}
	c := &compiler{context: map[string]int{}}
	t := &Template{source: source, blocks: map[string]*blockFunc{}}
	blocks := blocksIn(body)
	c.hasBlocks = len(blocks) > 0
	fn := newFunction(nil)
	sc := &scope{syms: newSymbols(nil, fn), fn: fn, toplevel: true}
	if t.body, err = c.templateBody(sc, body); err != nil {
		return nil, err
	}
	for _, b := range blocks {
		if t.blocks[b.name] != nil {
			return nil, raise("TemplateAssertionError", "block '"+b.name+"' defined twice")
		}
		if t.blocks[b.name], err = c.block(b); err != nil {
			return nil, err
		}
	}
	t.slots = len(fn.slots)
	t.names = make([]string, len(c.context))
	for name, i := range c.context {
		t.names[i] = name
	}
	return t, nil
}

// Render runs the template with the entries of vars as its variables. The error is a *Error.
func (t *Template) Render(vars *Dict, o RenderOptions) (string, error) {
	r := &render{limits: o.Limits.orDefault(), lib: &builtins, now: o.Now, blocks: t.blocks, context: make([]Value, len(t.names))}
	for i, name := range t.names {
		if v, ok := vars.Get(name); ok {
			r.context[i] = v
		} else if g, ok := globals[name]; ok {
			r.context[i] = g
		}
	}
	if len(t.blocks) > 0 {
		r.vars = NewDict(8)
	}
	r.out = make([]byte, 0, min(t.size.Load()+256, maxRoom))
	f := &frame{slots: make([]Value, t.slots), r: r}
	if err := t.body(f); err != nil {
		return "", clipped(err)
	}
	t.size.Store(int64(len(r.out)))
	return string(r.out), nil
}

type compiler struct {
	context   map[string]int // free names
	hasBlocks bool
	depth     int
	escape    escapeMode
	folding   bool // inside an expression that jinja2 computes when it compiles
}

// escapeMode is what is known of autoescape where code is compiled.
type escapeMode uint8

const (
	escapeOff escapeMode = iota
	escapeOn
	escapeVolatile // decided by an expression
)

// scope is where code is compiled.
type scope struct {
	syms     *symbols
	fn       *function
	toplevel bool // assignments are the template's own variables
	soft     bool // in an if: an unknown filter or test is an error only when it is reached
}

func (sc *scope) inner() *scope { return sc.innerIn(sc.fn) }

func (sc *scope) innerIn(fn *function) *scope {
	return &scope{syms: newSymbols(sc.syms, fn), fn: fn}
}

func (sc *scope) softened() *scope {
	s := *sc
	s.soft = true
	return &s
}

func (c *compiler) contextIndex(name string) int {
	i, ok := c.context[name]
	if !ok {
		i = len(c.context)
		c.context[name] = i
	}
	return i
}

// loadOp sets one variable when its scope is entered.
type loadOp struct {
	action loadAction
	slot   int
	index  int // into render.context
	name   string
	from   evalFunc
}

func (c *compiler) loads(sc *scope) []loadOp {
	var ops []loadOp
	for v, l := range sc.syms.loads {
		op := loadOp{action: l.action, slot: v.slot, name: l.name}
		switch l.action {
		case loadParameter:
			continue
		case loadResolve:
			op.index = c.contextIndex(l.name)
		case loadAlias:
			op.from = readVariable(sc.fn, l.from)
		}
		ops = append(ops, op)
	}
	slices.SortFunc(ops, func(a, b loadOp) int { return a.slot - b.slot })
	return ops
}

func runLoads(f *frame, ops []loadOp) {
	for i := range ops {
		op := &ops[i]
		switch op.action {
		case loadResolve:
			f.slots[op.slot] = f.r.resolve(op)
		case loadAlias:
			f.slots[op.slot], _ = op.from(f) // reading a variable cannot fail
		default:
			f.slots[op.slot] = nil
		}
	}
}

func (r *render) resolve(op *loadOp) Value {
	if r.vars != nil {
		if v, ok := r.vars.Get(op.name); ok {
			return v
		}
	}
	return r.context[op.index]
}

// ownSlots are the slots to clear when the scope is left.
func ownSlots(sc *scope) []int {
	var slots []int
	for v := range sc.syms.loads {
		slots = append(slots, v.slot)
	}
	slices.Sort(slots)
	return slots
}

func clearSlots(f *frame, slots []int) {
	for _, s := range slots {
		f.slots[s] = nil
	}
}

// readVariable reads a variable from a frame of function fn; the value is nil when it is not set.
func readVariable(fn *function, v variable) evalFunc {
	hops := 0
	for ; fn != v.fn; fn = fn.parent {
		hops++
	}
	slot := v.slot
	switch hops {
	case 0:
		return func(f *frame) (Value, error) { return f.slots[slot], nil }
	case 1:
		return func(f *frame) (Value, error) { return f.up.slots[slot], nil }
	}
	return func(f *frame) (Value, error) {
		for range hops {
			f = f.up
		}
		return f.slots[slot], nil
	}
}

func (c *compiler) templateBody(sc *scope, body []stmt) (execFunc, error) {
	selfSlot := c.selfParameter(sc, body)
	sc.syms.analyze(body)
	loads := c.loads(sc)
	run, err := c.body(sc, body)
	if err != nil {
		return nil, err
	}
	return func(f *frame) error {
		runLoads(f, loads)
		if selfSlot >= 0 {
			f.slots[selfSlot] = &templateRef{}
		}
		return run(f)
	}, nil
}

func (c *compiler) selfParameter(sc *scope, body []stmt) int {
	if undeclared(body, "self")["self"] {
		return sc.syms.parameter("self").slot
	}
	return -1
}

// body compiles statements into one function.
func (c *compiler) body(sc *scope, body []stmt) (execFunc, error) {
	steps := make([]execFunc, 0, len(body))
	for _, s := range body {
		step, err := c.stmt(sc, s)
		if err != nil {
			return nil, err
		}
		if step != nil {
			steps = append(steps, step)
		}
	}
	switch len(steps) {
	case 0:
		return func(*frame) error { return nil }, nil
	case 1:
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
