package toolcall

import (
	"slices"

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
	list.drop = own.drop
	forms := map[byte][]*format{'{': {&list}, '[': {&list}} // by the first byte, in the order in which they are tried
	if choice.Mode == openai.ToolNamed {
		bare := &format{open: []string{"{"}, drop: own.drop, bare: true, head: forcedHead(choice.Name)}
		list.head = namedHead(choice.Name)
		forms['{'] = []*format{&list, bare}
	}
	for _, marker := range own.open {
		if first := marker[0]; !slices.Contains(forms[first], own) {
			forms[first] = append(forms[first], own)
		}
	}
	undecided := &format{open: append([]string{"{", "["}, own.open...), drop: own.drop, opening: own.opening}
	undecided.head = func(p *Parser, c *cursor, _ bool) (s start, ok bool) {
		at := c.pos
		for _, p.format = range forms[c.peek()] {
			c.pos = at
			if s, ok = p.format.head(p, c, false); ok && !s.skip || c.short {
				break
			}
		}
		if !ok || s.skip { // a marker, or mere text
			p.format = undecided
		}
		return s, ok
	}
	return newParser(undecided, declared)
}

// namedHead matches calls as a list of them has them, and one that stands alone if it wraps the named function's
// arguments. An object that may be these arguments themselves is not taken for a call.
func namedHead(name string) func(*Parser, *cursor, bool) (start, bool) {
	return func(p *Parser, c *cursor, more bool) (start, bool) {
		if at := c.pos; !more && c.peek() == '{' {
			if _, declared := p.tools.of(name).kinds["name"]; declared || !wraps(c, name) {
				return start{}, false
			}
			c.pos = at
		}
		return jsonHead(p, c, more)
	}
}

// wraps steps over {"name": the name, "arguments": and reports whether an object follows.
func wraps(c *cursor, name string) bool {
	step := func(texts ...string) bool { c.space(); return c.any(texts...) }
	if !step("{") || !step(`"name"`) || !step(":") {
		return false
	}
	c.space()
	if said, ok := c.str(); !ok || said != name {
		return false
	}
	return step(",") && step(`"arguments"`, `"parameters"`) && step(":") && step("{")
}

// forcedHead makes the whole answer the arguments of one call, as a schema for them was forced on the engine.
func forcedHead(name string) func(*Parser, *cursor, bool) (start, bool) {
	return func(p *Parser, c *cursor, more bool) (start, bool) {
		if more || p.calls > 0 {
			return start{}, false
		}
		return rawArgs(c, start{name: name}, false)
	}
}
