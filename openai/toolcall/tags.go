package toolcall

import (
	"strings"

	"leeway/openai"
)

// The formats here write a call as tags, one for each argument; values are bare text, typed by the tool's schema.

// tags are the words of one such format, in the order in which they come.
type tags struct {
	groups  []string // around calls
	before  []string // what must stand before open, if anything
	open    string   // before the tool's name
	name    []string // after it
	rest    string   // ends the opening tag behind the name's end, "" if that does
	param   string   // before a parameter's name
	key     string   // after it
	value   string   // before the value, "" if key does that; what stands between are attributes
	end     string   // after the value
	close   []string // after the last parameter
	trim    trimming
	noParam bool // the end of the name may be what follows it, and stays
	cdata   bool // a value may be wrapped in <![CDATA[ and ]]>
}

// trimming says what white space around a value belongs to the tags.
type trimming uint8

const (
	trimNone trimming = iota
	trimLine          // one newline before and one after
	trimAll
)

var (
	qwenTags = &tags{
		groups: []string{"<tool_call>"}, open: "<function=", name: []string{">"},
		param: "<parameter=", key: ">", end: "</parameter>", close: []string{"</function>", "</tool_call>"}, trim: trimLine,
	}
	directTags = &tags{
		groups: []string{"<tool_call>"}, open: "<function=", name: []string{">"},
		param: "<parameter=", key: ">", end: "</parameter>", close: []string{"</function>", "</tool_call>"},
	}
	seedTags = &tags{
		groups: []string{"<seed:tool_call>"}, open: "<function=", name: []string{">"},
		param: "<parameter=", key: ">", end: "</parameter>", close: []string{"</function>", "</seed:tool_call>"}, trim: trimLine,
	}
	cpmTags = &tags{
		open: `<function name="`, name: []string{`"`}, rest: ">",
		param: `<param name="`, key: `"`, value: ">", end: "</param>", close: []string{"</function>"}, cdata: true,
	}
	dsmlTags = &tags{
		groups: []string{"<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"}, open: `<｜DSML｜invoke name="`, name: []string{`"`}, rest: ">",
		param: `<｜DSML｜parameter name="`, key: `"`, value: ">", end: "</｜DSML｜parameter>",
		close: []string{"</｜DSML｜invoke>", "</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"},
	}
	dsml41Tags = &tags{
		groups: []string{"<｜DSML｜ calls>"}, open: `<｜DSML｜ invoke name="`, name: []string{`"`}, rest: ">",
		param: `<｜DSML｜ parameter name="`, key: `"`, value: ">", end: "</｜DSML｜ parameter>",
		close: []string{"</｜DSML｜ invoke>", "</｜DSML｜ calls>"},
	}
	stepTags = &tags{
		groups: []string{"<｜tool_calls_begin｜>", "<｜tool_call_begin｜>"}, before: []string{"function<｜tool_sep｜>"},
		open: `<steptml:invoke name="`, name: []string{`"`}, rest: ">",
		param: `<steptml:parameter name="`, key: `"`, value: ">", end: "</steptml:parameter>",
		close: []string{"</steptml:invoke>", "<｜tool_call_end｜>"}, trim: trimAll,
	}
	kimi3Tags = &tags{
		groups: []string{"<|open|>tools<|sep|>"}, open: `<|open|>call tool="`, name: []string{`"`}, rest: "<|sep|>",
		param: `<|open|>argument key="`, key: `"`, value: "<|sep|>", end: "<|close|>argument<|sep|>",
		close: []string{"<|close|>call<|sep|>", "<|close|>tools<|sep|>"},
	}
)

// invokes is the format whose calls stand in tags of the name given, one invoke for each.
func invokes(group string, trim trimming) *format {
	open, end := "<"+group+">", "</"+group+">"
	return &format{open: []string{open}, closes: []string{end}, more: true, head: tagHead(&tags{
		groups: []string{open}, open: `<invoke name="`, name: []string{`"`}, rest: ">",
		param: `<parameter name="`, key: `"`, value: ">", end: "</parameter>", close: []string{"</invoke>", end}, trim: trim,
	})}
}

// tagHead matches the opening tags of a call.
func tagHead(t *tags) func(*Parser, *cursor, bool) (start, bool) {
	return func(p *Parser, c *cursor, _ bool) (s start, ok bool) {
		c.space()
		for range t.groups {
			c.any(t.groups...)
			c.space()
		}
		c.any(t.before...)
		c.space()
		if !c.lit(t.open) {
			return s, false
		}
		name, ok := t.toolName(c)
		if s.name = strings.TrimSpace(name); !ok || strings.ContainsAny(s.name, "<>{}\n") {
			return s, false
		}
		if t.rest != "" {
			if _, ok := c.until(t.rest); !ok {
				return s, false
			}
		}
		s.args = &tagArgs{tags: t, kinds: p.tools.of(s.name).kinds}
		return s, s.name != ""
	}
}

// toolName reads up to the earliest of the marks that may end a name.
func (t *tags) toolName(c *cursor) (string, bool) {
	from := c.rest()
	at, mark := earliest(from[:min(len(from), maxName+len(t.param))], t.name)
	if at < 0 || at > maxName {
		c.short = c.short || !c.eof && at < 0 && len(from) <= maxName+len(t.param)
		return "", false
	}
	if c.pos += at; !t.noParam {
		c.pos += len(mark)
	}
	return from[:at], true
}

// tagArgs turns parameter tags into the members of an object as they come.
type tagArgs struct {
	tags   *tags
	kinds  map[string]kind
	some   bool // a member has been written
	inside bool // between a value's tags

	key    string
	kind   kind
	end    string // of the value
	opened bool   // text of the value has been written
}

func (a *tagArgs) read(p *Parser, eof bool) bool {
	for {
		if a.inside {
			if !a.value(p, eof) {
				return false
			}
			continue
		}
		c := &cursor{text: p.buf, eof: eof}
		c.space()
		from := c.pos
		if c.lit(a.tags.param) {
			if a.open(c) {
				p.buf, a.inside = p.buf[c.pos:], true
				p.argue(a.member())
				continue
			}
		} else if closed := c.any(a.tags.close...); closed && !c.short {
			p.buf = p.buf[c.pos:]
			p.argue(a.last())
			return true
		}
		c.short = c.short || from == len(p.buf) && !eof
		if p.short(c) || from == len(p.buf) {
			return false
		}
		a.stray(p, from, eof)
	}
}

// open reads a parameter's opening tag.
func (a *tagArgs) open(c *cursor) bool {
	key, ok := c.until(a.tags.key)
	if !ok {
		return false
	}
	attributes := ""
	if a.tags.value != "" {
		if attributes, ok = c.until(a.tags.value); !ok {
			return false
		}
	}
	a.key, a.end = strings.TrimSpace(key), a.tags.end
	a.kind = a.kinds[a.key]
	switch {
	case strings.Contains(attributes, `string="true"`), strings.Contains(attributes, `type="string"`), strings.Contains(attributes, "arg_type>string<"):
		a.kind = textKind
	case strings.Contains(attributes, `string="false"`), strings.Contains(attributes, `type="`):
		a.kind = anyKind
	}
	return true
}

// member begins the member of the parameter just opened.
func (a *tagArgs) member() string {
	out := []byte{'{'}
	if a.some {
		out[0] = ','
	}
	a.some, a.opened = true, false
	out = openai.AppendString(out, a.key)
	return string(append(out, ':'))
}

// last closes the object.
func (a *tagArgs) last() string {
	if !a.some {
		return "{}"
	}
	return "}"
}

// value passes on the value as far as it has come; what is not text for certain is held until it is complete. It
// reports true at the value's end.
func (a *tagArgs) value(p *Parser, eof bool) bool {
	if a.tags.cdata && !a.opened && !a.unwrap(p, eof) {
		return false
	}
	at := strings.Index(p.buf, a.end)
	if at >= 0 {
		text := p.buf[:at]
		p.buf, a.inside = p.buf[at+len(a.end):], false
		if a.opened {
			p.argue(string(openai.AppendEscaped(nil, a.tags.trim.right(text))) + `"`)
			return true
		}
		p.argue(string(appendTyped(nil, a.tags.trim.right(a.tags.trim.left(text)), a.kind)))
		return true
	}
	if a.kind == textKind {
		a.textSoFar(p, eof)
	} else if eof && p.buf != "" {
		p.argue(string(appendTyped(nil, a.tags.trim.left(p.buf), a.kind)))
		p.buf = ""
	} else {
		p.wait(a.end[len(a.end)-1])
	}
	return false
}

// unwrap takes away what opens a value's wrapping, if it has one. It reports false when that is not certain yet.
func (a *tagArgs) unwrap(p *Parser, eof bool) bool {
	const open, end = "<![CDATA[", "]]>"
	c := &cursor{text: p.buf, eof: eof}
	if c.lit(open) && a.end == a.tags.end {
		p.buf, a.end = p.buf[len(open):], end+a.tags.end
	}
	return !c.short
}

// textSoFar passes on what is certain of a value that is a string.
func (a *tagArgs) textSoFar(p *Parser, eof bool) {
	held := heldSuffix(p.buf, []string{a.end})
	ready := p.buf[:len(p.buf)-held]
	if eof {
		ready = p.buf
	} else {
		ready = a.tags.trim.right(ready)
	}
	rest := p.buf[len(ready):]
	if !a.opened {
		if ready = a.tags.trim.left(ready); ready == "" {
			return
		}
		a.opened = true
		p.argue(`"`)
	}
	p.argue(string(openai.AppendEscaped(nil, ready)))
	p.buf = rest
}

// stray passes on as content what stands between parameters and is none, but for the white space behind it. At from
// stands something that opens and closes nothing.
func (a *tagArgs) stray(p *Parser, from int, eof bool) {
	next := append(a.tags.close[:len(a.tags.close):len(a.tags.close)], a.tags.param)
	at, _ := earliest(p.buf[from+1:], next)
	switch {
	case at >= 0:
		at += from + 1
	case eof && cutOff(p.buf[from:], next):
		p.buf = ""
		return
	case eof:
		at = len(p.buf)
	default:
		at = len(p.buf) - heldSuffix(p.buf[from+1:], next)
	}
	text := strings.TrimRight(p.buf[:at], " \n\t\r")
	p.say(text)
	p.buf = p.buf[len(text):]
}

// left is a value without the white space in front that belongs to the tags.
func (t trimming) left(s string) string {
	switch t {
	case trimLine:
		return strings.TrimPrefix(s, "\n")
	case trimAll:
		return strings.TrimLeft(s, " \n\t\r")
	}
	return s
}

// right is a value, or the part of it that has come, without the white space at the end that does or may.
func (t trimming) right(s string) string {
	switch t {
	case trimLine:
		return strings.TrimSuffix(s, "\n")
	case trimAll:
		return strings.TrimRight(s, " \n\t\r")
	}
	return s
}
