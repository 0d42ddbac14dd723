package reasoning

import (
	"strings"
	"unicode"
)

// harmony is the parser of gpt-oss, which sends messages on channels. What it writes on the analysis channel are
// thoughts, other messages to the user are content without their markers, and a message to a function stays as it is:
// the tool parser knows it by its header.
type harmony struct {
	last          bool // no tool parser follows: calls are content
	buf           string
	kind          kind
	thought, said []byte // what one run puts out
}

// kind is where the text being read goes.
type kind uint8

const (
	loose    kind = iota // outside of any message
	thoughts             // a message on the analysis channel
	speech               // a message to the user
	call                 // a message to a function
)

const (
	startMark   = "<|start|>"
	channelMark = "<|channel|>"
	messageMark = "<|message|>"
)

var (
	heads = []string{startMark, channelMark}
	ends  = []string{"<|end|>", "<|return|>", "<|call|>", startMark, channelMark}
)

// maxHeader bounds a message's header, so that a stray marker does not hold text back for long.
const maxHeader = 512

func (h *harmony) Add(text string) (reasoning, content string) {
	h.buf += text
	return h.run(false)
}

func (h *harmony) Flush() (reasoning, content string) { return h.run(true) }

func (h *harmony) run(eof bool) (reasoning, content string) {
	h.thought, h.said = h.thought[:0], h.said[:0]
	for h.buf != "" && h.step(eof) {
	}
	return string(h.thought), string(h.said)
}

// step settles some of the buffer. It reports false when that takes more text.
func (h *harmony) step(eof bool) bool {
	marks := ends
	if h.kind == loose {
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
	if h.kind == call { // the marker behind a call belongs to it
		h.pass(len(mark))
	} else {
		h.buf = h.buf[len(mark):]
	}
	h.kind = loose
	return true
}

// pass puts out n bytes where the message being read goes.
func (h *harmony) pass(n int) {
	if h.kind == thoughts {
		h.thought = append(h.thought, h.buf[:n]...)
	} else {
		h.said = append(h.said, h.buf[:n]...)
	}
	h.buf = h.buf[n:]
}

// header reads the header of a message and drops it, unless the message is a call. A marker that begins none is text.
func (h *harmony) header(mark string, eof bool) bool {
	at := strings.Index(h.buf[:min(len(h.buf), maxHeader+len(messageMark))], messageMark)
	switch {
	case at < 0 && len(h.buf) < maxHeader+len(messageMark) && !eof:
		return false
	case at < 0 && eof && h.headerAlone(mark): // the answer was cut off in it
		h.buf = ""
		return false
	case at < 0:
		h.pass(len(mark))
		return true
	}
	header := h.buf[:at]
	_, channel, _ := strings.Cut(header, channelMark)
	switch {
	case strings.Contains(header, "to=") && !h.last:
		h.kind = call
		h.pass(at + len(messageMark))
		return true
	case strings.HasPrefix(channel, "analysis"):
		h.kind = thoughts
	default:
		h.kind = speech
	}
	h.buf = h.buf[at+len(messageMark):]
	return true
}

// headerAlone reports whether a marker and all that follows it are the beginning of a header: words behind markers.
func (h *harmony) headerAlone(mark string) bool {
	rest := h.buf[len(mark):]
	if len(rest) > maxHeader || strings.HasPrefix(rest, " ") {
		return false
	}
	return strings.IndexFunc(rest, func(r rune) bool {
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
