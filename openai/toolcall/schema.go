package toolcall

import (
	"encoding/json"
	"math"
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
	kinds  map[string]kind // by a declared parameter's name; nil until the schema is read
	others kind            // of all other parameters
}

func (s *signature) kind(parameter string) kind {
	if k, ok := s.kinds[parameter]; ok {
		return k
	}
	return s.others
}

// kind is the set of what a parameter that comes as text may be in JSON.
type kind uint8

const (
	textKind kind = 1 << iota
	nullKind
	boolKind
	integerKind
	fractionKind
	listKind
	objectKind

	anyKind    kind = 0 // the schema does not say
	numberKind      = integerKind | fractionKind
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
		s.others = s.shape.child(s.shape.Others).kind()
	}
	return s
}

// kindOf is the kind of a schema's types, anyKind if one of them is none of JSON's.
func kindOf(types []string) (k kind) {
	for _, t := range types {
		switch t {
		case "string":
			k |= textKind
		case "null":
			k |= nullKind
		case "boolean":
			k |= boolKind
		case "integer":
			k |= integerKind
		case "number":
			k |= numberKind
		case "array":
			k |= listKind
		case "object":
			k |= objectKind
		default:
			return anyKind
		}
	}
	return k
}

// appendTyped appends a value that came as text. What reads as JSON is that, unless it may be a string and not what it
// reads as.
func appendTyped(dst []byte, text string, k kind) []byte {
	if k == textKind {
		return openai.AppendString(dst, text)
	}
	bare := strings.TrimSpace(text)
	if k&numberKind != 0 && k&textKind == 0 {
		if n, ok := number(bare); ok {
			return append(dst, n...)
		}
	}
	v, is := literal(bare)
	if k.asText(is) {
		return openai.AppendString(dst, text)
	}
	return append(dst, v...)
}

// asText reports whether a text that reads as one kind is a string nevertheless. Where that or null is all it may be, also
// one in quotes is taken as it stands.
func (k kind) asText(is kind) bool {
	return is == anyKind || k&textKind != 0 && k&is == 0 || k == textKind|nullKind && is == textKind
}

// literal reads a text as JSON, or as Python writes it, and says what it is; anyKind if it is neither.
func literal(text string) (v string, is kind) {
	switch text {
	case "":
		return "", anyKind
	case "null", "None":
		return "null", nullKind
	case "true", "True":
		return "true", boolKind
	case "false", "False":
		return "false", boolKind
	}
	is = begins(text)
	if json.Valid([]byte(text)) {
		if is == numberKind {
			is = fractionKind
			if n, err := strconv.ParseFloat(text, 64); err == nil && n == math.Trunc(n) {
				is = integerKind
			}
		}
		return compact(text), is
	}
	if is == listKind || is == objectKind {
		c := &cursor{text: text, eof: true}
		if v, ok := pythonValue(c, nil, 0); ok && c.pos == len(text) {
			return string(v), is
		}
	}
	return "", anyKind
}

// begins is what a JSON text may be by its first byte.
func begins(text string) kind {
	if text == "" {
		return anyKind
	}
	switch b := text[0]; {
	case b == '"':
		return textKind
	case b == '{':
		return objectKind
	case b == '[':
		return listKind
	case b == 't' || b == 'f':
		return boolKind
	case b == 'n':
		return nullKind
	case digit(b) || b == '-':
		return numberKind
	}
	return anyKind
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
