package chattemplate

func (p *parser) statement() stmt {
	t := p.cur()
	if t.kind != tokenName {
		p.fail("tag name expected")
	}
	parseTag := p.tagParser(t.text)
	if parseTag == nil {
		p.failUnknown(t.text)
	}
	p.tags = append(p.tags, t.text)
	p.next()
	s := parseTag(t.line)
	p.tags = p.tags[:len(p.tags)-1]
	return s
}

func (p *parser) tagParser(tag string) func(line int) stmt {
	switch tag {
	case "for":
		return p.forTag
	case "if":
		return p.ifTag
	case "set":
		return p.setTag
	case "macro":
		return p.macroTag
	case "call":
		return p.callTag
	case "filter":
		return p.filterTag
	case "with":
		return p.withTag
	case "print":
		return p.printTag
	case "block":
		return p.blockTag
	case "autoescape":
		return func(int) stmt {
			on := p.expression()
			return autoescapeStmt{on, p.closedBlock("endautoescape")}
		}
	case "generation":
		return func(int) stmt { return generationStmt{p.closedBlock("endgeneration")} }
	case "break":
		return func(int) stmt { return loopControlStmt{errBreak} }
	case "continue":
		return func(int) stmt { return loopControlStmt{errContinue} }
	case "include", "extends", "import", "from":
		return func(int) stmt { return p.loadTag(tag) }
	}
	return nil
}

// closedBlock is block with one end tag, whose name it consumes.
func (p *parser) closedBlock(end string) []stmt {
	body := p.block(end)
	p.next()
	return body
}

func (p *parser) forTag(line int) stmt {
	s := forStmt{line: line}
	s.target = p.target(tupleRules{endName: "in"})
	p.expectName("in")
	s.iter = p.tuple(tupleRules{noCond: true, endName: "recursive"})
	if p.skipName("if") {
		s.test = p.expression()
	}
	s.recursive = p.skipName("recursive")
	s.body = p.block("endfor", "else")
	if p.next().text == "else" {
		s.otherwise = p.closedBlock("endfor")
	}
	return s
}

func (p *parser) ifTag(int) stmt {
	var s ifStmt
	for {
		test := p.tuple(tupleRules{noCond: true})
		body := p.block("elif", "else", "endif")
		s.branches = append(s.branches, ifBranch{test, body})
		switch p.next().text {
		case "elif":
			continue
		case "else":
			s.otherwise = p.closedBlock("endif")
		}
		return s
	}
}

func (p *parser) setTag(int) stmt {
	target := p.target(tupleRules{namespace: true})
	if p.skipOp("=") {
		return setStmt{target, p.tuple(tupleRules{})}
	}
	var filter expr
	if p.isOp("|") {
		filter = p.filters(nil)
	}
	return setBlockStmt{target, filter, p.closedBlock("endset")}
}

func (p *parser) signature() signature {
	var sig signature
	p.expectOp("(")
	for !p.isOp(")") {
		if len(sig.params) > 0 {
			p.expectOp(",")
		}
		name := p.assignableName()
		if indexOf(sig.params, name) >= 0 {
			p.fail("duplicate argument '" + name + "' in function definition")
		}
		if p.skipOp("=") {
			sig.defaults = append(sig.defaults, p.expression())
		} else if len(sig.defaults) > 0 {
			p.fail("non-default argument follows default argument")
		}
		sig.params = append(sig.params, name)
	}
	p.expectOp(")")
	return sig
}

func (p *parser) assignableName() string {
	line := p.cur().line
	name := p.name()
	if isConstName(name) {
		p.failAt(line, "can't assign to 'name'")
	}
	return name
}

func isConstName(name string) bool {
	switch name {
	case "true", "false", "none", "True", "False", "None":
		return true
	}
	return false
}

func (p *parser) macroTag(line int) stmt {
	name := p.assignableName()
	sig := p.signature()
	return macroStmt{name, sig, p.closedBlock("endmacro"), line}
}

func (p *parser) callTag(line int) stmt {
	s := callStmt{line: line}
	if p.isOp("(") {
		s.sig = p.signature()
	}
	call, ok := p.expression().(callExpr)
	if !ok {
		p.failAt(line, "expected call")
	}
	s.call = call
	s.body = p.closedBlock("endcall")
	return s
}

func (p *parser) filterTag(int) stmt {
	filter := p.filterChain(nil)
	return filterBlockStmt{filter, p.closedBlock("endfilter")}
}

func (p *parser) withTag(int) stmt {
	var s withStmt
	for p.cur().kind != tokenBlockEnd {
		if len(s.targets) > 0 {
			p.expectOp(",")
		}
		s.targets = append(s.targets, p.target(tupleRules{}))
		p.expectOp("=")
		s.values = append(s.values, p.expression())
	}
	s.body = p.closedBlock("endwith")
	return s
}

func (p *parser) printTag(int) stmt {
	var s outputStmt
	for p.cur().kind != tokenBlockEnd {
		if len(s.items) > 0 {
			p.expectOp(",")
		}
		s.items = append(s.items, p.expression())
	}
	return s
}

func (p *parser) blockTag(int) stmt {
	s := blockStmt{name: p.name()}
	s.scoped = p.skipName("scoped")
	s.required = p.skipName("required")
	if p.isOp("-") {
		p.fail("Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.")
	}
	s.body = p.closedBlock("endblock")
	p.skipName(s.name)
	return s
}

// loadTag parses a tag that would load another template.
func (p *parser) loadTag(tag string) stmt {
	s := loadStmt{tag: tag, x: p.expression()}
	switch tag {
	case "include":
		if p.isName("ignore") && p.look().text == "missing" {
			p.next()
			p.next()
		}
	case "import":
		p.expectName("as")
		s.names = []string{p.assignableName()}
	case "from":
		p.expectName("import")
		s.names = p.importedNames()
	}
	if tag != "extends" {
		p.skipContext()
	}
	return s
}

func (p *parser) importedNames() []string {
	var names []string
	for {
		if len(names) > 0 {
			p.expectOp(",")
		}
		if p.skipContext() {
			return names
		}
		name := p.assignableName()
		if p.skipName("as") {
			name = p.assignableName()
		}
		names = append(names, name)
		if !p.isOp(",") {
			return names
		}
	}
}

func (p *parser) skipContext() bool {
	if (p.isName("with") || p.isName("without")) && p.look().text == "context" {
		p.next()
		p.next()
		return true
	}
	return false
}
