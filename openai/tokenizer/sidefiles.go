package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// sideFiles are the files beside the vocabulary, as far as a tokenizer needs them.
type sideFiles struct {
	config, generation, tokenizer, specialMap sideFile
	settings                                  settings
}

// sideFile is the union of the fields that are read from these files.
type sideFile struct {
	EOSTokenID tokenIDs `json:"eos_token_id"`
	TextConfig *struct {
		EOSTokenID tokenIDs `json:"eos_token_id"`
	} `json:"text_config"`
	Class     string `json:"tokenizer_class"`
	ModelType string `json:"model_type"`
	names     map[string]string
}

// tokenIDs is an id, a list of ids, or nothing.
type tokenIDs []uint32

func (ids *tokenIDs) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var one uint32
	if json.Unmarshal(data, &one) == nil {
		*ids = tokenIDs{one}
		return nil
	}
	var list []uint32
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("eos_token_id: want an id or a list of ids: %w", err)
	}
	*ids = list
	return nil
}

// tokenNames are the special tokens that have a name, in the order in which transformers adds them.
var tokenNames = []string{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}

func readSideFiles(fsys fs.FS) (*sideFiles, error) {
	side := new(sideFiles)
	var specialMap []byte // counts for tokenizers that do not list their added tokens
	for name, into := range map[string]*sideFile{
		"config.json": &side.config, "generation_config.json": &side.generation,
		"tokenizer_config.json": &side.tokenizer, "special_tokens_map.json": &side.specialMap,
	} {
		data, err := readFile(fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := into.parse(data); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if into == &side.tokenizer {
			err = side.settings.parse(data)
		} else if into == &side.specialMap {
			specialMap = data
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if specialMap != nil && side.settings.AddedTokens == nil {
		if err := side.settings.parseMap(specialMap); err != nil {
			return nil, fmt.Errorf("special_tokens_map.json: %w", err)
		}
	}
	return side, nil
}

func (f *sideFile) parse(data []byte) error {
	if err := json.Unmarshal(data, f); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	f.names = map[string]string{}
	for _, name := range tokenNames {
		var text string
		var object struct{ Content string }
		if json.Unmarshal(all[name], &text) == nil && text != "" {
			f.names[name] = text
		} else if json.Unmarshal(all[name], &object) == nil && object.Content != "" {
			f.names[name] = object.Content
		}
	}
	return nil
}

// nameByDefault gives a text to special tokens that tokenizer_config.json does not mention.
func (side *sideFiles) nameByDefault(text string, names ...string) {
	for _, name := range names {
		if _, given := side.tokenizer.names[name]; !given && !side.settings.mentioned[name] {
			side.tokenizer.names[name] = text
			side.settings.named = append(side.settings.named, addedToken{Content: text, Special: true})
		}
	}
}

// specials returns the special tokens by name, and the ids that end an answer.
func (side *sideFiles) specials(t *Tokenizer) (names map[string]string, eos []uint32) {
	names = map[string]string{}
	for _, name := range tokenNames {
		for _, f := range [...]*sideFile{&side.tokenizer, &side.specialMap} {
			if text := f.names[name]; text != "" && names[name] == "" {
				names[name] = text
			}
		}
	}
	for name, known := range commonNames {
		for _, text := range known {
			if _, ok := t.addedID[text]; ok && names[name] == "" && side.tokenizer.names == nil {
				names[name] = text
			}
		}
	}
	ids := slices.Clone(side.config.EOSTokenID)
	if side.config.TextConfig != nil {
		ids = append(ids, side.config.TextConfig.EOSTokenID...)
	}
	ids = append(ids, side.generation.EOSTokenID...)
	if id, ok := t.ID(names["eos_token"]); ok {
		ids = append(ids, id)
	}
	for _, id := range ids {
		if !slices.Contains(eos, id) {
			eos = append(eos, id)
		}
	}
	return names, eos
}

// commonNames are what special tokens are usually called, for models that come without a tokenizer_config.json.
var commonNames = map[string][]string{
	"bos_token": {"<s>", "<|begin_of_text|>", "<bos>", "<|startoftext|>", "<｜begin▁of▁sentence｜>", "[BOS]"},
	"eos_token": {"</s>", "<|end_of_text|>", "<eos>", "<|endoftext|>", "<｜end▁of▁sentence｜>", "[EOS]", "<|im_end|>"},
	"unk_token": {"<unk>", "[UNK]"},
	"pad_token": {"<pad>", "[PAD]", "<|pad|>"},
}
