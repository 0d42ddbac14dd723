package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
)

// sideFiles are the files beside the vocabulary, as far as a tokenizer needs them.
type sideFiles struct {
	config, generation, tokenizer, specialMap sideFile
}

// sideFile is the union of the fields that are read from these files.
type sideFile struct {
	EOSTokenID tokenIDs `json:"eos_token_id"`
	TextConfig *struct {
		EOSTokenID tokenIDs `json:"eos_token_id"`
	} `json:"text_config"`
	Class       string                `json:"tokenizer_class"`
	ModelType   string                `json:"model_type"`
	PrefixSpace bool                  `json:"add_prefix_space"`
	AddedTokens map[string]addedToken `json:"added_tokens_decoder"`
	names       map[string]string
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

// tokenNames are the special tokens that templates know by name.
var tokenNames = []string{"bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"}

func readSideFiles(fsys fs.FS) (*sideFiles, error) {
	side := new(sideFiles)
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

// addedTokens returns the tokens that tokenizer_config.json adds, by id.
func (f *sideFile) addedTokens() ([]addedToken, error) {
	var out []addedToken
	for key, token := range f.AddedTokens {
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
