package toolcall

import "encoding/json"

// grammar is a part of a structural tag, as engines read it. Each type uses some of the fields.
type grammar struct {
	Type           string          `json:"type"`
	Value          *string         `json:"value,omitempty"`
	Pattern        string          `json:"pattern,omitempty"`
	Schema         json.RawMessage `json:"json_schema,omitempty"`
	Style          string          `json:"style,omitempty"`
	Excludes       []string        `json:"excludes,omitempty"`
	Triggers       []string        `json:"triggers,omitempty"`
	Begin          *string         `json:"begin,omitempty"`
	Content        *grammar        `json:"content,omitempty"`
	End            *string         `json:"end,omitempty"`
	Elements       []grammar       `json:"elements,omitempty"`
	Tags           []grammar       `json:"tags,omitempty"`
	Separator      *string         `json:"separator,omitempty"`
	AtLeastOne     bool            `json:"at_least_one,omitempty"`
	StopAfterFirst bool            `json:"stop_after_first,omitempty"`
}

func constant(text string) grammar { return grammar{Type: "const_string", Value: &text} }

func pattern(regex string) grammar { return grammar{Type: "regex", Pattern: regex} }

func ofSchema(schema json.RawMessage) grammar { return grammar{Type: "json_schema", Schema: schema} }

func anyText(without ...string) grammar { return grammar{Type: "any_text", Excludes: without} }

func sequence(parts ...grammar) grammar { return grammar{Type: "sequence", Elements: parts} }

func either(choices ...grammar) grammar { return grammar{Type: "or", Elements: choices} }

func optional(g grammar) grammar { return grammar{Type: "optional", Content: &g} }

func tagged(begin string, content grammar, end string) grammar {
	return grammar{Type: "tag", Begin: &begin, Content: &content, End: &end}
}
