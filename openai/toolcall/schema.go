package toolcall

import (
	"encoding/json"
	"strings"

	"leeway/openai"
)

// tools is what the client declared: by a tool's name, the kinds of its parameters.
type tools map[string]map[string]kind

// kind says how a parameter that comes as text is to be written in JSON.
type kind uint8

const (
	anyKind    kind = iota // as JSON if it is JSON, else as a string
	textKind               // always as a string
	nullOrText             // null, else as a string
)

func (t tools) declares(name string) bool {
	_, ok := t[name]
	return ok
}

// newTools reads what typing needs from each tool's schema. What it cannot read types nothing.
func newTools(list []openai.Tool) tools {
	t := make(tools, len(list))
	for _, tool := range list {
		var schema struct {
			Properties map[string]struct {
				Type  json.RawMessage
				Enum  []json.RawMessage
				AnyOf []struct{ Type json.RawMessage }
			}
		}
		kinds := make(map[string]kind)
		if json.Unmarshal(tool.Parameters, &schema) == nil {
			for name, p := range schema.Properties {
				types := typeNames(p.Type)
				for _, a := range p.AnyOf {
					types = append(types, typeNames(a.Type)...)
				}
				if len(types) == 0 {
					types = enumTypes(p.Enum)
				}
				kinds[name] = kindOf(types)
			}
		}
		t[tool.Name] = kinds
	}
	return t
}

// typeNames reads a schema's type: one name or a list.
func typeNames(raw json.RawMessage) (names []string) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	if json.Unmarshal(raw, &names) != nil {
		return nil
	}
	return names
}

// enumTypes tells a choice between strings from others.
func enumTypes(values []json.RawMessage) (types []string) {
	for _, v := range values {
		switch {
		case len(v) > 0 && v[0] == '"':
			types = append(types, "string")
		case string(v) == "null":
			types = append(types, "null")
		default:
			return nil
		}
	}
	return types
}

// kindOf is the kind that all of a parameter's types agree on.
func kindOf(types []string) kind {
	text, null := false, false
	for _, t := range types {
		switch t {
		case "string":
			text = true
		case "null":
			null = true
		default:
			return anyKind
		}
	}
	switch {
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
	}
	return openai.AppendString(dst, text)
}
