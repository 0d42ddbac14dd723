package tokenizer

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Patterns of families whose files do not carry them.
const (
	qwen2Pattern  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen35Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	o200kPattern  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	kimiPattern = `[\p{Han}]+|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
		`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// byteLevelSpec is a byte-level BPE whose words a pattern cuts out.
func byteLevelSpec(pattern string, prefixSpace, nfc bool) *spec {
	off := false
	s := &spec{
		preTokenizer: &component{Type: "Sequence", Pretokenizers: []component{
			{Type: "Split", Pattern: &patternSpec{Regex: &pattern}, Behavior: "Isolated"},
			{Type: "ByteLevel", AddPrefixSpace: &prefixSpace, UseRegex: &off},
		}},
		decoder: &component{Type: "ByteLevel"},
	}
	if pattern == gpt2Pattern {
		s.preTokenizer = &component{Type: "ByteLevel", AddPrefixSpace: &prefixSpace}
	}
	if nfc {
		s.normalizer = &component{Type: "NFC"}
	}
	s.model = modelSpec{kind: "BPE", unkID: -1}
	return s
}

// readVocabMerges reads vocab.json and merges.txt; what the words are cut by depends on the tokenizer's class.
func readVocabMerges(fsys fs.FS, side *sideFiles) (*spec, error) {
	vocabulary, err := readFile(fsys, "vocab.json")
	if err != nil {
		return nil, err
	}
	merges, err := readFile(fsys, "merges.txt")
	if err != nil {
		return nil, err
	}
	var s *spec
	const end = "<|endoftext|>" // what the classes take for the special tokens that are not given
	switch class := strings.TrimSuffix(side.tokenizer.Class, "Fast"); class {
	case "Qwen2Tokenizer":
		s = byteLevelSpec(qwen2Pattern, flag(side.settings.PrefixSpace, false), true)
		side.nameByDefault(end, "eos_token", "unk_token", "pad_token")
	case "GPT2Tokenizer":
		s = byteLevelSpec(gpt2Pattern, flag(side.settings.PrefixSpace, false), false)
		side.nameByDefault(end, "bos_token", "eos_token", "unk_token")
	default:
		return nil, fmt.Errorf("vocab.json: tokenizer_class %q is not supported without a tokenizer.json", class)
	}
	r := &jsonReader{data: vocabulary}
	s.model.readVocab(r)
	if r.err != nil {
		return nil, fmt.Errorf("vocab.json: %w", r.err)
	}
	s.model.merges = newMergeTable(s.model.vocab.count)
	lines := bufio.NewScanner(bytes.NewReader(merges))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || n == 1 && strings.HasPrefix(line, "#version") {
			continue
		}
		left, right, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("merges.txt: line %d is not two tokens", n)
		}
		if err := s.model.addMerge([]byte(left), []byte(right)); err != nil {
			return nil, fmt.Errorf("merges.txt: line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("merges.txt: %w", err)
	}
	return s, side.settings.amend(s)
}

// readTiktoken reads a tiktoken file; its family is told by its name and by the configuration beside it.
func readTiktoken(fsys fs.FS, side *sideFiles) (*spec, string, error) {
	name, err := tiktokenFile(fsys)
	if err != nil {
		return nil, "", err
	}
	data, err := readFile(fsys, name)
	if err != nil {
		return nil, "", err
	}
	s, known := tiktokenFamily(name, side)
	if s == nil {
		return nil, "", fmt.Errorf("%s: the family cannot be told; name the file for it (cl100k, o200k, qwen) or give tokenizer_config.json a known tokenizer_class or model_type", name)
	}
	if err := s.model.readRanks(data); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if s.added, err = side.settings.decoderTokens(); len(s.added) == 0 {
		s.added = known
	}
	return s, name, err
}

func tiktokenFile(fsys fs.FS) (string, error) {
	for _, pattern := range [...]string{"tiktoken.model", "*.tiktoken", "tokenizer.model"} {
		if names, err := fs.Glob(fsys, pattern); err == nil && len(names) > 0 {
			return names[0], nil
		}
	}
	return "", fs.ErrNotExist
}

// readRanks reads lines of a token in base64 and its rank, and makes merges of every way to put a token together from
// two: tiktoken merges whatever gives a token, the lowest rank first.
func (m *modelSpec) readRanks(data []byte) error {
	m.ranked, m.ignoreMerges = true, true
	m.vocab = newVocab(len(data) / 16)
	var raw [][]byte
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		text, rank, ok := strings.Cut(lines.Text(), " ")
		if text == "" && !ok {
			continue
		}
		token, err := base64.StdEncoding.DecodeString(text)
		if err != nil || !ok {
			return fmt.Errorf("line %d is not a token in base64 and a rank (a SentencePiece model is not supported: convert it to tokenizer.json)", n)
		}
		id, err := strconv.ParseUint(rank, 10, 32)
		if err != nil || id >= maxRank {
			return fmt.Errorf("line %d: bad rank %.20q", n, rank)
		}
		mapped := mapBytes(nil, string(token))
		if known := m.vocab.id(mapped); known != noID || len(token) == 0 {
			return fmt.Errorf("line %d: the token is empty or has a rank already", n)
		}
		if err := m.vocab.set(mapped, uint32(id)); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		for int(id) >= len(raw) {
			raw = append(raw, nil)
		}
		raw[id] = token
	}
	if err := lines.Err(); err != nil {
		return err
	}
	for b := range 256 {
		if token := mapBytes(nil, string([]byte{byte(b)})); m.vocab.id(token) == noID { // tiktoken would panic at it
			return fmt.Errorf("there is no token for the byte 0x%02x; every byte must have one", b)
		}
	}
	m.vocab.compact()
	m.rankedMerges(raw)
	return nil
}

func (m *modelSpec) rankedMerges(raw [][]byte) {
	type merge struct{ left, right, id uint32 }
	var merges []merge
	var left, right []byte
	for id, token := range raw {
		for at := 1; at < len(token); at++ {
			left, right = mapBytes(left[:0], view(token[:at])), mapBytes(right[:0], view(token[at:]))
			l, r := m.vocab.id(left), m.vocab.id(right)
			if l != noID && r != noID {
				merges = append(merges, merge{l, r, uint32(id)})
			}
		}
	}
	m.merges = newMergeTable(len(merges))
	m.merges.result = make([]uint32, len(raw))
	for id := range m.merges.result {
		m.merges.result[id] = uint32(id)
	}
	for _, x := range merges {
		m.merges.put(x.left, x.right, uint64(x.id))
	}
}
