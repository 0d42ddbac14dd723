package tokenizer

import "math/bits"

// pattern matches the regular expressions that pre-tokenizers are made of: alternatives of runs of character classes,
// with a few literals and a look-ahead. It matches what a backtracking engine matches, but a run that gives nothing back
// to what follows is never tried twice.
type pattern struct {
	alts  []alternative
	start [utf8Starts]uint32 // by first byte: the alternatives that can begin there
}

// utf8Starts: a bit set per ASCII character, and one for all others.
const utf8Starts = 129

// alternative is a sequence of items.
type alternative []item

// item is one of: a run of a class, a choice of fixed sequences, a look-ahead, a hand-written scanner.
type item struct {
	set        *runeSet
	min, max   int  // of the run; max < 0: no limit
	possessive bool // the run never gives back
	backtrack  bool

	choice []fixed  // tried in order; min 0 makes it optional
	open   *runeSet // what a choice can begin with
	ahead  *runeSet
	custom func(s string, i int) int // the end of the match, -1 if there is none
	from   ranges                    // what custom can begin with
}

// fixed is a sequence of classes of one character each.
type fixed []*runeSet

// match returns the end of the match that begins at i, -1 if none does.
func (p *pattern) match(s string, i int) int {
	c := min(s[i], utf8Starts-1)
	for mask := p.start[c]; mask != 0; mask &= mask - 1 {
		if end := p.alts[bits.TrailingZeros32(mask)].match(s, i); end >= 0 {
			return end
		}
	}
	return -1
}

// find returns the first match at or after i; start is len(s) if there is none.
func (p *pattern) find(s string, i int) (start, end int) {
	for i < len(s) {
		if end := p.match(s, i); end >= 0 {
			return i, end
		}
		_, size := runeAt(s, i)
		i += size
	}
	return len(s), len(s)
}

func (a alternative) match(s string, i int) int {
	for k := range a {
		it := &a[k]
		switch {
		case it.set != nil:
			end, n := it.set.run(s, i, it.max)
			if n < it.min {
				return -1
			}
			if it.backtrack {
				return a[k+1:].giveBack(s, end, n-it.min)
			}
			i = end
		case it.choice != nil:
			if k == len(a)-1 {
				return it.first(s, i)
			}
			return a[k:].choose(s, i)
		case it.ahead != nil:
			if i < len(s) {
				if r, _ := runeAt(s, i); it.ahead.has(r) {
					return -1
				}
			}
		default:
			if i = it.custom(s, i); i < 0 {
				return -1
			}
		}
	}
	return i
}

// giveBack matches the rest after a run that ends at end, giving back up to spare of its characters.
func (a alternative) giveBack(s string, end, spare int) int {
	for {
		if e := a.match(s, end); e >= 0 || spare == 0 {
			return e
		}
		end = runeBefore(s, end)
		spare--
	}
}

// choose matches a sequence that begins with a choice.
func (a alternative) choose(s string, i int) int {
	for _, f := range a[0].choice {
		if at := f.match(s, i); at >= 0 {
			if end := a[1:].match(s, at); end >= 0 {
				return end
			}
		}
	}
	if a[0].min == 0 {
		return a[1:].match(s, i)
	}
	return -1
}

// first matches a choice that nothing follows.
func (it *item) first(s string, i int) int {
	if i < len(s) {
		if r, _ := runeAt(s, i); it.open.has(r) {
			for _, f := range it.choice {
				if end := f.match(s, i); end >= 0 {
					return end
				}
			}
		}
	}
	if it.min == 0 {
		return i
	}
	return -1
}

func (f fixed) match(s string, i int) int {
	for _, set := range f {
		if i >= len(s) {
			return -1
		}
		r, size := runeAt(s, i)
		if !set.has(r) {
			return -1
		}
		i += size
	}
	return i
}

// compile finishes a pattern: which alternatives can begin where, and which runs may have to give back.
func (p *pattern) compile() {
	for k, a := range p.alts {
		for j := range a {
			if a[j].choice != nil {
				open, _ := a[j : j+1].begin()
				a[j].open = newRuneSet(open)
			}
			a[j].backtrack = a[j].set != nil && !a[j].possessive && a[j].min != a[j].max && a[j+1:].wants(a[j].set.source)
		}
		begin, _ := a.begin()
		wide := begin.intersect(ranges{{utf8Starts - 1, 0x10ffff}})
		if len(wide) > 0 {
			p.start[utf8Starts-1] |= 1 << k
		}
		for _, r := range begin {
			for c := r.lo; c <= r.hi && c < utf8Starts-1; c++ {
				p.start[c] |= 1 << k
			}
		}
	}
}

// wants tells whether a sequence that fails might succeed if it were given characters of set back.
func (a alternative) wants(set ranges) bool {
	begin, always := a.begin()
	if always {
		return false
	}
	for _, it := range a {
		if it.ahead != nil || it.custom != nil {
			return true
		}
	}
	return len(begin.intersect(set)) > 0
}

// consumes tells whether a match is never empty.
func (a alternative) consumes() bool {
	for _, it := range a {
		if it.ahead == nil && it.min > 0 {
			return true
		}
	}
	return false
}

// begin returns the characters that a match can begin with, and whether the sequence matches anywhere.
func (a alternative) begin() (begin ranges, always bool) {
	for _, it := range a {
		switch {
		case it.set != nil:
			begin = begin.union(it.set.source)
		case it.choice != nil:
			for _, f := range it.choice {
				begin = begin.union(f[0].source)
			}
		case it.ahead != nil:
			return ranges{{0, 0x10ffff}}, false
		default:
			begin = begin.union(it.from)
		}
		if it.min > 0 {
			return begin, false
		}
	}
	return begin, true
}
