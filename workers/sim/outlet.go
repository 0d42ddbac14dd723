package sim

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"leeway/workers/engine"
)

// outlet sends the parts of a call's answers, and does what the script says on the way.
type outlet struct {
	l      *life
	req    *engine.Request
	script script
	send   func(*part) error
	rank   int
	call   *call
	sent   int // tokens, over all choices
	cached int
	finish string
}

// answer runs the call to its end: what the script wants before the first token, then the tokens.
func (o *outlet) answer(ctx context.Context) error {
	if err := o.wait(ctx, o.script.delay); err != nil {
		return err
	}
	if err := o.strike(ctx); err != nil {
		return err
	}
	if err := o.speak(ctx); err != nil || o.script.linger == 0 {
		return err
	}
	return o.wait(ctx, o.script.linger)
}

// speak sends the answer.
func (o *outlet) speak(ctx context.Context) error {
	if o.l.w.o.Canned {
		return o.canned(ctx)
	}
	if err := o.l.submit(o.call); err != nil {
		return err
	}
	return o.follow(ctx)
}

// follow sends what the engine produces, as it does, until every choice is done.
func (o *outlet) follow(ctx context.Context) error {
	c := o.call
	open := len(c.choices)
	for open > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-o.l.engines.Done():
			return o.l.coreDead()
		case <-c.aborted:
			return errAborted
		case <-c.wake:
		}
		for _, ch := range c.choices {
			ended, err := o.forward(ctx, ch)
			if err != nil {
				return err
			}
			if ended {
				open--
			}
		}
	}
	return nil
}

// forward sends what a choice has new; ended when that was the last.
func (o *outlet) forward(ctx context.Context, ch *choice) (ended bool, err error) {
	if ch.sent < 0 {
		return false, nil
	}
	ready, done := ch.core.progress(ch)
	for ch.sent < ready && (done || ready-ch.sent >= o.script.chunk) {
		n := min(o.script.chunk, ready-ch.sent)
		if err := o.chunk(ctx, ch, n); err != nil {
			return false, err
		}
	}
	if !done {
		return false, nil
	}
	return true, o.complete(ch, ch.answer.finish)
}

// chunk sends the next n tokens of a choice, or only counts them where the whole answer comes at the end.
func (o *outlet) chunk(ctx context.Context, ch *choice, n int) error {
	if o.sent > 0 {
		if err := o.wait(ctx, o.script.tokenDelay); err != nil {
			return err
		}
		if err := o.strike(ctx); err != nil {
			return err
		}
	}
	first := ch.sent == 0
	ch.sent += n
	o.sent += n
	if f := o.script.finish; f != nil && o.sent >= f.After && f.After > 0 {
		if err := o.emit(ch, n, first); err != nil {
			return err
		}
		return o.broken(ch, f)
	}
	return o.emit(ch, n, first)
}

// emit sends the last n tokens of a choice, the prompt's log probabilities with the first.
func (o *outlet) emit(ch *choice, n int, first bool) error {
	if !o.req.Stream {
		return nil
	}
	p := o.part(ch, ch.sent-n, ch.sent)
	if first && o.req.PromptLogprobs {
		p.promptLP = logprobs(o.req.Tokens, 0, 0, o.l.w.voice.vocab)
	}
	return o.send(p)
}

// broken ends a choice with a reason that no answer should have.
func (o *outlet) broken(ch *choice, f *Fault) error {
	if err := o.complete(ch, f.Reason); err != nil {
		return err
	}
	return errOver
}

// complete sends the end of a choice. That of a stream repeats the last tokens, unless it was aborted.
func (o *outlet) complete(ch *choice, finish string) error {
	from := 0
	if o.req.Stream {
		from = max(ch.sent-o.script.chunk, 0)
	}
	if o.req.Stream && finish == "abort" {
		from = ch.sent
	}
	p := o.part(ch, from, ch.sent)
	p.done, p.finish = true, finish
	if f := o.script.finish; f != nil {
		p.finish = f.Reason
	}
	if p.finish != ch.answer.finish {
		p.answer = &answer{tokens: ch.answer.tokens, finish: p.finish}
	}
	if !o.req.Stream && o.req.PromptLogprobs {
		p.promptLP = logprobs(o.req.Tokens, 0, 0, o.l.w.voice.vocab)
	}
	o.cached, o.finish = ch.Cached, p.finish
	ch.sent = -1
	return o.send(p)
}

// abort ends every choice that is not done; tokens that were ready and not sent are never sent.
func (o *outlet) abort() error {
	for _, ch := range o.call.choices {
		ch.core.withdraw(ch)
	}
	if o.l.w.o.dialect() == engine.SGLang && o.l.w.o.servicer() != Rust {
		return status.Error(codes.Internal, "Request aborted")
	}
	for _, ch := range o.call.choices {
		if ch.sent < 0 {
			continue
		}
		if err := o.complete(ch, "abort"); err != nil {
			return err
		}
	}
	return nil
}

// part cuts the tokens from one position to another out of an answer, with the counters that go with them.
func (o *outlet) part(ch *choice, from, to int) *part {
	p := &part{index: ch.index, tokens: ch.answer.tokens[from:to], said: to, answer: &ch.answer, prompt: ch.Prompt, cached: ch.Cached}
	if o.script.noUsage {
		p.prompt, p.cached, p.said = 0, 0, 0
	}
	if o.req.Logprobs != nil {
		p.logprobs = logprobs(p.tokens, from, *o.req.Logprobs, o.l.w.voice.vocab)
	}
	return p
}

// forever is longer than any caller waits.
const forever = 1000 * time.Hour

// wait passes time; an error when the caller went away meanwhile, or aborted the call.
func (o *outlet) wait(ctx context.Context, d time.Duration) error {
	return pause(ctx, d, o.call.aborted)
}

// canned sends tokens on the beat of the worker's clock, the same for every stream, so that streams are in step.
func (o *outlet) canned(ctx context.Context) error {
	c := o.call
	for _, ch := range c.choices {
		ch.answer = endingOf(o.l.w.o, o.l.w.voice, o.req).write(o.l.w.voice.canned)
	}
	beat := o.l.w.o.TokenInterval
	next := o.l.started.Add(time.Since(o.l.started).Truncate(beat) + beat)
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	for open := len(c.choices); open > 0; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.aborted:
			return errAborted
		case <-timer.C:
		}
		next = next.Add(beat)
		timer.Reset(time.Until(next))
		for _, ch := range c.choices {
			ended, err := o.beat(ctx, ch)
			if err != nil {
				return err
			}
			if ended {
				open--
			}
		}
	}
	return nil
}

// beat sends the next token of a canned choice.
func (o *outlet) beat(ctx context.Context, ch *choice) (ended bool, err error) {
	if ch.sent < 0 {
		return false, nil
	}
	n := min(o.script.chunk, len(ch.answer.tokens)-ch.sent)
	if err := o.chunk(ctx, ch, n); err != nil || ch.sent < len(ch.answer.tokens) {
		return false, err
	}
	return true, o.complete(ch, ch.answer.finish)
}
