package chattemplate

// walker visits a syntax tree in the order in which jinja2's own visitors do; blocks are left to onBlock.
type walker struct {
	onName  func(name string, load bool)
	onBlock func(blockStmt)
	names   bool // visit names; otherwise only statements
}

func (w *walker) body(body []stmt) {
	for _, s := range body {
		w.stmt(s)
	}
}

func (w *walker) stmt(s stmt) {
	switch s := s.(type) {
	case outputStmt:
		w.exprs(s.items...)
	case forStmt:
		w.target(s.target)
		w.exprs(s.iter)
		w.body(s.body)
		w.body(s.otherwise)
		w.exprs(s.test)
	case ifStmt:
		for _, b := range s.branches {
			w.exprs(b.test)
			w.body(b.body)
		}
		w.body(s.otherwise)
	case setStmt:
		w.target(s.target)
		w.exprs(s.value)
	case setBlockStmt:
		w.target(s.target)
		w.exprs(s.filter)
		w.body(s.body)
	case macroStmt:
		w.signature(s.sig)
		w.body(s.body)
	case callStmt:
		w.exprs(s.call)
		w.signature(s.sig)
		w.body(s.body)
	case generationStmt:
		w.body(s.body)
	case filterBlockStmt:
		w.body(s.body)
		w.exprs(s.filter)
	case withStmt:
		for _, t := range s.targets {
			w.target(t)
		}
		w.exprs(s.values...)
		w.body(s.body)
	case autoescapeStmt:
		w.exprs(s.on)
		w.body(s.body)
	case loadStmt:
		w.exprs(s.x)
	case blockStmt:
		if w.onBlock != nil {
			w.onBlock(s)
		}
	}
}

func (w *walker) signature(sig signature) {
	for _, p := range sig.params {
		w.name(p, false)
	}
	w.exprs(sig.defaults...)
}

func (w *walker) name(name string, load bool) {
	if w.names {
		w.onName(name, load)
	}
}

func (w *walker) target(x expr) {
	switch x := x.(type) {
	case nameExpr:
		w.name(x.name, false)
	case tupleExpr:
		for _, item := range x.items {
			w.target(item)
		}
	}
}

// exprs visits the names that expressions load, in order; nil ones are skipped.
func (w *walker) exprs(list ...expr) {
	if !w.names {
		return
	}
	for _, x := range list {
		w.expr(x)
	}
}

func (w *walker) expr(x expr) {
	switch x := x.(type) {
	case nameExpr:
		w.name(x.name, true)
	case nsRefExpr:
		w.name(x.name, true)
	case tupleExpr:
		w.exprs(x.items...)
	case listExpr:
		w.exprs(x.items...)
	case dictExpr:
		for i := range x.keys {
			w.exprs(x.keys[i], x.values[i])
		}
	case unaryExpr:
		w.expr(x.x)
	case binaryExpr:
		w.exprs(x.x, x.y)
	case concatExpr:
		w.exprs(x.items...)
	case compareExpr:
		w.expr(x.x)
		for _, c := range x.rest {
			w.expr(c.x)
		}
	case attrExpr:
		w.expr(x.x)
	case itemExpr:
		w.exprs(x.x, x.key)
	case sliceExpr:
		w.exprs(x.start, x.stop, x.step)
	case condExpr:
		w.exprs(x.test, x.then, x.otherwise)
	case callExpr:
		w.expr(x.x)
		w.args(x.args)
	case filterExpr:
		w.expr(x.x)
		w.args(x.args)
	case testExpr:
		w.expr(x.x)
		w.args(x.args)
	}
}

func (w *walker) args(a argList) {
	w.exprs(a.pos...)
	for _, kw := range a.kw {
		w.expr(kw.value)
	}
	w.exprs(a.star, a.starStar)
}

// undeclared tells which of the names body loads before it stores them.
func undeclared(body []stmt, names ...string) map[string]bool {
	watched, found := map[string]bool{}, map[string]bool{}
	for _, n := range names {
		watched[n] = true
	}
	w := walker{names: true, onName: func(name string, load bool) {
		if load && watched[name] {
			found[name] = true
		} else {
			delete(watched, name)
		}
	}}
	w.body(body)
	return found
}

// stores tells whether body, or a loop or block in it, assigns to name.
func stores(s stmt, name string) bool {
	found := false
	w := walker{names: true, onName: func(n string, load bool) { found = found || !load && n == name }}
	w.stmt(s)
	return found
}

// blocksIn lists every block of body, nested ones too.
func blocksIn(body []stmt) []blockStmt {
	var found []blockStmt
	w := walker{}
	w.onBlock = func(b blockStmt) {
		found = append(found, b)
		w.body(b.body)
	}
	w.body(body)
	return found
}
