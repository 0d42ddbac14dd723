package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// component is a normalizer, pre-tokenizer, post-processor or decoder as tokenizer.json writes it: the fields of all
// kinds together. A field that no kind has stops the load.
type component struct {
	Type          string      `json:"type"`
	Normalizers   []component `json:"normalizers"`
	Pretokenizers []component `json:"pretokenizers"`
	Processors    []component `json:"processors"`
	Decoders      []component `json:"decoders"`

	Pattern  *patternSpec `json:"pattern"`
	Behavior string       `json:"behavior"`
	Invert   bool         `json:"invert"`
	Content  string       `json:"content"`

	AddPrefixSpace *bool  `json:"add_prefix_space"`
	TrimOffsets    *bool  `json:"trim_offsets"`
	UseRegex       *bool  `json:"use_regex"`
	Replacement    string `json:"replacement"`
	StrRep         string `json:"str_rep"`
	PrependScheme  string `json:"prepend_scheme"`
	Split          *bool  `json:"split"`
	Individual     bool   `json:"individual_digits"`
	Delimiter      string `json:"delimiter"`
	Length         int    `json:"length"`

	Prepend     string `json:"prepend"`
	StripLeft   bool   `json:"strip_left"`
	StripRight  bool   `json:"strip_right"`
	CleanText   bool   `json:"clean_text"`
	HandleCJK   bool   `json:"handle_chinese_chars"`
	StripAccent *bool  `json:"strip_accents"`
	Lowercase   bool   `json:"lowercase"`
	Charsmap    []byte `json:"precompiled_charsmap"`

	Single        []templatePiece            `json:"single"`
	Pair          json.RawMessage            `json:"pair"`
	SpecialTokens map[string]templateSpecial `json:"special_tokens"`
	Sep           *sepToken                  `json:"sep"`
	Cls           *sepToken                  `json:"cls"`

	Start   int    `json:"start"`
	Stop    int    `json:"stop"`
	Prefix  string `json:"prefix"`
	Suffix  string `json:"suffix"`
	Cleanup bool   `json:"cleanup"`
	Pad     string `json:"pad_token"`
	Between string `json:"word_delimiter_token"`
}

// patternSpec is a literal or a regular expression.
type patternSpec struct {
	String *string `json:"String"`
	Regex  *string `json:"Regex"`
}

// readComponent reads one of the four components; null and nothing give nil.
func readComponent(raw []byte) (*component, error) {
	if raw == nil || string(raw) == "null" {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	c := new(component)
	if err := d.Decode(c); err != nil {
		return nil, err
	}
	for _, part := range c.flat() {
		if part.Type == "" {
			return nil, fmt.Errorf("type is missing in %.80s", raw)
		}
	}
	return c, nil
}

// flat returns the parts of a sequence in order, or the component itself.
func (c *component) flat() []component {
	if c == nil {
		return nil
	}
	if c.Type != "Sequence" {
		return []component{*c}
	}
	var out []component
	for _, list := range [][]component{c.Normalizers, c.Pretokenizers, c.Processors, c.Decoders} {
		for _, part := range list {
			out = append(out, part.flat()...)
		}
	}
	return out
}

// flag returns an optional switch.
func flag(p *bool, otherwise bool) bool {
	if p == nil {
		return otherwise
	}
	return *p
}

// prependScheme returns always, first or never.
func (c *component) prependScheme() (string, error) {
	if len([]rune(c.Replacement)) != 1 {
		return "", fmt.Errorf("replacement: %q is not one character", c.Replacement)
	}
	switch c.PrependScheme {
	case "always", "first", "never":
		return c.PrependScheme, nil
	case "":
		if !flag(c.AddPrefixSpace, true) {
			return "never", nil
		}
		return "always", nil
	}
	return "", fmt.Errorf("prepend_scheme: %q is not supported", c.PrependScheme)
}
