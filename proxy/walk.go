package proxy

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"
)

// walk is the part of the journey that every endpoint shares: tokens → worker → deltas → parts → client. Several
// prompts are answered at once, in one response. Its end does not keep a worker: it is sent when all are free again.
func (g *Gateway) walk(x *exchange, r *http.Request, prompts []*prompt, out reply, c routed) error {
	answers := make([]*answer, len(prompts))
	var last *answer
	for i, p := range prompts {
		if n := p.request.Logprobs; n != nil {
			p.plan.alternatives = *n
		}
		var err error
		if last, err = newAnswer(&p.plan, len(p.tokens), last); err != nil {
			return err
		}
		p.request.Metadata = metadata(x.id, r.Header)
		p.key = cmp.Or(g.routingKey(r.Header), p.key)
		answers[i] = last
	}
	if err := g.relayAll(x, r.Context(), prompts, answers, out, c); err != nil {
		return err
	}
	err := out.finish(last.last(), last)
	countCut(err)
	return err
}

// relayAll answers all prompts.
func (g *Gateway) relayAll(x *exchange, ctx context.Context, prompts []*prompt, answers []*answer, out reply, c routed) error {
	t := &turns{x: x, reply: out}
	return x.together(ctx, len(prompts), func(ctx context.Context, i int) error {
		return g.relay(t, ctx, prompts[i], answers[i], c)
	})
}

// relay answers one prompt, but for the end of the response.
func (g *Gateway) relay(t *turns, ctx context.Context, p *prompt, a *answer, c routed) (err error) {
	gen, err := g.generate(ctx, t.x.id, p, t)
	if err != nil {
		return err
	}
	defer func() { g.close(gen, a, err) }()
	defer observeStage("ChatResponseProcessing", time.Now())
	t.name(gen.lease.Target().ID)
	for {
		if err := t.add(a, gen); err != nil {
			return err
		}
		if a.done() {
			break
		}
		if err := gen.next(); err != nil {
			return err
		}
	}
	if a.stopped() {
		localStops.Inc()
		gen.stream.Stop()
	}
	gen.stream.Settle()
	c.countAnswer(a.cost(), gen.ttft, time.Since(gen.sent))
	return nil
}

// turns lets the answers to several prompts into one response, a delta at a time: each may count what the others cost.
type turns struct {
	reply
	x  *exchange
	mu sync.Mutex
}

func (t *turns) begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.reply.begun()
}

func (t *turns) header(name, value string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reply.header(name, value)
}

// add passes on what an answer's newest delta says.
func (t *turns) add(a *answer, gen *generation) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.send(a.add(&gen.delta), a)
}

// name notes for the log which worker answers; of several prompts', one.
func (t *turns) name(worker string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.x.worker = worker
}
