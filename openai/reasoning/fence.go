package reasoning

import (
	"strings"
	"unicode/utf8"
)

// fence is the parser of all families that put one marker before their thoughts and one behind. Only the first pair
// counts: a model that later writes about the markers is not taken to think.
type fence struct {
	markers markers
	state   state
	buf     string // what is not decided yet
	spoken  bool   // content other than white space has come out
	marked  string // content that may end in half a marker to be dropped
}

type state uint8

const (
	before   state = iota // the fence may yet open
	entering              // inside, and the opening marker may be repeated
	inside
	outside // behind the fence, for good
)

func (f *fence) Add(text string) (reasoning, content string) {
	f.buf += text
	reasoning, content = f.run(false)
	return reasoning, f.clean(content, false)
}

func (f *fence) Flush() (reasoning, content string) {
	reasoning, content = f.run(true)
	return reasoning, f.clean(content, true)
}

// clean drops the markers around content.
func (f *fence) clean(content string, eof bool) string {
	if f.markers.drop == nil {
		return content
	}
	f.marked += content
	var out strings.Builder
	for {
		at, mark := first(f.marked, f.markers.drop)
		if at < 0 {
			break
		}
		out.WriteString(f.marked[:at])
		f.marked = f.marked[at+len(mark):]
	}
	n := len(f.marked)
	if !eof {
		n -= held(f.marked, f.markers.drop...)
	}
	out.WriteString(f.marked[:n])
	f.marked = f.marked[n:]
	return out.String()
}

func (f *fence) run(eof bool) (reasoning, content string) {
	if f.state == before {
		content = f.before(eof)
	}
	if f.state == entering && !f.enter(eof) {
		return "", content
	}
	if f.state == inside {
		reasoning = f.inside(eof)
	}
	if f.state == outside {
		n := len(f.buf)
		if !eof {
			n -= partialRune(f.buf)
		}
		content += f.take(n)
	}
	return reasoning, content
}

// take cuts n bytes off the buffer.
func (f *fence) take(n int) string {
	s := f.buf[:n]
	f.buf = f.buf[n:]
	return s
}

// maxBlank is how much white space before the fence is taken for layout; more is content.
const maxBlank = 1024

// before passes on content up to the opening marker. White space alone before it is dropped.
func (f *fence) before(eof bool) string {
	if at := strings.Index(f.buf, f.markers.open); at >= 0 {
		content := f.take(at)
		f.take(len(f.markers.open))
		f.state = inside
		if !f.spoken && layout(content) {
			return ""
		}
		return content
	}
	n := len(f.buf)
	if !eof {
		n -= held(f.buf, f.markers.open)
	}
	if !f.spoken && layout(f.buf[:n]) && !eof {
		return ""
	}
	f.spoken = true
	return f.take(n)
}

// layout reports whether text is white space that is there for looks.
func layout(text string) bool { return len(text) <= maxBlank && strings.TrimSpace(text) == "" }

// enter drops an opening marker that repeats the prompt's.
func (f *fence) enter(eof bool) bool {
	rest := strings.TrimLeft(f.buf, " \n\t\r")
	switch {
	case len(f.buf)-len(rest) > maxBlank:
	case strings.HasPrefix(rest, f.markers.open):
		f.buf = rest[len(f.markers.open):]
	case strings.HasPrefix(f.markers.open, rest) && !eof:
		return false
	}
	f.state = inside
	return true
}

// inside passes on thoughts up to the closing marker.
func (f *fence) inside(eof bool) string {
	if at := strings.Index(f.buf, f.markers.close); at >= 0 {
		reasoning := f.take(at)
		f.take(len(f.markers.close))
		f.state = outside
		return reasoning
	}
	n := len(f.buf)
	if !eof {
		n -= held(f.buf, f.markers.close)
	}
	return f.take(n)
}

// held is the length of the longest end of text that may still become one of the markers, or a whole character.
func held(text string, markers ...string) int {
	longest := partialRune(text)
	for _, m := range markers {
		for n := min(len(m)-1, len(text)); n > longest; n-- {
			if strings.HasPrefix(m, text[len(text)-n:]) {
				longest = n
				break
			}
		}
	}
	return longest
}

// partialRune is the length of the character that text breaks off in, 0 if it ends between two.
func partialRune(text string) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRuneInString(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
