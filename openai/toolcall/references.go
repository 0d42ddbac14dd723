package toolcall

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// definitions are what the references of one schema name, each read once.
type definitions struct {
	raw  map[string]json.RawMessage
	read map[string]shape
	top  *shape // the schema that holds them
	left int    // bytes of it that may still be written again in a grammar
	seek int    // bytes of it that may still be searched for references to other places
}

// maxSought bounds how much is read to find what one schema's references name beside its definitions.
const maxSought = 4 << 20

// maxCopied bounds how many bytes of one tool's schema its grammar repeats. What is beyond is left free.
const maxCopied = 256 << 10

func (d *definitions) afford(n int) bool {
	d.left -= n
	return d.left >= 0
}

// maxRefs bounds how many references in a row are followed.
const maxRefs = 8

// followed is what a schema's references lead to.
func (s shape) followed() shape {
	raw := s.raw
	for range maxRefs {
		found, ok := s.defs.find(s.Ref)
		if !ok {
			break
		}
		found.defs, found.ref, found.raw = s.defs, s.Ref, raw
		found.Properties = found.Properties.with(s.Properties)
		s = found
	}
	return s
}

// maxParts bounds how many schemas are read that a value must match all at once.
const maxParts = 32

// merged is a schema with what those that a value must match, too, say of its members.
func (s shape) merged(parts *int) shape {
	for _, raw := range s.AllOf {
		if *parts++; *parts > maxParts {
			break
		}
		part := s.part(raw).merged(parts)
		s.Properties = s.Properties.with(part.Properties)
		s.Required = append(slices.Clip(s.Required), part.Required...)
		if s.Items == nil {
			s.Items = part.Items
		}
		if s.Others == nil {
			s.Others = part.Others
		}
	}
	return s
}

// with are the members of both; the first to name one decides.
func (p properties) with(more properties) properties {
	if len(more.names) == 0 {
		return p
	}
	both := properties{names: slices.Clip(p.names), by: maps.Clone(p.by)}
	for _, name := range more.names {
		if _, ok := both.by[name]; ok {
			continue
		}
		if both.by == nil {
			both.by = make(map[string]json.RawMessage)
		}
		both.names, both.by[name] = append(both.names, name), more.by[name]
	}
	return both
}

func (d *definitions) find(ref string) (shape, bool) {
	found, ok := d.read[ref]
	if ok || !strings.HasPrefix(ref, "#") {
		return found, ok && found.raw != nil
	}
	raw, known := d.raw[ref]
	if !known {
		raw = d.at(ref)
	}
	if raw != nil {
		found = parseShape(raw)
	}
	d.read[ref] = found
	return found, raw != nil
}

// at is what stands in the schema where a reference points to, nil if nothing does.
func (d *definitions) at(ref string) json.RawMessage {
	raw, path := d.top.raw, strings.Split(ref, "/")
	for _, word := range path[1:] {
		if d.seek -= len(raw); d.seek < 0 {
			return nil
		}
		if name, err := url.PathUnescape(word); err == nil {
			word = name
		}
		var members map[string]json.RawMessage
		var list []json.RawMessage
		if json.Unmarshal(raw, &members) == nil {
			raw = members[pointed.Replace(word)]
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil || json.Unmarshal(raw, &list) != nil || n < 0 || n >= len(list) {
			return nil
		}
		raw = list[n]
	}
	return raw
}

// pointed undoes what a member's name goes through in a reference.
var pointed = strings.NewReplacer("~1", "/", "~0", "~")

// refersElsewhere reports whether a schema may refer to what is none of the definitions.
func refersElsewhere(raw []byte) bool {
	for {
		_, rest, found := bytes.Cut(raw, []byte(`"#`))
		if !found {
			return false
		}
		if !bytes.HasPrefix(rest, []byte("/$defs/")) && !bytes.HasPrefix(rest, []byte("/definitions/")) {
			return true
		}
		raw = rest
	}
}
