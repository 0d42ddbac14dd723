package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"leeway/workers/engine"
)

// part is a piece of an answer on its way out, which each dialect puts into a chunk or a complete.
type part struct {
	index    int
	tokens   []uint32 // new ones; of a complete of a stream, those of the last chunk once more
	said     int      // tokens of the index so far, these included
	answer   *answer
	prompt   int
	cached   int
	logprobs []engine.Logprob
	promptLP []engine.Logprob
	done     bool
	finish   string
}

// choice is one sample of a call at work in an engine. ready, done and answer belong to its core until done.
type choice struct {
	Job
	call   *call
	index  int
	core   *core
	tokens []uint32 // of the prompt, then of the answer too
	answer answer
	ready  int
	done   bool
	sent   int
}

// call is one Generate.
type call struct {
	req     *engine.Request
	choices []*choice
	wake    chan struct{}
	aborted chan struct{} // closed by the first Abort
}

// poke wakes the call's handler. One pending wake is enough: the handler looks at everything when it runs.
func (c *call) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// How a call may end early: with nothing more to say, with its last part said, or because an Abort named it.
var (
	errEnd     = errors.New("the stream ends here")
	errOver    = errors.New("the call is over")
	errAborted = errors.New("the call was aborted")
)

// generate runs one request and sends its parts. The error is the call's status.
func (l *life) generate(ctx context.Context, req *engine.Request, send func(*part) error) error {
	out := &outlet{l: l, req: req, script: l.w.script(req), send: send, rank: l.rankOf(req)}
	header, _ := metadata.FromIncomingContext(ctx)
	l.w.journal.add(Record{Act: Requested, ID: req.ID, Request: req, Header: header, Rank: out.rank})
	err := l.begin(ctx, req, out)
	return l.conclude(ctx, req, out, err)
}

// begin takes a request in, or turns it away, and sees it to its end. The call is known to Abort from the first
// moment on, also while nothing has come of it.
func (l *life) begin(ctx context.Context, req *engine.Request, out *outlet) error {
	if l.engines.Err() != nil {
		return l.coreDead()
	}
	if err := l.refuse(req); err != nil {
		return err
	}
	c := newCall(out.req, l.cores[out.rank])
	out.call = c
	if err := l.register(c, out.script.deaf); err != nil {
		return err
	}
	defer l.close(c)
	err := out.answer(ctx)
	if errors.Is(err, errAborted) {
		return out.abort()
	}
	return err
}

// conclude records how a call ended and gives its status.
func (l *life) conclude(ctx context.Context, req *engine.Request, out *outlet, err error) error {
	r := Record{Act: Finished, ID: req.ID, Rank: out.rank, Tokens: out.sent, Cached: out.cached, Detail: out.finish}
	switch {
	case l.ctx.Err() != nil:
		r.Act, r.Detail = Failed, "the worker was killed"
		err = status.Error(codes.Unavailable, "the worker is going away")
	case ctx.Err() != nil:
		r.Act, r.Detail = Canceled, ctx.Err().Error()
		err = status.FromContextError(ctx.Err()).Err()
	case errors.Is(err, errEnd):
		r.Act, r.Detail, err = Failed, "ended without a complete", nil
	case errors.Is(err, errOver):
		err = nil
	case err != nil:
		r.Act, r.Detail = Failed, err.Error()
	}
	l.w.journal.add(r)
	return err
}

// refuse turns away what no engine can run, as the servicers do; a fragile worker dies of it instead.
func (l *life) refuse(req *engine.Request) error {
	var fault string
	switch n := len(req.Tokens); {
	case n == 0:
		fault = "the prompt has no tokens"
	case n >= l.w.o.ContextLength:
		fault = fmt.Sprintf("the prompt has %d tokens and the context %d", n, l.w.o.ContextLength)
	case req.Sampling.N < 0 || req.Sampling.N > 1024:
		return status.Errorf(codes.InvalidArgument, "n: %d is not between 1 and 1024", req.Sampling.N)
	case req.Rank != nil && (*req.Rank < 0 || int(*req.Rank) >= len(l.cores)):
		return status.Errorf(codes.InvalidArgument, "data_parallel_rank %d: there are %d", *req.Rank, len(l.cores))
	}
	for _, id := range req.Tokens {
		if int(id) >= l.w.voice.vocab {
			fault = fmt.Sprintf("token id %d is outside the vocabulary of %d", id, l.w.voice.vocab)
			break
		}
	}
	if fault == "" {
		return nil
	}
	if l.w.o.Fragile {
		l.killCore()
		return l.coreDead()
	}
	return status.Error(codes.InvalidArgument, fault)
}

// newCall makes a call with one choice for each sample asked for.
func newCall(req *engine.Request, rank *core) *call {
	c := &call{req: req, wake: make(chan struct{}, 1), aborted: make(chan struct{})}
	for i := range max(req.Sampling.N, 1) {
		ch := &choice{call: c, index: i, core: rank, tokens: req.Tokens}
		ch.Prompt = len(req.Tokens)
		c.choices = append(c.choices, ch)
	}
	return c
}

// submit puts the choices of a call to work in their engine.
func (l *life) submit(c *call) error {
	keys := AppendKeys(nil, c.req.Tokens, l.w.o.BlockSize)
	for _, ch := range c.choices {
		ch.Keys = keys[:len(keys):len(keys)]
		if err := ch.core.submit(ch); err != nil {
			return status.Error(codes.InvalidArgument, err.Error())
		}
	}
	return nil
}

// close takes a call off the books and out of the engine.
func (l *life) close(c *call) {
	l.unregister(c)
	for _, ch := range c.choices {
		ch.core.withdraw(ch)
	}
}

// compose decides what a choice will say. Its core calls it, when the cache has been looked at.
func (l *life) compose(ch *choice) {
	req := ch.call.req
	reply := l.w.voice.reply(req, facts{
		addr: l.w.Addr(), dialect: l.w.o.dialect(), prompt: ch.Prompt, cached: ch.Cached,
		running: len(ch.core.engine.running) - 1, waiting: len(ch.core.engine.waiting),
	})
	ch.answer = endingOf(l.w.o, l.w.voice, req).write(reply)
	ch.Output = len(ch.answer.tokens)
	ch.tokens = append(ch.tokens[:len(ch.tokens):len(ch.tokens)], ch.answer.tokens...)
	ch.Keys = AppendKeys(ch.Keys, ch.tokens, l.w.o.BlockSize)
}

// rankOf is the rank that a request goes to: its own, or the one with the least to do.
func (l *life) rankOf(req *engine.Request) int {
	if req.Rank != nil {
		return min(max(int(*req.Rank), 0), len(l.cores)-1)
	}
	best, least := 0, l.cores[0].queued()
	for i, c := range l.cores[1:] {
		if n := c.queued(); n < least {
			best, least = i+1, n
		}
	}
	return best
}

// sleep waits; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool { return pause(ctx, d, nil) == nil }

// pause waits, and ends early with an error when ctx ends or the call is aborted.
func pause(ctx context.Context, d time.Duration, aborted <-chan struct{}) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-aborted:
		return errAborted
	case <-timer.C:
		return nil
	}
}
