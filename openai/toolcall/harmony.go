package toolcall

import (
	"slices"
	"strings"
)

// Harmony, the format of gpt-oss, sends messages on channels. A message to a function is a call; the markers around all
// others are dropped and their text is content. The thoughts on the analysis channel are the reasoning parser's, which
// stands in front and has taken them away.
const (
	harmonyStart   = "<|start|>"
	harmonyChannel = "<|channel|>"
	harmonyMessage = "<|message|>"
)

// harmonyEnds are what a header does not reach past.
var harmonyEnds = []string{"<|end|>", "<|call|>", "<|return|>", harmonyStart}

// harmonyHead matches the header of a message to a function. Its recipient stands before or after the channel. Of a header
// that has no mark at its end only what it begins with is dropped.
func harmonyHead(_ *Parser, c *cursor, _ bool) (s start, ok bool) {
	if !c.any(harmonyStart, harmonyChannel) {
		return s, false
	}
	text := c.rest()[:min(len(c.rest()), maxName+len(harmonyMessage))]
	if _, end := earliest(text, harmonyEnds, []string{harmonyMessage}); end != "" && end != harmonyMessage {
		if word := c.word(); !slices.Contains([]string{"assistant", "analysis", "commentary", "final"}, word) {
			c.pos -= len(word)
		}
		return start{skip: true}, true
	}
	header, ok := c.until(harmonyMessage)
	if !ok {
		return s, false
	}
	_, to, addressed := strings.Cut(header, "to=")
	if !addressed {
		s.skip = true
		return s, true
	}
	if end := strings.IndexAny(to, " <"); end >= 0 {
		to = to[:end]
	}
	s.name = strings.TrimPrefix(to, "functions.")
	at := c.pos
	if s, ok = argsOrNone(c, s, "<|call|>", false); !ok && !c.short { // to a tool that takes no object, such as python
		c.pos = at
		return start{skip: true}, true
	}
	return s, ok
}
