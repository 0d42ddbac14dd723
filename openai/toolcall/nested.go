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
	if from == len(p.buf) {
		return false, false
	}
	t, is := m3Tag(c)
	switch {
	case p.short(c):
		return false, false
	case is && !t.closing:
		return false, a.parameter(p, c, t)
	case is:
		p.buf = p.buf[c.pos:] // it closes nothing
	case eof && m3CutOff(p.buf[from:]):
		p.buf = ""
	case c.lit(m3Mark):
		p.buf = p.buf[c.pos:] // it marks nothing
	default:
		a.stray(p, eof)
	}
	return false, true
}

// stray passes on as content what stands between parameters and is none, up to the next mark, but for the white space
// behind it.
func (a *nestedArgs) stray(p *Parser, eof bool) {
	text, _, found := strings.Cut(p.buf, m3Mark)
	if held := heldSuffix(text, []string{m3Mark}); !found && (!eof || held > 1) {
		text = text[:len(text)-held]
	}
	text = strings.TrimRight(text, " \n\t\r")
	p.say(text)
	p.buf = p.buf[len(text):]
}

// parameter begins the parameter that a tag has opened if that is text, and reads it whole if not.
func (a *nestedArgs) parameter(p *Parser, c *cursor, t m3Token) bool {
	a.name(t.name)
	if a.kind == textKind {
		p.buf, a.inside, a.end = p.buf[c.pos:], true, a.end+a.key+">"
		p.argue(a.member())
		return true
	}
	c.pos = t.start
	n := nest{text: c.text}
	n.scan(c)
	if p.short(c) {
		return false
	}
	at, next := n.tokens[0].start, 0
	for ; next < len(n.tokens); next++ {
		t = n.tokens[next]
		p.say(n.said(at, t.start))
		if at = t.end; t.closing {
			continue
		}
		a.name(t.name)
		var v []byte
		v, next, at = n.value(nil, a.schema.member(a.key), next, len(n.tokens), 0)
		if n.cut && v == nil {
			v = []byte(a.unfinished(n.between(t.end, n.stop)))
		}
		p.argue(a.member() + string(v))
	}
	p.say(n.said(at, n.stop))
	if p.buf = p.buf[n.stop:]; n.cut {
		p.buf = ""
	}
	return true
}

// name goes on to the parameter of that name.
func (a *nestedArgs) name(key string) {
	a.key, a.kind, a.end, a.lost, a.deaf = key, a.tool.kind(key), a.tags.end, a.tags.lost(), false
}

// m3Token is a tag in a call that is one of a value's.
type m3Token struct {
	name       string
	closing    bool
	start, end int // in the text
	partner    int // the tag that closes or opens the same value, or −1
}

// m3Tag matches a tag, or stays.
func m3Tag(c *cursor) (t m3Token, ok bool) {
	t = m3Token{start: c.pos, partner: -1}
	if ok = c.lit(m3Mark) && c.lit("<"); ok {
		t.closing = c.lit("/")
		t.name, ok = c.until(">")
	}
	t.name = strings.TrimSpace(t.name)
	if ok = ok && t.name != "" && t.name[0] != '/' && !strings.ContainsAny(t.name, "<>\n"); !ok {
		c.pos = t.start
	}
	t.end = c.pos
	return t, ok
}

// m3CutOff reports whether a text is no more than the beginning of a tag: where an answer was cut off.
func m3CutOff(text string) bool {
	name, whole := strings.CutPrefix(text, m3Mark)
	if !whole {
		return cutOff(text, []string{m3Mark})
	}
	name, tag := strings.CutPrefix(name, "<")
	return name == "" || tag && len(name) <= maxName && !strings.ContainsAny(name, "<>\n")
}

// nest is a value with all tags in it. What a model leaves open ends where what stands around it does, at the latest with
// the call; then it may be that more parameters follow in it.
type nest struct {
	text   string
	tokens []m3Token
	stop   int  // its end
	cut    bool // is that of the answer
}

// scan reads the tags from one that opens a value to the one that closes it or, if there is none, to what closes the call
// or opens another.
func (n *nest) scan(c *cursor) {
	ends, open, count := m3Tags.stops(), []int(nil), make(map[string]int)
	for {
		i := strings.Index(c.rest(), m3Mark)
		if i < 0 {
			n.stop, n.cut, c.short = len(c.text), true, c.short || !c.eof
			if held := heldSuffix(c.text, []string{m3Mark}); held > 1 {
				n.stop -= held
			}
			return
		}
		c.pos += i
		n.stop = c.pos
		if c.any(ends...) || c.short {
			return
		}
		t, is := m3Tag(c)
		switch {
		case c.short:
			return
		case !is && c.eof && m3CutOff(c.rest()):
			n.cut = true
			return
		case !is:
			c.pos += len(m3Mark)
			continue
		case !t.closing:
			open = append(open, len(n.tokens))
			count[t.name]++
		case count[t.name] > 0:
			for t.partner < 0 {
				last := open[len(open)-1]
				open = open[:len(open)-1]
				opened := &n.tokens[last]
				if count[opened.name]--; opened.name == t.name {
					t.partner, opened.partner = last, len(n.tokens)
				}
			}
		}
		n.tokens = append(n.tokens, t)
		if n.stop = t.end; len(open) == 0 {
			return
		}
	}
}

// start is where a tag begins, or where all ends.
func (n *nest) start(i int) int {
	if i < len(n.tokens) {
		return n.tokens[i].start
	}
	return n.stop
}

// between is the text there, without marks.
func (n *nest) between(from, to int) string {
	return strings.ReplaceAll(n.text[from:to], m3Mark, "")
}

// said is the text there without the white space around it.
func (n *nest) said(from, to int) string { return strings.TrimSpace(n.between(from, to)) }

// value appends the value of the tag i, which ends at the tag end at the latest. It returns the last tag and the end of
// all that belongs to it. Text is the value as the schema has it, tags are its members or elements, and both mixed are a
// string. One that is cut off before anything is known of it, or that is a text by itself, is nil.
func (n *nest) value(dst []byte, s shape, i, end, depth int) (v []byte, last, at int) {
	t := n.tokens[i]
	closed := t.partner >= 0
	if closed {
		end = t.partner
	}
	next := min(i+1, end)
	text := n.between(t.end, n.start(next))
	switch stray := next < end && n.tokens[next].closing; {
	case next == end && closed:
		return s.appendText(dst, text), end, n.tokens[end].end
	case closed:
	case stray:
		return s.appendText(dst, text), next, n.tokens[next].end
	case next == len(n.tokens) && n.cut && (depth == 0 || strings.TrimSpace(text) == ""):
		return nil, i, n.stop
	case next == end || strings.TrimSpace(text) != "" || s.isText():
		return s.appendText(dst, text), i, n.start(next)
	}
	v, last = n.children(dst, s, i, end, depth)
	if closed || last < end && n.tokens[last].closing {
		return v, last, n.tokens[last].end
	}
	return v, last - 1, n.start(last)
}

// children appends the value of the tag i, whose members or elements stand between it and the tag end. It returns the tag
// before or with which that has ended: one that was left open ends where another of its name follows what it holds.
func (n *nest) children(dst []byte, s shape, i, end, depth int) ([]byte, int) {
	var names []string
	var values [][][]byte
	known, mixed := make(map[string]int), s.isText() || depth >= maxLiteral
	at, closed := n.tokens[i].end, n.tokens[i].partner >= 0
	for j := i + 1; j < end && !mixed; j++ {
		t := n.tokens[j]
		if mixed = n.said(at, t.start) != ""; t.closing && closed {
			at = t.end
			continue
		}
		if t.closing || !closed && names != nil && t.name == n.tokens[i].name && s.Properties.by[t.name] == nil {
			at, end = t.start, j
			break
		}
		inner := s.member(t.name)
		if s.isList() {
			inner = s.child(s.Items)
		}
		var v []byte
		if v, j, at = n.value(nil, inner, j, end, depth+1); v == nil {
			continue
		}
		if _, seen := known[t.name]; !seen {
			known[t.name] = len(names)
			names, values = append(names, t.name), append(values, nil)
		}
		values[known[t.name]] = append(values[known[t.name]], v)
	}
	switch {
	case mixed || n.said(at, n.start(end)) != "":
		return openai.AppendString(dst, n.between(n.tokens[i].end, n.start(end))), end
	case s.isList() || s.types() == nil && len(names) == 1 && names[0] == "item":
		return appendList(dst, values), end
	}
	return appendObject(dst, names, values), end
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
