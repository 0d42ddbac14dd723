package toolcall

import "strings"

// format is how a family of models writes calls.
type format struct {
	open   []string // what a call, or a group of calls, may begin with
	drop   []string // markers around content, which are none
	closes []string // what may follow a call's arguments and belongs to it
	bare   bool     // open is ordinary text
	more   bool     // a call may follow another without a marker

	// head matches a call from one of open or, with more, from the end of the call before, to its arguments.
	head func(p *Parser, c *cursor, more bool) (start, bool)
}

// find returns where the first marker of a text stands, and whether it may open a call.
func (f *format) find(text string) (at int, marker string, opens bool) {
	at, marker = earliest(text, f.open)
	if i, m := earliest(text, f.drop); m != "" && (marker == "" || i < at) {
		return i, m, false
	}
	return at, marker, marker != ""
}

// mayBegin is the length of the longest end of text that may still become a marker.
func (f *format) mayBegin(text string) int {
	return max(heldSuffix(text, f.open), heldSuffix(text, f.drop))
}

// earliest returns the first of several markers in a text, the longest if two begin together, or −1.
func earliest(text string, markers []string) (at int, marker string) {
	at = -1
	for _, m := range markers {
		end := len(text)
		if at >= 0 {
			end = min(end, at+len(m))
		}
		if i := strings.Index(text[:end], m); i >= 0 && (at < 0 || i < at || len(m) > len(marker)) {
			at, marker = i, m
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
