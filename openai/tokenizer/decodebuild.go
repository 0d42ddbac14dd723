package tokenizer

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// tokenStep rewrites the text of one token; first tells whether it is the first.
type tokenStep func(text []byte, first bool) []byte

// decodePlan is a chain of decoders, sorted by when they act.
type decodePlan struct {
	before []tokenStep // on a token's text
	mode   byteMode
	after  []tokenStep // on the text of tokens and of runs of byte tokens
	fused  bool
	ends   endStrip
	uneven bool // the first token is treated differently
	chain  []chainStep
}

// newDecodePlan reads the decoder of a tokenizer.json; nil joins the tokens with spaces.
func newDecodePlan(c *component) (*decodePlan, error) {
	p := &decodePlan{}
	if c == nil {
		p.uneven = true
		p.before = append(p.before, func(text []byte, first bool) []byte {
			if first {
				return text
			}
			return append([]byte{' '}, text...)
		})
		return p, nil
	}
	for _, part := range c.flat() {
		err := p.add(part)
		if errors.Is(err, errWhole) {
			return newChain(c)
		}
		if err != nil {
			return nil, fmt.Errorf("decoder %s: %w", part.Type, err)
		}
	}
	return p, nil
}

// add puts a decoder where it acts; errWhole says that it cannot act on one token after the other.
func (p *decodePlan) add(c component) error {
	switch c.Type {
	case "CTC", "BPEDecoder":
		return errWhole
	case "Fuse":
		p.fused = true
		return nil
	case "ByteLevel", "ByteFallback":
		if p.mode != plainText || p.fused || p.uneven && c.Type == "ByteFallback" {
			return errWhole // which tokens are bytes must not depend on the first
		}
		p.mode = byteTokens
		if c.Type == "ByteLevel" {
			p.mode, p.fused = byteLevel, true
		}
		return nil
	case "Strip":
		if err := c.validStrip(); err != nil {
			return err
		}
		if p.fused && p.mode != byteLevel && p.ends == (endStrip{}) {
			p.ends = endStrip{c.Content, c.Start, c.Stop}
			return nil
		}
	}
	step, err := p.step(c)
	switch {
	case err != nil:
		return err
	case p.fused && (p.mode == byteLevel || p.ends != (endStrip{}) || !c.replacesOneCharacter()):
		return errWhole
	case p.mode == byteTokens:
		p.after = append(p.after, step)
	default:
		p.before = append(p.before, step)
	}
	return nil
}

// step returns what a decoder does to a single token.
func (p *decodePlan) step(c component) (tokenStep, error) {
	switch c.Type {
	case "Replace":
		n, err := newReplace(c)
		if err != nil {
			return nil, err
		}
		return func(text []byte, _ bool) []byte {
			if out, verdict := n.apply(nil, string(text)); verdict != same {
				return out
			}
			return text
		}, nil
	case "Strip":
		return func(text []byte, _ bool) []byte { return stripEnds(text, c.Content, c.Start, c.Stop) }, nil
	case "Metaspace":
		scheme, err := c.prependScheme()
		if err != nil {
			return nil, err
		}
		p.uneven = p.uneven || scheme != "never"
		return func(text []byte, first bool) []byte {
			with := " "
			if first && scheme != "never" {
				with = ""
			}
			return bytes.ReplaceAll(text, []byte(c.Replacement), []byte(with))
		}, nil
	case "WordPiece":
		p.uneven = true
		return wordPieceStep(c.Prefix, c.Cleanup), nil
	}
	return nil, fmt.Errorf("not supported")
}

// validStrip checks that a Strip takes some of one character.
func (c *component) validStrip() error {
	if utf8.RuneCountInString(c.Content) != 1 {
		return fmt.Errorf("content: %q is not one character", c.Content)
	}
	if c.Start < 0 || c.Stop < 0 {
		return fmt.Errorf("start, stop: less than nothing")
	}
	return nil
}

func stripEnds(text []byte, content string, start, stop int) []byte {
	for found := true; start > 0 && found; start-- {
		text, found = bytes.CutPrefix(text, []byte(content))
	}
	for found := true; stop > 0 && found; stop-- {
		text, found = bytes.CutSuffix(text, []byte(content))
	}
	return text
}

func wordPieceStep(prefix string, cleanup bool) tokenStep {
	return func(text []byte, first bool) []byte {
		if !first {
			if rest, found := bytes.CutPrefix(text, []byte(prefix)); found {
				text = rest
			} else {
				text = append([]byte{' '}, text...)
			}
		}
		if cleanup {
			return cleanUp(text)
		}
		return text
	}
}

// cleanUp takes spaces out of English where they do not belong.
func cleanUp(text []byte) []byte {
	for _, pair := range [...][2]string{
		{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
		{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
	} {
		text = bytes.ReplaceAll(text, []byte(pair[0]), []byte(pair[1]))
	}
	return text
}

// build works the plan out for every token.
func (p *decodePlan) build(v *vocab, added map[uint32]addedToken, special map[string]bool) decoding {
	size := len(v.spans)
	for id := range added {
		size = max(size, int(id)+1)
	}
	d := decoding{flags: make(idFlags, size), mode: p.mode, steps: p.after, ends: p.ends, chain: p.chain}
	alphabet := newByteAlphabet()
	d.rest.ends = make([]uint32, 0, size)
	d.rest.blob = make([]byte, 0, len(v.blob))
	for id := range uint32(size) {
		text := v.text(id)
		token, ok := added[id]
		if ok {
			text = []byte(token.Content)
		}
		if ok || v.has(id) {
			d.flags[id] |= flagKnown
		}
		if special[string(text)] {
			d.flags[id] |= flagSpecial
		}
		out, isByte := p.token(text, false, alphabet)
		if isByte {
			d.flags[id] |= flagByte
		}
		d.rest.add(out)
	}
	if p.uneven {
		d.first = p.firstTexts(v, added, size, alphabet)
	}
	return d
}

func (p *decodePlan) firstTexts(v *vocab, added map[uint32]addedToken, size int, alphabet *byteAlphabet) *texts {
	t := &texts{ends: make([]uint32, 0, size)}
	for id := range uint32(size) {
		text := v.text(id)
		if token, ok := added[id]; ok {
			text = []byte(token.Content)
		}
		out, _ := p.token(text, true, alphabet)
		t.add(out)
	}
	return t
}

// token returns what a token decodes to, and whether that is a byte of a run.
func (p *decodePlan) token(text []byte, first bool, alphabet *byteAlphabet) ([]byte, bool) {
	for _, step := range p.before {
		text = step(text, first)
	}
	switch p.mode {
	case byteLevel:
		if raw, ok := alphabet.unmap(make([]byte, 0, len(text)), text); ok {
			text = raw
		}
	case byteTokens:
		if b, ok := byteToken(text); ok {
			return []byte{b}, true
		}
		for _, step := range p.after {
			text = step(text, first)
		}
	}
	return text, false
}

// byteToken reads tokens such as <0x0A>.
func byteToken(text []byte) (byte, bool) {
	if len(text) != 6 || string(text[:3]) != "<0x" || text[5] != '>' {
		return 0, false
	}
	digits := string(text[3:5])
	if digits[0] == '+' {
		digits = digits[1:]
	}
	n, err := strconv.ParseUint(digits, 16, 8)
	return byte(n), err == nil
}
