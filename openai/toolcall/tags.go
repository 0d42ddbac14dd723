package toolcall

import (
	"slices"
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
	tool    string // the attribute in the opening tag that names the tool, "" if that does not take attributes
	keyed   string // the one that names a parameter
	raw     string // before arguments that are no JSON, if there is a tag for them
	rawEnd  string // after them
	noParam bool   // the end of the name may be what follows it, and stays
	lines   bool   // every tag begins a line
	cdata   bool   // a value may be wrapped in <![CDATA[ and ]]>
}

// lost are the marks before which a value has ended if its own end never comes: what closes the call, or opens another
// parameter or call. Where every tag begins a line, so must these.
func (t *tags) lost() []string {
	marks := append([]string{t.param, t.open}, t.close...)
	if t.lines {
		for i, m := range marks {
			marks[i] = "\n" + m
		}
	}
	return marks
}

// stops are what ends a call's arguments whatever they are: what closes the call, or opens another.
func (t *tags) stops() []string { return slices.Concat(t.close, t.groups, []string{t.open}) }

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
		param: "<parameter=", key: ">", end: "</parameter>", close: []string{"</function>", "</tool_call>"}, trim: trimLine, lines: true,
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
		groups: []string{kimi3Tools}, open: "<|open|>call ", tool: "tool", name: []string{"<|sep|>"},
		param: "<|open|>argument ", keyed: "key", key: "<|sep|>", end: kimi3End,
		close: []string{"<|close|>call<|sep|>", "<|close|>tools<|sep|>"}, raw: "<|open|>json", rawEnd: "<|close|>json<|sep|>",
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
		from := c.pos
		for range t.groups {
			c.any(t.groups...)
			c.space()
		}
		bare := c.pos == from
		c.any(t.before...)
		c.space()
		if !c.lit(t.open) {
			return s, false
		}
		name, ok := t.toolName(c)
		if s.name = strings.TrimSpace(name); !ok || strings.ContainsAny(s.name, "<>{}\n") {
			return s, false
		}
		if strings.ContainsAny(s.name, " \t") && !p.tools.declares(s.name) {
			return s, false
		}
		if t.rest != "" {
			if _, ok := c.until(t.rest); !ok {
				return s, false
			}
		}
		s.args = &tagArgs{tags: t, tool: p.tools.of(s.name)}
		return s, s.name != "" && (!bare || t.goesOn(c))
	}
}

// goesOn looks whether a call goes on behind its name. Without that a tag that nothing announces is only mentioned.
func (t *tags) goesOn(c *cursor) bool {
	at, next := c.pos, append([]string{t.param}, t.close...)
	if t.raw != "" {
		next = append(next, t.raw)
	}
	defer func() { c.pos = at }()
	c.space()
	switch rest := c.rest(); {
	case c.eof && heldSuffix(rest, next) == len(rest): // cut off
		return true
	case c.ahead("{"):
		return c.opensObject()
	}
	return c.any(next...)
}

// limit bounds how long a name may be, with the attributes beside it.
func (t *tags) limit() int {
	if t.tool != "" {
		return 2 * maxName
	}
	return maxName
}

// toolName reads up to the earliest of the marks that may end a name.
func (t *tags) toolName(c *cursor) (string, bool) {
	from, limit := c.rest(), t.limit()
	at, mark := earliest(from[:min(len(from), limit+len(t.param))], t.name)
	if at < 0 || at > limit {
		c.short = c.short || !c.eof && at < 0 && len(from) <= limit+len(t.param)
		return "", false
	}
	if c.pos += at; !t.noParam {
		c.pos += len(mark)
	}
	if t.tool != "" {
		return attribute(from[:at], t.tool)
	}
	return from[:at], true
}

// tagArgs turns parameter tags into the members of an object as they come, or passes on the object that stands in their
// place.
type tagArgs struct {
	tags    *tags
	tool    *signature
	some    bool      // a member has been written
	inside  bool      // between a value's tags
	object  *jsonArgs // stands in place of the parameters
	strayed bool      // text that is neither has been written

	key    string
	kind   kind
	end    string   // of the value
	lost   []string // where it has ended if that never comes; they stay
	deaf   bool     // to lost: too much has come behind one
	opened bool     // text of the value has been written
	begun  bool     // it has been looked at
	lined  bool     // it began on a line of its own
	past   int      // how much of it is not looked at again for its end
}

func (a *tagArgs) read(p *Parser, eof bool) bool {
	for {
		if a.object != nil && !a.some {
			if !a.object.read(p, eof) {
				return false
			}
			p.buf = strings.TrimPrefix(p.buf, a.tags.rawEnd)
			a.some = true
		}
		if a.inside {
			if !a.value(p, eof) {
				return false
			}
			continue
		}
		c := &cursor{text: p.buf, eof: eof}
		c.space()
		from := c.pos
		if !a.some && !a.strayed {
			if a.object = a.whole(c); a.object != nil {
				p.buf = p.buf[c.pos:]
				continue
			}
		}
		if a.object == nil && c.lit(a.tags.param) {
			if a.open(c) {
				p.buf, a.inside = p.buf[c.pos:], true
				p.argue(a.member())
				continue
			}
		} else if a.closed(c) {
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

// whole returns the reader of what stands in place of all parameters, if anything does: an object, or what was to be one.
func (a *tagArgs) whole(c *cursor) *jsonArgs {
	if c.ahead("{") && c.opensObject() {
		return &jsonArgs{stops: a.tags.stops()}
	}
	at := c.pos
	if a.tags.raw != "" && c.lit(a.tags.raw) {
		if attributes, ok := c.until(a.tags.key); ok && !strings.ContainsAny(attributes, "<>") {
			return &jsonArgs{phase: verbatim, stops: append(a.tags.stops(), a.tags.rawEnd)}
		}
	}
	c.pos = at
	return nil
}

// closed steps over what closes the call. Another call that opens closes it too, and stays.
func (a *tagArgs) closed(c *cursor) bool {
	if c.any(a.tags.close...) {
		return !c.short
	}
	return (c.ahead(a.tags.open) || slices.ContainsFunc(a.tags.groups, c.ahead)) && !c.short
}

// open reads a parameter's opening tag.
func (a *tagArgs) open(c *cursor) bool {
	key, ok := c.within(a.tags.key, a.tags.limit())
	attributes := ""
	if a.tags.keyed != "" {
		key, attributes, ok = keyAttributes(key, a.tags.keyed)
	}
	if a.key = strings.TrimSpace(key); !ok || strings.ContainsAny(a.key, "<>\n") {
		return false
	}
	if a.tags.value != "" {
		if attributes, ok = c.until(a.tags.value); !ok || !a.tags.mayStand(strings.TrimSpace(attributes)) {
			return false
		}
	}
	a.end, a.lost, a.deaf = a.tags.end, a.tags.lost(), false
	a.kind = a.tool.kind(a.key)
	switch {
	case strings.Contains(attributes, `string="true"`), strings.Contains(attributes, `type="string"`), strings.Contains(attributes, "arg_type>string<"):
		a.kind = textKind
	case strings.Contains(attributes, `string="false"`), strings.Contains(attributes, `type="`):
		a.kind &^= textKind
	}
	return true
}

// cutOff reports whether a text is the beginning of a parameter's opening tag.
func (t *tags) cutOff(text string) bool {
	name, ok := strings.CutPrefix(text, t.param)
	if !ok || len(text) > 2*maxName {
		return false
	}
	name, attributes, _ := strings.Cut(name, t.key)
	name = name[:len(name)-heldSuffix(name, []string{t.key})]
	attributes = attributes[:len(attributes)-heldSuffix(attributes, []string{t.value})]
	return !strings.ContainsAny(name, "<>\n") && t.mayStand(strings.TrimSpace(attributes))
}

// mayStand reports whether a text may stand between a parameter's name and its value: as attributes in its tag, or, where
// the tag ends with the name, as a tag for the type.
func (t *tags) mayStand(text string) bool {
	if !strings.HasSuffix(t.key, ">") {
		return !strings.ContainsAny(text, "<>")
	}
	return text == "" || strings.HasPrefix(text, "<") && strings.HasSuffix(text, "arg_type>")
}

// member begins the member of the parameter just opened.
func (a *tagArgs) member() string {
	out := []byte{'{'}
	if a.some {
		out[0] = ','
	}
	a.some, a.opened, a.begun = true, false, false
	out = openai.AppendString(out, a.key)
	return string(append(out, ':'))
}

// last closes the object.
func (a *tagArgs) last() string {
	switch {
	case a.object != nil:
		return ""
	case !a.some:
		return "{}"
	}
	return "}"
}

// stray passes on as content what stands between parameters and is none, but for the white space behind it. At from
// stands something that opens and closes nothing.
func (a *tagArgs) stray(p *Parser, from int, eof bool) {
	a.strayed = true
	next := append(a.tags.stops(), a.tags.param)
	at, _ := earliest(p.buf[from+1:], next)
	switch {
	case at >= 0:
		at += from + 1
	case eof && (cutOff(p.buf[from:], next) || a.tags.cutOff(p.buf[from:])):
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
