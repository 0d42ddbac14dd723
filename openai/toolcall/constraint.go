package toolcall

import (
	"bytes"
	"encoding/json"
	"fmt"

	"leeway/openai"
)

// Constraint is what an engine must hold an answer to so that it is a call. At most one field is set.
type Constraint struct {
	Schema        string // a JSON schema; the answer is bare JSON, which NewForced reads
	StructuralTag string // the format's own markers around schemas; the answer is read by the format's parser
}

// Constrain derives the constraint of a tool choice, none unless the choice forces a call. The format is the one that
// was configured, not one guessed from the model's name: its markers are forced only on a model that is known to use
// them. With single at most one call may come. An error is a *BadTool.
func Constrain(format string, choice openai.ToolChoice, callable []openai.Tool, start Start, single bool) (Constraint, error) {
	if !choice.Forced() || len(callable) == 0 {
		return Constraint{}, nil
	}
	if forced, ok := structural[format]; ok {
		for _, t := range callable {
			if !json.Valid([]byte(argumentsSchema(t))) {
				return Constraint{}, badTool(t.Name, "its parameters are no JSON")
			}
		}
		tag := forced(calls{callable, start, single || choice.Mode == openai.ToolNamed})
		return Constraint{StructuralTag: string(encode(map[string]grammar{"format": tag}))}, nil
	}
	if choice.Mode == openai.ToolNamed {
		return Constraint{Schema: argumentsSchema(callable[0])}, nil
	}
	s, err := callsSchema(callable, single)
	return Constraint{Schema: s}, err
}

// argumentsSchema is a tool's parameters; a tool that says nothing of them still takes an object.
func argumentsSchema(t openai.Tool) string {
	switch s := compact(string(t.Parameters)); s {
	case "", "{}", "null":
		return `{"type":"object"}`
	default:
		return s
	}
}

// schema is a JSON schema's members, whose values stay as they came.
type schema map[string]json.RawMessage

// callsSchema allows an array of calls. Definitions that the parameters bring are moved to the root, where their
// references look for them.
func callsSchema(callable []openai.Tool, single bool) (string, error) {
	var kinds []json.RawMessage
	defs := make(schema)
	for _, t := range callable {
		var parameters schema
		if err := json.Unmarshal([]byte(argumentsSchema(t)), &parameters); err != nil {
			return "", badTool(t.Name, "its parameters are no JSON schema object")
		}
		for _, key := range [...]string{"$defs", "definitions"} {
			if err := hoist(t.Name, parameters, key, defs); err != nil {
				return "", err
			}
		}
		if len(parameters) == 0 {
			parameters = schema{"type": json.RawMessage(`"object"`)}
		}
		kinds = append(kinds, encode(map[string]any{
			"properties": map[string]any{
				"name":       map[string]any{"type": "string", "enum": []string{t.Name}},
				"parameters": parameters,
			},
			"required": []string{"name", "parameters"},
		}))
	}
	root := map[string]any{
		"type": "array", "minItems": 1,
		"items": map[string]any{"type": "object", "anyOf": kinds},
	}
	if single {
		root["maxItems"] = 1
	}
	for key, members := range defs {
		root[key] = members
	}
	return string(encode(root)), nil
}

// hoist moves the definitions under key from one tool's parameters to those of all.
func hoist(tool string, parameters schema, key string, all schema) error {
	raw, ok := parameters[key]
	if !ok {
		return nil
	}
	var mine, merged schema
	if json.Unmarshal(raw, &mine) != nil {
		return badTool(tool, key+" is no object")
	}
	if all[key] != nil && json.Unmarshal(all[key], &merged) != nil || merged == nil {
		merged = make(schema)
	}
	for name, def := range mine {
		if other, ok := merged[name]; ok && compact(string(other)) != compact(string(def)) {
			return badTool(tool, fmt.Sprintf("%s.%s differs from another tool's definition of that name; rename one", key, name))
		}
		merged[name] = def
	}
	delete(parameters, key)
	all[key] = encode(merged)
	return nil
}

// BadTool is the error of a tool that no constraint can be made of.
type BadTool struct{ Name, What string }

func (e *BadTool) Error() string { return fmt.Sprintf("function %q: %s", e.Name, e.What) }

func badTool(name, what string) error { return &BadTool{name, what} }

// encode writes JSON with <, > and & as they are: markers hold them. What it is given is made of JSON, and cannot fail.
func encode(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return json.RawMessage("{}")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
