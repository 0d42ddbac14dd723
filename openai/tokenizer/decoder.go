package tokenizer

import (
	"bytes"
	"unicode/utf8"
)

// Decoder decodes a stream of ids. What it appends is whole characters, and all of it together is what Decode returns for
// all the ids. It belongs to one goroutine.
type Decoder struct {
	t       *Tokenizer
	skip    bool
	started bool
	held    []byte   // bytes that are not yet, or may never be, a character
	left    int      // how many characters may still be stripped from the start
	tail    int      // how many characters were held back because they may be stripped from the end
	tokens  []string // of a chain of decoders that needs them all
}

// NewDecoder begins a stream; skipSpecial leaves special tokens out.
func (t *Tokenizer) NewDecoder(skipSpecial bool) Decoder {
	return Decoder{t: t, skip: skipSpecial, left: t.decoding.ends.start}
}

// Append appends to dst the characters that id completes.
func (d *Decoder) Append(dst []byte, id uint32) []byte {
	if d.t.decoding.mode != byteLevel {
		return d.token(dst, id)
	}
	from := len(dst)
	dst = append(dst, d.held...)
	d.held = d.held[:0]
	dst = d.token(dst, id)
	whole := len(dst) - openTail(dst[from:])
	d.held = append(d.held[:0], dst[whole:]...)
	return lossyFrom(dst[:whole], from)
}

// Flush appends what is left at the end of the stream; broken characters become U+FFFD. The decoder can then begin anew.
func (d *Decoder) Flush(dst []byte) []byte {
	if d.t.decoding.mode == byteLevel {
		dst = appendLossy(dst, d.held)
	} else {
		dst = d.finish(dst)
	}
	*d = Decoder{t: d.t, skip: d.skip, held: d.held[:0], left: d.t.decoding.ends.start}
	return dst
}

// End is Flush for a stream that may have been cut off inside a character, which is then left out.
func (d *Decoder) End(dst []byte) []byte {
	d.held = d.held[:len(d.held)-openTail(d.held)]
	return d.Flush(dst)
}

// token appends a token's text: with byteLevel its bytes, else characters.
func (d *Decoder) token(dst []byte, id uint32) []byte {
	c := &d.t.decoding
	flags := c.flags.get(id)
	if flags&flagKnown == 0 || d.skip && flags&flagSpecial != 0 {
		return dst
	}
	if c.mode == chained {
		text, _ := d.t.Token(id)
		d.tokens = append(d.tokens, text)
		return dst
	}
	if flags&flagByte != 0 {
		d.held = append(d.held, c.rest.get(id)...)
		return dst
	}
	if len(d.held) > 0 {
		dst = d.run(dst)
	}
	table := &c.rest
	if !d.started && c.first != nil {
		table = c.first
	}
	d.started = true
	return d.emit(dst, table.get(id))
}

// run appends the text of the byte tokens that are held: characters if all of them are, else U+FFFD for every byte.
func (d *Decoder) run(dst []byte) []byte {
	run := d.held
	d.held = d.held[:0]
	if utf8.Valid(run) {
		return d.step(dst, run)
	}
	for range run {
		dst = d.step(dst, []byte("\uFFFD"))
	}
	return dst
}

func (d *Decoder) step(dst, text []byte) []byte {
	for _, step := range d.t.decoding.steps {
		text = step(text, !d.started)
	}
	d.started = true
	return d.emit(dst, text)
}

// emit appends text, less what is stripped from the ends of the whole.
func (d *Decoder) emit(dst, text []byte) []byte {
	ends := &d.t.decoding.ends
	for d.left > 0 && len(text) > 0 {
		rest, found := bytes.CutPrefix(text, []byte(ends.content))
		if !found {
			d.left = 0
			break
		}
		text = rest
		d.left--
	}
	if ends.stop == 0 || len(text) == 0 {
		return append(dst, text...)
	}
	return d.holdTail(dst, text)
}

// holdTail appends text but for the characters at its end that would be stripped if nothing followed.
func (d *Decoder) holdTail(dst, text []byte) []byte {
	ends := &d.t.decoding.ends
	body := text
	trailing := 0
	for bytes.HasSuffix(body, []byte(ends.content)) {
		body = body[:len(body)-len(ends.content)]
		trailing++
	}
	if len(body) > 0 {
		dst = appendTimes(dst, ends.content, d.tail)
		dst = append(dst, body...)
		d.tail = 0
	}
	d.tail += trailing
	if over := d.tail - ends.stop; over > 0 {
		dst = appendTimes(dst, ends.content, over)
		d.tail = ends.stop
	}
	return dst
}

func appendTimes(dst []byte, text string, times int) []byte {
	for range times {
		dst = append(dst, text...)
	}
	return dst
}

// finish appends the byte tokens, or all tokens, that are still held. What was held back for stripping stays out.
func (d *Decoder) finish(dst []byte) []byte {
	if len(d.held) > 0 {
		dst = d.run(dst)
	}
	tokens := d.tokens
	for _, step := range d.t.decoding.chain {
		tokens = step(tokens)
	}
	for _, token := range tokens {
		dst = append(dst, token...)
	}
	return dst
}

// openTail returns how many bytes at the end of b begin a character that is not complete yet.
func openTail(b []byte) int {
	for n := 1; n <= 3 && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if tail[0]&0xc0 == 0x80 {
			continue
		}
		if tail[0] < 0xc0 || utf8.FullRune(tail) || brokenPrefix(tail) != n {
			return 0
		}
		return n
	}
	return 0
}

// lossyFrom replaces what is not UTF-8 in dst from an offset on.
func lossyFrom(dst []byte, from int) []byte {
	if utf8.Valid(dst[from:]) {
		return dst
	}
	broken := bytes.Clone(dst[from:])
	return appendLossy(dst[:from], broken)
}
