package toolcall

// pythonHead matches the first call of a list of calls in Python's manner, [f(a=1), g()], or the next one.
func pythonHead(p *Parser, c *cursor, more bool) (s start, ok bool) {
	marked := false
	if more {
		c.gap()
		if !c.lit(",") {
			return s, false
		}
	} else {
		c.space()
		for _, mark := range p.format.open {
			if mark != "[" && c.lit(mark) {
				marked = true
				break
			}
		}
		c.space()
		if !c.lit("[") {
			return s, false
		}
	}
	s.list = true
	s, ok = pythonCall(p, c, s, more || marked)
	_, none := s.args.(givenArgs)
	s.explicit = more || marked || p.calls == 0 && p.blank && !none // all the answer, and with a keyword
	return s, ok
}

// linesHead matches the first call behind the marker, or the next one: on a line of its own, or in a list after all.
func linesHead(p *Parser, c *cursor, more bool) (s start, ok bool) {
	if more {
		c.gap()
		c.lit(",")
	} else {
		c.space()
		c.any(p.format.open...)
		c.space()
		s.list = c.lit("[")
	}
	return pythonCall(p, c, s, true)
}

// pythonCall matches a call as far as to its first argument's value or to its closing parenthesis. Unless it is certain
// that a call is meant, by what stands around it or by its name, the value must be a literal.
func pythonCall(p *Parser, c *cursor, s start, certain bool) (_ start, ok bool) {
	c.gap()
	s.name = c.word()
	c.gap()
	if !c.lit("(") {
		return s, false
	}
	c.gap()
	if c.lit(")") {
		s.args = givenArgs("{}")
		return s, true
	}
	key, ok := keyword(c)
	at := c.pos
	ok = ok && firstValue(c, certain || p.tools.declares(s.name))
	c.pos = at
	s.args = &pythonArgs{key: key, first: true}
	return s, ok
}

// firstValue matches a value, or as much of one as tells that it is one.
func firstValue(c *cursor, any bool) bool {
	c.gap()
	if b := c.peek(); any {
		return b != 0 && b != ',' && b != ')'
	}
	if _, ok := c.quote(); ok {
		return true
	}
	_, ok := pythonValue(c, nil, 0)
	c.gap()
	after := c.peek()
	return ok && (after == ',' || after == ')')
}

// keyword matches the name of an argument and the sign behind it.
func keyword(c *cursor) (string, bool) {
	c.gap()
	key := c.word()
	c.gap()
	return key, key != "" && c.lit("=") && !c.ahead("=")
}
