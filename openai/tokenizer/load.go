package tokenizer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
)

// maxFile bounds each file that is read.
const maxFile = 256 << 20

// ErrNoTokenizer is returned by Load when the directory holds none of the files a tokenizer can be read from.
var ErrNoTokenizer = errors.New("no tokenizer.json, no vocab.json with merges.txt, no tiktoken.model or *.tiktoken")

// Load reads a tokenizer from a model's directory: tokenizer.json, else vocab.json and merges.txt, else a tiktoken file;
// with the special tokens and end ids that the other files beside it name. What the files ask for and this package
// cannot do is an error that names it.
func Load(fsys fs.FS) (*Tokenizer, error) {
	side, err := readSideFiles(fsys)
	if err != nil {
		return nil, err
	}
	s, name, err := readSpec(fsys, side)
	if err != nil {
		return nil, err
	}
	t, err := newTokenizer(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t.names, t.eos = side.specials(t)
	if name != "tokenizer.json" {
		side.settings.surround(t, t.names)
	}
	return t, nil
}

// readSpec reads the first of the known files that is there, and tells which it was.
func readSpec(fsys fs.FS, side *sideFiles) (*spec, string, error) {
	data, err := readFile(fsys, "tokenizer.json")
	if err == nil {
		s, err := parseSpec(data)
		if err != nil {
			return nil, "", fmt.Errorf("tokenizer.json: %w", err)
		}
		side.settings.prefixSpace(s, side.tokenizer.Class)
		return s, "tokenizer.json", side.settings.amend(s)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	s, err := readVocabMerges(fsys, side)
	if !errors.Is(err, fs.ErrNotExist) {
		return s, "vocab.json", err
	}
	s, name, err := readTiktoken(fsys, side)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoTokenizer
	}
	return s, name, err
}

// readFile reads a whole file of bounded size.
func readFile(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := int64(0)
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	if size > maxFile {
		return nil, fmt.Errorf("%s: %d bytes, the limit is %d", name, size, maxFile)
	}
	data := make([]byte, 0, size+512)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case len(data) > maxFile:
			return nil, fmt.Errorf("%s: more than %d bytes", name, maxFile)
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

// newTokenizer compiles a spec.
func newTokenizer(s *spec) (*Tokenizer, error) {
	t := &Tokenizer{vocab: s.model.vocab}
	var err error
	if t.normalizers, err = newNormalizers(s.normalizer); err != nil {
		return nil, err
	}
	stages, bytes, err := newStages(s.preTokenizer)
	if err != nil {
		return nil, err
	}
	m, extra, err := s.model.newModel(bytes)
	if err != nil {
		return nil, err
	}
	t.model, t.stages = m, append(stages, extra...)
	t.severalHeads = len(t.normalizers) > 0 && slices.ContainsFunc(t.stages[min(1, len(t.stages)):], marksFirst)
	if t.prefix, t.suffix, err = newSurround(s.postProcessor); err != nil {
		return nil, err
	}
	special, err := t.addTokens(s)
	if err != nil {
		return nil, err
	}
	plan, err := newDecodePlan(s.decoder)
	if err != nil {
		return nil, err
	}
	t.decoding = plan.build(t.vocab, t.addedToken, special)
	return t, nil
}

// addTokens registers the added tokens as the library does: a token that the model knows keeps the model's id, another
// one gets the next free id, whatever the file says. A tiktoken file leaves gaps, and there the given ids count. Of a
// token that comes twice the later flags count; but once special is special.
func (t *Tokenizer) addTokens(s *spec) (special map[string]bool, err error) {
	t.addedID, t.addedToken = map[string]uint32{}, map[uint32]addedToken{}
	special = map[string]bool{}
	next := uint32(t.vocab.count)
	var list []*addedToken
	places := map[string]int{}
	for i := range s.added {
		token := &s.added[i]
		if token.Content == "" {
			continue
		}
		if token.ID > maxID {
			return nil, fmt.Errorf("added_tokens: %q: id %d is above %d", token.Content, token.ID, maxID)
		}
		if token.Special {
			special[token.Content] = true
		}
		if place, again := places[token.Content]; again {
			token.ID = list[place].ID
			list[place] = token
			t.addedToken[token.ID] = *token
			continue
		}
		id := t.vocab.idOf(token.Content)
		if id == noID {
			id = next
			if s.model.ranked {
				id = token.ID
			}
		}
		token.ID = id
		next = max(next, id+1)
		t.addedID[token.Content] = id
		t.addedToken[id] = *token
		places[token.Content] = len(list)
		list = append(list, token)
	}
	if s.specialAsText {
		list = slices.DeleteFunc(list, func(token *addedToken) bool { return special[token.Content] })
	}
	return special, t.match(list)
}

// match builds the two matchers; special tokens come first in each. A token that the normalizer leaves nothing of would
// match everywhere.
func (t *Tokenizer) match(list []*addedToken) error {
	var raw, normal []*addedToken
	var rawTexts, normalTexts []string
	for _, special := range [...]bool{true, false} {
		for _, token := range list {
			switch {
			case token.Special != special:
			case token.Normalized:
				normal = append(normal, token)
				text := t.normalize(token.Content)
				if text == "" {
					return fmt.Errorf("added_tokens: the normalizer leaves nothing of %q, which is looked for in normalized text: not supported", token.Content)
				}
				normalTexts = append(normalTexts, text)
			default:
				raw = append(raw, token)
				rawTexts = append(rawTexts, token.Content)
			}
		}
	}
	t.added = newMatcher(raw, rawTexts)
	t.addedNormal = newMatcher(normal, normalTexts)
	return nil
}

func (t *Tokenizer) normalize(text string) string {
	for _, n := range t.normalizers {
		if out, verdict := n.apply(nil, text); verdict != same {
			text = string(out)
		}
	}
	return text
}
