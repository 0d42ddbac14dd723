package tokenizer

import "unicode/utf8"

// byteMode says what a vocabulary's bytes become when it is decoded.
type byteMode uint8

const (
	plainText  byteMode = iota // every token is text
	byteTokens                 // tokens such as <0x0A> are bytes, valid only as whole runs
	byteLevel                  // every token is bytes; together they should be UTF-8
	chained                    // only all tokens together have a text
)

// Flags of an id in the decoding tables.
const (
	flagKnown   = 1 << iota // there is such a token
	flagSpecial             // it is left out on demand
	flagByte                // it is the byte that its text consists of
)

// idFlags holds flags by id; ids beyond the table have none.
type idFlags []uint8

func (f idFlags) get(id uint32) uint8 {
	if int64(id) < int64(len(f)) {
		return f[id]
	}
	return 0
}

// decoding is the decoder of a tokenizer.json, worked out for every token as far as it does not depend on the others:
// what remains is to append texts and to treat bytes, the first token and the ends of the text.
type decoding struct {
	flags idFlags
	rest  texts  // of every token
	first *texts // of the first, where it differs
	mode  byteMode
	steps []tokenStep // also for texts that arise from byte tokens
	ends  endStrip
	chain []chainStep
}

// texts holds a text for every id in one blob.
type texts struct {
	blob []byte
	ends []uint32
}

func (t *texts) get(id uint32) []byte {
	start := uint32(0)
	if id > 0 {
		start = t.ends[id-1]
	}
	return t.blob[start:t.ends[id]]
}

func (t *texts) add(text []byte) {
	t.blob = append(t.blob, text...)
	t.ends = append(t.ends, uint32(len(t.blob)))
}

// endStrip removes up to so many of a character from the ends of the fused text.
type endStrip struct {
	content     string
	start, stop int
}

// AppendBytes appends what a token adds to a text that it does not begin, exactly: also where that is only part of a
// character. An unknown id adds nothing.
func (t *Tokenizer) AppendBytes(dst []byte, id uint32) []byte {
	if t.decoding.flags.get(id)&flagKnown == 0 {
		return dst
	}
	return append(dst, t.decoding.rest.get(id)...)
}

// Decode returns the text of ids; skipSpecial leaves special tokens out. Unknown ids have no text.
func (t *Tokenizer) Decode(ids []uint32, skipSpecial bool) string {
	d := t.NewDecoder(skipSpecial)
	var room [512]byte
	out := room[:0]
	if len(ids) > 100 {
		out = make([]byte, 0, len(ids)*5)
	}
	for _, id := range ids {
		out = d.token(out, id)
	}
	out = d.finish(out)
	if t.decoding.mode == byteLevel && !utf8.Valid(out) {
		out = appendLossy(make([]byte, 0, len(out)+64), out)
	}
	return string(out)
}
