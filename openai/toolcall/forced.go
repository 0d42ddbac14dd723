package toolcall

import (
	"slices"
	"strings"

	"leeway/openai"
)

// NewForced is a parser for an answer that Constraint's JSON schema has shaped: the bare arguments of the function named,
// or an array of calls. Engines that do not hold a model to a schema let it call in its own words, those of the named
// format ("" if that is not known): where such a call comes before any JSON, the format reads it and what follows.
func NewForced(name string, choice openai.ToolChoice, declared []openai.Tool) *Parser {
	own := formats[name]
	if own == nil {
		own = &format{}
	}
	list := *jsonFormat
	list.drop, list.closes = own.drop, []string{codeFence}
	forms := map[byte][]*format{'{': {&list}, '[': {&list}} // by the first byte, in the order in which they are tried
	if choice.Mode == openai.ToolNamed {
		bare := &format{open: []string{"{"}, drop: own.drop, closes: list.closes, bare: true, head: forcedHead(choice.Name)}
		list.head = namedHead(choice.Name)
		forms['{'], forms['['] = []*format{&list, bare}, []*format{&list, bare}
	}
	for _, marker := range own.open {
		if first := marker[0]; !slices.Contains(forms[first], own) {
			forms[first] = append(forms[first], own)
		}
	}
	undecided := &format{open: append([]string{"{", "[", codeFence}, own.open...), drop: own.drop, opening: own.opening}
	undecided.head = func(p *Parser, c *cursor, _ bool) (s start, ok bool) {
		if c.lit(codeFence) {
			c.lit("json")
			c.space()
			if b := c.peek(); b != '{' && b != '[' {
				return s, false
			}
		}
		at := c.pos
		for _, p.format = range forms[c.peek()] {
			c.pos = at
			if s, ok = p.format.head(p, c, false); ok && !s.skip || c.short {
				break
			}
		}
		if !ok || s.skip || c.short { // a marker, mere text, or not enough of it
			p.format = undecided
		}
		return s, ok
	}
	return newParser(undecided, declared)
}

// codeFence is what models put around JSON that is to be shown.
const codeFence = "```"

// namedHead matches calls as a list of them has them, and one that stands alone if it wraps the named function's
// arguments. An object that may be these arguments themselves is not taken for a call.
func namedHead(name string) func(*Parser, *cursor, bool) (start, bool) {
	return func(p *Parser, c *cursor, more bool) (start, bool) {
		if more {
			return jsonHead(p, c, true)
		}
		at := c.pos
		list := c.lit("[")
		c.space()
		wrapped, cut := wraps(c, name, p.tools.of(name).kinds)
		switch {
		case cut:
			return start{name: name, args: &jsonArgs{}, list: list, explicit: true}, true
		case !list && !wrapped:
			return start{}, false
		}
		c.pos = at
		s, ok := jsonHead(p, c, false)
		if !ok || s.name == name || c.short {
			return s, ok
		}
		if end := c.pos; !c.seek(at, name) {
			c.pos = end
			return s, ok
		}
		return object(c, true, true)
	}
}

// seek steps to the object that calls a function in the list of calls that stands there, and reports whether one does.
func (c *cursor) seek(at int, name string) bool {
	for c.pos = at + len("["); ; {
		c.space()
		from := c.pos
		raw, ok := c.value()
		if !ok {
			return false
		}
		if s, _ := object(&cursor{text: raw, eof: true}, true, true); s.name == name {
			c.pos = from
			return true
		}
		if c.space(); !c.lit(",") {
			return false
		}
	}
}

// wraps steps over what may stand in an object before {"name": the name, "arguments": {, in any order, up to the
// arguments or the object's end, and reports whether that is what it is. Where the answer was cut off behind the name's
// key, that is told from arguments by their schema.
func wraps(c *cursor, name string, declared map[string]kind) (is, cut bool) {
	if !c.lit("{") {
		return false, false
	}
	ends := func() bool { c.space(); return c.eof && c.pos == len(c.text) }
	for named, given := false, false; ; {
		c.space()
		key, ok := c.str()
		c.space()
		if !ok || !c.lit(":") {
			return false, named && ends()
		}
		c.space()
		from := c.pos
		switch _, own := declared[key]; key {
		case "name", "function":
			if own {
				return false, false
			}
			said, ok := c.str()
			if !ok && ends() {
				return false, strings.HasPrefix(`"`+name+`"`, c.text[from:])
			}
			if named = said == name; !named {
				return false, false
			}
		case "arguments", "parameters":
			if b := c.peek(); b != '{' && b != '"' || own && !named {
				return false, named && ends()
			}
			if named {
				return true, false
			}
			if _, given = c.value(); !given {
				return false, false
			}
		case "id", "type", "tool_call_id", "index":
			if _, ok := c.value(); !ok {
				return false, named && ends()
			}
		default:
			return false, false
		}
		if c.space(); c.lit("}") {
			return named && given, false
		}
		if !c.lit(",") {
			return false, named && ends()
		}
	}
}

// forcedHead makes the whole answer the arguments of one call, as a schema for them was forced on the engine. They may
// stand in a list.
func forcedHead(name string) func(*Parser, *cursor, bool) (start, bool) {
	return func(p *Parser, c *cursor, more bool) (start, bool) {
		if more || p.calls > 0 {
			return start{}, false
		}
		s := start{name: name, list: c.lit("[")}
		return rawArgs(c, s, false)
	}
}
