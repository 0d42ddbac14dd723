package chattemplate

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Kimi K2.5 reads its tools as TypeScript. Its tokenizer's code writes them into the variable tools_ts_str; a template that
// uses this variable gets it from here, and its tools with all keys sorted.

const toolsTypeScript = "tools_ts_str"

// sortDeep orders the keys of every object in v.
func sortDeep(v Value) Value {
	switch v := v.(type) {
	case *Dict:
		order := make([]int, v.Len())
		for i := range order {
			order[i] = i
		}
		sort.Slice(order, func(a, b int) bool { return v.keys[order[a]].(Str) < v.keys[order[b]].(Str) })
		out := NewDict(v.Len())
		for _, i := range order {
			out.Set(string(v.keys[i].(Str)), sortDeep(v.values[i]))
		}
		return out
	case *List:
		items := make([]Value, len(v.items))
		for i, item := range v.items {
			items[i] = sortDeep(item)
		}
		return newList(items)
	}
	return v
}

// typeScriptTools declares functions. It fails for schemas that have no TypeScript form here; the template then prints the
// tools as JSON.
func typeScriptTools(tools []Value) (string, error) {
	var functions []string
	for _, tool := range tools {
		d, ok := tool.(*Dict)
		if !ok || textOf(d, "type") != "function" {
			continue
		}
		if fn, _ := d.Get("function"); fn != nil {
			f, ok := fn.(*Dict)
			if !ok {
				return "", errors.New("a function must be an object")
			}
			s, err := typeScriptFunction(f)
			if err != nil {
				return "", err
			}
			functions = append(functions, s)
		}
	}
	if len(functions) == 0 {
		return "", nil
	}
	return "# Tools\n\n## functions\nnamespace functions {\n" + strings.Join(functions, "\n") + "\n}\n", nil
}

// typeScript writes the schemas of one function; $defs become interfaces.
type typeScript struct {
	definitions *Dict
	refersSelf  bool
}

func typeScriptFunction(fn *Dict) (string, error) {
	parameters, _ := fn.Get("parameters")
	schema, ok := parameters.(*Dict)
	if !ok {
		if parameters != nil && truth(parameters) {
			return "", errors.New("parameters must be an object")
		}
		schema = NewDict(0)
	}
	ts := &typeScript{definitions: NewDict(0)}
	root, err := ts.object(schema, "")
	if err != nil {
		return "", err
	}
	var parts []string
	if ts.refersSelf {
		fields, err := ts.fields(schema, "  ", false)
		if err != nil {
			return "", err
		}
		root = "parameters"
		parts = append(parts, "interface parameters {"+wrapLines(fields)+"}")
	}
	defined := ts.definitions.clone()
	for i, name := range defined.keys {
		s, err := ts.kind(defined.values[i], "")
		if err != nil {
			return "", err
		}
		d, ok := defined.values[i].(*Dict)
		if !ok {
			return "", errors.New("a definition must be an object")
		}
		comment := textOf(d, "description")
		if comment != "" {
			comment = commentLines(comment, "") + "\n"
		}
		parts = append(parts, comment+"interface "+string(name.(Str))+" "+s)
	}
	if description := textOf(fn, "description"); description != "" {
		parts = append(parts, commentLines(description, ""))
	}
	name, ok := fn.Get("name")
	if !ok {
		name = Str("function")
	}
	shown, _ := text(name)
	return strings.Join(append(parts, "type "+shown+" = (_: "+root+") => any;"), "\n"), nil
}

func wrapLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "\n" + strings.Join(lines, ",\n") + "\n"
}

func commentLines(s, indent string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = indent + "// " + line
		}
	}
	return strings.Join(lines, "\n")
}

// kind is the TypeScript type of a schema.
func (ts *typeScript) kind(schema Value, indent string) (string, error) {
	d, ok := schema.(*Dict)
	if !ok {
		switch schema {
		case Bool(true):
			return "any", nil
		case Bool(false):
			return "null", nil
		}
		return "", errors.New("a schema must be an object or a bool")
	}
	if ref, ok := d.Get("$ref"); ok {
		return ts.ref(ref)
	}
	if choices, ok := d.Get("anyOf"); ok {
		return ts.anyOf(choices, indent)
	}
	if values, ok := d.Get("enum"); ok {
		return enumType(d, values)
	}
	kind, ok := d.Get("type")
	switch k := kind.(type) {
	case *List:
		return unionType(k.items)
	case Str:
		switch k {
		case "object":
			return ts.object(d, indent)
		case "array":
			return ts.array(d, indent)
		case "integer":
			return "number", nil
		}
		return string(k), nil
	}
	if !ok && d.Len() == 0 {
		return "any", nil
	}
	return "", errors.New("the schema has no type")
}

func (ts *typeScript) ref(ref Value) (string, error) {
	name, _ := text(ref)
	if name == "#" {
		ts.refersSelf = true
		return "parameters", nil
	}
	path, ok := strings.CutPrefix(name, "#/$defs/")
	if !ok {
		return "", fmt.Errorf("unsupported reference %q", name)
	}
	path = path[strings.LastIndexByte(path, '/')+1:]
	if _, ok := ts.definitions.Get(path); !ok {
		return "", fmt.Errorf("reference %q not found", name)
	}
	return path, nil
}

func (ts *typeScript) anyOf(choices Value, indent string) (string, error) {
	list, ok := choices.(*List)
	if !ok {
		return "", errors.New("anyOf must be a list")
	}
	kinds := make([]string, len(list.items))
	for i, choice := range list.items {
		var err error
		if kinds[i], err = ts.kind(choice, indent); err != nil {
			return "", err
		}
	}
	return strings.Join(kinds, " | "), nil
}

func unionType(kinds []Value) (string, error) {
	names := map[string]string{"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null", "object": "{}", "array": "Array<any>"}
	out := make([]string, len(kinds))
	for i, kind := range kinds {
		name, _ := text(kind)
		if out[i] = names[name]; out[i] == "" {
			return "", fmt.Errorf("unknown type %q", name)
		}
	}
	return strings.Join(out, " | "), nil
}

func enumType(d *Dict, values Value) (string, error) {
	list, ok := values.(*List)
	if !ok {
		return "", errors.New("enum must be a list")
	}
	want, err := enumKind(d)
	if err != nil {
		return "", err
	}
	out := make([]string, len(list.items))
	for i, v := range list.items {
		s, isText := text(v)
		_, isBool := v.(Bool)
		switch {
		case isNone(v):
		case want == "string" && !isText, want == "number" && !isNumber(v), want == "integer" && !isInteger(v) && !isBool, want == "boolean" && !isBool:
			return "", fmt.Errorf("an enum value is not of type %s", want)
		}
		if isText {
			out[i] = `"` + s + `"`
		} else if out[i], err = str(new(render), v); err != nil {
			return "", err
		}
	}
	return strings.Join(out, " | "), nil
}

// enumKind is the one type that an enum's values must have, beside null.
func enumKind(d *Dict) (string, error) {
	kind, _ := d.Get("type")
	list, ok := kind.(*List)
	if !ok {
		s, _ := text(kind)
		return s, nil
	}
	var names []string
	for _, k := range list.items {
		s, _ := text(k)
		names = append(names, s)
	}
	switch {
	case len(names) == 1:
		return names[0], nil
	case len(names) == 2 && slices.Contains(names, "null"):
		if names[0] != "null" {
			return names[0], nil
		}
		return names[1], nil
	}
	return "", errors.New("an enum of several types is not supported")
}
