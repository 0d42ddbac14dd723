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
	Nullable    json.RawMessage
	Others      json.RawMessage `json:"additionalProperties"`

	raw  json.RawMessage
	defs *definitions
	ref  string // by which this one was found
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
	s.defs = &definitions{raw: make(map[string]json.RawMessage), read: make(map[string]shape), top: &top, left: maxCopied, seek: maxSought}
	for name, def := range s.Definitions {
		s.defs.raw["#/definitions/"+name] = def
	}
	for name, def := range s.Defs {
		s.defs.raw["#/$defs/"+name] = def
	}
	return s.followed().merged(new(int))
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

// child reads a schema that stands inside this one, with all that it refers to.
func (s shape) child(raw json.RawMessage) shape { return s.part(raw).merged(new(int)) }

// part reads a schema that stands inside this one, and follows its references.
func (s shape) part(raw json.RawMessage) shape {
	if len(raw) == 0 {
		return shape{defs: s.defs}
	}
	c := parseShape(raw)
	c.defs = s.defs
	return c.followed()
}

// member reads the schema of a member, also of one that is not declared.
func (s shape) member(name string) shape {
	raw, ok := s.Properties.by[name]
	if !ok {
		raw = s.Others
	}
	return s.child(raw)
}

func (s shape) isList() bool {
	types := s.types()
	return len(types) > 0 && types[0] == "array"
}

// types are all that a value may be, none if the schema does not say, or not within maxLooks.
func (s shape) types() []string {
	types, _ := s.union()
	return types
}

// union gathers the types of a schema. It is open if some of the choices do not say theirs.
func (s shape) union() (types []string, open bool) {
	u := union{seen: make(map[string]bool)}
	if u.add(s, false); u.looks > maxLooks {
		return nil, true
	}
	return u.types, u.open
}

// union gathers the types of a schema and of those that it chooses between.
type union struct {
	types []string
	open  bool
	seen  map[string]bool // references: one that is met again adds nothing
	looks int
}

// maxLooks bounds how many schemas are read to type one value; they may refer to each other again and again.
const maxLooks = 100

// add looks at one of the schemas; typed says that what stands around it says a type.
func (u *union) add(s shape, typed bool) {
	if u.looks++; u.looks > maxLooks || s.ref != "" && u.seen[s.ref] {
		return
	}
	u.seen[s.ref] = true
	before, types := len(u.types), typeNames(s.Type)
	if types == nil {
		types = enumTypes(s.Enum)
	}
	if types == nil && s.Const != nil {
		types = enumTypes([]json.RawMessage{s.Const})
	}
	u.types = append(u.types, types...)
	typed = typed || types != nil || len(s.AllOf) > 0
	for _, choices := range [...][]json.RawMessage{s.AnyOf, s.OneOf, s.AllOf} {
		for _, choice := range choices {
			if u.looks <= maxLooks {
				u.add(s.part(choice), typed)
			}
		}
	}
	switch {
	case len(u.types) > before && string(s.Nullable) == "true":
		u.types = append(u.types, "null")
	case !typed && len(s.AnyOf)+len(s.OneOf) == 0:
		u.open = true
	}
}

// kind is how a value of this shape that comes as text is to be written.
func (s shape) kind() kind {
	types, open := s.union()
	if open {
		return anyKind
	}
	return kindOf(types)
}

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

// isText reports whether a value is a string if it is anything.
func (s shape) isText() bool {
	k := s.kind()
	return k == textKind || k == textKind|nullKind
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

// whole is the schema as it came, with the definitions that it refers to, or at least its type, which is the only one as
// callers know.
func (s shape) whole() json.RawMessage {
	var members schema
	if !bytes.Contains(s.raw, []byte(`"$ref"`)) || json.Unmarshal(s.raw, &members) != nil {
		return s.raw
	}
	size, bound := len(s.raw), refersElsewhere(s.raw)
	for _, def := range s.defs.raw {
		size += len(def)
		bound = bound || refersElsewhere(def)
	}
	if bound || !s.defs.afford(size) {
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
