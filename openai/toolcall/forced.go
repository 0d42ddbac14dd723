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
	object := &list
	if choice.Mode == openai.ToolNamed {
		object = &format{open: []string{"{"}, drop: own.drop, bare: true, head: forcedHead(choice.Name)}
	}
	var marks []string
	for _, marker := range own.open {
		if len(marker) > 1 { // the other ones are JSON's
			marks = append(marks, marker)
		}
	}
	undecided := &format{open: append([]string{"{", "["}, marks...), drop: own.drop}
	undecided.head = func(p *Parser, c *cursor, _ bool) (start, bool) {
		switch {
		case slices.ContainsFunc(marks, c.ahead):
			p.format = own
		case c.peek() == '{':
			p.format = object
		default:
			p.format = &list
		}
		s, ok := p.format.head(p, c, false)
		if !ok || s.skip { // a marker, or mere text
			p.format = undecided
		}
		return s, ok
	}
	return &Parser{format: undecided, tools: newTools(declared), blank: true}
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
