package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// spec is the OpenAPI document, against which a test holds what really comes and goes. Where it is strict, a member
// that the document does not name is an error too.
type spec struct {
	root   map[string]any
	strict bool
}

func documented(t *testing.T, strict bool) spec {
	t.Helper()
	s := spec{strict: strict}
	if err := json.Unmarshal(openAPIDocument, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// at is what stands at a path of the document; the parts of the path may hold slashes.
func (s spec) at(path ...string) map[string]any {
	node := s.root
	for _, part := range path {
		node, _ = node[part].(map[string]any)
		node = s.resolved(node)
	}
	return node
}

func (s spec) resolved(node map[string]any) map[string]any {
	to, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	return s.at(strings.Split(strings.TrimPrefix(to, "#/"), "/")...)
}

// fits says why a value is not what the schema describes, in the keywords that the document uses.
func (s spec) fits(at string, schema map[string]any, value any) error {
	schema = s.resolved(schema)
	if schema == nil {
		return fmt.Errorf("%s: the document has no such schema", at)
	}
	for _, part := range members(schema["allOf"]) {
		if err := (spec{root: s.root}).fits(at, part, value); err != nil {
			return err
		}
	}
	if parts := members(schema["anyOf"]); parts != nil {
		var errs []error
		for _, part := range parts {
			errs = append(errs, s.fits(at, part, value))
		}
		if !slices.Contains(errs, nil) {
			return errors.Join(errs...)
		}
	}
	if kinds := fmt.Sprint(schema["type"]); schema["type"] != nil && !strings.Contains(kinds, kindOf(value)) &&
		!(kindOf(value) == "integer" && strings.Contains(kinds, "number")) {
		return fmt.Errorf("%s: %v is no %v", at, value, kinds)
	}
	if want, ok := schema["const"]; ok && !reflect.DeepEqual(value, want) {
		return fmt.Errorf("%s: %v is not %v", at, value, want)
	}
	if all, ok := schema["enum"].([]any); ok && !slices.ContainsFunc(all, func(one any) bool { return reflect.DeepEqual(one, value) }) {
		return fmt.Errorf("%s: %v is none of %v", at, value, all)
	}
	switch v := value.(type) {
	case float64:
		return within(at, schema, "imum", v)
	case string:
		return within(at, schema, "Length", float64(utf8.RuneCountInString(v)))
	case []any:
		return s.listFits(at, schema, v)
	case map[string]any:
		return s.objectFits(at, schema, v)
	}
	return nil
}

func members(list any) (parts []map[string]any) {
	all, _ := list.([]any)
	for _, one := range all {
		parts = append(parts, one.(map[string]any))
	}
	return parts
}

func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

func within(at string, schema map[string]any, what string, n float64) error {
	if low, ok := schema["min"+what].(float64); ok && n < low {
		return fmt.Errorf("%s: %g is below %g", at, n, low)
	}
	if high, ok := schema["max"+what].(float64); ok && n > high {
		return fmt.Errorf("%s: %g is above %g", at, n, high)
	}
	return nil
}

func (s spec) listFits(at string, schema map[string]any, list []any) error {
	items, _ := schema["items"].(map[string]any)
	for i, value := range list {
		if items == nil {
			break
		}
		if err := s.fits(fmt.Sprintf("%s[%d]", at, i), items, value); err != nil {
			return err
		}
	}
	return within(at, schema, "Items", float64(len(list)))
}

func (s spec) objectFits(at string, schema, object map[string]any) error {
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := object[name.(string)]; !ok {
			return fmt.Errorf("%s: %s is missing", at, name)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	others, _ := schema["additionalProperties"].(map[string]any)
	for name, value := range object {
		part, known := properties[name].(map[string]any)
		if !known {
			part = others
		}
		switch {
		case part == nil && s.strict && properties != nil:
			return fmt.Errorf("%s: the document does not know %s", at, name)
		case part == nil:
			continue
		}
		if err := s.fits(at+"."+name, part, value); err != nil {
			return err
		}
	}
	return nil
}
