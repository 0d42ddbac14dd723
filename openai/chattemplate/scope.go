package chattemplate

import "strconv"

// Which variable a name means is settled at compile time, with the rules of jinja2: every scope has a level, a variable
// is a level and a name in a function, and entering a scope loads its variables from the context, from the variable of
// the same name further out, or as unset.

type loadAction uint8

const (
	loadParameter loadAction = iota // set by who enters the scope
	loadResolve                     // from the context
	loadAlias                       // from an outer variable
	loadUnset
)

type load struct {
	action loadAction
	name   string
	from   variable
}

// variable is a slot of the frames of a function.
type variable struct {
	fn   *function
	slot int
}

// function is what gets a frame of its own: the template, a macro, a recursive loop, a loop's filter, a block.
type function struct {
	parent *function
	slots  map[string]int
	loops  int // open loops at this point of the compilation
}

func (fn *function) variable(level int, name string) variable {
	key := strconv.Itoa(level) + " " + name
	slot, ok := fn.slots[key]
	if !ok {
		slot = len(fn.slots)
		fn.slots[key] = slot
	}
	return variable{fn, slot}
}

func newFunction(parent *function) *function {
	return &function{parent: parent, slots: map[string]int{}}
}

// symbols are the names of one scope.
type symbols struct {
	parent *symbols
	fn     *function
	level  int
	refs   map[string]variable
	loads  map[variable]load
	stores map[string]bool
}

func newSymbols(parent *symbols, fn *function) *symbols {
	s := &symbols{parent: parent, fn: fn, refs: map[string]variable{}, loads: map[variable]load{}, stores: map[string]bool{}}
	if parent != nil {
		s.level = parent.level + 1
	}
	return s
}

func (s *symbols) define(name string, l load) variable {
	v := s.fn.variable(s.level, name)
	s.refs[name] = v
	s.loads[v] = l
	return v
}

func (s *symbols) find(name string) (variable, bool) {
	for ; s != nil; s = s.parent {
		if v, ok := s.refs[name]; ok {
			return v, true
		}
	}
	return variable{}, false
}

func (s *symbols) load(name string) {
	if _, ok := s.find(name); !ok {
		s.define(name, load{action: loadResolve, name: name})
	}
}

func (s *symbols) store(name string) {
	s.stores[name] = true
	if _, ok := s.refs[name]; ok {
		return
	}
	if outer, ok := s.parent.find(name); ok {
		s.define(name, load{action: loadAlias, from: outer})
		return
	}
	s.define(name, load{action: loadUnset})
}

func (s *symbols) parameter(name string) variable {
	s.stores[name] = true
	return s.define(name, load{action: loadParameter})
}

func (s *symbols) clone() *symbols {
	c := newSymbols(nil, s.fn)
	c.parent, c.level = s.parent, s.level
	c.update(s)
	return c
}

func (s *symbols) update(from *symbols) {
	for k, v := range from.refs {
		s.refs[k] = v
	}
	for k, v := range from.loads {
		s.loads[k] = v
	}
	for k := range from.stores {
		s.stores[k] = true
	}
}

// merge joins the branches of an if: what one of them stores is loaded first, for the case that another ran.
func (s *symbols) merge(branches []*symbols) {
	stored := map[string]bool{}
	for _, b := range branches {
		for name := range b.stores {
			if !s.stores[name] {
				stored[name] = true
			}
		}
	}
	for _, b := range branches {
		s.update(b)
	}
	for name := range stored {
		target, _ := s.find(name)
		if outer, ok := s.parent.find(name); ok {
			s.loads[target] = load{action: loadAlias, from: outer}
		} else {
			s.loads[target] = load{action: loadResolve, name: name}
		}
	}
}

// analyze declares the names of statements that run in this scope; inner scopes are analysed when they are compiled.
func (s *symbols) analyze(body []stmt) {
	for _, st := range body {
		s.statement(st)
	}
}

func (s *symbols) statement(st stmt) {
	switch st := st.(type) {
	case outputStmt:
		s.exprs(st.items...)
	case forStmt:
		s.exprs(st.iter)
	case ifStmt:
		s.branches(st)
	case setStmt:
		s.exprs(st.value)
		s.target(st.target)
	case setBlockStmt:
		s.target(st.target)
	case macroStmt:
		s.store(st.name)
	case callStmt:
		s.exprs(st.call)
	case filterBlockStmt:
		s.exprs(st.filter)
	case withStmt:
		s.exprs(st.values...)
	case loadStmt:
		s.exprs(st.x)
		for _, name := range st.names {
			s.store(name)
		}
	}
}

func (s *symbols) branches(st ifStmt) {
	s.exprs(st.branches[0].test)
	var branches []*symbols
	visit := func(test expr, body []stmt) {
		b := s.clone()
		b.exprs(test)
		b.analyze(body)
		branches = append(branches, b)
	}
	visit(nil, st.branches[0].body)
	for _, b := range st.branches[1:] {
		visit(b.test, b.body)
	}
	visit(nil, st.otherwise)
	s.merge(branches)
}

func (s *symbols) target(x expr) {
	switch x := x.(type) {
	case nameExpr:
		s.store(x.name)
	case nsRefExpr:
		s.load(x.name)
	case tupleExpr:
		for _, item := range x.items {
			s.target(item)
		}
	}
}

// parameters declares the names of a target that the scope's owner sets.
func (s *symbols) parameters(x expr) {
	switch x := x.(type) {
	case nameExpr:
		s.parameter(x.name)
	case tupleExpr:
		for _, item := range x.items {
			s.parameters(item)
		}
	}
}

func (s *symbols) exprs(list ...expr) {
	w := walker{names: true, onName: func(name string, _ bool) { s.load(name) }}
	w.exprs(list...)
}
