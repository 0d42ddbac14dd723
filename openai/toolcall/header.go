package toolcall

// The formats here begin a message with a header, and their prompts end in the header of the first: an answer goes on
// with what is left of it, such as the name of the tool that is called.

// opening puts what the prompt has written of a header before the answer, if that goes on with one.
func (p *Parser) opening(eof bool) bool {
	if p.buf == "" {
		return false
	}
	c := &cursor{text: p.buf, eof: eof}
	written := p.format.opening(c)
	if p.short(c) {
		return false
	}
	p.buf, p.state = written+p.buf, inText
	return true
}

const (
	inklingMessage = "<|message_model|>"
	inklingCall    = "<|content_invoke_tool_json|>"
)

// inklingOpening looks for a name.
func inklingOpening(c *cursor) string {
	if c.name() != "" && c.ahead("<|content_") {
		return inklingMessage
	}
	return ""
}

// inklingHead matches a call, or the beginning of a message with the name in its header: the name that the call has, or
// at least a tool's. Any other text there is content.
func inklingHead(p *Parser, c *cursor, _ bool) (s start, ok bool) {
	if !c.lit(inklingMessage) {
		return taggedHead(p, c, false)
	}
	at := c.pos
	name := c.name()
	known := p.tools.declares(name)
	if c.lit(inklingCall) {
		c.space()
		s, ok = jsonHead(p, c, false)
		if ok && (known || name == "" || name == s.name) {
			return s, true
		}
	} else if known && c.ahead("<|content_") {
		return start{skip: true}, true
	}
	c.pos = at
	return start{skip: true}, true
}

// harmonyBegun is how a message begins, before its recipient.
const harmonyBegun = harmonyStart + "assistant"

// harmonyOpening looks for a recipient and the rest of a header.
func harmonyOpening(c *cursor) string {
	if !c.any(" to=", "to=") {
		return ""
	}
	to := c.span(func(b byte) bool { return !blank(b) && b != '<' })
	c.lit(" ")
	if to == "" || !c.ahead("<|") {
		return ""
	}
	if _, ok := c.until(harmonyMessage); !ok || len(harmonyBegun)+c.pos > maxName {
		return ""
	}
	return harmonyBegun
}
