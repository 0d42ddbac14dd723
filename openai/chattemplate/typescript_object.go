package chattemplate

import (
	"errors"
	"slices"
	"strings"
)

// object is an object type: required fields first, each group by name.
func (ts *typeScript) object(d *Dict, indent string) (string, error) {
	if defs, _ := d.Get("$defs"); defs != nil {
		m, ok := defs.(*Dict)
		if !ok {
			return "", errors.New("$defs must be an object")
		}
		for i, name := range m.keys {
			ts.definitions.Set(string(name.(Str)), m.values[i])
		}
	}
	more, err := ts.additional(d, indent+"  ") // its definitions come before those of the fields
	if err != nil {
		return "", err
	}
	fields, err := ts.fields(d, indent+"  ", true)
	if err != nil {
		return "", err
	}
	fields = append(fields, more...)
	if len(fields) == 0 {
		return "{}", nil
	}
	return "{" + wrapLines(fields) + indent + "}", nil
}

// additional is the line for the properties that are not listed, if there is one.
func (ts *typeScript) additional(d *Dict, indent string) ([]string, error) {
	more, _ := d.Get("additionalProperties")
	switch {
	case isNone(more):
		return nil, nil
	case more == Bool(false):
		return []string{indent + "[k: string]: never"}, nil
	}
	kind, err := ts.kind(more, indent)
	return []string{indent + "[k: string]: " + kind}, err
}

// fields are the lines of an object's properties. They are written in the schema's order, in which definitions are met,
// and then sorted.
func (ts *typeScript) fields(d *Dict, indent string, sorted bool) ([]string, error) {
	properties, _ := d.Get("properties")
	if properties == nil {
		return nil, nil
	}
	m, ok := properties.(*Dict)
	if !ok {
		return nil, errors.New("properties must be an object")
	}
	required := map[string]bool{}
	if list, ok := d.Get("required"); ok {
		names, ok := list.(*List)
		if !ok {
			return nil, errors.New("required must be a list")
		}
		for _, name := range names.items {
			s, _ := text(name)
			required[s] = true
		}
	}
	type namedLine struct{ name, line string }
	lines := make([]namedLine, m.Len())
	for i, key := range m.keys {
		name := string(key.(Str))
		line, err := ts.field(name, m.values[i], !required[name], indent)
		if err != nil {
			return nil, err
		}
		lines[i] = namedLine{name, line}
	}
	if sorted {
		slices.SortFunc(lines, func(a, b namedLine) int {
			switch {
			case required[a.name] == required[b.name]:
				return strings.Compare(a.name, b.name)
			case required[a.name]:
				return -1
			}
			return 1
		})
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.line
	}
	return out, nil
}

// field is one property with the comments above it.
func (ts *typeScript) field(name string, schema Value, optional bool, indent string) (string, error) {
	kind, err := ts.kind(schema, indent)
	if err != nil {
		return "", err
	}
	comments, err := docComment(schema, indent)
	if err != nil {
		return "", err
	}
	if d, ok := schema.(*Dict); ok {
		if v, _ := d.Get("default"); !isNone(v) {
			shown := dumpJSON(compactJSON, v)
			if isNumber(v) {
				if shown, err = repr(new(render), v); err != nil {
					return "", err
				}
			}
			comments += indent + "// Default: " + shown + "\n"
		}
	}
	mark := ""
	if optional {
		mark = "?"
	}
	return comments + indent + name + mark + ": " + kind, nil
}

// docComment is a schema's description and, for plain types, its constraints.
func docComment(schema Value, indent string) (string, error) {
	d, ok := schema.(*Dict)
	if !ok {
		return "", nil
	}
	out := ""
	switch v, _ := d.Get("description"); v := v.(type) {
	case Str:
		if v != "" {
			out = commentLines(string(v), indent) + "\n"
		}
	case nil:
	default:
		if truth(v) {
			return "", errors.New("a description must be a string")
		}
	}
	var shown []string
	for _, name := range constraintNames(d) {
		if v, ok := d.Get(name); ok {
			s, err := str(new(render), v)
			if err != nil {
				return "", err
			}
			shown = append(shown, name+": "+s)
		}
	}
	if len(shown) > 0 {
		out += indent + "// " + strings.Join(shown, ", ") + "\n"
	}
	return out, nil
}

// constraintNames are the constraints that are shown for a type, in order.
func constraintNames(d *Dict) []string {
	for _, other := range []string{"$ref", "anyOf", "enum"} {
		if _, ok := d.Get(other); ok {
			return nil
		}
	}
	switch textOf(d, "type") {
	case "string":
		return []string{"maxLength", "minLength", "pattern"}
	case "number", "integer":
		return []string{"maximum", "minimum"}
	case "array":
		return []string{"maxItems", "minItems"}
	}
	return nil
}

func (ts *typeScript) array(d *Dict, indent string) (string, error) {
	items, _ := d.Get("items")
	if items == nil || !truth(items) {
		return "Array<any>", nil
	}
	comments, err := docComment(items, indent+"  ")
	if err != nil {
		return "", err
	}
	if comments == "" {
		kind, err := ts.kind(items, indent)
		return "Array<" + kind + ">", err
	}
	kind, err := ts.kind(items, indent+"  ")
	return "Array<\n" + comments + indent + "  " + kind + "\n" + indent + ">", err
}
