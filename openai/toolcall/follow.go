package toolcall

import (
	"maps"
	"slices"
)

// Follower reads along an answer's content, to tell what of it is part of a call. It belongs to one goroutine.
type Follower struct {
	parser *Parser
	read   int // bytes so far
	until  int // so far what is part of a call is not asked again
}

// Follow is a follower of the answer that a parser would read, which is then its own.
func Follow(p *Parser) *Follower { return &Follower{parser: p} }

// Settle reads more content and reports whether a text that comes next would be part of a call, or of what may yet turn
// out to be one. The text itself is not read.
func (f *Follower) Settle(content, next string) bool {
	f.read += len(content)
	p := f.parser
	p.look(content)
	switch {
	case next == "":
		return false
	case p.state == inArgs || f.read < f.until:
		return true
	}
	probe := *p
	probe.pending, probe.gone, probe.ids = slices.Clone(p.pending), slices.Clone(p.gone), maps.Clone(p.ids)
	probe.joined, probe.plain.stack = nil, slices.Clone(p.plain.stack)
	probe.look(next)
	if probe.state == inArgs {
		return true
	}
	if probe.buf == "" {
		return false
	}
	if f.read > 4*maxName { // a long head is not read again for each of many
		f.until = f.read * 5 / 4
	}
	return true
}

// look is Add, at once and without its events.
func (p *Parser) look(text string) {
	p.retry = 0
	p.Add(text)
}
