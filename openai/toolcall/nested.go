package toolcall

import (
	"strings"

	"leeway/openai"
)

// MiniMax-M3 puts a mark before every tag of a call, names a parameter's tag after the parameter, and writes objects and
// lists as tags in tags. What a value is, text apart, its schema says.

const m3Mark = "]<]minimax[>["

var m3Tags = &tags{
	groups: []string{m3Mark + "<tool_call>"}, open: m3Mark + `<invoke name="`, name: []string{`"`}, rest: ">",
	param: m3Mark + "<", key: ">", end: m3Mark + "</", close: []string{m3Mark + "</invoke>", m3Mark + "</tool_call>"},
}

// m3Head matches the opening tags of a call.
func m3Head(p *Parser, c *cursor, more bool) (start, bool) {
	s, ok := tagHead(m3Tags)(p, c, more)
	if ok {
		s.args = &nestedArgs{tagArgs: tagArgs{tags: m3Tags, tool: p.tools.of(s.name)}, schema: p.tools.of(s.name).shape}
	}
	return s, ok
}

// nestedArgs turns tags into the members of an object: text as it comes, all else one by one.
type nestedArgs struct {
	tagArgs
	schema shape
}

func (a *nestedArgs) read(p *Parser, eof bool) bool {
	for {
		if a.inside && !a.value(p, eof) {
			return false
		}
		done, more := a.tag(p, eof)
		if done || !more {
			return done
		}
	}
}

// tag reads what comes next: a parameter, or at least the beginning of one that is text, or what closes the call.
func (a *nestedArgs) tag(p *Parser, eof bool) (done, more bool) {
	c := &cursor{text: p.buf, eof: eof}
	c.space()
	from := c.pos
	if a.closed(c) {
		p.buf = p.buf[c.pos:]
		p.argue(a.last())
		return true, false
	}
	if c.lit(a.tags.param) && a.open(c) {
		if a.kind == textKind {
			p.buf, a.inside, a.end = p.buf[c.pos:], true, a.end+a.key+">"
			p.argue(a.member())
			return false, true
		}
		if v, ok := element(c, a.key, a.schema.member(a.key), nil, 0); ok {
			p.buf = p.buf[c.pos:]
			p.argue(a.member() + string(v))
			return false, true
		}
	}
	c.short = c.short || from == len(p.buf) && !eof
	if p.short(c) || from == len(p.buf) {
		return false, false
	}
	a.stray(p, from, eof)
	return false, true
}

// element appends the value of a tag that has been opened, and steps over what closes it.
func element(c *cursor, name string, s shape, dst []byte, depth int) ([]byte, bool) {
	at := c.pos
	c.space()
	if depth > maxLiteral {
		return dst, false
	}
	if !c.ahead(m3Mark+"<") || c.ahead(m3Mark+"</") {
		c.pos = at
		i := strings.Index(c.rest(), m3Mark)
		if i < 0 {
			c.short = c.short || !c.eof
			return dst, false
		}
		text := c.rest()[:i]
		c.pos += i
		return s.appendText(dst, text), c.lit(m3Mark + "</" + name + ">")
	}
	names, values, ok := children(c, s, depth)
	if !ok || !c.lit(m3Mark+"</"+name+">") {
		return dst, false
	}
	if s.isList() || s.types() == nil && len(names) == 1 && names[0] == "item" {
		return appendList(dst, values), true
	}
	return appendObject(dst, names, values), true
}

// children reads the tags inside a value. Values of one name are a list.
func children(c *cursor, s shape, depth int) (names []string, values [][][]byte, ok bool) {
	at := make(map[string]int)
	for c.space(); !c.ahead(m3Mark + "</"); c.space() {
		if !c.lit(m3Mark + "<") {
			return nil, nil, false
		}
		name, found := c.until(">")
		if !found {
			return nil, nil, false
		}
		inner := s.member(name)
		if s.isList() {
			inner = s.child(s.Items)
		}
		v, found := element(c, name, inner, nil, depth+1)
		if !found {
			return nil, nil, false
		}
		if _, seen := at[name]; !seen {
			at[name] = len(names)
			names, values = append(names, name), append(values, nil)
		}
		values[at[name]] = append(values[at[name]], v)
	}
	return names, values, !c.short
}

func appendList(dst []byte, values [][][]byte) []byte {
	dst = append(dst, '[')
	for i, v := range flat(values) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, v...)
	}
	return append(dst, ']')
}

func flat(values [][][]byte) (all [][]byte) {
	for _, v := range values {
		all = append(all, v...)
	}
	return all
}

func appendObject(dst []byte, names []string, values [][][]byte) []byte {
	dst = append(dst, '{')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(openai.AppendString(dst, name), ':')
		if len(values[i]) == 1 {
			dst = append(dst, values[i][0]...)
		} else {
			dst = appendList(dst, values[i:i+1])
		}
	}
	return append(dst, '}')
}
