package chattemplate

// tupleRules say how a tuple without parentheses is read.
type tupleRules struct {
	simple    bool   // names and literals only, as in an assignment target
	noCond    bool   // no inline if
	namespace bool   // ns.attr is a target
	parens    bool   // in parentheses, so that an empty one is allowed
	endName   string // a name that ends the tuple
}

func (p *parser) tupleEnds(endName string) bool {
	t := p.cur()
	return t.kind == tokenVariableEnd || t.kind == tokenBlockEnd || p.isOp(")") || endName != "" && p.isName(endName)
}

func (p *parser) tuple(rules tupleRules) expr {
	var items []expr
	isTuple := false
	for {
		if len(items) > 0 {
			p.expectOp(",")
		}
		if p.tupleEnds(rules.endName) {
			break
		}
		switch {
		case rules.simple:
			items = append(items, p.primary(rules.namespace))
		case rules.noCond:
			items = append(items, p.or())
		default:
			items = append(items, p.expression())
		}
		if !p.isOp(",") {
			break
		}
		isTuple = true
	}
	if !isTuple {
		if len(items) > 0 {
			return items[0]
		}
		if !rules.parens {
			p.fail("Expected an expression, got %s", reprString(p.cur().describe()))
		}
	}
	return tupleExpr{items}
}

// target reads what a value can be assigned to.
func (p *parser) target(rules tupleRules) expr {
	line := p.cur().line
	rules.simple = true
	x := p.tuple(rules)
	if kind := unassignable(x); kind != "" {
		p.failAt(line, "can't assign to '%s'", kind)
	}
	return x
}

func unassignable(x expr) string {
	switch x := x.(type) {
	case nameExpr, nsRefExpr:
		return ""
	case tupleExpr:
		for _, item := range x.items {
			if unassignable(item) != "" {
				return "tuple"
			}
		}
		return ""
	case constExpr:
		return "const"
	case listExpr:
		return "list"
	case dictExpr:
		return "dict"
	}
	return "expression"
}

func (p *parser) expression() expr {
	p.enter()
	defer p.leave()
	x := p.or()
	for p.skipName("if") {
		p.link()
		test := p.or()
		var otherwise expr
		if p.skipName("else") {
			otherwise = p.expression()
		}
		x = condExpr{test, x, otherwise}
	}
	return x
}

func (p *parser) or() expr {
	x := p.and()
	for p.skipName("or") {
		p.link()
		x = binaryExpr{"or", x, p.and()}
	}
	return x
}

func (p *parser) and() expr {
	x := p.not()
	for p.skipName("and") {
		p.link()
		x = binaryExpr{"and", x, p.not()}
	}
	return x
}

func (p *parser) not() expr {
	if !p.skipName("not") {
		return p.compare()
	}
	p.enter()
	defer p.leave()
	return unaryExpr{"not", p.not()}
}

func (p *parser) compare() expr {
	x := p.sum()
	var rest []comparison
	for {
		t := p.cur()
		switch {
		case t.kind == tokenOperator && (t.text == "==" || t.text == "!=" || t.text == "<" || t.text == "<=" || t.text == ">" || t.text == ">="):
			p.next()
			rest = append(rest, comparison{t.text, p.sum()})
		case p.skipName("in"):
			rest = append(rest, comparison{"in", p.sum()})
		case p.isName("not") && p.look().kind == tokenName && p.look().text == "in":
			p.next()
			p.next()
			rest = append(rest, comparison{"not in", p.sum()})
		default:
			if rest == nil {
				return x
			}
			return compareExpr{x, rest}
		}
	}
}

func (p *parser) sum() expr {
	x := p.concat()
	for p.isOp("+") || p.isOp("-") {
		p.link()
		op := p.next().text
		x = binaryExpr{op, x, p.concat()}
	}
	return x
}

func (p *parser) concat() expr {
	x := p.product()
	if !p.isOp("~") {
		return x
	}
	items := []expr{x}
	for p.skipOp("~") {
		items = append(items, p.product())
	}
	return concatExpr{items}
}

func (p *parser) product() expr {
	x := p.power()
	for p.isOp("*") || p.isOp("/") || p.isOp("//") || p.isOp("%") {
		p.link()
		op := p.next().text
		x = binaryExpr{op, x, p.power()}
	}
	return x
}

func (p *parser) power() expr {
	x := p.unary(true)
	for p.skipOp("**") {
		p.link()
		x = binaryExpr{"**", x, p.unary(true)}
	}
	return x
}

func (p *parser) unary(withFilter bool) expr {
	p.enter()
	defer p.leave()
	var x expr
	switch {
	case p.skipOp("-"):
		x = unaryExpr{"-", p.unary(false)}
	case p.skipOp("+"):
		x = unaryExpr{"+", p.unary(false)}
	default:
		x = p.primary(false)
	}
	x = p.postfix(x)
	if !withFilter {
		return x
	}
	for {
		p.link()
		switch {
		case p.isOp("|"):
			x = p.filters(x)
		case p.skipName("is"):
			x = p.test(x)
		case p.isOp("("):
			x = callExpr{x, p.args()}
		default:
			return x
		}
	}
}

func (p *parser) primary(namespace bool) expr {
	t := p.cur()
	switch t.kind {
	case tokenName:
		p.next()
		switch t.text {
		case "true", "True":
			return constExpr{Bool(true)}
		case "false", "False":
			return constExpr{Bool(false)}
		case "none", "None":
			return constExpr{None{}}
		}
		if namespace && p.skipOp(".") {
			return nsRefExpr{t.text, p.name()}
		}
		return nameExpr{t.text}
	case tokenString:
		text := p.next().text
		for p.cur().kind == tokenString {
			text += p.next().text
		}
		return constExpr{Str(text)}
	case tokenNumber:
		p.next()
		return constExpr{t.number}
	case tokenOperator:
		switch t.text {
		case "(":
			p.next()
			p.enter()
			x := p.tuple(tupleRules{parens: true})
			p.leave()
			p.expectOp(")")
			return x
		case "[":
			return p.list()
		case "{":
			return p.dict()
		}
	}
	p.fail("unexpected %s", reprString(t.describe()))
	return nil
}

func (p *parser) list() expr {
	var x listExpr
	p.expectOp("[")
	for !p.isOp("]") {
		if len(x.items) > 0 {
			p.expectOp(",")
		}
		if p.isOp("]") {
			break
		}
		x.items = append(x.items, p.expression())
	}
	p.expectOp("]")
	return x
}

func (p *parser) dict() expr {
	var x dictExpr
	p.expectOp("{")
	for !p.isOp("}") {
		if len(x.keys) > 0 {
			p.expectOp(",")
		}
		if p.isOp("}") {
			break
		}
		x.keys = append(x.keys, p.expression())
		p.expectOp(":")
		x.values = append(x.values, p.expression())
	}
	p.expectOp("}")
	return x
}
