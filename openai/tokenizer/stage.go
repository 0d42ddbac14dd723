package tokenizer

import "strings"

// stage is a pre-tokenizer: it hands the parts of a piece on to the next stage, in order. head is how many bytes at the
// front of the piece come from the first character of the whole text; 0 or less: none.
type stage interface {
	split(e *encoder, stage int, s string, head int)
}

// isolate cuts out what a pattern matches, and keeps what lies between or drops it.
type isolate struct {
	pattern *pattern
	drop    bool
}

func (p isolate) split(e *encoder, stage int, s string, head int) {
	last := stage+1 == len(e.t.stages)
	done := 0
	for i := 0; i < len(s); {
		end := p.pattern.match(s, i)
		if end < 0 {
			_, size := runeAt(s, i)
			i += size
			continue
		}
		if done < i && !p.drop {
			e.feed(stage+1, s[done:i], head-done)
		}
		if last {
			e.t.model.encode(e, s[i:end])
		} else {
			e.feed(stage+1, s[i:end], head-i)
		}
		i, done = end, end
	}
	if !p.drop {
		e.feed(stage+1, s[done:], head-done)
	}
}

// behavior says what becomes of a match when text is split.
type behavior uint8

const (
	removed behavior = iota
	isolated
	mergedWithPrevious
	mergedWithNext
	contiguous
)

var behaviors = map[string]behavior{
	"Removed": removed, "Isolated": isolated, "MergedWithPrevious": mergedWithPrevious, "MergedWithNext": mergedWithNext, "Contiguous": contiguous,
}

// finder finds all matches of something in a text, as byte offsets.
type finder interface {
	all(s string) [][]int
}

// splitter splits by the matches of a finder; invert splits by what is between them.
type splitter struct {
	find     finder
	behavior behavior
	invert   bool
}

// segment is a part of a text, and whether it is a match.
type segment struct {
	start, end int
	match      bool
}

func (p splitter) split(e *encoder, stage int, s string, head int) {
	for _, seg := range p.behavior.join(segments(p.find.all(s), len(s), p.invert)) {
		if seg.end > seg.start {
			e.feed(stage+1, s[seg.start:seg.end], head-seg.start)
		}
	}
}

// segments covers a text of size bytes by matches and what is between them.
func segments(matches [][]int, size int, invert bool) []segment {
	var out []segment
	at := 0
	for _, m := range matches {
		if at < m[0] {
			out = append(out, segment{at, m[0], invert})
		}
		out = append(out, segment{m[0], m[1], !invert})
		at = m[1]
	}
	if at < size {
		out = append(out, segment{at, size, invert})
	}
	return out
}

// join merges or drops segments as the behavior says.
func (b behavior) join(segs []segment) []segment {
	var out []segment
	before := false // was the segment before a match?
	for i, seg := range segs {
		attach := false
		switch b {
		case removed:
			if seg.match {
				continue
			}
		case mergedWithPrevious:
			attach = seg.match && !before
		case mergedWithNext:
			attach = i > 0 && before && !seg.match
		case contiguous:
			attach = seg.match == before
		}
		if n := len(out); attach && n > 0 {
			out[n-1].end = seg.end
		} else {
			out = append(out, seg)
		}
		before = seg.match
	}
	return out
}

// all makes a pattern a finder.
func (p *pattern) all(s string) [][]int {
	var out [][]int
	for start, end := p.find(s, 0); start < len(s); start, end = p.find(s, end) {
		out = append(out, []int{start, end})
	}
	return out
}

// literal finds a fixed text.
type literal string

func (l literal) all(s string) [][]int {
	var out [][]int
	for i := 0; ; {
		at := strings.Index(s[i:], string(l))
		if at < 0 {
			return out
		}
		out = append(out, []int{i + at, i + at + len(l)})
		i += at + len(l)
	}
}

// members finds the members of a class, one by one.
type members struct{ set *runeSet }

func (m members) all(s string) [][]int {
	var out [][]int
	for i := 0; i < len(s); {
		r, size := runeAt(s, i)
		if m.set.has(r) {
			out = append(out, []int{i, i + size})
		}
		i += size
	}
	return out
}

// fixedLength cuts pieces of a number of characters.
type fixedLength int

func (n fixedLength) split(e *encoder, stage int, s string, head int) {
	start, count := 0, 0
	for i := 0; i < len(s); {
		_, size := runeAt(s, i)
		i += size
		if count++; count == int(n) {
			e.feed(stage+1, s[start:i], head-start)
			start, count = i, 0
		}
	}
	e.feed(stage+1, s[start:], head-start)
}

// prefixSpace puts a space before every piece that has none.
type prefixSpace struct{}

func (prefixSpace) split(e *encoder, stage int, s string, head int) {
	if s[0] != ' ' {
		room := append(e.stage[stage][:0], ' ')
		e.stage[stage] = append(room, s...)
		s = view(e.stage[stage])
		head++
	}
	e.feed(stage+1, s, head)
}

// byteChars writes every byte as its printable character.
type byteChars struct{}

func (byteChars) split(e *encoder, stage int, s string, head int) {
	e.stage[stage] = mapBytes(e.stage[stage][:0], s)
	e.feed(stage+1, view(e.stage[stage]), head)
}

// metaspace replaces spaces by a mark, puts one in front, and splits before every mark.
type metaspace struct {
	mark   string
	always bool // a mark in front of every piece
	first  bool // or of the first
	cut    bool
}

// marksFirst tells whether a stage treats the first pieces of a text in a way of their own.
func marksFirst(s stage) bool {
	m, ok := s.(metaspace)
	return ok && m.first
}

func (p metaspace) split(e *encoder, stage int, s string, head int) {
	room := e.stage[stage][:0]
	if (p.always || p.first && head > 0) && !strings.HasPrefix(s, p.mark) && s[0] != ' ' {
		room = append(room, p.mark...)
		head += len(p.mark)
	}
	room = appendReplaced(room, s, " ", p.mark)
	e.stage[stage] = room
	s = view(room)
	for done := 0; p.cut; {
		next := strings.Index(s[done+1:], p.mark)
		if next < 0 {
			e.feed(stage+1, s[done:], head-done)
			return
		}
		e.feed(stage+1, s[done:done+1+next], head-done)
		done += 1 + next
	}
	e.feed(stage+1, s, head)
}

// appendReplaced appends s with every old replaced.
func appendReplaced(dst []byte, s, old, with string) []byte {
	for {
		at := strings.Index(s, old)
		if at < 0 {
			return append(dst, s...)
		}
		dst = append(append(dst, s[:at]...), with...)
		s = s[at+len(old):]
	}
}
