package toolcall

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// shape is what typing needs of a JSON schema.
type shape struct {
	Type        json.RawMessage
	Enum        []json.RawMessage
	Const       json.RawMessage
	AnyOf       []json.RawMessage
	OneOf       []json.RawMessage
	AllOf       []json.RawMessage
	Properties  properties
	Required    []string
	Items       json.RawMessage
	Ref         string                     `json:"$ref"`
	Defs        map[string]json.RawMessage `json:"$defs"`
	Definitions map[string]json.RawMessage

	raw  json.RawMessage
	defs *definitions
	ref  string // by which this one was found
}

// definitions are what the references of one schema name, each read once.
type definitions struct {
	raw  map[string]json.RawMessage
	read map[string]shape
	top  *shape // the schema that holds them
	left int    // bytes of it that may still be written again in a grammar
}

// maxCopied bounds how many bytes of one tool's schema its grammar repeats. What is beyond is left free.
const maxCopied = 256 << 10

func (d *definitions) afford(n int) bool {
	d.left -= n
	return d.left >= 0
}

// properties are an object's members, in the order in which its schema names them.
type properties struct {
	names []string
	by    map[string]json.RawMessage
}

func (p *properties) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &p.by) != nil {
		return nil // no schema of members; it types nothing
	}
	seen := make(map[string]bool, len(p.by))
	d := json.NewDecoder(bytes.NewReader(data))
	for d.Token(); d.More(); {
		name, err := d.Token()
		if err != nil {
			return err
		}
		if name, ok := name.(string); ok && !seen[name] {
			seen[name], p.names = true, append(p.names, name)
		}
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return err
		}
	}
	return nil
}

// readShape reads a schema that is not part of another.
func readShape(raw json.RawMessage) shape {
	s := parseShape(raw)
	top := s
	s.defs = &definitions{raw: make(map[string]json.RawMessage), read: make(map[string]shape), top: &top, left: maxCopied}
	for name, def := range s.Definitions {
		s.defs.raw["#/definitions/"+name] = def
	}
	for name, def := range s.Defs {
		s.defs.raw["#/$defs/"+name] = def
	}
	return s
}

// parseShape reads what a schema says itself. What it cannot read types nothing.
func parseShape(raw json.RawMessage) shape {
	s := shape{}
	if json.Unmarshal(raw, &s) != nil {
		s = shape{}
	}
	s.raw = raw
	return s
}

// maxRefs bounds how many references in a row are followed.
const maxRefs = 8

// child reads a schema that stands inside this one, and follows its references.
func (s shape) child(raw json.RawMessage) shape {
	if len(raw) == 0 {
		return shape{defs: s.defs}
	}
	c := parseShape(raw)
	c.defs = s.defs
	for range maxRefs {
		found, ok := s.defs.find(c.Ref)
		if !ok {
			break
		}
		found.defs, found.ref, found.raw = s.defs, c.Ref, raw
		c = found
	}
	return c
}

func (d *definitions) find(ref string) (shape, bool) {
	found, ok := d.read[ref]
	if raw, known := d.raw[ref]; known && !ok {
		found, ok = parseShape(raw), true
		d.read[ref] = found
	}
	return found, ok
}

func (s shape) member(name string) shape { return s.child(s.Properties.by[name]) }

func (s shape) isList() bool {
	types := s.types()
	return len(types) > 0 && types[0] == "array"
}

// types are all that a value may be, none if the schema does not say, or not within maxLooks.
func (s shape) types() []string {
	u := union{seen: make(map[string]bool)}
	if u.add(s); u.looks > maxLooks {
		return nil
	}
	return u.types
}

// union gathers the types of a schema and of those that it chooses between.
type union struct {
	types []string
	seen  map[string]bool // references: one that is met again adds nothing
	looks int
}

// maxLooks bounds how many schemas are read to type one value; they may refer to each other again and again.
const maxLooks = 100

func (u *union) add(s shape) {
	if u.looks++; u.looks > maxLooks || s.ref != "" && u.seen[s.ref] {
		return
	}
	u.seen[s.ref] = true
	types := typeNames(s.Type)
	if types == nil {
		types = enumTypes(s.Enum)
	}
	if types == nil && s.Const != nil {
		types = enumTypes([]json.RawMessage{s.Const})
	}
	u.types = append(u.types, types...)
	for _, choices := range [...][]json.RawMessage{s.AnyOf, s.OneOf, s.AllOf} {
		for _, choice := range choices {
			if u.looks <= maxLooks {
				u.add(s.child(choice))
			}
		}
	}
}

// kind is how a value of this shape that comes as text is to be written.
func (s shape) kind() kind { return kindOf(s.types()) }

// appendText appends a value that came as text. An object or a list without members comes as none.
func (s shape) appendText(dst []byte, text string) []byte {
	if strings.TrimSpace(text) == "" {
		switch s.only() {
		case "object":
			return append(dst, "{}"...)
		case "array":
			return append(dst, "[]"...)
		}
	}
	return appendTyped(dst, text, s.kind())
}

// only is the one type that a value must have, "" if there are several or none.
func (s shape) only() string {
	if types := s.types(); len(types) > 0 && len(slices.Compact(types)) == 1 && s.AnyOf == nil && s.OneOf == nil {
		return types[0]
	}
	return ""
}

// choices are the texts that a value is one of, nil if it may be others.
func (s shape) choices() (choices []grammar) {
	for _, raw := range s.Enum {
		var text string
		if !s.defs.afford(len(raw)) || json.Unmarshal(raw, &text) != nil {
			return nil
		}
		choices = append(choices, constant(text))
	}
	return choices
}

// members makes a grammar of each property, in their order; those that may be missing become optional. One without a
// type is left out.
func (s shape) members(of func(name string, s shape) grammar) (all []grammar) {
	for _, name := range s.Properties.names {
		if !s.defs.afford(len(name)) {
			return nil
		}
		g := of(name, s.member(name))
		switch {
		case g.Type == "":
		case slices.Contains(s.Required, name):
			all = append(all, g)
		default:
			all = append(all, optional(g))
		}
	}
	return all
}

// whole is the schema as it came, with the definitions that it refers to. Callers know its only type.
func (s shape) whole() json.RawMessage {
	var members schema
	if !bytes.Contains(s.raw, []byte(`"$ref"`)) || json.Unmarshal(s.raw, &members) != nil {
		return s.raw
	}
	size := len(s.raw)
	for _, def := range s.defs.raw {
		size += len(def)
	}
	if !s.defs.afford(size) {
		return encode(map[string]string{"type": s.only()})
	}
	for key, defs := range map[string]map[string]json.RawMessage{"$defs": s.defs.top.Defs, "definitions": s.defs.top.Definitions} {
		if members[key] == nil && defs != nil {
			members[key] = encode(defs)
		}
	}
	return encode(members)
}

// typeNames reads a schema's type: one name or a list.
func typeNames(raw json.RawMessage) (names []string) {
	var one string
	if len(raw) == 0 {
		return nil
	}
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
