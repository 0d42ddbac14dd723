package toolcall

import "strings"

// The formats here write a call as one JSON object that holds the name and the arguments, in either order, alone or in
// an array.

// object matches an object from its brace to where its arguments begin or, when they come before the name, are text or
// are missing, to its end. A bare one, which no marker announces, is given up at a key that a call has not, unless the
// name stands before it: then it is a call if it has arguments and a tool of that name is declared.
func object(c *cursor, list, bare bool) (s start, ok bool) {
	s.list = list
	if !c.lit("{") {
		return s, false
	}
	m := members{args: "{}", bare: bare}
	for first := true; ; first = false {
		c.space()
		if first && c.lit("}") {
			return s, false
		}
		key, ok := c.str()
		c.space()
		if !ok || !c.lit(":") {
			return s, false
		}
		c.space()
		opened, ok := m.read(c, key)
		s.name, s.explicit = m.name, m.given && !(bare && m.odd)
		if opened {
			s.args = &jsonArgs{member: true}
			return s, c.opensObject()
		}
		c.space()
		switch {
		case !ok:
			return s, false
		case c.lit(","):
		case c.lit("}"):
			s.args = givenArgs(m.args)
			return s, m.name != "" && (m.given || !m.odd)
		default:
			return s, false
		}
	}
}

// members are what the members of such an object have said so far.
type members struct {
	name, args string
	bare       bool
	given      bool // there are arguments
	odd        bool // there is a key that a call has not
}

// read reads the value of a key. It reports opened before arguments that may be passed on as they come.
func (m *members) read(c *cursor, key string) (opened, ok bool) {
	switch {
	case key == "name" || key == "tool_name" || key == "function" && m.name == "" && c.peek() == '"':
		m.name, ok = c.str()
	case key == "arguments" || key == "parameters" || key == "args" && !m.bare:
		m.given = true
		if m.name != "" && c.peek() == '{' {
			return true, true
		}
		m.args, ok = argumentsValue(c)
	case key == "id" || key == "type" || key == "tool_call_id" || key == "index":
		_, ok = c.value()
	default:
		if m.odd = true; m.bare && m.name == "" {
			return false, false
		}
		_, ok = c.value()
	}
	return false, ok
}

// argumentsValue reads arguments whole: an object, an object written as a string, or nothing, as null or as "".
func argumentsValue(c *cursor) (string, bool) {
	switch c.peek() {
	case '"':
		s, ok := c.str()
		if strings.TrimSpace(s) == "" {
			return "{}", ok
		}
		return compact(s), ok && strings.HasPrefix(strings.TrimSpace(s), "{")
	case '{':
		v, ok := c.value()
		return compact(v), ok
	case 'n':
		v, ok := c.value()
		return "{}", ok && v == "null"
	}
	return "", false
}

// givenArgs are arguments that were read with the head.
type givenArgs string

func (g givenArgs) read(p *Parser, _ bool) bool {
	p.argue(string(g))
	return true
}

// jsonArgs passes on a JSON object as it comes, without the white space outside its strings.
type jsonArgs struct {
	member bool     // the object is a member's value: the rest of the object around it is skipped
	spaced bool     // white space is kept
	stops  []string // what ends arguments that are broken, nil for the format's

	lex    lexer
	phase  jsonPhase
	pieces []byte
}

// jsonPhase is how far the reading has come.
type jsonPhase uint8

const (
	readingObject jsonPhase = iota
	skippingRest
	verbatim // the object is broken; all up to a closing marker is passed on
)

func (j *jsonArgs) read(p *Parser, eof bool) bool {
	for p.buf != "" {
		switch j.phase {
		case verbatim:
			return j.verbatim(p, eof)
		case skippingRest:
			return j.skip(p)
		}
		if !j.object(p) {
			return p.state != inArgs
		}
		if j.phase == readingObject {
			if !j.member {
				return true
			}
			j.phase, j.lex = skippingRest, inObject()
		}
	}
	return false
}

// object passes on the object. It reports true when that has ended, well or badly.
func (j *jsonArgs) object(p *Parser) bool {
	j.pieces = j.pieces[:0]
	for i := range len(p.buf) {
		in := j.lex.want
		v := j.lex.next(p.buf[i])
		if v == lexBad || v == lexAfter {
			p.argue(string(j.pieces))
			p.buf = p.buf[i:]
			if j.phase = verbatim; p.format.bare {
				p.state, p.blank = inText, false
				return false
			}
			return true
		}
		if v != lexBlank || j.spaced {
			j.pieces = appendByte(j.pieces, p.buf[i], in)
		}
		if v == lexEnd {
			p.argue(string(j.pieces))
			p.buf = p.buf[i+1:]
			return true
		}
	}
	p.argue(string(j.pieces))
	p.buf = ""
	return false
}

// skip steps over the members that follow the arguments.
func (j *jsonArgs) skip(p *Parser) bool {
	for i := range len(p.buf) {
		switch j.lex.next(p.buf[i]) {
		case lexEnd:
			p.buf = p.buf[i+1:]
			return true
		case lexBad, lexAfter:
			p.buf = p.buf[i:]
			return true
		}
	}
	p.buf = ""
	return false
}

// verbatim passes on what is left of a broken object.
func (j *jsonArgs) verbatim(p *Parser, eof bool) bool {
	if j.stops != nil {
		return passVerbatim(p, j.stops, eof)
	}
	return passVerbatim(p, p.format.stops(), eof)
}

// passVerbatim passes on all up to the first of the markers that end this call or open another.
func passVerbatim(p *Parser, stops []string, eof bool) bool {
	at, _ := earliest(p.buf, stops)
	if at >= 0 {
		p.argue(p.buf[:at])
		p.buf = p.buf[at:]
		return true
	}
	held := 0
	if !eof {
		held = heldSuffix(p.buf, stops)
	}
	p.argue(p.buf[:len(p.buf)-held])
	p.buf = p.buf[len(p.buf)-held:]
	return false
}

// jsonHead matches a bare object, or an array of them.
func jsonHead(p *Parser, c *cursor, more bool) (start, bool) {
	if more {
		return nextObject(p, c)
	}
	list := c.lit("[")
	c.space()
	return object(c, list, p.format.bare)
}

// nextObject matches what may follow an object: another, after a comma or semicolon where one is usual.
func nextObject(p *Parser, c *cursor) (start, bool) {
	c.space()
	if !c.any(",", ";") && p.format.bare {
		return start{}, false
	}
	c.space()
	return object(c, p.list, p.format.bare)
}

// taggedHead matches an object, or an array of them, behind the marker that opens it.
func taggedHead(p *Parser, c *cursor, more bool) (start, bool) {
	if more {
		return nextObject(p, c)
	}
	for range 2 { // some say it twice
		c.any(p.format.open...)
		c.space()
	}
	return jsonHead(p, c, false)
}

// xlamHead matches an array of objects at the very start of the answer.
func xlamHead(p *Parser, c *cursor, more bool) (start, bool) {
	if more {
		return nextObject(p, c)
	}
	if p.calls > 0 || !p.blank || !c.lit("[") {
		return start{}, false
	}
	c.space()
	return object(c, true, true)
}

// llamaHead matches an object behind the marker for tools, or at the very start of the answer.
func llamaHead(p *Parser, c *cursor, more bool) (start, bool) {
	if more {
		return nextObject(p, c)
	}
	marked := c.lit("<|python_tag|>")
	if !marked && (p.calls > 0 || !p.blank) {
		return start{}, false
	}
	c.space()
	list := c.lit("[")
	c.space()
	s, ok := object(c, list, !marked)
	return s, ok && (marked || s.explicit || len(p.tools) == 0 || p.tools.declares(s.name))
}

// mistralHead matches the array of the older models, and the name before its arguments of the newer ones.
func mistralHead(p *Parser, c *cursor, more bool) (start, bool) {
	if more {
		return nextObject(p, c)
	}
	c.lit("[TOOL_CALLS]")
	c.space()
	if b := c.peek(); b == '[' || b == '{' {
		return jsonHead(p, c, false)
	}
	s := start{name: c.name()}
	if c.lit("[CALL_ID]") {
		s.id = c.word()
	}
	c.lit("[ARGS]")
	return rawArgs(c, s, false)
}

// rawArgs ends a head before arguments that stand by themselves.
func rawArgs(c *cursor, s start, spaced bool) (start, bool) {
	c.space()
	if c.peek() != '{' || s.name == "" {
		return s, false
	}
	s.args = &jsonArgs{spaced: spaced}
	return s, c.opensObject()
}
