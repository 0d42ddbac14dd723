package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// settings are what a tokenizer_config.json changes about the tokenizer beside it. Engines load both through
// transformers, so its rules count: named and extra special tokens that the tokenizer does not have are added, and the
// flags given here win. What is put around a text is for a tokenizer.json to say; add_bos_token and add_eos_token count
// only for the files that cannot.
type settings struct {
	AddedTokens   map[string]addedToken `json:"added_tokens_decoder"`
	Extra         specialList           `json:"extra_special_tokens"`
	Additional    specialList           `json:"additional_special_tokens"`
	AddBOS        *bool                 `json:"add_bos_token"`
	AddEOS        *bool                 `json:"add_eos_token"`
	PrefixSpace   *bool                 `json:"add_prefix_space"`
	SpecialAsText bool                  `json:"split_special_tokens"`
	named         []addedToken          // bos_token and the like, in transformers' order
	mentioned     map[string]bool       // the names of those that are there, be they null
}

// specialList is a list of special tokens, or an object of them by name.
type specialList []addedToken

func (l *specialList) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	open, err := d.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('[') && open != json.Delim('{') {
		return fmt.Errorf("extra_special_tokens, additional_special_tokens: want a list or an object, got %.40q", data)
	}
	for d.More() {
		if open == json.Delim('{') {
			if _, err := d.Token(); err != nil {
				return err
			}
		}
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return err
		}
		if token, ok := readSpecial(item); ok {
			*l = append(*l, token)
		}
	}
	return nil
}

// readSpecial reads a special token: its text, or an object with its flags.
func readSpecial(raw json.RawMessage) (addedToken, bool) {
	token := addedToken{Special: true}
	if json.Unmarshal(raw, &token.Content) != nil && json.Unmarshal(raw, &token) != nil {
		return token, false
	}
	token.Special = true
	return token, token.Content != ""
}

// parse reads tokenizer_config.json.
func (c *settings) parse(data []byte) error {
	if err := json.Unmarshal(data, c); err != nil {
		return err
	}
	return c.parseNamed(data)
}

// parseNamed reads the special tokens that have a name and adds those whose name is new.
func (c *settings) parseNamed(data []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	if c.mentioned == nil {
		c.mentioned = map[string]bool{}
	}
	for _, name := range tokenNames {
		if raw, there := all[name]; there {
			c.mentioned[name] = true
			if token, ok := readSpecial(raw); ok {
				c.named = append(c.named, token)
			}
		}
	}
	return nil
}

// parseMap reads special_tokens_map.json.
func (c *settings) parseMap(data []byte) error {
	var more struct {
		Additional specialList `json:"additional_special_tokens"`
	}
	if err := json.Unmarshal(data, &more); err != nil {
		return err
	}
	c.Additional = append(c.Additional, more.Additional...)
	return c.parseNamed(data)
}

// decoderTokens returns the tokens of added_tokens_decoder, by id.
func (c *settings) decoderTokens() ([]addedToken, error) {
	var out []addedToken
	for key, token := range c.AddedTokens {
		id, err := strconv.ParseUint(key, 10, 32)
		if err != nil || id > maxID {
			return nil, fmt.Errorf("tokenizer_config.json: added_tokens_decoder: bad id %.20q", key)
		}
		token.ID = uint32(id)
		out = append(out, token)
	}
	slices.SortFunc(out, func(a, b addedToken) int { return int(a.ID) - int(b.ID) })
	return out, nil
}

// amend adds the settings' tokens to those of a tokenizer.json, and sets its switches.
func (c *settings) amend(s *spec) error {
	more, err := c.decoderTokens()
	if err != nil {
		return err
	}
	s.added = append(s.added, more...)
	known := map[string]bool{}
	for _, token := range s.added {
		known[token.Content] = true
	}
	for _, token := range slices.Concat(c.named, c.Additional, c.Extra) {
		if !known[token.Content] {
			known[token.Content] = true
			s.added = append(s.added, token)
		}
	}
	s.specialAsText = c.SpecialAsText
	return nil
}

// prefixSpace changes a tokenizer.json's pre-tokenizer, as the classes that build one of their own do.
func (c *settings) prefixSpace(s *spec, class string) {
	generic := class == "" || class == "PreTrainedTokenizerFast" || class == "TokenizersBackend"
	if pre := s.preTokenizer; c.PrefixSpace != nil && !generic && pre != nil && pre.Type == "ByteLevel" {
		pre.AddPrefixSpace = c.PrefixSpace
	}
}

// surround puts the begin and end tokens around texts if the settings say so.
func (c *settings) surround(t *Tokenizer, names map[string]string) {
	if id, ok := t.ID(names["bos_token"]); ok && flag(c.AddBOS, false) {
		t.prefix = []uint32{id}
	}
	if id, ok := t.ID(names["eos_token"]); ok && flag(c.AddEOS, false) {
		t.suffix = []uint32{id}
	}
}
