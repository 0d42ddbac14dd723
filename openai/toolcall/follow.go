package toolcall

import (
	"maps"
	"slices"
)

// Follower reads along an answer's content, to tell what of it is part of a call. It belongs to one goroutine.
type Follower struct {
	parser *Parser
	read   int  // bytes so far
	looked int  // bytes of them that were held back when a text was asked about, each time
	within bool // the last answer
}

// Follow is a follower of the answer that a parser would read, which is then its own.
func Follow(p *Parser) *Follower { return &Follower{parser: p} }

// looks is how often, on average, a byte may be looked at again because of what is asked. Beyond it the last answer stands
// until enough has been read: what is asked about without end costs no more time than any other text.
const looks = 32

// Settle reads more content and reports whether a text that comes next would be part of a call, or of what may yet turn
// out to be one. The text itself is not read.
func (f *Follower) Settle(content, next string) bool {
	f.read += len(content)
	switch {
	case next == "":
		f.parser.Add(content)
		return false
	case f.looked > looks*f.read:
		f.parser.Add(content)
	default:
		f.parser.look(content)
		f.looked += len(f.parser.buf)
		f.within = f.parser.takes(next)
	}
	return f.within
}

// takes reports whether a text would be read as arguments, or what stands before it be held back still.
func (p *Parser) takes(next string) bool {
	if p.state == inArgs {
		return true
	}
	probe := *p
	probe.pending, probe.gone, probe.ids = slices.Clone(p.pending), slices.Clone(p.gone), maps.Clone(p.ids)
	probe.joined, probe.plain.stack = nil, slices.Clone(p.plain.stack)
	probe.look(next)
	return probe.state == inArgs || len(probe.buf)+len(probe.pending) > len(next)
}

// look is Add, at once and without its events.
func (p *Parser) look(text string) {
	p.retry = 0
	p.Add(text)
}
