package reasoning

import (
	"slices"
	"strings"
	"unicode"
)

// blocks is the parser of Inkling, which writes its answer in blocks, each behind a marker that says what it is. A block
// that calls a tool stays as it is, for the tool parser. The name that may stand between a message's marker and its
// block's, the tool's as a rule, is none of the text.
type blocks struct {
	last   bool // no tool parser follows: calls are content
	buf    string
	header bool // a message has begun, as an answer does, and may have a name yet
	inside bool // a thought
	call   bool
	out    pieces
}

const (
	messageBegin = "<|message_model|>"
	thoughtBlock = "<|content_thinking|>"
	callBlock    = "<|content_invoke_tool_json|>"
	blockEnd     = "<|end_message|>"
)

var (
	callEnds   = []string{blockEnd, messageBegin, "<|content_model_end_sampling|>"}
	blockKinds = []string{thoughtBlock, callBlock, "<|content_text|>", "<|content_invoke_tool_text|>", "<|content_tool_error|>"}
	blockMarks = slices.Concat(callEnds, blockKinds)
)

// maxBlockName bounds a message's name, so that text that begins without a space is not held back for long.
const maxBlockName = 128

func (b *blocks) read(text string, eof bool) []Piece {
	b.buf += text
	b.out = b.out[:0]
	for !b.header || b.named(eof) {
		marks := blockMarks
		if b.call { // its arguments may hold any text
			marks = callEnds
		}
		at, mark := first(b.buf, marks)
		if at < 0 {
			n := len(b.buf)
			if !eof {
				n -= held(b.buf, marks...)
			}
			b.pass(n)
			break
		}
		b.pass(at)
		keep := !b.last && (mark == callBlock || b.call && mark == blockEnd)
		if mark == thoughtBlock || b.inside {
			b.out.put(Marker, mark)
		}
		b.header, b.inside, b.call = mark == messageBegin, mark == thoughtBlock, mark == callBlock
		if keep {
			b.pass(len(mark))
		} else {
			b.buf = b.buf[len(mark):]
		}
	}
	return b.out
}

// named drops a message's name. It reports false when there is too little text to tell one.
func (b *blocks) named(eof bool) bool {
	n := strings.IndexFunc(b.buf, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.:/$", r)
	})
	if n < 0 {
		n = len(b.buf)
	}
	rest := b.buf[n:]
	switch {
	case n > maxBlockName:
	case slices.ContainsFunc(blockKinds, func(kind string) bool { return strings.HasPrefix(rest, kind) }):
		b.buf = rest
	case !eof && len(rest) == held(rest, blockKinds...):
		return false
	}
	b.header = false
	return true
}

// pass puts out n bytes of the block being read.
func (b *blocks) pass(n int) {
	kind := Content
	if b.inside {
		kind = Thought
	}
	b.out.put(kind, b.buf[:n])
	b.buf = b.buf[n:]
}
