package main

import "fmt"

// tally counts what was compared.
type tally struct {
	known                                   []known
	seen                                    map[[2]int]bool // which places of which known difference
	show                                    bool
	compared, equal, alike, differ, unknown int
}

func (t *tally) add(name string, found []difference) {
	t.compared++
	before, alike := t.unknown, true
	for _, d := range found {
		stands, general := t.stands(name, d.at)
		alike = alike && general
		if !stands {
			t.unknown++
		}
		if t.show || !stands {
			fmt.Printf("%s: %s: leeway %.200s, smg %.200s\n", name, d.at, d.ours, d.theirs)
		}
	}
	switch {
	case len(found) == 0:
		t.equal++
	case alike:
		t.alike++
	case t.unknown == before:
		t.differ++
	}
}

// stands reports whether a difference is known, and whether as one that is general.
func (t *tally) stands(name, at string) (found, general bool) {
	if t.seen == nil {
		t.seen = map[[2]int]bool{}
	}
	for i, k := range t.known {
		for j, where := range k.Where {
			if match(where[0], name) && match(where[1], at) {
				t.seen[[2]int{i, j}] = true
				found, general = true, general || k.General
			}
		}
	}
	return found, general
}

// agree holds leeway's stream against its whole answer; there is no excuse for a difference.
func (t *tally) agree(name string, whole, stream map[string]any) {
	for _, d := range fields("says", stream, whole) {
		t.unknown++
		fmt.Printf("%s: leeway disagrees with itself at %s: stream %.200s, whole %.200s\n", name, d.at, d.ours, d.theirs)
	}
}

func (t *tally) report(dialect string, all bool) error {
	for i, k := range t.known {
		for j, where := range k.Where {
			if all && !t.seen[[2]int{i, j}] {
				fmt.Printf("%s: no longer seen: %s at %s (%s)\n", dialect, where[0], where[1], k.Reason)
			}
		}
	}
	fmt.Printf("%s: %d answers compared: %d equal, %d but for the general differences, %d with known ones of their own\n",
		dialect, t.compared, t.equal, t.alike, t.differ)
	if t.unknown > 0 {
		return fmt.Errorf("%d differences without a reason", t.unknown)
	}
	return nil
}
