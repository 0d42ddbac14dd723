package chattemplate

import (
	"math"
	"strconv"
	"strings"
)

// harmonyTools declares functions as TypeScript, in the form that the library of the format writes.
func harmonyTools(tools []Value) string {
	var lines []string
	for _, tool := range tools {
		d, _ := tool.(*Dict)
		fn := dictAt(d, "function")
		if fn == nil {
			continue
		}
		for line := range strings.Lines(textOf(fn, "description")) {
			lines = append(lines, "// "+strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		}
		name := textOf(fn, "name")
		if parameters, ok := fn.Get("parameters"); ok && !isNone(parameters) {
			lines = append(lines, "type "+name+" = (_: "+harmonyType(parameters, "")+") => any;\n")
		} else {
			lines = append(lines, "type "+name+" = () => any;\n")
		}
	}
	if lines == nil {
		return ""
	}
	return "# Tools\n\n## functions\n\nnamespace functions {\n\n" + strings.Join(lines, "\n") + "\n} // namespace functions"
}

// dictAt is the object at a key, nil if there is none.
func dictAt(d *Dict, key string) *Dict {
	if d == nil {
		return nil
	}
	v, _ := d.Get(key)
	inner, _ := v.(*Dict)
	return inner
}

// listAt is the array at a key; ok is false if there is none.
func listAt(d *Dict, key string) (items []Value, ok bool) {
	v, _ := d.Get(key)
	list, ok := v.(*List)
	if !ok {
		return nil, false
	}
	return list.items, true
}

// harmonyType writes a JSON schema as a type.
func harmonyType(schema Value, indent string) string {
	d, ok := schema.(*Dict)
	if !ok {
		return "any"
	}
	if variants, ok := listAt(d, "oneOf"); ok {
		return harmonyUnion(variants, indent)
	}
	if types, ok := listAt(d, "type"); ok {
		var names []string
		for _, t := range types {
			if s, ok := text(t); ok {
				if s == "integer" {
					s = "number"
				}
				names = append(names, s)
			}
		}
		if names != nil {
			return strings.Join(names, " | ")
		}
	}
	switch textOf(d, "type") {
	case "object":
		return harmonyObject(d, indent)
	case "string":
		var values []string
		choices, _ := listAt(d, "enum")
		for _, choice := range choices {
			if s, ok := text(choice); ok {
				values = append(values, `"`+s+`"`)
			}
		}
		if values != nil {
			return strings.Join(values, " | ")
		}
		return "string"
	case "number", "integer":
		return "number"
	case "boolean":
		return "boolean"
	case "array":
		if items, ok := d.Get("items"); ok {
			return harmonyType(items, indent) + "[]"
		}
		return "Array<any>"
	}
	return "any"
}

// harmonyUnion writes the variants of a schema, one a line, each with what is known of it behind.
func harmonyUnion(variants []Value, indent string) string {
	var b strings.Builder
	for _, variant := range variants {
		b.WriteString("\n" + indent + " | " + harmonyNullable(variant, indent+"   "))
		var notes []string
		if d, ok := variant.(*Dict); ok {
			if s, ok := textAt(d, "description"); ok {
				notes = append(notes, s)
			}
			if v, ok := d.Get("default"); ok {
				quoted := dumpHarmony(v)
				if s, ok := text(v); ok && !harmonyEnum(d) {
					quoted = `"` + s + `"`
				}
				notes = append(notes, "default: "+quoted)
			}
		}
		if notes != nil {
			b.WriteString(" // " + strings.Join(notes, " "))
		}
	}
	return b.String()
}

// harmonyNullable is a type with null added where the schema says so.
func harmonyNullable(schema Value, indent string) string {
	t := harmonyType(schema, indent)
	if d, ok := schema.(*Dict); ok {
		if v, _ := d.Get("nullable"); v == Bool(true) && !strings.Contains(t, "null") {
			return t + " | null"
		}
	}
	return t
}

func harmonyObject(d *Dict, indent string) string {
	var b strings.Builder
	if s, ok := textAt(d, "description"); ok {
		b.WriteString(indent + "// " + s + "\n")
	}
	b.WriteString("{\n")
	required := map[string]bool{}
	names, _ := listAt(d, "required")
	for _, name := range names {
		if s, ok := text(name); ok {
			required[s] = true
		}
	}
	if properties := dictAt(d, "properties"); properties != nil {
		for i, key := range properties.keys {
			name := string(key.(Str))
			if !required[name] {
				name += "?"
			}
			harmonyProperty(&b, name, properties.values[i], indent)
		}
	}
	b.WriteString(indent + "}")
	return b.String()
}

func harmonyProperty(b *strings.Builder, name string, schema Value, indent string) {
	d, ok := schema.(*Dict)
	if !ok {
		b.WriteString(indent + name + ": any,\n")
		return
	}
	if s, ok := textAt(d, "title"); ok {
		b.WriteString(indent + "// " + s + "\n" + indent + "//\n")
	}
	_, hasVariants := d.Get("oneOf")
	if s, ok := textAt(d, "description"); ok && !hasVariants {
		b.WriteString(indent + "// " + s + "\n")
	}
	if examples, _ := listAt(d, "examples"); len(examples) > 0 {
		b.WriteString(indent + "// Examples:\n")
		for _, example := range examples {
			if s, ok := text(example); ok {
				b.WriteString(indent + `// - "` + s + "\"\n")
			}
		}
	}
	if variants, ok := listAt(d, "oneOf"); ok {
		harmonyVariants(b, name, d, variants, indent)
		return
	}
	b.WriteString(indent + name + ": " + harmonyNullable(d, indent+"    ") + ",")
	if v, ok := d.Get("default"); ok && !hasVariants {
		b.WriteString(" // default: " + harmonyDefault(d, v))
	}
	b.WriteString("\n")
}

// harmonyVariants writes a property that may have one of several types.
func harmonyVariants(b *strings.Builder, name string, d *Dict, variants []Value, indent string) {
	description, described := textAt(d, "description")
	above := described
	if described && len(variants) > 0 {
		if first, ok := variants[0].(*Dict); ok {
			s, ok := textAt(first, "description")
			above = !ok || s != description
		}
	}
	if above {
		b.WriteString(indent + "// " + description + "\n")
	}
	if v, ok := d.Get("default"); ok {
		b.WriteString(indent + "// default: " + harmonyDefault(d, v) + "\n")
	}
	b.WriteString(indent + name + ":\n")
	for i, variant := range variants {
		b.WriteString(indent + " | " + harmonyNullable(variant, indent+"   "))
		var notes []string
		if v, ok := variant.(*Dict); ok {
			if s, ok := textAt(v, "description"); ok && !(i == 0 && above) && !(described && s == description) {
				notes = append(notes, s)
			}
			if value, ok := v.Get("default"); ok {
				notes = append(notes, "default: "+harmonyDefault(v, value))
			}
		}
		if notes != nil {
			b.WriteString(" // " + strings.Join(notes, " "))
		}
		b.WriteString("\n")
	}
	b.WriteString(indent + ",\n")
}

// textAt is the string at a key; ok is false if there is none.
func textAt(d *Dict, key string) (string, bool) {
	v, _ := d.Get(key)
	return text(v)
}

func harmonyEnum(d *Dict) bool {
	choices, _ := listAt(d, "enum")
	return len(choices) > 0
}

// harmonyDefault is a default value: a string in quotes, unless it is one of an enumeration.
func harmonyDefault(d *Dict, v Value) string {
	s, ok := text(v)
	switch {
	case !ok:
		return dumpHarmony(v)
	case harmonyEnum(d):
		return s
	}
	return `"` + s + `"`
}

// dumpHarmony is JSON without spaces, its numbers as Rust's serde prints them.
func dumpHarmony(v Value) string {
	switch v := v.(type) {
	case Float:
		return rustFloat(float64(v))
	case Big:
		if v.n.IsUint64() {
			return v.n.String()
		}
		f, _ := v.n.Float64()
		return rustFloat(f)
	case *List:
		parts := make([]string, len(v.items))
		for i, item := range v.items {
			parts[i] = dumpHarmony(item)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *Dict:
		parts := make([]string, v.Len())
		for i, key := range v.keys {
			parts[i] = dumpJSON(sortedJSON, key) + ":" + dumpHarmony(v.values[i])
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return dumpJSON(sortedJSON, v)
}

// rustFloat prints a float with all its digits, and with an exponent where it is below 1e-5 or from 1e16 up.
func rustFloat(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-5 || a >= 1e16) {
		s := strconv.FormatFloat(f, 'e', -1, 64)
		mantissa, exponent, _ := strings.Cut(s, "e")
		n, _ := strconv.Atoi(exponent)
		return mantissa + "e" + strconv.Itoa(n)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
