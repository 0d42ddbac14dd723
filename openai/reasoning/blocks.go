package reasoning

import "strings"

// blocks is the parser of Inkling, which writes its answer in blocks, each behind a marker that says what it is. A block
// that calls a tool stays as it is, for the tool parser.
type blocks struct {
	last   bool // no tool parser follows: calls are content
	buf    string
	inside bool // a thought
	call   bool
}

const (
	thoughtBlock = "<|content_thinking|>"
	callBlock    = "<|content_invoke_tool_json|>"
	blockEnd     = "<|end_message|>"
)

// blockMarks are all markers there are.
var blockMarks = []string{thoughtBlock, callBlock, blockEnd, "<|message_model|>", "<|content_text|>", "<|content_model_end_sampling|>"}

func (b *blocks) Add(text string) (reasoning, content string) {
	b.buf += text
	return b.run(false)
}

func (b *blocks) Flush() (reasoning, content string) { return b.run(true) }

func (b *blocks) run(eof bool) (reasoning, content string) {
	var thought, said strings.Builder
	pass := func(n int) {
		to := &said
		if b.inside {
			to = &thought
		}
		to.WriteString(b.buf[:n])
		b.buf = b.buf[n:]
	}
	for {
		at, mark := first(b.buf, blockMarks)
		if at < 0 {
			n := len(b.buf)
			if !eof {
				n -= held(b.buf, blockMarks...)
			}
			pass(n)
			return thought.String(), said.String()
		}
		pass(at)
		keep := !b.last && (mark == callBlock || b.call && mark == blockEnd)
		b.inside, b.call = mark == thoughtBlock, mark == callBlock
		if keep {
			pass(len(mark))
		} else {
			b.buf = b.buf[len(mark):]
		}
	}
}
