package proxy

import (
	"leeway/openai"
	"leeway/openai/tokenizer"
	"leeway/workers/engine"
)

// plan is what a request asks of its answer: how ids become text, where it ends, and what is read out of it.
type plan struct {
	tokens       *tokenizer.Tokenizer
	n            int
	stops        []string // stop strings
	stopTokens   []uint32 // ids that end a choice and are not shown
	noStopTrim   bool
	skipSpecial  bool
	thoughts     string // the parser of reasoning; "": none
	startsInside bool   // the prompt has opened a thought
	thoughtsLast bool   // a thought is kept until it ends
	thoughtsSaid bool   // thoughts are content, and keep their markers
	calls        *callPlan
	keepIDs      bool // the client wants the ids as well
	alternatives int  // to each token that the client wants to see; an engine may send more
}

// answer turns the deltas of one request into parts. It counts tokens by the ids it is given and by nothing else.
type answer struct {
	choices []choice
	open    int // choices that have not ended
	ours    int // tokens of the prompt as sent
	prompt  int // as the worker counts; 0: not reported
	cached  int
	parts   []part // of the last call; reused

	earlier *answer // to the prompt before, in the same response; nil: none
	first   int     // the index of the first choice
}

func newAnswer(p *plan, ours int, earlier *answer) (*answer, error) {
	a := &answer{choices: make([]choice, p.n), open: p.n, ours: ours, earlier: earlier}
	if earlier != nil {
		a.first = earlier.first + len(earlier.choices)
	}
	for i := range a.choices {
		c := &a.choices[i]
		*c = choice{plan: p, index: a.first + i, decoder: p.tokens.NewDecoder(p.skipSpecial), stops: stops{words: p.stops}}
		var err error
		if p.thoughts != "" {
			if c.reasoning, err = p.thoughtsParser(); err != nil {
				return nil, err
			}
		}
		if p.calls != nil {
			if c.tools, err = p.calls.parser(); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

// add takes the next delta and returns what it says; the parts hold until the next call. Deltas of a choice that has
// ended here, or that nobody asked for, say nothing.
func (a *answer) add(d *engine.Delta) []part {
	a.parts = a.parts[:0]
	a.prompt, a.cached = max(a.prompt, d.PromptTokens), max(a.cached, d.CachedTokens)
	if d.Index < 0 || d.Index >= len(a.choices) || a.choices[d.Index].ended {
		return a.parts
	}
	c := &a.choices[d.Index]
	a.parts = c.add(a.parts, d)
	if c.ended {
		a.open--
	}
	return a.parts
}

// done reports whether every choice has ended, so that the worker has nothing more to say.
func (a *answer) done() bool { return a.open == 0 }

// stopped reports whether a choice has ended here while the worker goes on with it.
func (a *answer) stopped() bool {
	for i := range a.choices {
		if a.choices[i].ended && !a.choices[i].done {
			return true
		}
	}
	return false
}

// last returns the final part of every choice of the response, in order.
func (a *answer) last() []part {
	var all []part
	if a.earlier != nil {
		all = a.earlier.last()
	}
	for i := range a.choices {
		all = append(all, a.choices[i].last())
	}
	return all
}

// usage is what the response has cost so far.
func (a *answer) usage() openai.Usage {
	u := a.cost()
	if a.earlier == nil {
		return u
	}
	b := a.earlier.usage()
	return openai.Usage{
		PromptTokens: u.PromptTokens + b.PromptTokens, CompletionTokens: u.CompletionTokens + b.CompletionTokens,
		CachedTokens: u.CachedTokens + b.CachedTokens, ReasoningTokens: u.ReasoningTokens + b.ReasoningTokens,
		AcceptedPrediction: u.AcceptedPrediction + b.AcceptedPrediction, RejectedPrediction: u.RejectedPrediction + b.RejectedPrediction,
	}
}

// cost is what this answer has cost so far.
func (a *answer) cost() openai.Usage {
	u := openai.Usage{PromptTokens: a.prompt, CachedTokens: a.cached}
	if u.PromptTokens == 0 {
		u.PromptTokens = a.ours
	}
	u.CachedTokens = min(u.CachedTokens, u.PromptTokens) // a worker's mistake is not passed on
	for i := range a.choices {
		c := &a.choices[i]
		u.CompletionTokens += c.completion
		u.AcceptedPrediction += c.accepted
		u.RejectedPrediction += max(0, c.drafted-c.accepted)
		if c.reported > 0 {
			u.ReasoningTokens += c.reported
		} else {
			u.ReasoningTokens += c.thought
		}
	}
	return u
}
