package toolcall

import (
	"strings"

	"leeway/openai"
)

// pythonArgs turns keyword arguments into the members of an object: strings as they come, all else one by one.
//
// An argument ends where the call does or where a comma and the next keyword stand. If it is more than a literal up to
// there, it becomes a string that holds its source text, as a bare name does also within a list or a dict. Where it
// begins with a string literal, that has been passed on before the rest was seen, and the rest follows it. So the object
// is complete whatever the model writes.
type pythonArgs struct {
	key   string // of the value being read
	first bool
	at    place

	quote quoting // of the string literal being read

	// In source text:
	depth int    // of open brackets
	last  string // what stands before the next byte, as far as it matters
	blank []byte // white space that is passed on if more follows
}

// place is where in an argument a reader stands.
type place uint8

const (
	atValue place = iota
	inLiteral
	afterLiteral // of a string; another may follow
	inSource
	inSourceLiteral
)

// sequel is what stands behind a value.
type sequel uint8

const (
	valueGoesOn sequel = iota
	argumentFollows
	callEnds
)

func (a *pythonArgs) read(p *Parser, eof bool) bool {
	if a.first {
		p.argue(a.member())
	}
	for p.buf != "" {
		if a.at == inLiteral || a.at == inSourceLiteral {
			if !a.text(p, eof) {
				return false
			}
			continue
		}
		c := &cursor{text: p.buf, names: true}
		seq := a.next(p, c)
		switch {
		case c.short && eof:
			a.cut(p)
			return false
		case p.short(c):
			return false
		}
		p.buf = p.buf[c.pos:]
		switch seq {
		case callEnds:
			p.argue("}")
			return true
		case argumentFollows:
			p.argue(a.member())
			a.at = atValue
		}
	}
	if eof && a.at == afterLiteral {
		p.argue(`"`)
	}
	return false
}

// next reads on and passes on what it has read, unless it runs out of text.
func (a *pythonArgs) next(p *Parser, c *cursor) sequel {
	switch a.at {
	case afterLiteral:
		return a.afterLiteral(p, c)
	case inSource:
		return a.source(p, c)
	}
	return a.value(p, c)
}

// member begins the member of the argument whose name has been read.
func (a *pythonArgs) member() string {
	out := []byte{','}
	if a.first {
		out[0], a.first = '{', false
	}
	return string(append(openai.AppendString(out, a.key), ':'))
}

// value reads a literal that is no string, or finds out that what stands here is something else.
func (a *pythonArgs) value(p *Parser, c *cursor) sequel {
	c.gap()
	q, ok := c.quote()
	if c.short {
		return valueGoesOn
	}
	if ok {
		a.open(p, inLiteral, q)
		return valueGoesOn
	}
	at := c.pos
	if v, ok := pythonValue(c, nil, 0); ok {
		seq := a.sequel(p, c)
		if seq != valueGoesOn && !c.short {
			p.argue(string(v))
			return seq
		}
	}
	c.pos = at
	if !c.short {
		a.open(p, inSource, quoting{})
	}
	return valueGoesOn
}

// sequel matches what ends an argument, but for a bracket or marker that ends more than the call.
func (a *pythonArgs) sequel(p *Parser, c *cursor) sequel {
	at := c.pos
	c.gap()
	comma := c.lit(",")
	if comma {
		c.gap()
	}
	if c.lit(")") {
		return callEnds
	}
	end := c.pos
	if c.lit("]") || c.any(p.format.closes...) {
		c.pos = end
		return callEnds
	}
	if key, ok := keyword(c); comma && ok {
		if !c.short {
			a.key = key
		}
		return argumentFollows
	}
	c.pos = at
	return valueGoesOn
}

// text passes on a string literal's characters up to its end.
func (a *pythonArgs) text(p *Parser, eof bool) bool {
	out, n, closed := pythonText(nil, p.buf, a.quote, eof)
	p.buf = p.buf[n:]
	p.argue(string(out))
	switch {
	case !closed:
	case a.at == inSourceLiteral:
		a.at = inSource
		a.pass(p, a.quote.mark)
	default:
		a.at = afterLiteral
	}
	return closed
}

// afterLiteral looks for another string literal, which continues the one before, or for the argument's end.
func (a *pythonArgs) afterLiteral(p *Parser, c *cursor) sequel {
	seq := a.sequel(p, c)
	if c.short {
		return seq
	}
	if seq != valueGoesOn {
		p.argue(`"`)
		return seq
	}
	q, ok := c.another()
	switch {
	case c.short:
	case ok:
		a.at, a.quote = inLiteral, q
	default:
		c.pos, a.at = 0, inSource
	}
	return valueGoesOn
}

// open begins the string that the value becomes.
func (a *pythonArgs) open(p *Parser, at place, q quoting) {
	p.argue(`"`)
	a.at, a.quote = at, q
}

// source passes on source text up to the argument's end. In it # begins no comment: it may as well be C#.
func (a *pythonArgs) source(p *Parser, c *cursor) sequel {
	n := strings.IndexAny(c.text, `"'()[]{},<`)
	if n < 0 {
		n = len(c.text)
	}
	if n > 0 {
		a.pass(p, c.text[:n])
		c.pos = n
		return valueGoesOn
	}
	b := c.text[0]
	if b == '"' || b == '\'' {
		return a.quoted(p, c)
	}
	if a.depth == 0 && strings.IndexByte(`,)]<`, b) >= 0 {
		if seq := a.sequel(p, c); seq != valueGoesOn || c.short {
			return a.end(p, c, seq)
		}
	}
	c.pos = 1
	switch {
	case b == ',':
		c.gap() // of which the next comma would take another look otherwise
		c.peek()
	case strings.IndexByte("([{", b) >= 0:
		a.depth++
	case strings.IndexByte(")]}", b) >= 0:
		a.depth = max(a.depth-1, 0)
	}
	if !c.short {
		a.pass(p, c.text[:c.pos])
	}
	return valueGoesOn
}

// end closes the string of source text.
func (a *pythonArgs) end(p *Parser, c *cursor, seq sequel) sequel {
	if !c.short {
		p.argue(`"`)
		a.last, a.blank = "", a.blank[:0]
	}
	return seq
}

// quoted begins a string literal within source text, where a quote is none that stands behind a letter, as in it's.
func (a *pythonArgs) quoted(p *Parser, c *cursor) sequel {
	word := a.last
	for i := len(word); i > 0; i-- {
		if !nameByte(word[i-1]) {
			word = word[i:]
			break
		}
	}
	if len(a.blank) == 0 && (len(word) > 2 || strings.Trim(word, "rRbBuUfFtT") != "") {
		a.pass(p, c.text[:1])
		c.pos = 1
		return valueGoesOn
	}
	if q, _ := c.quote(); !c.short {
		a.pass(p, q.mark)
		a.at, a.quote = inSourceLiteral, quoting{mark: q.mark, raw: true}
	}
	return valueGoesOn
}

// pass emits source text, and holds the white space at its end.
func (a *pythonArgs) pass(p *Parser, text string) {
	body := strings.TrimRight(text, " \n\t\r")
	if body != "" {
		p.argue(string(openai.AppendEscaped(openai.AppendEscaped(nil, a.blank), body)))
		if len(a.blank) > 0 {
			a.blank, a.last = a.blank[:0], ""
		}
		a.last += body[max(0, len(body)-3):]
		a.last = a.last[max(0, len(a.last)-3):]
	}
	a.blank = append(a.blank, text[len(body):]...)
}

// cut ends arguments that the answer's end has cut off before it is known what follows: a value that cannot have ended
// stays open, as it would in JSON, and what is no part of it is content.
func (a *pythonArgs) cut(p *Parser) {
	c := &cursor{text: p.buf, eof: true, names: true}
	switch a.at {
	case afterLiteral:
		p.argue(`"`)
	case atValue:
		c.gap()
		if q, ok := c.quote(); ok {
			a.open(p, inLiteral, q)
			p.buf = c.rest()
			a.read(p, true)
			return
		}
		at := c.pos
		v, ok := pythonValue(c, nil, 0)
		if at < len(c.text) && !ok && strings.IndexByte("([{", c.text[at]) < 0 {
			a.open(p, inSource, quoting{})
			a.pass(p, c.text[at:c.pos])
			break
		}
		p.argue(string(v))
	case inSource:
		if a.depth > 0 || strings.IndexByte(`"'`, p.buf[0]) >= 0 {
			a.pass(p, p.buf)
			c.pos = len(p.buf)
		}
	}
	if rest := c.rest(); !cutOff(rest, p.format.closes) {
		p.say(rest)
	}
	p.buf = ""
}
