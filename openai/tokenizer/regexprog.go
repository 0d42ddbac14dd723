package tokenizer

import (
	"encoding/binary"
	"fmt"
)

// opcode is what an instruction of a compiled regular expression does.
type opcode uint8

const (
	opSet      opcode = iota // take a character of the set
	opSetBack                // take the one before
	opSplit                  // go on at x; if that fails, at y
	opJump                   // to x
	opAssert                 // the place must be as it says
	opLook                   // what begins at x must match here, or must not; then on at y
	opAtomic                 // what begins at x must match; then on at y, from its end
	opIterate                // an iteration of a loop begins
	opIterated               // it ends: on at x, or at y if it took nothing
	opMatch                  // the end of the whole, a look or an atomic group
)

type instruction struct {
	op     opcode
	negate bool
	assert assertion
	loop   uint8 // of opIterate and opIterated: the loop's bit
	set    *runeSet
	x, y   int
	state  int // of opSplit, opLook and opAtomic: its number
}

const (
	maxProgram = 1 << 13
	maxStates  = 1 << 10 // bounds what matching remembers: a bit for each at every byte of the text
	maxLoops   = 3       // nested ones whose bodies can be empty
)

// program is a compiled regular expression.
type program struct {
	code   []instruction
	states int
	loops  int      // a bit for each loop that may be open at once and can be empty
	begin  *runeSet // what every match begins with; nil if it can be empty
	word   *runeSet
}

// programBuilder compiles nodes to instructions.
type programBuilder struct {
	program
	sets map[string]*runeSet // by their ranges
	back bool
	open int // loops whose bodies can be empty
	deep int // the most of them that are open at once
}

func newProgram(n *regexNode) (*program, error) {
	b := &programBuilder{program: program{word: mustClass("word")}, sets: map[string]*runeSet{}}
	b.add(n)
	b.emit(instruction{op: opMatch})
	switch {
	case b.deep > maxLoops:
		return nil, fmt.Errorf("%d nested loops whose bodies can be empty: at most %d are supported", b.deep, maxLoops)
	case len(b.code) > maxProgram || b.states<<b.deep > maxStates:
		return nil, fmt.Errorf("too many repeats and alternatives: %d steps, %d states; at most %d and %d are supported", len(b.code), b.states<<b.deep, maxProgram, maxStates)
	}
	b.states <<= b.deep
	b.program.loops = 1<<b.deep - 1
	for i := range b.code {
		b.code[i].state <<= b.deep
	}
	if !n.canBeEmpty() {
		b.begin = newRuneSet(n.appendBegin(nil).normalized())
	}
	return &b.program, nil
}

// emit appends an instruction and returns its place. A program that is too long is not written on.
func (b *programBuilder) emit(in instruction) int {
	if len(b.code) <= maxProgram {
		b.code = append(b.code, in)
	}
	return len(b.code) - 1
}

func (b *programBuilder) split() int {
	b.states++
	return b.emit(instruction{op: opSplit, state: b.states - 1})
}

// choose sets where a split goes: to the part, or past it first if it is lazy.
func (b *programBuilder) choose(split, part, past int, lazy bool) {
	if lazy {
		part, past = past, part
	}
	b.code[split].x, b.code[split].y = part, past
}

func (b *programBuilder) set(rs ranges) *runeSet {
	var key []byte
	for _, r := range rs {
		key = binary.AppendVarint(binary.AppendVarint(key, int64(r.lo)), int64(r.hi))
	}
	if b.sets[string(key)] == nil {
		b.sets[string(key)] = newRuneSet(rs)
	}
	return b.sets[string(key)]
}

func (b *programBuilder) add(n *regexNode) {
	if len(b.code) > maxProgram {
		return
	}
	switch n.kind {
	case nodeSet:
		op := opSet
		if b.back {
			op = opSetBack
		}
		b.emit(instruction{op: op, set: b.set(n.set)})
	case nodeCat:
		for i := range n.parts {
			if b.back {
				i = len(n.parts) - 1 - i
			}
			b.add(n.parts[i])
		}
	case nodeAlt:
		b.alternatives(n.parts)
	case nodeRepeat:
		b.repeat(n)
	case nodeAssert:
		b.emit(instruction{op: opAssert, assert: n.assert})
	default:
		b.apart(n)
	}
}

func (b *programBuilder) alternatives(parts []*regexNode) {
	var ends []int
	for _, part := range parts[:len(parts)-1] {
		split := b.split()
		b.add(part)
		ends = append(ends, b.emit(instruction{op: opJump}))
		b.choose(split, split+1, len(b.code), false)
	}
	b.add(parts[len(parts)-1])
	for _, at := range ends {
		b.code[at].x = len(b.code)
	}
}

// apart adds a look or an atomic group: its part ends in a match of its own.
func (b *programBuilder) apart(n *regexNode) {
	op, back := opAtomic, b.back
	if n.kind == nodeLook {
		op, b.back = opLook, n.back
	}
	b.states++
	at := b.emit(instruction{op: op, negate: n.negate, state: b.states - 1})
	b.add(n.parts[0])
	b.emit(instruction{op: opMatch})
	b.code[at].x, b.code[at].y = at+1, len(b.code)
	b.back = back
}

func (b *programBuilder) repeat(n *regexNode) {
	part := n.parts[0]
	for range n.min - 1 {
		b.add(part)
	}
	switch {
	case n.max < 0:
		b.loop(part, n.min > 0, n.lazy)
		return
	case n.min > 0:
		b.add(part)
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, b.split())
		b.add(part)
	}
	for _, split := range splits {
		b.choose(split, split+1, len(b.code), n.lazy)
	}
}

// loop adds an endless loop, which an iteration that takes nothing ends; once tells that the first must match.
func (b *programBuilder) loop(part *regexNode, once, lazy bool) {
	empty := part.canBeEmpty()
	if empty {
		b.open++
		b.deep = max(b.deep, b.open)
	}
	top := len(b.code)
	if !once {
		b.split()
	}
	body := len(b.code)
	bit := uint8(b.open)
	if empty {
		b.emit(instruction{op: opIterate, loop: bit})
	}
	b.add(part)
	var end int
	switch {
	case empty:
		end = b.emit(instruction{op: opIterated, loop: bit, x: top})
		b.open--
	case !once:
		b.emit(instruction{op: opJump, x: top})
	}
	if once {
		split := b.split()
		b.choose(split, body, len(b.code), lazy)
		if empty {
			b.code[end].x = split
		}
	} else {
		b.choose(top, body, len(b.code), lazy)
	}
	if empty {
		b.code[end].y = len(b.code)
	}
}
