package toolcall

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"leeway/openai"
)

// Event is a piece of what the model says, or, when Text is empty, of a call it makes: first the call's index, id and
// name, then its arguments bit by bit.
type Event struct {
	Text string
	Call openai.CallDelta
}

// Parser takes one answer apart. It belongs to one goroutine.
type Parser struct {
	format *format
	tools  tools

	buf     string   // text whose meaning is still open
	pending []byte   // text behind buf that is not looked at yet: what is too little to be worth it, or half a character
	retry   int      // the length of buf that is worth another look
	wake    string   // a mark in new text that is worth one, too; "" for none
	gone    []string // marks that do not come any more
	state   state
	args    argsReader      // of the call being read
	list    bool            // calls stand in a JSON array
	calls   int             // announced so far
	ids     map[string]bool // that the model gave

	blank  bool   // nothing but white space since the start or the last call
	held   string // that white space
	plain  lexer  // follows an object that is content
	events []Event
	joined []byte // what the next event holds
	argues bool   // it is arguments
	silent bool   // the last call has had none
}

// state is what the head of the buffer is part of.
type state uint8

const (
	inText state = iota
	inArgs
	afterCall
	inPlainJSON
	atStart
)

// argsReader reads the arguments of one call from the parser's buffer and emits them. It reports true when they are
// complete, false when it needs more text.
type argsReader interface {
	read(p *Parser, eof bool) bool
}

// start is the head of a call: all that comes before its arguments.
type start struct {
	name string
	id   string // "" unless the model gives one
	args argsReader
	list bool
	skip bool // no call: what was matched is a marker, and goes

	explicit bool // the form alone says that it is a call
}

// Add takes the next piece of the answer and returns what it settles.
func (p *Parser) Add(text string) []Event {
	p.pending = append(p.pending, text...)
	whole := len(p.pending) - partialRune(p.pending)
	if len(p.buf)+whole < p.retry && !p.woken(len(text)) {
		return nil
	}
	p.retry = 0
	p.buf += string(p.pending[:whole])
	p.pending = append(p.pending[:0], p.pending[whole:]...)
	return p.run(false)
}

// Flush ends the answer and returns what was held back.
func (p *Parser) Flush() []Event {
	p.buf += string(p.pending)
	p.pending = nil
	p.run(true)
	p.settle()
	if p.calls == 0 && p.held != "" {
		p.events = append(p.events, Event{Text: p.held})
	}
	p.held = ""
	return p.events
}

// Calls is how many calls have been announced.
func (p *Parser) Calls() int { return p.calls }

// Unfinished reports whether the last call's arguments have not ended.
func (p *Parser) Unfinished() bool { return p.state == inArgs }

// partialRune is the length of the character that text breaks off in, 0 if it ends between two.
func partialRune(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// run settles what can be settled and returns the events of it.
func (p *Parser) run(eof bool) []Event {
	p.events = nil
	for p.step(eof) {
	}
	p.emit()
	return p.events
}

// emit makes an event of what has been joined.
func (p *Parser) emit() {
	switch {
	case len(p.joined) == 0:
	case p.argues:
		p.events = append(p.events, Event{Call: openai.CallDelta{Index: p.calls - 1, Arguments: string(p.joined)}})
	default:
		p.events = append(p.events, Event{Text: string(p.joined)})
	}
	p.joined = p.joined[:0]
}

// step settles some more of the buffer. It reports false when that takes more text.
func (p *Parser) step(eof bool) bool {
	switch p.state {
	case inArgs:
		if !p.args.read(p, eof) {
			return false
		}
		if p.state == inArgs {
			p.state = afterCall
		}
		return true
	case afterCall:
		return p.afterCall(eof)
	case inPlainJSON:
		return p.plainJSON()
	case atStart:
		return p.opening(eof)
	}
	return p.text(eof)
}

// text passes on content up to the next marker and tries that for the head of a call.
func (p *Parser) text(eof bool) bool {
	if p.buf == "" {
		return false
	}
	at, marker, opens := p.format.find(p.buf)
	held := 0
	if !eof {
		held = p.format.mayBegin(p.buf)
	}
	if marker == "" || held >= len(p.buf)-at { // or it may be part of another one
		p.say(p.buf[:len(p.buf)-held])
		p.buf = p.buf[len(p.buf)-held:]
		return false
	}
	p.say(p.buf[:at])
	p.buf = p.buf[at:]
	if !opens {
		p.buf = p.buf[len(marker):]
		return true
	}
	return p.open(marker, eof)
}

// open tries the marker at the head of the buffer. If it opens no call it is content after all and, if it is a brace, so
// is the object behind it.
func (p *Parser) open(marker string, eof bool) bool {
	c := &cursor{text: p.buf, eof: eof}
	s, ok := p.format.head(p, c, false)
	switch {
	case p.short(c):
		return false
	case ok && s.skip:
		p.buf = p.buf[c.pos:]
	case ok && p.accepts(s):
		p.begin(s, c.pos)
	case marker == "{":
		p.plain, p.state = lexer{}, inPlainJSON
	default:
		p.say(marker)
		p.buf = p.buf[len(marker):]
	}
	return true
}

// short reports whether a match ran out of text.
func (p *Parser) short(c *cursor) bool {
	if c.short {
		p.wait("")
	}
	return c.short
}

// wait puts off the next look at a long buffer until it has grown by a quarter, so that all looks together cost no more
// than a few passes. The mark wake is worth a look at once.
func (p *Parser) wait(wake string) {
	if len(p.buf) <= 4*maxName {
		return
	}
	p.retry, p.wake = len(p.buf)*5/4, wake
	if n := heldSuffix(p.buf, []string{wake}); n > 0 {
		begun := len(p.buf) - n
		p.pending = append([]byte(p.buf[begun:]), p.pending...)
		p.buf = p.buf[:begun]
	}
}

// woken reports whether the mark that is waited for has come with the last bytes of the pending text.
func (p *Parser) woken(last int) bool {
	from := max(0, len(p.pending)-last-len(p.wake))
	return p.wake != "" && bytes.Contains(p.pending[from:], []byte(p.wake))
}

// index returns where a mark that is worth reading for first stands in the buffer, or −1. At the answer's end one that is
// not found is never looked for again.
func (p *Parser) index(mark string, eof bool) int {
	if slices.Contains(p.gone, mark) {
		return -1
	}
	at := strings.Index(p.buf, mark)
	if at < 0 && eof {
		p.gone = append(p.gone, mark)
	}
	return at
}

// accepts reports whether a head makes a call. Where calls have no marks of their own, it takes a declared name or, in
// JSON, arguments beside the name.
func (p *Parser) accepts(s start) bool {
	if s.name == "" || len(s.name) > maxName {
		return false
	}
	return !p.format.bare || s.explicit || len(p.tools) == 0 || p.tools.declares(s.name)
}

// begin announces a call and goes on to its arguments.
func (p *Parser) begin(s start, consumed int) {
	if s.id == "" || p.ids[s.id] {
		s.id = newID()
	} else {
		if p.ids == nil {
			p.ids = make(map[string]bool)
		}
		p.ids[s.id] = true
	}
	p.emit()
	p.settle()
	p.events = append(p.events, Event{Call: openai.CallDelta{Index: p.calls, ID: s.id, Name: s.name}})
	p.calls++
	p.silent = true
	p.buf = p.buf[consumed:]
	p.held, p.blank = "", true
	p.args, p.state = s.args, inArgs
	p.list = p.list || s.list
}

// settle gives the last call arguments of no length if it has none.
func (p *Parser) settle() {
	if p.silent {
		p.events, p.silent = append(p.events, Event{Call: openai.CallDelta{Index: p.calls - 1, Silent: true}}), false
	}
}

// afterCall looks for the next call of a list and for what closes this one; anything else is content again.
func (p *Parser) afterCall(eof bool) bool {
	c := &cursor{text: p.buf, eof: eof}
	if p.format.more {
		s, ok := p.format.head(p, c, true)
		if p.short(c) {
			return false
		}
		if ok && p.accepts(s) {
			p.begin(s, c.pos)
			return true
		}
	}
	c.pos = 0
	list, closes := p.list, p.format.closes
	for mark := 0; ; mark = c.pos {
		c.space()
		if list && p.format.listEnds(c) {
			list = false
			continue
		}
		next := slices.IndexFunc(closes, c.lit)
		if next < 0 {
			c.pos = mark
			break
		}
		closes = closes[next:]
	}
	if p.short(c) {
		return false
	}
	p.buf = p.buf[c.pos:]
	if eof && cutOff(p.buf, p.format.closes) {
		p.buf = ""
	}
	p.state, p.list = inText, false
	return p.buf != "" || eof
}

// plainJSON passes on an object that turned out to be no call.
func (p *Parser) plainJSON() bool {
	for i := range len(p.buf) {
		v := p.plain.next(p.buf[i])
		if v == lexPart || v == lexBlank {
			continue
		}
		if v == lexEnd {
			i++
		}
		p.say(p.buf[:i])
		p.buf, p.state = p.buf[i:], inText
		return true
	}
	p.say(p.buf)
	p.buf = ""
	return false
}

// maxBlank is how much white space around calls is taken for layout; more is content.
const maxBlank = 1024

// say emits content. White space is held until it is known whether it stands alone between calls.
func (p *Parser) say(text string) {
	if text == "" {
		return
	}
	if p.blank {
		if len(p.held)+len(text) <= maxBlank && strings.TrimLeft(text, " \n\t\r") == "" {
			p.held += text
			return
		}
		text, p.held, p.blank = p.held+text, "", false
	}
	if p.argues {
		p.emit()
		p.argues = false
	}
	p.joined = append(p.joined, text...)
}

// argue emits more of the current call's arguments.
func (p *Parser) argue(text string) {
	if text == "" {
		return
	}
	if !p.argues {
		p.emit()
		p.argues = true
	}
	p.silent = false
	p.joined = append(p.joined, text...)
}

// newID is a call's id: unique among the calls of a conversation.
func newID() string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], rand.Uint64())
	binary.LittleEndian.PutUint64(b[8:], rand.Uint64())
	return "call_" + hex.EncodeToString(b[:12])
}
