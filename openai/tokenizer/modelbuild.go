package tokenizer

import "fmt"

// newModel builds the model; bytes tells that words come as bytes of a byte-level vocabulary. The stages it returns come
// before it, after the pre-tokenizer's.
func (m *modelSpec) newModel(bytes bool) (model, []stage, error) {
	var extra []stage
	if bytes && (m.kind != "BPE" || m.affixed()) {
		extra, bytes = append(extra, byteChars{}), false
	}
	switch m.kind {
	case "BPE":
		b, err := m.newBPE(bytes)
		if err != nil {
			return nil, nil, err
		}
		return b, extra, nil
	case "Unigram":
		u, err := m.newUnigram()
		return u, extra, err
	case "WordPiece", "WordLevel":
		unk := m.vocab.idOf(m.unkToken)
		if unk == noID {
			return nil, nil, fmt.Errorf("model.unk_token: %q is not in the vocabulary", m.unkToken)
		}
		if m.kind == "WordLevel" {
			return wordLevel{m.vocab, unk}, extra, nil
		}
		return wordPiece{m.vocab, unk, m.prefix, m.maxChars}, extra, nil
	}
	return nil, nil, fmt.Errorf("model.type: %q is not supported", m.kind)
}

// affixed tells whether tokens say where in a word they stand.
func (m *modelSpec) affixed() bool { return m.prefix != "" || m.suffix != "" }

func (m *modelSpec) newBPE(bytes bool) (*bpe, error) {
	b := &bpe{
		vocab: m.vocab, merges: m.merges, unk: noID, bytes: bytes, byteFallback: m.byteFallback, fuseUnk: m.fuseUnk,
		whole: m.ignoreMerges, affixed: m.affixed(), prefix: m.prefix, suffix: m.suffix,
	}
	if m.scores != nil {
		return nil, fmt.Errorf("model.vocab: BPE wants an object of tokens and ids")
	}
	if b.merges.slots == nil {
		b.merges = newMergeTable(0)
	}
	if m.unkToken != "" {
		if b.unk = m.vocab.idOf(m.unkToken); b.unk == noID {
			return nil, fmt.Errorf("model.unk_token: %q is not in the vocabulary", m.unkToken)
		}
	}
	b.bindSymbols()
	return b, nil
}
