package tokenizer

// encoder is one goroutine's state while it encodes: the ids so far, and room that is kept for the next text.
type encoder struct {
	t       *Tokenizer
	ids     []uint32
	words   *wordCache
	merge   mergeScratch
	lattice lattice
	normal  [2][]byte // the normalizers write from one into the other
	stage   [][]byte  // text that a pre-tokenizer rewrote
	mapped  []byte    // a word with the mark of continued ones
	cuts    []cut     // where the text may be cut, when wanted
	marking bool
}

// cut is a place before an added token: the ids up to there do not depend on what follows, as long as the same token
// comes, which the text up to its end and a little further decides.
type cut struct{ text, ids, decided int }

// keepRoom bounds what an encoder keeps between texts.
const keepRoom = 4 << 20

func (t *Tokenizer) newEncoder() *encoder {
	return &encoder{t: t, words: new(wordCache), stage: make([][]byte, len(t.stages))}
}

// trim drops room that an unusually long text has made.
func (e *encoder) trim() {
	e.ids, e.cuts, e.marking = nil, e.cuts[:0], false
	for i := range e.normal {
		e.normal[i] = keep(e.normal[i])
	}
	for i := range e.stage {
		e.stage[i] = keep(e.stage[i])
	}
	if cap(e.merge.ranks) > keepRoom/16 {
		e.merge = mergeScratch{}
	}
	if cap(e.lattice.best) > keepRoom/16 {
		e.lattice = lattice{}
	}
}

func keep(room []byte) []byte {
	if cap(room) > keepRoom {
		return nil
	}
	return room[:0]
}

// text encodes s from an offset that is 0 or a cut: it cuts out the added tokens that are looked for in the text as it
// came, and hands on the pieces between.
func (e *encoder) text(s string, from int) {
	m := e.t.added
	done := from
	for m != nil {
		start, end, resume, token := m.next(s, from, done)
		if start > done {
			e.piece(s[done:start], done == 0)
		}
		if token == nil {
			return
		}
		// Encoding can only be taken up again before the whole token: one that begins in white space may lie in what
		// another has taken.
		if e.marking && resume-len(token.Content) >= done && start > 0 {
			e.cuts = append(e.cuts, cut{start, len(e.ids), resume})
		}
		if start < end {
			e.ids = append(e.ids, token.ID)
		}
		done, from = end, resume
	}
	if done < len(s) {
		e.piece(s[done:], done == 0)
	}
}

// piece normalizes the text between two added tokens and cuts out those that are looked for in normalized text. first
// tells whether it begins where the whole text begins.
func (e *encoder) piece(s string, first bool) {
	room, head := 0, 0
	if first {
		head = e.t.headOf(s)
	}
	for _, n := range e.t.normalizers {
		out, verdict := n.apply(e.normal[room][:0], s)
		if verdict == same {
			continue
		}
		e.normal[room] = out
		s = view(out)
		if verdict == cropped {
			head = 0
		}
		room ^= 1
	}
	m := e.t.addedNormal
	done, from := 0, 0
	for m != nil {
		start, end, resume, token := m.next(s, from, done)
		if start > done {
			e.feed(0, s[done:start], head-done)
		}
		if token == nil {
			return
		}
		if start < end {
			e.ids = append(e.ids, token.ID)
		}
		done, from = end, resume
	}
	if done < len(s) {
		e.feed(0, s[done:], head-done)
	}
}

// headOf returns how many bytes of a text that has been normalized come from its first character.
func (t *Tokenizer) headOf(s string) int {
	if !t.severalHeads {
		return 1 // no stage sees a piece that begins inside it
	}
	_, size := runeAt(s, 0)
	head := []byte(s[:size])
	for _, n := range t.normalizers {
		if out, verdict := n.apply(nil, string(head)); verdict != same {
			head = out
		}
	}
	return max(len(head), 1)
}

// feed hands a piece to the pre-tokenizer of the given number, or to the model after the last.
func (e *encoder) feed(stage int, s string, head int) {
	switch {
	case s == "":
	case stage == len(e.t.stages):
		e.t.model.encode(e, s)
	default:
		e.t.stages[stage].split(e, stage, s, head)
	}
}
