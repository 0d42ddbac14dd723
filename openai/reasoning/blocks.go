package reasoning

// blocks is the parser of Inkling, which writes its answer in blocks, each behind a marker that says what it is. A block
// that calls a tool stays as it is, for the tool parser.
type blocks struct {
	last   bool // no tool parser follows: calls are content
	buf    string
	inside bool // a thought
	call   bool
	out    pieces
}

const (
	thoughtBlock = "<|content_thinking|>"
	callBlock    = "<|content_invoke_tool_json|>"
	blockEnd     = "<|end_message|>"
)

// blockMarks are all markers there are.
var blockMarks = []string{thoughtBlock, callBlock, blockEnd, "<|message_model|>", "<|content_text|>", "<|content_model_end_sampling|>"}

func (b *blocks) read(text string, eof bool) []Piece {
	b.buf += text
	b.out = b.out[:0]
	for {
		at, mark := first(b.buf, blockMarks)
		if at < 0 {
			n := len(b.buf)
			if !eof {
				n -= held(b.buf, blockMarks...)
			}
			b.pass(n)
			return b.out
		}
		b.pass(at)
		keep := !b.last && (mark == callBlock || b.call && mark == blockEnd)
		if mark == thoughtBlock || b.inside {
			b.out.put(Marker, mark)
		}
		b.inside, b.call = mark == thoughtBlock, mark == callBlock
		if keep {
			b.pass(len(mark))
		} else {
			b.buf = b.buf[len(mark):]
		}
	}
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
