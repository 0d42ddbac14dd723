package proxy

import (
	"unicode/utf8"

	"leeway/openai"
	"leeway/openai/tokenizer"
	"leeway/workers/engine"
)

// logprobQueue holds the log probabilities of tokens whose text has not gone out yet: a character may need the next
// token, and a stop string may hold text back or swallow it.
type logprobQueue struct {
	entries  []openai.TokenLogprob
	spans    []span // of each entry's text
	decoded  extent
	released int // bytes that the stops have let go of
}

// span is where text begins and how much must have been released for all of it to be out, in bytes.
type span struct{ begin, end int }

// extent is how much text the decoder has given.
type extent struct{ bytes, characters int }

func (q *logprobQueue) decode(text []byte) {
	q.decoded.bytes += len(text)
	q.decoded.characters += utf8.RuneCount(text)
}

// add queues the entry of the token that has just been decoded; before is what had been decoded without it. A token
// without text of its own goes with the next.
func (q *logprobQueue) add(tokens *tokenizer.Tokenizer, l *engine.Logprob, before extent) {
	end := q.decoded.bytes
	if end == before.bytes {
		end++
	}
	entry := tokenLogprob(tokens, l)
	entry.Offset = before.characters
	q.entries = append(q.entries, entry)
	q.spans = append(q.spans, span{before.bytes, end})
}

// ready returns the entries whose text has been released.
func (q *logprobQueue) ready() []openai.TokenLogprob {
	n := 0
	for n < len(q.spans) && q.spans[n].end <= q.released {
		n++
	}
	return q.first(n)
}

// last returns the entries that are left when no more text is to come: all, or those of which some text was released
// before a stop string.
func (q *logprobQueue) last(stopped bool) []openai.TokenLogprob {
	n := len(q.spans)
	for stopped && n > 0 && q.spans[n-1].begin >= q.released {
		n--
	}
	return q.first(n)
}

func (q *logprobQueue) first(n int) []openai.TokenLogprob {
	if n == 0 {
		return nil
	}
	return q.entries[:n:n]
}

// drop forgets the first n entries.
func (q *logprobQueue) drop(n int) {
	q.entries, q.spans = q.entries[n:], q.spans[n:]
}

func tokenLogprob(tokens *tokenizer.Tokenizer, l *engine.Logprob) openai.TokenLogprob {
	one := func(id uint32) string { return string(tokens.AppendBytes(nil, id)) }
	out := openai.TokenLogprob{Token: one(l.Token), Logprob: float32(l.Value)}
	for _, t := range l.Top {
		out.Top = append(out.Top, openai.TopLogprob{Token: one(t.Token), Logprob: float32(t.Value)})
	}
	return out
}
