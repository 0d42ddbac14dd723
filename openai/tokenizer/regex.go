package tokenizer

import (
	"fmt"
	"sync"
)

// regex matches patterns that our own matcher of runs does not know, as Oniguruma does: by trying alternatives in order
// and going back. What it has tried in vain from a place in the text it does not try there again, so that whatever the
// pattern is, time grows with the square of the text at most, and in most cases with the text.
type regex struct {
	program  *program
	machines sync.Pool // of *machine
}

// compileRegex compiles a pattern in Oniguruma's syntax.
func compileRegex(src string) (*regex, error) {
	n, err := parseRegex(src)
	if err != nil {
		return nil, fmt.Errorf("pattern %.80q: %w", src, err)
	}
	p, err := newProgram(n)
	if err != nil {
		return nil, fmt.Errorf("pattern %.80q: %w", src, err)
	}
	return &regex{program: p}, nil
}

// all returns the byte offsets of the matches in s. An empty match where the last one ended does not count, and in an
// empty text there are none.
func (x *regex) all(s string) [][]int {
	if s == "" {
		return nil
	}
	m, ok := x.machines.Get().(*machine)
	if !ok {
		m = &machine{program: x.program}
	}
	m.begin(s)
	var found [][]int
	last := -1
	for at := 0; at <= len(s); {
		start, end := m.search(at)
		switch {
		case start < 0:
			at = len(s) + 1
		case start == end && end == last:
			at = m.after(at)
		default:
			found = append(found, []int{start, end})
			at, last = end, end
		}
	}
	m.end()
	x.machines.Put(m)
	return found
}

// machine is the state of a match.
type machine struct {
	program *program
	s       string
	stack   []choice
	trail   []visit    // the splits on the way to here, which have not failed
	tried   [][]uint64 // by page of the text: a bit for each split at each place that has been tried, and each look that matched
	first   int        // the first page that a match may still look at
	spare   [][]uint64
}

// choice is where to go on when the way taken fails.
type choice struct {
	pc, pos, trail int
	took           uint8
}

type visit struct{ pos, state int }

// pageBits: a page covers so many bytes of the text.
const pageBits = 6

func (m *machine) begin(s string) {
	m.s, m.first = s, 0
	if pages := len(s)>>pageBits + 1; pages > cap(m.tried) {
		m.tried = make([][]uint64, pages)
	} else {
		m.tried = m.tried[:pages]
	}
}

// end forgets the text, and room that an unusually long one has made.
func (m *machine) end() {
	m.forget(len(m.tried))
	m.s = ""
	if cap(m.stack)+cap(m.trail)+cap(m.tried) > keepRoom/16 || len(m.spare)*m.program.states > keepRoom/16 {
		*m = machine{program: m.program}
	}
}

// forget frees the pages before one.
func (m *machine) forget(page int) {
	for ; m.first < page; m.first++ {
		if tried := m.tried[m.first]; tried != nil {
			clear(tried)
			m.spare = append(m.spare, tried)
			m.tried[m.first] = nil
		}
	}
}

// after returns the place after the character at i, one beyond the text at its end.
func (m *machine) after(i int) int {
	if i == len(m.s) {
		return i + 1
	}
	_, size := runeAt(m.s, i)
	return i + size
}

// search returns the first match at or after i, -1 if there is none.
func (m *machine) search(i int) (start, end int) {
	begin := m.program.begin
	for ; i <= len(m.s); i = m.after(i) {
		if begin != nil {
			if i == len(m.s) {
				break
			}
			if r, _ := runeAt(m.s, i); !begin.has(r) {
				continue
			}
		}
		m.forget(i >> pageBits)
		if end := m.run(0, i, 0); end >= 0 {
			return i, end
		}
	}
	return -1, -1
}

// bit returns the page of a visit, its word and bit.
func (m *machine) bit(v visit) (page []uint64, word int, bit uint64) {
	page = m.tried[v.pos>>pageBits]
	if page == nil {
		if n := len(m.spare); n > 0 {
			page, m.spare = m.spare[n-1], m.spare[:n-1]
		} else {
			page = make([]uint64, max(m.program.states, 1)) // a word for the 64 places of each state
		}
		m.tried[v.pos>>pageBits] = page
		m.first = min(m.first, v.pos>>pageBits) // a look-behind may go back beyond what was freed
	}
	return page, v.state, 1 << (v.pos & (1<<pageBits - 1))
}

// visit tells whether a split is new at a place, and remembers it.
func (m *machine) visit(v visit) bool {
	page, word, bit := m.bit(v)
	if page[word]&bit != 0 {
		return false
	}
	page[word] |= bit
	m.trail = append(m.trail, v)
	return true
}

// run matches from an instruction on and returns where its match ends, -1 if it has none. took has a bit for every open
// loop: whether its iteration has taken anything.
func (m *machine) run(pc, pos int, took uint8) int {
	stack, trail := len(m.stack), len(m.trail)
	for pc >= 0 {
		in := &m.program.code[pc]
		switch in.op {
		case opMatch:
			m.succeed(stack, trail)
			return pos
		case opJump:
			pc = in.x
			continue
		case opIterate:
			took &^= 1 << (in.loop - 1)
			pc++
			continue
		case opIterated:
			if pc = in.x; took>>(in.loop-1)&1 == 0 {
				pc = in.y
			}
			continue
		case opSplit:
			if m.visit(visit{pos, in.state | int(took)&m.program.loops}) {
				m.stack = append(m.stack, choice{in.y, pos, len(m.trail), took})
				pc = in.x
				continue
			}
		case opAtomic, opLook, opAssert:
			if end := m.apart(in, pos, took); end >= 0 {
				if end > pos {
					took = allLoops
				}
				if pos = end; in.op == opAssert {
					pc++
				} else {
					pc = in.y
				}
				continue
			}
		default:
			if next := m.take(in, pos); next >= 0 {
				pos, took = next, allLoops
				pc++
				continue
			}
		}
		pc, pos, took = m.back(stack, trail)
	}
	return -1
}

const allLoops = 1<<maxLoops - 1

// take returns the place after the character that a set takes, -1 if it does not.
func (m *machine) take(in *instruction, pos int) int {
	if in.op == opSet {
		if pos < len(m.s) {
			if r, size := runeAt(m.s, pos); in.set.has(r) {
				return pos + size
			}
		}
		return -1
	}
	if pos > 0 {
		before := runeBefore(m.s, pos)
		if r, _ := runeAt(m.s, before); in.set.has(r) {
			return before
		}
	}
	return -1
}

// back returns to the last choice of a run; pc is -1 if there is none. What lies behind the choice has failed for good.
func (m *machine) back(stack, trail int) (pc, pos int, took uint8) {
	n := len(m.stack)
	if n == stack {
		m.trail = m.trail[:trail]
		return -1, 0, 0
	}
	c := m.stack[n-1]
	m.stack, m.trail = m.stack[:n-1], m.trail[:c.trail]
	return c.pc, c.pos, c.took
}

// succeed ends a run: the splits on its way have not failed, and may be tried again.
func (m *machine) succeed(stack, trail int) {
	for _, v := range m.trail[trail:] {
		page, word, bit := m.bit(v)
		page[word] &^= bit
	}
	m.stack, m.trail = m.stack[:stack], m.trail[:trail]
}

// apart runs an assertion, a look or an atomic group and returns where the match goes on, -1 if it does not.
func (m *machine) apart(in *instruction, pos int, took uint8) int {
	switch in.op {
	case opAssert:
		if m.holds(in.assert, pos) {
			return pos
		}
		return -1
	case opAtomic: // what follows it fails at this place as often as it is tried
		if !m.visit(visit{pos, in.state | int(took)&m.program.loops}) {
			return -1
		}
		return m.run(in.x, pos, took)
	}
	page, word, bit := m.bit(visit{pos, in.state})
	matches := page[word]&bit != 0
	if !matches && m.run(in.x, pos, took) >= 0 {
		matches = true
		page[word] |= bit
	}
	if matches != in.negate {
		return pos
	}
	return -1
}

// holds tells whether an assertion holds at a place.
func (m *machine) holds(a assertion, pos int) bool {
	s := m.s
	switch a {
	case textStart:
		return pos == 0
	case textEnd:
		return pos == len(s)
	case lastLineEnd:
		return pos == len(s) || pos == len(s)-1 && s[pos] == '\n'
	case lineStart:
		return pos == 0 || pos < len(s) && s[pos-1] == '\n'
	case lineEnd:
		return pos == len(s) || s[pos] == '\n'
	}
	before, after := false, false
	if pos > 0 {
		r, _ := runeAt(s, runeBefore(s, pos))
		before = m.program.word.has(r)
	}
	if pos < len(s) {
		r, _ := runeAt(s, pos)
		after = m.program.word.has(r)
	}
	return (before != after) == (a == wordEdge)
}
