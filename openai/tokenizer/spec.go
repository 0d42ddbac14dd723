package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
)

// spec is a tokenizer as its files describe it, whichever files these are.
type spec struct {
	normalizer, preTokenizer, postProcessor, decoder *component
	added                                            []addedToken
	model                                            modelSpec
	specialAsText                                    bool // special tokens in a text are not looked for
}

// modelSpec is the model of a tokenizer.json.
type modelSpec struct {
	kind   string
	vocab  *vocab
	merges mergeTable
	scores []float64 // Unigram

	unkToken     string
	unkID        int // Unigram; -1 for none
	prefix       string
	suffix       string
	maxChars     int
	fuseUnk      bool
	byteFallback bool
	ignoreMerges bool
	ranked       bool // tiktoken: a merge's rank is the id of its result

	mergesAt  int             // where the merges begin, if they came before the vocabulary
	mentioned map[string]bool // the members that the file has
}

// parseSpec reads a tokenizer.json.
func parseSpec(data []byte) (*spec, error) {
	r := &jsonReader{data: data}
	s := &spec{}
	s.model.unkID = -1
	raw := map[string][]byte{}
	modelSeen := false
	r.object(func(key []byte) {
		switch name := string(key); name {
		case "model":
			modelSeen = true
			s.model.read(r)
		case "version", "truncation", "padding":
			r.skip(0) // an engine sets lengths itself, so neither do we cut or pad
		case "normalizer", "pre_tokenizer", "post_processor", "decoder", "added_tokens":
			raw[name] = r.raw()
		default:
			r.fail("%q is not supported", name)
		}
	})
	if r.err == nil && r.peek() != 0 {
		r.fail("text after the end")
	}
	if r.err == nil && !modelSeen {
		r.fail("no model")
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, s.components(raw)
}

func (s *spec) components(raw map[string][]byte) error {
	for name, into := range map[string]**component{
		"normalizer": &s.normalizer, "pre_tokenizer": &s.preTokenizer, "post_processor": &s.postProcessor, "decoder": &s.decoder,
	} {
		c, err := readComponent(raw[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*into = c
	}
	if list := raw["added_tokens"]; list != nil {
		if err := json.Unmarshal(list, &s.added); err != nil {
			return fmt.Errorf("added_tokens: %w", err)
		}
	}
	return nil
}

func (m *modelSpec) read(r *jsonReader) {
	m.unkID = -1
	m.maxChars = 100
	m.mentioned = map[string]bool{}
	r.object(func(key []byte) {
		name := string(key)
		m.mentioned[name] = true
		switch name {
		case "type":
			m.kind = string(r.text(nil))
		case "vocab":
			m.readVocab(r)
			if m.mergesAt > 0 {
				again := &jsonReader{data: r.data, pos: m.mergesAt}
				m.readMerges(again)
				if again.err != nil {
					r.err = again.err
				}
			}
		case "merges":
			if m.vocab == nil {
				m.mergesAt = r.pos
				r.skip(0)
			} else {
				m.readMerges(r)
			}
		default:
			m.readOption(r, name)
		}
	})
	if r.err == nil && m.vocab == nil {
		r.fail("model.vocab is missing")
	}
	if m.kind == "" {
		m.kind = m.oldKind()
	}
}

// oldKind tells what a model without a type is: old files have none.
func (m *modelSpec) oldKind() string {
	switch {
	case m.mentioned["merges"]:
		return "BPE"
	case m.scores != nil:
		return "Unigram"
	case m.mentioned["max_input_chars_per_word"] && m.mentioned["continuing_subword_prefix"]:
		return "WordPiece"
	}
	return "WordLevel"
}

func (m *modelSpec) readOption(r *jsonReader, name string) {
	if r.peek() == 'n' {
		r.word() // null: not set
		return
	}
	switch name {
	case "unk_token":
		m.unkToken = string(r.text(nil))
	case "unk_id":
		m.unkID = int(r.id())
	case "continuing_subword_prefix":
		m.prefix = string(r.text(nil))
	case "end_of_word_suffix":
		m.suffix = string(r.text(nil))
	case "max_input_chars_per_word":
		m.maxChars = int(r.id())
	case "fuse_unk":
		m.fuseUnk = r.word() == "true"
	case "byte_fallback":
		m.byteFallback = r.word() == "true"
	case "ignore_merges":
		m.ignoreMerges = r.word() == "true"
	case "dropout":
		if n := r.number(); strings.Trim(n, "0.") != "" {
			r.fail("dropout %s is not supported: encoding would not be repeatable", n)
		}
	default:
		r.fail("model.%s is not supported", name)
	}
}

func (m *modelSpec) readVocab(r *jsonReader) {
	m.vocab = newVocab((len(r.data) - r.pos) / 64)
	if r.peek() == '[' {
		m.readPieces(r)
	} else {
		r.object(func(token []byte) {
			if err := m.vocab.set(token, r.id()); err != nil && r.err == nil {
				r.fail("model.vocab: %w", err)
			}
		})
	}
	m.vocab.compact()
}

// readPieces reads the vocabulary of a Unigram model: pairs of text and score, whose places are their ids.
func (m *modelSpec) readPieces(r *jsonReader) {
	var scratch []byte
	r.array(func() {
		r.expect('[')
		scratch = r.text(scratch[:0])
		r.expect(',')
		score, err := parseScore(r.number())
		r.expect(']')
		if err == nil {
			err = m.vocab.set(scratch, uint32(len(m.scores)))
		}
		if err != nil && r.err == nil {
			r.fail("model.vocab: %w", err)
		}
		m.scores = append(m.scores, score)
	})
}

// readMerges reads "left right" strings or [left, right] pairs.
func (m *modelSpec) readMerges(r *jsonReader) {
	m.merges = newMergeTable(m.vocab.count)
	var left, right []byte
	r.array(func() {
		if r.peek() == '[' {
			r.expect('[')
			left = r.text(left[:0])
			r.expect(',')
			right = r.text(right[:0])
			r.expect(']')
		} else {
			left = r.text(left[:0])
			at := strings.IndexByte(string(left), ' ')
			if at < 0 || strings.IndexByte(string(left[at+1:]), ' ') >= 0 {
				r.fail("model.merges: %.40q is not two tokens", left)
				return
			}
			right = append(right[:0], left[at+1:]...)
			left = left[:at]
		}
		if r.err != nil {
			return
		}
		if err := m.addMerge(left, right); err != nil {
			r.fail("model.merges: %w", err)
		}
	})
}

// addMerge appends a merge; it may use left's room.
func (m *modelSpec) addMerge(left, right []byte) error {
	a, b := m.vocab.id(left), m.vocab.id(right)
	if len(right) < len(m.prefix) {
		return fmt.Errorf("%.40q is shorter than the prefix of continued words", right)
	}
	both := append(left, right[len(m.prefix):]...)
	result := m.vocab.id(both)
	for _, part := range []struct {
		id   uint32
		text []byte
	}{{a, left}, {b, right}, {result, both}} {
		if part.id == noID {
			return fmt.Errorf("%.40q is not in the vocabulary", part.text)
		}
	}
	return m.merges.add(a, b, result)
}
