package tokenizer

// spacedLettersSrc is the part of ExaOne's pattern that is not a run of a class: letters with their marks, and single
// spaces between letters.
const spacedLettersSrc = `(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+`

// spacedLetters matches spacedLettersSrc. As nothing follows it in the pattern, it gives nothing back.
func spacedLetters(letter, mark *runeSet) func(s string, i int) int {
	return func(s string, i int) int {
		end, n := letter.run(s, i, 1)
		if n == 0 {
			return -1
		}
		for {
			at, letters := letter.run(s, end, -1)
			at, marks := mark.run(s, at, -1)
			if letters+marks == 0 && at < len(s) && s[at] == ' ' {
				at, letters = letter.run(s, at+1, 1)
			}
			if letters+marks == 0 {
				return end
			}
			end = at
		}
	}
}

// digitGroupsSrc is Command A's pattern for numbers: groups of three digits counted from the right, where a word ends
// after them.
const digitGroupsSrc = `\d{1,3}(?=(?:\d{3})*\b)`

// digitGroups isolates what digitGroupsSrc matches. A match looks at all digits to its right, so the run of digits is
// taken as a whole: one look for all its groups.
type digitGroups struct{ digit, word *runeSet }

func (g digitGroups) split(e *encoder, stage int, s string, head int) {
	done := 0
	for i := 0; i < len(s); {
		end, n := g.digit.run(s, i, -1)
		if n == 0 {
			_, size := runeAt(s, i)
			i += size
			continue
		}
		if _, more := g.word.run(s, end, 1); more > 0 {
			i = end
			continue
		}
		e.feed(stage+1, s[done:i], head-done)
		for i < end {
			next, _ := g.digit.run(s, i, (n-1)%3+1)
			e.feed(stage+1, s[i:next], head-i)
			n -= (n-1)%3 + 1
			i = next
		}
		done = end
	}
	e.feed(stage+1, s[done:], head-done)
}
