package sim

import (
	"slices"
	"strings"

	"leeway/workers/engine"
)

// answer is all that a sequence will say, decided when it is admitted.
type answer struct {
	tokens       []uint32
	finish       string // stop, length, abort
	matchedToken *uint32
	matchedStop  string
	// eos says that the matched token is the model's own end.
	eos bool
}

// cut shortens the answer to n tokens, for want of memory.
func (a *answer) cut(n int) {
	*a = answer{tokens: a.tokens[:min(n, len(a.tokens))], finish: "length"}
}

// ending is what may end an answer, as a dialect's engine sees it.
type ending struct {
	limit   int
	eos     []uint32
	text    func(id uint32) string // nil: stop strings are not the engine's affair
	minimum int
	stops   []string
	stopIDs []uint32
	ignore  bool
}

// endingOf reads from a request what may end its answer. A maximum beyond the context is clipped without a word, as
// the real engines do, and only the dialects whose engines look at text get stop strings.
func endingOf(o Options, v *voice, req *engine.Request) ending {
	s := &req.Sampling
	e := ending{
		limit: max(o.ContextLength-len(req.Tokens), 1), eos: v.eos, minimum: s.MinTokens,
		stopIDs: s.StopTokenIDs, ignore: s.IgnoreEOS,
	}
	if o.Canned { // a benchmark counts on every token that it asks for
		e.ignore = true
		if s.MaxTokens == nil {
			e.limit = min(e.limit, o.OutputTokens)
		}
	}
	if s.MaxTokens != nil {
		e.limit = min(e.limit, *s.MaxTokens)
	}
	if o.dialect() != engine.SGLang && len(s.Stop) > 0 {
		e.stops, e.text = s.Stop, v.decoder()
	}
	return e
}

// write says the words of the reply and then the end of the text, until something ends it. Where nothing may end it
// yet, the reply begins again.
func (e ending) write(reply []uint32) answer {
	a := answer{finish: "length"}
	var said strings.Builder
	for i := 0; len(a.tokens) < e.limit; i++ {
		id := e.next(reply, i)
		a.tokens = append(a.tokens, id)
		if len(a.tokens) < e.minimum {
			continue
		}
		isEOS := !e.ignore && slices.Contains(e.eos, id)
		if isEOS || slices.Contains(e.stopIDs, id) {
			a.finish, a.matchedToken, a.eos = "stop", &id, isEOS
			return a
		}
		if e.text == nil {
			continue
		}
		said.WriteString(e.text(id))
		if stop := firstStop(said.String(), e.stops); stop != "" {
			a.finish, a.matchedStop = "stop", stop
			return a
		}
	}
	return a
}

// next is the token at position i: of the reply, or the end token once the reply is said and the end is allowed.
func (e ending) next(reply []uint32, i int) uint32 {
	ended := i >= len(reply) && !e.ignore && i+1 >= e.minimum
	switch {
	case ended && len(e.eos) > 0:
		return e.eos[0]
	case len(reply) == 0:
		return 100 + uint32(i)
	default:
		return reply[i%len(reply)]
	}
}

// firstStop finds the stop string that begins first in the text, "" if none is there.
func firstStop(text string, stops []string) string {
	first, at := "", -1
	for _, s := range stops {
		if i := strings.Index(text, s); s != "" && i >= 0 && (at < 0 || i < at) {
			first, at = s, i
		}
	}
	return first
}

// logprobs makes up the probabilities of tokens from position at on: plausible, and the same each time.
func logprobs(tokens []uint32, at, top, vocab int) []engine.Logprob {
	out := make([]engine.Logprob, 0, len(tokens))
	for i, id := range tokens {
		mix := (uint64(id)*2654435761 + uint64(at+i)*40503) % 997
		lp := engine.Logprob{Token: id, Value: -float64(mix+1) / 400}
		for k := range top {
			lp.Top = append(lp.Top, engine.TopLogprob{
				Token: (id + uint32(k)) % uint32(max(vocab, 1)), Value: lp.Value - float64(k)*0.7,
			})
		}
		out = append(out, lp)
	}
	return out
}
