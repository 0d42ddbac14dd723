package reasoning

import (
	"strings"
	"unicode/utf8"
)

// fence is the parser of all families that put one marker before their thoughts and one behind. Unless the family thinks
// often only the first pair counts: a model that later writes about the markers is not taken to think.
type fence struct {
	markers markers
	form    int    // of the fence that is open; −1 if the prompt opened it
	suffix  string // of its name
	state   state
	buf     string // what is not decided yet
	spoken  bool   // content other than white space has come out
	marked  string // the end of content, which may be half a marker to be dropped
	calls   Calls  // nil: there are none
	unread  []byte // content that it has not read yet
	out     pieces
}

type state uint8

const (
	before   state = iota // the fence may yet open
	entering              // inside, and the opening marker may be repeated
	inside
	outside // behind the fence, for good
)

func (f *fence) read(text string, eof bool) []Piece {
	f.buf += text
	f.out = f.out[:0]
	for f.step(eof) {
	}
	if eof {
		f.release()
	}
	return f.out
}

// step settles what comes next and reports whether there may be more.
func (f *fence) step(eof bool) bool {
	switch f.state {
	case before:
		return f.before(eof)
	case entering:
		return f.enter(eof)
	case inside:
		return f.inside(eof)
	}
	n := len(f.buf)
	if !eof {
		n -= partialRune(f.buf)
	}
	f.say(f.take(n))
	return false
}

// say puts out content without the markers around it.
func (f *fence) say(content string) {
	if f.markers.drop == nil {
		f.put(content)
		return
	}
	f.marked += content
	for {
		at, mark := first(f.marked, f.markers.drop)
		if at < 0 {
			break
		}
		f.put(f.marked[:at])
		f.marked = f.marked[at+len(mark):]
		if f.inCall(mark) {
			f.put(mark)
		}
	}
	n := len(f.marked) - held(f.marked, f.markers.drop...)
	f.put(f.marked[:n])
	f.marked = f.marked[n:]
}

// release puts out content that was no marker after all.
func (f *fence) release() {
	f.put(f.marked)
	f.marked = ""
}

// put puts out content as it is.
func (f *fence) put(content string) {
	f.out.put(Content, content)
	if f.calls == nil || f.state == outside && f.markers.drop == nil { // no marker comes any more
		return
	}
	if f.unread = append(f.unread, content...); len(f.unread) > maxUnread {
		f.inCall("")
	}
}

// maxUnread is how much content is kept until a marker asks for what it belongs to.
const maxUnread = 4096

// inCall reports whether a marker that comes next is part of a call.
func (f *fence) inCall(marker string) bool {
	if f.calls == nil {
		return false
	}
	content := string(f.unread)
	f.unread = f.unread[:0]
	return f.calls.Settle(content, marker)
}

// mark puts out a marker of the fence.
func (f *fence) mark(n int) {
	f.release()
	f.out.put(Marker, f.take(n))
}

// take cuts n bytes off the buffer.
func (f *fence) take(n int) string {
	s := f.buf[:n]
	f.buf = f.buf[n:]
	return s
}

// maxBlank is how much white space before the fence is taken for layout; more is content.
const maxBlank = 1024

// before passes on content up to the opening marker: one that is part of a call is content, too. White space alone before
// the marker is dropped. It reports whether there may be more.
func (f *fence) before(eof bool) bool {
	if f.markers.spares && !f.spoken {
		if closed, wait := f.closesAtOnce(eof); closed || wait {
			return closed
		}
	}
	at, end, hold := f.nextOpens(f.buf)
	if at < 0 {
		n := len(f.buf)
		if !eof {
			n -= hold
		}
		if f.spoken || !layout(f.buf[:n]) || eof {
			f.spoken = true
			f.say(f.take(n))
		}
		return false
	}
	if content := f.take(at); f.spoken || !layout(content) {
		f.spoken = true
		f.say(content)
		f.release()
		if marker := f.buf[:end-at]; f.inCall(marker) {
			f.put(f.take(end - at))
			return true
		}
	}
	f.mark(end - at)
	f.state = inside
	return true
}

// closesAtOnce steps over a closing marker that the answer begins with. It reports wait when that is not certain yet.
func (f *fence) closesAtOnce(eof bool) (closed, wait bool) {
	rest, mark := strings.TrimLeft(f.buf, " \n\t\r"), f.markers.close[0]
	if len(f.buf)-len(rest) > maxBlank {
		return false, false
	}
	if !strings.HasPrefix(rest, mark) {
		return false, !eof && rest != "" && strings.HasPrefix(mark, rest)
	}
	f.buf, f.state = rest, outside
	f.mark(len(mark))
	return true, false
}

// nextOpens is opens for a text that may be searched again from there, for each of many markers that count for nothing.
func (f *fence) nextOpens(text string) (at, end, held int) {
	for size := window; ; size *= 4 {
		at, end, held = f.opens(text[:min(size, len(text))])
		if at >= 0 || size >= len(text) {
			return at, end, held
		}
	}
}

// opens looks for the first opening marker in a text and, if there is one, takes the fence for open.
func (f *fence) opens(text string) (at, end, held int) {
	at = -1
	held = partialRune(text)
	for form, marker := range f.markers.open {
		i, j, h := f.markers.find(text, marker)
		if held = max(held, h); i >= 0 && (at < 0 || i < at) {
			at, end, f.form = i, j, form
			f.suffix = text[i+len(marker)-1 : j-1]
		}
	}
	return at, end, held
}

// layout reports whether text is white space that is there for looks.
func layout(text string) bool { return len(text) <= maxBlank && strings.TrimSpace(text) == "" }

// enter drops an opening marker that repeats the prompt's.
func (f *fence) enter(eof bool) bool {
	rest := strings.TrimLeft(f.buf, " \n\t\r")
	f.form = -1
	if len(f.buf)-len(rest) <= maxBlank {
		at, end, held := f.opens(rest)
		switch {
		case at == 0:
			f.buf = rest
			f.mark(end)
		case at < 0 && held == len(rest) && !eof:
			return false
		default:
			f.form, f.suffix = -1, ""
		}
	}
	f.state = inside
	return true
}

// inside passes on thoughts up to the closing marker. It reports whether that has come.
func (f *fence) inside(eof bool) bool {
	at, end, held := f.closes(f.buf)
	if at < 0 {
		n := len(f.buf)
		if !eof {
			n -= held
		}
		f.out.put(Thought, f.take(n))
		return false
	}
	f.out.put(Thought, f.take(at))
	f.mark(end - at)
	if f.state = outside; f.markers.again {
		f.state, f.spoken = before, true
	}
	return true
}

// closes looks for the marker that closes the fence as it was opened; if the prompt has opened it, in any form.
func (f *fence) closes(text string) (at, end, held int) {
	at = -1
	held = partialRune(text)
	for form, marker := range f.markers.close {
		if f.form >= 0 && f.form != form {
			continue
		}
		i, j, h := 0, 0, 0
		if f.form >= 0 {
			i, j, h = markers{}.find(text, marker[:len(marker)-1]+f.suffix+marker[len(marker)-1:])
		} else {
			i, j, h = f.markers.find(text, marker)
		}
		if held = max(held, h); i >= 0 && (at < 0 || i < at) {
			at, end = i, j
		}
	}
	return at, end, held
}

// maxSuffix bounds a fence's suffix, so that a stray bracket does not hold text back for long.
const maxSuffix = 64

// find returns where a marker first stands in a text, or −1 and how much of the end may still become one.
func (m markers) find(text, marker string) (at, end, held int) {
	if !m.suffixed {
		if at = strings.Index(text, marker); at >= 0 {
			return at, at + len(marker), 0
		}
		return -1, 0, heldSuffix(text, marker)
	}
	head := marker[:len(marker)-1]
	for from := 0; ; {
		at = strings.Index(text[from:], head)
		if at < 0 {
			return -1, 0, heldSuffix(text[from:], marker)
		}
		at += from
		rest := text[at+len(head):]
		n := suffix(rest)
		switch {
		case n == len(rest):
			return -1, 0, len(text) - at
		case n >= 0 && rest[n] == '>':
			return at, at + len(head) + n + 1, 0
		}
		from = at + len(head)
	}
}

// suffix is the length of the suffix that a text begins with, 0 if none, −1 if it is too long.
func suffix(text string) int {
	if text == "" || text[0] != ':' {
		return 0
	}
	n := strings.IndexAny(text, "<> \n\t\r")
	if n < 0 {
		n = len(text)
	}
	if n > maxSuffix {
		return -1
	}
	return n
}

// held is the length of the longest end of text that may still become one of the markers, or a whole character.
func held(text string, markers ...string) int {
	longest := partialRune(text)
	for _, m := range markers {
		longest = max(longest, heldSuffix(text, m))
	}
	return longest
}

// heldSuffix is the length of the longest end of text that begins a marker and is not all of it.
func heldSuffix(text, marker string) int {
	for n := min(len(marker)-1, len(text)); n > 0; n-- {
		if strings.HasPrefix(marker, text[len(text)-n:]) {
			return n
		}
	}
	return 0
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
