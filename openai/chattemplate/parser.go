package chattemplate

import "strings"

// parser is a recursive descent over the tokens of one template. A syntax error unwinds it as a *Error panic that
// parse recovers: the grammar would otherwise drown in error returns, and the panic never leaves this file.
type parser struct {
	tokens []token
	pos    int
	depth  int
	chain  int        // operators met in the current tag
	tags   []string   // open statements, innermost last
	ends   [][]string // tag names that each open statement waits for
}

func parse(source string) (body []stmt, err error) {
	tokens, err := lex(source)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	defer func() {
		if r := recover(); r != nil {
			failure, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			body, err = nil, failure
		}
	}()
	return p.statements(nil), nil
}

func (p *parser) fail(format string, args ...string) {
	panic(syntaxError(p.cur().line, format, args...).(*Error))
}

func (p *parser) failAt(line int, format string, args ...string) {
	panic(syntaxError(line, format, args...).(*Error))
}

// enter bounds how deep expressions and statements nest; the caller defers leave.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail("the template nests too deep")
	}
}

func (p *parser) leave() { p.depth-- }

// link bounds the operators of one tag, as every one may deepen the tree.
func (p *parser) link() {
	if p.chain++; p.chain > maxChain {
		p.fail("the tag has too many operators")
	}
}

func (p *parser) cur() *token { return &p.tokens[p.pos] }

func (p *parser) look() *token {
	if p.pos+1 < len(p.tokens) {
		return &p.tokens[p.pos+1]
	}
	return &p.tokens[len(p.tokens)-1]
}

func (p *parser) next() *token {
	t := p.cur()
	if p.pos+1 < len(p.tokens) {
		p.pos++
	}
	return t
}

func (p *parser) isName(name string) bool {
	t := p.cur()
	return t.kind == tokenName && t.text == name
}

func (p *parser) isOp(op string) bool {
	t := p.cur()
	return t.kind == tokenOperator && t.text == op
}

func (p *parser) skipName(name string) bool {
	if p.isName(name) {
		p.next()
		return true
	}
	return false
}

func (p *parser) skipOp(op string) bool {
	if p.isOp(op) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expectName(name string) {
	if !p.skipName(name) {
		p.unexpected(name)
	}
}

func (p *parser) expectOp(op string) {
	if !p.skipOp(op) {
		p.unexpected(op)
	}
}

func (p *parser) unexpected(want string) {
	t := p.cur()
	if t.kind == tokenEOF {
		p.fail("unexpected end of template, expected '%s'.", want)
	}
	p.fail("expected token '%s', got %s", want, reprString(t.describe()))
}

func (p *parser) name() string {
	if p.cur().kind != tokenName {
		p.unexpected("name")
	}
	return p.next().text
}

func (p *parser) expectBlockEnd() {
	if p.cur().kind != tokenBlockEnd {
		p.unexpected("end of statement block")
	}
	p.next()
}

// block reads a statement's body: the rest of its tag, then statements up to one of the end tags, whose name it leaves
// as the current token.
func (p *parser) block(ends ...string) []stmt {
	p.skipOp(":")
	p.expectBlockEnd()
	p.enter()
	defer p.leave()
	p.ends = append(p.ends, ends)
	body := p.statements(ends)
	if p.cur().kind == tokenEOF {
		p.failUnknown("")
	}
	p.ends = p.ends[:len(p.ends)-1]
	return body
}

// statements reads until the end of the template or, when there are any, one of the end tags.
func (p *parser) statements(ends []string) []stmt {
	var body []stmt
	var items []expr
	flush := func() {
		if len(items) > 0 {
			body = append(body, outputStmt{items})
			items = nil
		}
	}
	for {
		switch t := p.cur(); t.kind {
		case tokenEOF:
			flush()
			return body
		case tokenData:
			items = append(items, dataExpr{p.next().text})
		case tokenVariableBegin:
			p.next()
			p.chain = 0
			items = append(items, p.tuple(tupleRules{}))
			if p.cur().kind != tokenVariableEnd {
				p.unexpected("end of print statement")
			}
			p.next()
		default:
			flush()
			p.next() // tokenBlockBegin
			p.chain = 0
			for _, end := range ends {
				if p.isName(end) {
					return body
				}
			}
			body = append(body, p.statement())
			p.expectBlockEnd()
		}
	}
}

// failUnknown reports an unknown tag, or with an empty name the end of the template, and what was awaited.
func (p *parser) failUnknown(tag string) {
	msg := "Unexpected end of template."
	if tag != "" {
		msg = "Encountered unknown tag '" + tag + "'."
	}
	if len(p.ends) > 0 {
		looking := "'" + strings.Join(p.ends[len(p.ends)-1], "' or '") + "'"
		nested := false
		for _, ends := range p.ends {
			nested = nested || tag != "" && strings.Contains(" "+strings.Join(ends, " ")+" ", " "+tag+" ")
		}
		if nested {
			msg += " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for " + looking + "."
		} else {
			msg += " Jinja was looking for the following tags: " + looking + "."
		}
	}
	if len(p.tags) > 0 {
		msg += " The innermost block that needs to be closed is '" + p.tags[len(p.tags)-1] + "'."
	}
	p.fail("%s", msg)
}
