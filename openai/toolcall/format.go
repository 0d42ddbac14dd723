package toolcall

import (
	"slices"
	"strings"
)

// format is how a family of models writes calls.
type format struct {
	open   []string // what a call, or a group of calls, may begin with
	drop   []string // markers around content, which are none
	closes []string // what may follow a call's arguments and belongs to it, in this order
	bare   bool     // open is ordinary text
	more   bool     // a call may follow another without a marker

	// gap steps over what may stand between the calls of a list, if that is more than white space.
	gap func(c *cursor)

	// opening returns what the prompt has written of the header that an answer goes on with, "" if it does not.
	opening func(c *cursor) string

	// head matches a call from one of open or, with more, from the end of the call before, to its arguments.
	head func(p *Parser, c *cursor, more bool) (start, bool)
}

// listEnds steps over what ends a list of calls: a bracket, with a comma before it or not. Where the answer was cut off
// behind that comma it has ended, too.
func (f *format) listEnds(c *cursor) bool {
	gap, at := f.gap, c.pos
	if gap == nil {
		gap = (*cursor).space
	}
	gap(c)
	if c.lit(",") {
		if gap(c); c.eof && c.rest() == "" {
			return true
		}
	}
	if c.lit("]") {
		return true
	}
	c.pos = at
	return false
}

// find returns where the first marker of a text stands, and whether it may open a call.
func (f *format) find(text string) (at int, marker string, opens bool) {
	at, marker = earliest(text, f.open, f.drop)
	return at, marker, slices.Contains(f.open, marker)
}

// mayBegin is the length of the longest end of text that may still become a marker.
func (f *format) mayBegin(text string) int {
	return max(heldSuffix(text, f.open), heldSuffix(text, f.drop))
}

// window is how far a text is searched for all markers before it is searched any further.
const window = 256

// earliest returns the first of several markers in a text, the longest if two begin together, or −1. It reads little more
// of the text than that: what follows may be searched again and again.
func earliest(text string, lists ...[]string) (at int, marker string) {
	longest := 0
	for _, markers := range lists {
		for _, m := range markers {
			longest = max(longest, len(m))
		}
	}
	for size := window; ; size *= 4 {
		part := text[:min(size, len(text))]
		at, marker = earliestIn(part, lists)
		if len(part) == len(text) || at >= 0 && at+longest <= len(part) {
			return at, marker
		}
	}
}

func earliestIn(text string, lists [][]string) (at int, marker string) {
	at = -1
	for _, markers := range lists {
		for _, m := range markers {
			end := len(text)
			if at >= 0 {
				end = min(end, at+len(m))
			}
			if i := strings.Index(text[:end], m); i >= 0 && (at < 0 || i < at || len(m) > len(marker)) {
				at, marker = i, m
			}
		}
	}
	return at, marker
}

// heldSuffix is the length of the longest end of text that begins one of the markers and is not all of it.
func heldSuffix(text string, markers []string) int {
	held := 0
	for _, m := range markers {
		for n := min(len(m)-1, len(text)); n > held; n-- {
			if strings.HasPrefix(m, text[len(text)-n:]) {
				held = n
				break
			}
		}
	}
	return held
}

// cutOff reports whether a text is no more than the beginning of a marker: where an answer was cut off.
func cutOff(text string, markers []string) bool {
	text = strings.TrimLeft(text, " \n\t\r")
	return len(text) > 1 && heldSuffix(text, markers) == len(text)
}

// stops is what arguments that are not followed any more run up to: what closes them, or opens another call.
func (f *format) stops() []string {
	stops := f.closes[:len(f.closes):len(f.closes)]
	for _, m := range f.open {
		if len(m) > 1 {
			stops = append(stops, m)
		}
	}
	return stops
}
