package toolcall

import (
	"strings"

	"leeway/openai"
)

// maxHeld bounds how much text is held back behind a mark that stands in a value and may or may not be part of it. More
// than that is part of it.
const maxHeld = 1 << 20

// value passes on the value as far as it has come; what is not text for certain is held until it is complete. It
// reports true at the value's end.
//
// A value runs to its own end, whatever stands in it: a model that repeats what it was told to write calls none of the
// tools named there. Only when that end never comes has the value ended before the first mark of what else may follow.
func (a *tagArgs) value(p *Parser, eof bool) bool {
	if a.tags.cdata && !a.opened && !a.unwrap(p, eof) {
		return false
	}
	stop, ended := a.ending(p, eof)
	if ended {
		a.close(p, stop, len(a.end))
		return true
	}
	looking := stop >= 0 && len(p.buf)-stop < maxName // at what stands behind an end
	if !a.deaf {
		if lost, _ := earliest(p.buf[a.past:], a.lost); lost >= 0 && (stop < 0 || a.past+lost < stop) {
			stop = a.past + lost
		}
	}
	if a.kind == textKind && stop >= 0 && len(p.buf)-stop > maxHeld {
		a.deaf, stop = true, -1
	}
	switch {
	case stop >= 0 && eof:
		a.close(p, stop, 0)
		return true
	case a.kind == textKind:
		a.textSoFar(p, stop, eof)
	case eof:
		p.argue(a.unfinished(p.buf[:len(p.buf)-a.held(p.buf, eof)]))
		p.buf = ""
	}
	if !eof && !looking {
		p.wait(a.end)
	}
	return false
}

// ending finds the value's end, or what may become it. Where tags stand on lines of their own, and the value began on one,
// an end in the middle of a line that goes on is text.
func (a *tagArgs) ending(p *Parser, eof bool) (at int, is bool) {
	if !a.begun && p.buf != "" {
		a.begun, a.lined, a.past = true, a.tags.lines && p.buf[0] == '\n', 0
	}
	for {
		if a.past == 0 {
			at = p.index(a.end, eof)
		} else if at = strings.Index(p.buf[a.past:], a.end); at >= 0 {
			at += a.past
		}
		if at < 0 || !a.lined || at > 0 && p.buf[at-1] == '\n' {
			return at, at >= 0
		}
		behind := at + len(a.end)
		rest := strings.TrimLeft(p.buf[behind:], " \t\r")
		if rest == "" || rest[0] == '\n' || rest[0] == '<' {
			return at, eof || rest != ""
		}
		if a.past = behind; a.kind == textKind {
			a.textSoFar(p, behind, eof)
			a.past = 0
		}
	}
}

// close ends the value at the mark that stands there.
func (a *tagArgs) close(p *Parser, at, mark int) {
	text := p.buf[:at]
	p.buf, a.inside = p.buf[at+mark:], false
	if a.opened {
		p.argue(string(openai.AppendEscaped(nil, a.tags.trim.right(text))) + `"`)
		return
	}
	p.argue(string(appendTyped(nil, a.tags.trim.right(a.tags.trim.left(text)), a.kind)))
}

// held is the length of the end of a text that is no part of the value for certain. Where the answer was cut off, a single
// byte more probably is.
func (a *tagArgs) held(text string, eof bool) int {
	held := heldSuffix(text, []string{a.end})
	if !a.deaf {
		held = max(held, heldSuffix(text, a.lost))
	}
	if eof && held < 2 {
		return 0
	}
	return held
}

// unfinished is a value that was cut off, in the JSON that would have become of it as far as that is certain.
func (a *tagArgs) unfinished(text string) string {
	text = a.tags.trim.left(text)
	whole := strings.TrimSpace(text)
	v, is := literal(whole)
	switch {
	case whole == "":
		return ""
	case !a.kind.asText(is):
		return v
	case a.kind&textKind != 0 && (is != anyKind || a.kind.asText(begins(whole))):
		return string(openai.AppendEscaped([]byte{'"'}, text))
	}
	var so []byte
	for i, l := 0, (lexer{}); i < len(text); i++ {
		in := l.want
		switch l.next(text[i]) {
		case lexPart:
			so = appendByte(so, text[i], in)
		case lexBlank:
		default:
			return string(openai.AppendEscaped([]byte{'"'}, text))
		}
	}
	return string(so)
}

// unwrap takes away what opens a value's wrapping, if it has one. It reports false when that is not certain yet.
func (a *tagArgs) unwrap(p *Parser, eof bool) bool {
	const open, end = "<![CDATA[", "]]>"
	c := &cursor{text: p.buf, eof: eof}
	if c.lit(open) && a.end == a.tags.end {
		p.buf, a.end, a.lost = p.buf[len(open):], end+a.tags.end, nil
	}
	return !c.short
}

// textSoFar passes on what is certain of a value that is a string: all before stop, if there is one.
func (a *tagArgs) textSoFar(p *Parser, stop int, eof bool) {
	if stop < 0 {
		stop = len(p.buf) - a.held(p.buf, eof)
	}
	ready := p.buf[:stop]
	if !eof {
		ready = a.tags.trim.right(ready)
	}
	rest := p.buf[len(ready):]
	if !a.opened {
		if ready = a.tags.trim.left(ready); ready == "" {
			return
		}
		a.opened = true
		p.argue(`"`)
	}
	p.argue(string(openai.AppendEscaped(nil, ready)))
	p.buf = rest
}

// left is a value without the white space in front that belongs to the tags.
func (t trimming) left(s string) string {
	switch t {
	case trimLine:
		return strings.TrimPrefix(s, "\n")
	case trimAll:
		return strings.TrimLeft(s, " \n\t\r")
	}
	return s
}

// right is a value, or the part of it that has come, without the white space at the end that does or may.
func (t trimming) right(s string) string {
	switch t {
	case trimLine:
		return strings.TrimSuffix(s, "\n")
	case trimAll:
		return strings.TrimRight(s, " \n\t\r")
	}
	return s
}
