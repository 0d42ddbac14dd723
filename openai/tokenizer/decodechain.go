package tokenizer

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// errWhole says that a decoder needs to see all tokens at once.
var errWhole = errors.New("needs all tokens")

// chainStep is a decoder as the library runs it: from all tokens to all tokens. It is the way of the decoders that cannot
// be worked out token by token; a stream of their texts comes as a whole at its end.
type chainStep func(tokens []string) []string

func newChain(c *component) (*decodePlan, error) {
	p := &decodePlan{mode: chained}
	for _, part := range c.flat() {
		step, err := newChainStep(part)
		if err != nil {
			return nil, fmt.Errorf("decoder %s: %w", part.Type, err)
		}
		p.chain = append(p.chain, step)
	}
	return p, nil
}

func newChainStep(c component) (chainStep, error) {
	switch c.Type {
	case "Fuse":
		return func(tokens []string) []string { return []string{strings.Join(tokens, "")} }, nil
	case "ByteLevel":
		alphabet := newByteAlphabet()
		return func(tokens []string) []string { return []string{alphabet.join(tokens)} }, nil
	case "ByteFallback":
		return joinByteTokens, nil
	case "BPEDecoder":
		return func(tokens []string) []string { return spaceWords(tokens, c.Suffix) }, nil
	case "CTC":
		return func(tokens []string) []string { return collapse(tokens, c) }, nil
	}
	step, err := new(decodePlan).step(c)
	if err != nil {
		return nil, err
	}
	return func(tokens []string) []string {
		for i, token := range tokens {
			tokens[i] = string(step([]byte(token), i == 0))
		}
		return tokens
	}, nil
}

// join reads tokens as bytes, except those with a character that stands for none.
func (a *byteAlphabet) join(tokens []string) string {
	var out []byte
	for _, token := range tokens {
		raw, ok := a.unmap(out, []byte(token))
		if !ok {
			raw = append(out, token...)
		}
		out = raw
	}
	return string(appendLossy(nil, out))
}

// joinByteTokens joins runs of tokens such as <0x0A>.
func joinByteTokens(tokens []string) []string {
	var out []string
	var run []byte
	flush := func() {
		if utf8.Valid(run) && len(run) > 0 {
			out = append(out, string(run))
		} else {
			for range run {
				out = append(out, "\uFFFD")
			}
		}
		run = run[:0]
	}
	for _, token := range tokens {
		if b, ok := byteToken([]byte(token)); ok {
			run = append(run, b)
			continue
		}
		flush()
		out = append(out, token)
	}
	flush()
	return out
}

// spaceWords puts a space where a word ends, but not at the end.
func spaceWords(tokens []string, suffix string) []string {
	for i, token := range tokens {
		space := " "
		if i == len(tokens)-1 {
			space = ""
		}
		tokens[i] = strings.ReplaceAll(token, suffix, space)
	}
	return tokens
}

// collapse reads the output of connectionist temporal classification: repeated tokens count once, padding not at all.
func collapse(tokens []string, c component) []string {
	var out []string
	for i, token := range tokens {
		if i > 0 && token == tokens[i-1] {
			continue
		}
		text := []byte(strings.ReplaceAll(token, c.Pad, ""))
		if c.Cleanup {
			text = bytes.ReplaceAll(cleanUp(text), []byte(c.Between), []byte(" "))
		}
		if len(text) > 0 {
			out = append(out, string(text))
		}
	}
	return out
}

// replacesOneCharacter tells whether a decoder replaces a character wherever it stands: then it makes no difference
// whether the tokens have been joined.
func (c *component) replacesOneCharacter() bool {
	return c.Type == "Replace" && c.Pattern != nil && c.Pattern.String != nil && utf8.RuneCountInString(*c.Pattern.String) == 1
}
