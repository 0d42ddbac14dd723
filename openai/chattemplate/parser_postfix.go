package chattemplate

func (p *parser) postfix(x expr) expr {
	for {
		p.link()
		switch {
		case p.isOp("."):
			x = p.attribute(x)
		case p.isOp("["):
			x = p.subscript(x)
		case p.isOp("("):
			x = callExpr{x, p.args()}
		default:
			return x
		}
	}
}

func (p *parser) attribute(x expr) expr {
	p.expectOp(".")
	t := p.next()
	switch {
	case t.kind == tokenName:
		return attrExpr{x, t.text}
	case t.kind == tokenNumber:
		if _, isFloat := t.number.(Float); !isFloat {
			return itemExpr{x, constExpr{t.number}}
		}
	}
	p.failAt(t.line, "expected name or number")
	return nil
}

func (p *parser) subscript(x expr) expr {
	p.expectOp("[")
	var keys []expr
	for !p.isOp("]") {
		if len(keys) > 0 {
			p.expectOp(",")
		}
		keys = append(keys, p.subscriptKey())
	}
	p.expectOp("]")
	if len(keys) == 1 {
		return itemExpr{x, keys[0]}
	}
	return itemExpr{x, tupleExpr{keys}}
}

func (p *parser) subscriptKey() expr {
	var s sliceExpr
	if !p.isOp(":") {
		s.start = p.expression()
		if !p.isOp(":") {
			return s.start
		}
	}
	p.next()
	ends := func() bool { return p.isOp("]") || p.isOp(",") }
	if !p.isOp(":") && !ends() {
		s.stop = p.expression()
	}
	if p.skipOp(":") && !ends() {
		s.step = p.expression()
	}
	return s
}

func (p *parser) args() argList {
	var a argList
	line := p.cur().line
	ensure := func(ok bool) {
		if !ok {
			p.failAt(line, "invalid syntax for function call expression")
		}
	}
	p.expectOp("(")
	for first := true; !p.isOp(")"); first = false {
		if !first {
			p.expectOp(",")
			if p.isOp(")") {
				break
			}
		}
		switch {
		case p.isOp("*"):
			ensure(a.star == nil && a.starStar == nil)
			p.next()
			a.star = p.expression()
		case p.isOp("**"):
			ensure(a.starStar == nil)
			p.next()
			a.starStar = p.expression()
		case p.cur().kind == tokenName && p.look().kind == tokenOperator && p.look().text == "=":
			ensure(a.starStar == nil)
			name := p.next().text
			p.next()
			a.kw = append(a.kw, keyword{name, p.expression()})
		default:
			ensure(a.star == nil && a.starStar == nil && len(a.kw) == 0)
			a.pos = append(a.pos, p.expression())
		}
	}
	p.expectOp(")")
	return a
}

// filters reads "|name" as long as there are any.
func (p *parser) filters(x expr) expr {
	for p.skipOp("|") {
		p.link()
		x = p.filter(x)
	}
	return x
}

// filterChain is filters whose first one has no "|" in front.
func (p *parser) filterChain(x expr) expr { return p.filters(p.filter(x)) }

func (p *parser) filter(x expr) expr {
	f := filterExpr{x: x, line: p.cur().line, name: p.dottedName()}
	if p.isOp("(") {
		f.args = p.args()
	}
	return f
}

func (p *parser) dottedName() string {
	name := p.name()
	for p.skipOp(".") {
		name += "." + p.name()
	}
	return name
}

// test reads what follows "is".
func (p *parser) test(x expr) expr {
	negated := p.skipName("not")
	t := testExpr{x: x, line: p.cur().line, name: p.dottedName()}
	switch {
	case p.isOp("("):
		t.args = p.args()
	case p.startsTestArgument():
		if p.isName("is") {
			p.fail("You cannot chain multiple tests with is")
		}
		t.args.pos = []expr{p.postfix(p.primary(false))}
	}
	if negated {
		return unaryExpr{"not", t}
	}
	return t
}

func (p *parser) startsTestArgument() bool {
	switch t := p.cur(); t.kind {
	case tokenName:
		return t.text != "else" && t.text != "or" && t.text != "and"
	case tokenString, tokenNumber:
		return true
	case tokenOperator:
		return t.text == "[" || t.text == "{"
	}
	return false
}
