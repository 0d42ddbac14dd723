package reasoning

import (
	"strings"
	"unicode"
)

// harmony is the parser of gpt-oss, which sends messages on channels. What it writes on the analysis channel are
// thoughts, other messages to the user are content without their markers, and a message to a function stays as it is:
// the tool parser knows it by its header.
type harmony struct {
	last  bool // no tool parser follows: calls are content
	begun bool // it is known whether the answer goes on with the header that the prompt has begun
	buf   string
	in    message
	out   pieces
}

// message is what the text being read is part of.
type message uint8

const (
	loose    message = iota // outside of any message
	thoughts                // a message on the analysis channel
	speech                  // a message to the user
	call                    // a message to a function
)

const (
	startMark   = "<|start|>"
	channelMark = "<|channel|>"
	messageMark = "<|message|>"
)

// begunHeader is what the prompt has written of the first message.
const begunHeader = startMark + "assistant"

var (
	heads      = []string{startMark, channelMark}
	ends       = []string{"<|end|>", "<|return|>", "<|call|>", startMark, channelMark}
	headerEnds = []string{messageMark, "<|end|>", "<|return|>", "<|call|>", startMark}
)

// maxHeader bounds a message's header, so that a stray marker does not hold text back for long.
const maxHeader = 512

func (h *harmony) read(text string, eof bool) []Piece {
	h.buf += text
	h.out = h.out[:0]
	for h.buf != "" && h.step(eof) {
	}
	return h.out
}

// step settles some of the buffer. It reports false when that takes more text.
func (h *harmony) step(eof bool) bool {
	if !h.begun {
		addressed, known := h.addressed(eof)
		if !known {
			return false
		}
		if h.begun = true; addressed {
			h.buf = begunHeader + h.buf
		}
	}
	marks := ends
	if h.in == loose {
		marks = heads
	}
	at, mark := first(h.buf, marks)
	if at < 0 {
		n := len(h.buf)
		if !eof {
			n -= held(h.buf, marks...)
		}
		h.pass(n)
		return false
	}
	h.pass(at)
	if mark == startMark || mark == channelMark {
		return h.header(mark, eof)
	}
	if h.in == call { // the marker behind a call belongs to it
		h.pass(len(mark))
	} else {
		h.buf = h.buf[len(mark):]
	}
	h.in = loose
	return true
}

// pass puts out n bytes where the message being read goes.
func (h *harmony) pass(n int) {
	kind := Content
	if h.in == thoughts {
		kind = Thought
	}
	h.out.put(kind, h.buf[:n])
	h.buf = h.buf[n:]
}

// addressed reports whether the answer begins with a recipient and the rest of a header, and whether that is known yet.
func (h *harmony) addressed(eof bool) (is, known bool) {
	const limit = maxHeader - len(begunHeader)
	text := h.buf[:min(len(h.buf), limit+len(messageMark))]
	known = eof || len(text) == limit+len(messageMark)
	to, found := strings.CutPrefix(strings.TrimPrefix(text, " "), "to=")
	if !found {
		return false, known || !strings.HasPrefix(" to=", text) && !strings.HasPrefix("to=", text)
	}
	at := strings.IndexAny(to, "\n\t <")
	if at < 0 {
		return false, known
	}
	rest := strings.TrimPrefix(to[at:], " ")
	if at == 0 || !strings.HasPrefix(rest, "<|") {
		return false, known || at == 0 || !strings.HasPrefix("<|", rest)
	}
	_, mark := first(rest, headerEnds)
	if mark != "" {
		return mark == messageMark, true
	}
	return eof && len(h.buf) < limit && words(h.buf), known
}

// header reads the header of a message and drops it, unless the message is a call. A marker that begins none is text.
func (h *harmony) header(mark string, eof bool) bool {
	at, end := first(h.buf[len(mark):min(len(h.buf), maxHeader+len(messageMark))], headerEnds)
	at += len(mark)
	switch {
	case end == "" && len(h.buf) < maxHeader+len(messageMark) && !eof:
		return false
	case end == "" && eof && h.headerAlone(mark): // the answer was cut off in it
		h.buf = ""
		return false
	case end == "":
		h.pass(len(mark))
		return true
	case end != messageMark:
		h.unmarked(mark)
		return true
	}
	header := h.buf[:at]
	_, channel, _ := strings.Cut(header, channelMark)
	thinks := strings.HasPrefix(channel, analysis)
	switch {
	case thinks && !strings.Contains(header, "to=functions."): // also to a tool of the model's own, such as python
		h.in = thoughts
	case strings.Contains(header, "to=") && !h.last:
		h.in = call
		h.pass(at + len(messageMark))
		return true
	case thinks:
		h.in = thoughts
	default:
		h.in = speech
	}
	h.buf = h.buf[at+len(messageMark):]
	return true
}

const analysis = "analysis"

// unmarked drops the mark and the word that a header begins with, where the message's text follows without a mark.
func (h *harmony) unmarked(mark string) {
	h.buf, h.in = h.buf[len(mark):], speech
	end := strings.IndexFunc(h.buf, func(r rune) bool { return !unicode.IsLetter(r) })
	switch h.buf[:end] {
	case analysis:
		h.in = thoughts
	case "assistant", "commentary", "final":
	default:
		return
	}
	h.buf = h.buf[end:]
}

// headerAlone reports whether a marker and all that follows it are the beginning of a header: words behind markers.
func (h *harmony) headerAlone(mark string) bool {
	rest := h.buf[len(mark):]
	return len(rest) <= maxHeader && !strings.HasPrefix(rest, " ") && words(rest)
}

// words reports whether a text is all words and markers.
func words(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool {
		return r > '~' || r < ' ' || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" _-.=<|>:", r)
	}) < 0
}

// window is how far a text is searched for all markers before it is searched any further.
const window = 256

// first returns the marker that comes first in a text, and where, or −1. It reads little more of the text than that: what
// follows may be searched again and again.
func first(text string, marks []string) (at int, mark string) {
	for size := window; ; size *= 4 {
		part := text[:min(size, len(text))]
		at = -1
		for _, m := range marks {
			if i := strings.Index(part, m); i >= 0 && (at < 0 || i < at) {
				at, mark, part = i, m, part[:min(len(part), i+maxMark)]
			}
		}
		if at >= 0 || size >= len(text) {
			return at, mark
		}
	}
}

// maxMark is as long as the longest marker, at least.
const maxMark = 64
