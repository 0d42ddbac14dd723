package tokenizer

// longRun is the length from which on a run must not be in vain.
const longRun = 64

func (it *item) long() bool { return it.set != nil && (it.max < 0 || it.max > longRun) }

// linear tells whether matching all of a text takes time in proportion to its length: a long run that may be followed by
// nothing that matches must be one that a later alternative takes, and must not look for a second long run from every
// place that it gives back to.
func (p *pattern) linear() bool {
	for k, a := range p.alts {
		for j := range a {
			if !a[j].long() || a[j+1:].always() || a[j:].yields() {
				continue
			}
			if !p.covers(k+1, a[j].set) || a[j].backtrack && a[j+1:].longInVain() {
				return false
			}
		}
	}
	return true
}

func (a alternative) always() bool {
	_, always := a.begin()
	return always
}

// yields tells whether a is a run and a look-ahead that is content with any of its characters: if it is long enough, it
// matches all but for one.
func (a alternative) yields() bool {
	return len(a) == 2 && a[0].min <= 1 && a[0].backtrack && a[1].ahead != nil && len(a[1].ahead.source.intersect(a[0].set.source)) == 0
}

// longInVain tells whether a long run in a may be in vain.
func (a alternative) longInVain() bool {
	for j := range a {
		if a[j].long() && !a[j+1:].always() {
			return true
		}
	}
	return false
}

// covers tells whether an alternative from the given one on takes a run of the set whatever follows.
func (p *pattern) covers(from int, set *runeSet) bool {
	for _, a := range p.alts[from:] {
		for j := range a {
			if a[j].long() {
				if a[j].min <= 1 && (a[j+1:].always() || a[j:].yields()) && len(set.source.intersect(a[j].set.source.complement())) == 0 {
					return true
				}
				break
			}
			if a[j].min > 0 {
				break
			}
		}
	}
	return false
}
