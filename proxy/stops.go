package proxy

import "bytes"

// stops looks for stop strings in a text that comes in pieces. It holds back only the longest end of the text that
// may still become a stop. What it finds does not depend on how the text was cut: the match that is complete first
// wins, and of those that end together the longest.
type stops struct {
	words []string
	held  []byte
}

// add appends to dst what can be let go of, and returns the stop that the text has reached, if any; what follows the
// stop is forgotten.
func (s *stops) add(dst, text []byte) (out []byte, match string, found bool) {
	if len(s.words) == 0 {
		return append(dst, text...), "", false
	}
	s.held = append(s.held, text...)
	end := len(s.held) + 1
	for _, w := range s.words {
		i := bytes.Index(s.held, []byte(w))
		if i < 0 {
			continue
		}
		if e := i + len(w); e < end || e == end && len(w) > len(match) {
			end, match, found = e, w, true
		}
	}
	if found {
		dst = append(dst, s.held[:end-len(match)]...)
		s.held = s.held[:0]
		return dst, match, true
	}
	keep := s.undecided()
	cut := len(s.held) - keep
	dst = append(dst, s.held[:cut]...)
	s.held = s.held[:copy(s.held, s.held[cut:])]
	return dst, "", false
}

// undecided is the length of the longest end of what is held that begins a stop.
func (s *stops) undecided() int {
	longest := 0
	for _, w := range s.words {
		for n := min(len(w)-1, len(s.held)); n > longest; n-- {
			if string(s.held[len(s.held)-n:]) == w[:n] {
				longest = n
			}
		}
	}
	return longest
}

// flush appends what was held back: the text has ended and was no stop.
func (s *stops) flush(dst []byte) []byte {
	dst = append(dst, s.held...)
	s.held = s.held[:0]
	return dst
}
