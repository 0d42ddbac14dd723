package toolcall

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"

	"leeway/openai"
)

// maxLiteral bounds how deep Python's literals may nest.
const maxLiteral = 64

// pythonValue appends the JSON of the Python literal at the cursor. If it fails, what it has appended is worth something
// only where the text was cut off.
func pythonValue(c *cursor, dst []byte, depth int) ([]byte, bool) {
	c.gap()
	if q, ok := c.quote(); ok {
		return pythonString(c, dst, q)
	}
	switch b := c.peek(); {
	case depth > maxLiteral:
		return dst, false
	case b == '[':
		return pythonList(c, dst, ']', depth)
	case b == '(':
		return pythonList(c, dst, ')', depth)
	case b == '{':
		return pythonDict(c, dst, depth)
	}
	word := c.scalar()
	v, ok := pythonScalar(word)
	if !ok && c.names && bareName(word) {
		return openai.AppendString(dst, word), true
	}
	return append(dst, v...), ok
}

// bareName reports whether a word may be a variable's name.
func bareName(word string) bool {
	return word != "" && !digit(word[0]) && !strings.ContainsAny(word, "+-.")
}

// pythonScalar is the JSON of a number or of a word that stands for a value; any other word stays what it is.
func pythonScalar(word string) (string, bool) {
	switch word {
	case "True", "true":
		return "true", true
	case "False", "false":
		return "false", true
	case "None", "null":
		return "null", true
	}
	n, ok := pythonNumber(word)
	if !ok {
		return word, false
	}
	return n, true
}

// maxBased bounds the length of a number that has to be converted to decimal.
const maxBased = 256

// pythonNumber writes a number as JSON does. The digits of a decimal one stay as they are.
func pythonNumber(word string) (string, bool) {
	digits := strings.TrimLeft(word, "+-")
	if digits == "" || len(word)-len(digits) > 1 {
		return "", false
	}
	sign := ""
	if word[0] == '-' {
		sign = "-"
	}
	if len(digits) > 2 && digits[0] == '0' && strings.IndexByte("xXoObB", digits[1]) >= 0 {
		n, ok := new(big.Int), len(word) <= maxBased
		if ok {
			_, ok = n.SetString(digits, 0)
		}
		return sign + n.String(), ok
	}
	out := make([]byte, 0, len(digits)+2)
	for i := range len(digits) {
		b, before, after := digits[i], i > 0 && digit(digits[i-1]), i+1 < len(digits) && digit(digits[i+1])
		switch {
		case b == '_' && before && after:
		case b == '.' && !before && after:
			out = append(out, '0', '.')
		case b == '.' && before && !after:
			out = append(out, '.', '0')
		default:
			out = append(out, b)
		}
	}
	return sign + string(out), digit(out[0]) && json.Valid(out)
}

func digit(b byte) bool { return '0' <= b && b <= '9' }

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

// pythonString appends a string literal, and with it those that are joined to it.
func pythonString(c *cursor, dst []byte, q quoting) ([]byte, bool) {
	dst = append(dst, '"')
	for ok := true; ok; q, ok = c.another() {
		out, n, closed := pythonText(dst, c.rest(), q, c.eof)
		dst = out
		c.pos += n
		if !closed {
			c.short = c.short || !c.eof
			return dst, false
		}
	}
	return append(dst, '"'), true
}

// pythonList appends a list or a tuple, which JSON does not tell apart. A value alone in parentheses is no tuple.
func pythonList(c *cursor, dst []byte, end byte, depth int) ([]byte, bool) {
	c.pos++
	start := len(dst)
	dst = append(dst, '[')
	for first := true; ; first = false {
		c.gap()
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
		if first && end == ')' && c.peek() == end && c.text[c.pos-1] != ',' {
			c.pos++
			return slices.Delete(dst, start, start+1), true
		}
	}
}

// pythonDict appends a dict.
func pythonDict(c *cursor, dst []byte, depth int) ([]byte, bool) {
	c.pos++
	dst = append(dst, '{')
	for first := true; ; first = false {
		c.gap()
		if c.peek() == '}' {
			c.pos++
			return append(dst, '}'), true
		}
		if !first {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = pythonKey(c, dst); !ok {
			return dst, false
		}
		c.gap()
		if !c.lit(":") {
			return dst, false
		}
		if dst, ok = pythonValue(c, append(dst, ':'), depth+1); !ok || !c.separated('}') {
			return dst, false
		}
	}
}

// pythonKey appends a dict's key, which in JSON is a string whatever it is in Python.
func pythonKey(c *cursor, dst []byte) ([]byte, bool) {
	if q, ok := c.quote(); ok {
		return pythonString(c, dst, q)
	}
	word := c.scalar()
	if word == "" {
		return dst, false
	}
	key, ok := pythonScalar(word)
	dst = openai.AppendString(dst, key)
	if c.eof && c.rest() == "" { // cut off, and there may be more of it
		return dst[:len(dst)-1], false
	}
	return dst, ok || c.names && bareName(word)
}

// separated steps over a comma, or stays before the closing bracket.
func (c *cursor) separated(end byte) bool {
	c.gap()
	return c.peek() == end || c.lit(",")
}

// gap steps over what Python ignores: white space, comments, and the end of a line behind a backslash.
func (c *cursor) gap() {
	for {
		c.space()
		rest := c.rest()
		switch {
		case strings.HasPrefix(rest, "#"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n, c.short = len(rest), c.short || !c.eof
			}
			c.pos += n
		case strings.HasPrefix(rest, `\`) && c.any("\\\n", "\\\r\n"):
		default:
			return
		}
	}
}
