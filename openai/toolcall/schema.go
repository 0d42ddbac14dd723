package toolcall

import (
	"encoding/json"
	"strconv"
	"strings"

	"leeway/openai"
)

// tools are what the client declared, by a tool's name. A schema is read at the first call.
type tools map[string]*signature

// signature is what a tool takes.
type signature struct {
	schema json.RawMessage
	shape  shape
	kinds  map[string]kind // by a parameter's name; nil until the schema is read
}

// kind says how a parameter that comes as text is to be written in JSON.
type kind uint8

const (
	anyKind    kind = iota // as JSON if it is JSON, else as a string
	textKind               // always as a string
	nullOrText             // null, else as a string
	numberKind             // as anyKind, but any way to write a number is one
)

func (t tools) declares(name string) bool {
	_, ok := t[name]
	return ok
}

func newTools(list []openai.Tool) tools {
	t := make(tools, len(list))
	for _, tool := range list {
		t[tool.Name] = &signature{schema: tool.Parameters}
	}
	return t
}

// of is what is known of a tool, also of one that was not declared.
func (t tools) of(name string) *signature {
	s := t[name]
	if s == nil {
		s = &signature{}
	}
	if s.kinds == nil {
		s.shape, s.kinds = readShape(s.schema), make(map[string]kind)
		for _, name := range s.shape.Properties.names {
			s.kinds[name] = s.shape.member(name).kind()
		}
	}
	return s
}

// kindOf is the kind that all of a parameter's types agree on.
func kindOf(types []string) kind {
	text, null, number := false, false, false
	for _, t := range types {
		switch t {
		case "string":
			text = true
		case "null":
			null = true
		case "integer", "number":
			number = true
		default:
			return anyKind
		}
	}
	switch {
	case number && !text:
		return numberKind
	case number:
		return anyKind
	case text && null:
		return nullOrText
	case text:
		return textKind
	}
	return anyKind
}

// appendTyped appends a value that came as text in the JSON that its kind asks for.
func appendTyped(dst []byte, text string, k kind) []byte {
	bare := strings.TrimSpace(text)
	if k == numberKind {
		if n, ok := number(bare); ok {
			return append(dst, n...)
		}
	}
	switch {
	case k == textKind:
		return openai.AppendString(dst, text)
	case bare == "null" || bare == "None":
		return append(dst, "null"...)
	case k == nullOrText:
		return openai.AppendString(dst, text)
	case bare == "True":
		return append(dst, "true"...)
	case bare == "False":
		return append(dst, "false"...)
	case json.Valid([]byte(bare)):
		return append(dst, compact(bare)...)
	case bare != "" && (bare[0] == '{' || bare[0] == '['):
		c := &cursor{text: bare, eof: true} // some models write lists and objects as Python does
		if v, ok := pythonValue(c, nil, 0); ok && c.pos == len(bare) {
			return append(dst, v...)
		}
	}
	return openai.AppendString(dst, text)
}

// number is the JSON of a number with a sign, zeros or a point in front, as a schema's number may be written. One that is
// too large for any is given as text.
func number(text string) (string, bool) {
	sign, digits := "", strings.TrimPrefix(text, "+")
	if strings.HasPrefix(digits, "-") && digits == text {
		sign, digits = "-", digits[1:]
	}
	if digits == "" || !digit(digits[0]) && digits[0] != '.' {
		return "", false
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" || !digit(digits[0]) {
		digits = "0" + digits
	}
	if !json.Valid([]byte(digits)) {
		return "", false
	}
	if _, err := strconv.ParseFloat(digits, 64); err != nil {
		return string(openai.AppendString(nil, text)), true
	}
	return sign + digits, true
}
