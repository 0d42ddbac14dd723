package toolcall

import (
	"encoding/json"
	"strings"
)

// maxLiteral bounds how deep Python's literals may nest.
const maxLiteral = 64

// pythonValue appends the JSON of the Python literal at the cursor.
func pythonValue(c *cursor, dst []byte, depth int) ([]byte, bool) {
	c.space()
	switch b := c.peek(); {
	case depth > maxLiteral:
		return dst, false
	case b == '"' || b == '\'':
		return pythonString(c, dst)
	case b == '[':
		return pythonList(c, dst, ']', depth)
	case b == '(':
		return pythonList(c, dst, ')', depth)
	case b == '{':
		return pythonDict(c, dst, depth)
	}
	word := c.scalar()
	switch word {
	case "True", "true":
		return append(dst, "true"...), true
	case "False", "false":
		return append(dst, "false"...), true
	case "None", "null":
		return append(dst, "null"...), true
	}
	if word == "" || strings.IndexByte("-0123456789", word[0]) < 0 || !json.Valid([]byte(word)) {
		return dst, false
	}
	return append(dst, word...), true
}

// dictHead matches the first call of a list of calls that are written as Python's dicts, or the next one.
func dictHead(p *Parser, c *cursor, more bool) (s start, ok bool) {
	c.space()
	if more {
		ok = c.lit(",")
	} else {
		ok = c.lit("<|tool_calls|>") || p.calls == 0 && p.blank
		c.space()
		ok = ok && c.lit("[")
	}
	c.space()
	if !ok || c.peek() != '{' {
		return s, false
	}
	dict, ok := pythonValue(c, nil, 0)
	var call struct {
		Name      string
		Arguments json.RawMessage
	}
	if !ok || json.Unmarshal(dict, &call) != nil || call.Arguments == nil || call.Arguments[0] != '{' {
		return s, false
	}
	return start{name: call.Name, args: givenArgs(call.Arguments), list: true, explicit: true}, call.Name != ""
}

// scalar steps over a number or a word.
func (c *cursor) scalar() string {
	start := c.pos
	for c.pos < len(c.text) && (nameByte(c.text[c.pos]) || c.text[c.pos] == '+') {
		c.pos++
	}
	if c.pos == len(c.text) && !c.eof {
		c.short = true
	}
	return c.text[start:c.pos]
}

// pythonString appends a string literal; two that stand side by side are not joined.
func pythonString(c *cursor, dst []byte) ([]byte, bool) {
	quote := c.text[c.pos]
	out, n, closed := pythonText(append(dst, '"'), c.text[c.pos+1:], quote, c.eof)
	c.pos += 1 + n
	c.short = c.short || !closed && !c.eof
	return append(out, '"'), closed
}

// pythonList appends a list or a tuple, which JSON does not tell apart.
func pythonList(c *cursor, dst []byte, end byte, depth int) ([]byte, bool) {
	c.pos++
	dst = append(dst, '[')
	for first := true; ; first = false {
		c.space()
		if c.peek() == end {
			c.pos++
			return append(dst, ']'), true
		}
		if !first {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = pythonValue(c, dst, depth+1); !ok || !c.separated(end) {
			return dst, false
		}
	}
}

// pythonDict appends a dict whose keys are strings, as JSON wants them.
func pythonDict(c *cursor, dst []byte, depth int) ([]byte, bool) {
	c.pos++
	dst = append(dst, '{')
	for first := true; ; first = false {
		c.space()
		b := c.peek()
		if b == '}' {
			c.pos++
			return append(dst, '}'), true
		}
		if b != '"' && b != '\'' {
			return dst, false
		}
		if !first {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = pythonString(c, dst); !ok {
			return dst, false
		}
		c.space()
		if !c.lit(":") {
			return dst, false
		}
		if dst, ok = pythonValue(c, append(dst, ':'), depth+1); !ok || !c.separated('}') {
			return dst, false
		}
	}
}

// separated steps over a comma, or stays before the closing bracket.
func (c *cursor) separated(end byte) bool {
	c.space()
	return c.peek() == end || c.lit(",")
}
