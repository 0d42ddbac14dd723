package tokenizer

import (
	"slices"
	"sync"
)

// Tokenizer turns text into token ids and back. It does not change after Load, and may be used by many goroutines.
type Tokenizer struct {
	normalizers []normalizer
	stages      []stage
	// severalHeads says that the first character may be normalized to several, and cut, before a stage marks first pieces.
	severalHeads bool

	model model
	vocab *vocab // the model's; added tokens are beside it

	added       *matcher // tokens that are cut out of the text as it came
	addedNormal *matcher // tokens that are cut out of normalized text
	addedID     map[string]uint32
	addedToken  map[uint32]addedToken

	prefix, suffix []uint32 // special tokens around a text
	decoding       decoding
	names          map[string]string // bos_token and the like
	eos            []uint32

	encoders sync.Pool // of *encoder
}

// Encode returns the ids of text; addSpecial puts the special tokens around it that the tokenizer declares.
func (t *Tokenizer) Encode(text string, addSpecial bool) []uint32 {
	return t.AppendEncode(nil, text, addSpecial)
}

// AppendEncode appends the ids of text to dst.
func (t *Tokenizer) AppendEncode(dst []uint32, text string, addSpecial bool) []uint32 {
	text = validUTF8(text)
	e := t.borrow()
	defer t.give(e)
	e.ids = slices.Grow(dst, len(text)/4+8)
	if addSpecial {
		e.ids = append(e.ids, t.prefix...)
	}
	e.text(text, 0)
	if addSpecial {
		e.ids = append(e.ids, t.suffix...)
	}
	return e.ids
}

func (t *Tokenizer) borrow() *encoder {
	if e, ok := t.encoders.Get().(*encoder); ok {
		return e
	}
	return t.newEncoder()
}

func (t *Tokenizer) give(e *encoder) {
	e.trim()
	t.encoders.Put(e)
}

// Token returns the text of a token as the vocabulary writes it.
func (t *Tokenizer) Token(id uint32) (string, bool) {
	if token, ok := t.addedToken[id]; ok {
		return token.Content, true
	}
	return string(t.vocab.text(id)), t.vocab.has(id)
}

// ID returns the id of a token, written as in the vocabulary.
func (t *Tokenizer) ID(token string) (uint32, bool) {
	if id, ok := t.addedID[token]; ok {
		return id, true
	}
	id := t.vocab.idOf(token)
	return id, id != noID
}

// IsSpecial tells whether decoding without special tokens leaves the token out.
func (t *Tokenizer) IsSpecial(id uint32) bool { return t.decoding.flags.get(id)&flagSpecial != 0 }

// VocabSize returns the number of tokens, added ones included.
func (t *Tokenizer) VocabSize() int {
	n := t.vocab.count
	for token := range t.addedID {
		if t.vocab.idOf(token) == noID {
			n++
		}
	}
	return n
}

// EOS returns the ids that end an answer, from config.json, generation_config.json and tokenizer_config.json.
func (t *Tokenizer) EOS() []uint32 { return slices.Clone(t.eos) }

// SpecialToken returns the text of a named special token such as "bos_token", "" if the model has none.
func (t *Tokenizer) SpecialToken(name string) string { return t.names[name] }
