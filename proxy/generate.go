package proxy

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"leeway/routing"
	"leeway/workers"
	"leeway/workers/engine"
)

// generation is an answer under way on one worker. It begins with its first delta read.
type generation struct {
	stream *workers.Stream
	lease  *routing.Lease
	delta  engine.Delta
	sent   time.Time     // when the request went out
	ttft   time.Duration // until the first delta
}

// generate finds a worker that begins to answer. Where one fails before that, another is tried, as long as attempts are
// left and the client has nothing yet.
func (g *Gateway) generate(ctx context.Context, id string, p *prompt, out reply) (*generation, error) {
	var t trial
	for {
		lease, err := g.pick(id, p, t.tried)
		if err != nil {
			return nil, err
		}
		if t.spoilt(lease) {
			lease.Release()
			return nil, t.err
		}
		gen, err := g.begin(ctx, p, lease, slices.Contains(t.tried, lease.Target().ID), out)
		if err == nil {
			return gen, nil
		}
		g.end(lease, routing.Outcome{Error: asFailure(err).Code})
		if out.begun() {
			return nil, err
		}
		if err := g.next(ctx, p, &t, lease, err); err != nil {
			return nil, err
		}
	}
}

// trial is what has come of a request so far.
type trial struct {
	attempts int
	tried    []string // targets
	broken   []string // of these, those whose engine failed at it, and would again
	err      error    // the last failure
}

// spoilt says that the request has been chosen a worker again whose engine it broke, because there is no other.
func (t *trial) spoilt(lease *routing.Lease) bool {
	return slices.Contains(t.broken, lease.Target().ID)
}

// next notes a failed attempt and waits for the next one, or returns why there is none. Where nothing was sent there is
// nothing to wait for.
func (g *Gateway) next(ctx context.Context, p *prompt, t *trial, lease *routing.Lease, err error) error {
	if ctx.Err() != nil || !elsewhere(err) {
		return err
	}
	if t.attempts++; t.attempts >= g.config.attempts() {
		countExhausted(p.route)
		return err
	}
	t.err, t.tried = err, append(t.tried, lease.Target().ID)
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Code == engine.Internal && !e.Transport && !errors.Is(err, workers.ErrBrokenAnswer) {
		t.broken = append(t.broken, lease.Target().ID)
	}
	g.log.Debug().Err(err).Str("worker", lease.Target().ID).Msg("attempt failed")
	if errors.Is(err, workers.ErrNotReady) || errors.Is(err, workers.ErrUnknownWorker) {
		return nil
	}
	return g.pause(ctx, p, t.attempts)
}

// pause waits before the attempt after the given one.
func (g *Gateway) pause(ctx context.Context, p *prompt, attempt int) error {
	pause := g.config.backoff(attempt, rand.Float64())
	countRetry(p.route, pause, attempt)
	return sleep(ctx, pause)
}

func (g *Gateway) pick(id string, p *prompt, tried []string) (*routing.Lease, error) {
	start := time.Now()
	defer observeStage("WorkerSelection", start)
	return g.router.Pick(start, routing.Request{
		ID: id, Model: p.model.name, Tokens: p.tokens, Text: p.text, Key: p.key, Chat: p.route == "chat", Streaming: p.stream,
		N: p.plan.n, PlainText: p.plain, Exclude: tried,
	})
}

// begin sends the request to the leased worker, perhaps again, and waits for the first delta.
func (g *Gateway) begin(ctx context.Context, p *prompt, lease *routing.Lease, again bool, out reply) (*generation, error) {
	gen := &generation{lease: lease, sent: time.Now()}
	worker, _ := g.pool.Worker(lease.Target().ID)
	if err := g.announce(lease, p, worker.Dialect, out); err != nil {
		return nil, err
	}
	req := p.requestFor(worker.Dialect)
	send := g.pool.Generate
	if again {
		send = g.pool.GenerateAgain
	}
	var err error
	if gen.stream, err = send(ctx, lease.Target().ID, &req); err != nil {
		return nil, err
	}
	if err := gen.stream.Recv(&gen.delta); err != nil {
		gen.stream.Close()
		return nil, err
	}
	now := time.Now()
	gen.ttft = now.Sub(gen.sent)
	observeStage("RequestExecution", gen.sent)
	lease.FirstToken(now)
	return gen, nil
}

// requestFor fits the request to a dialect. SGLang's engine knows no stop strings: those that are one token stop it by
// id, and so that the others can stop it at all, its answer has to be watched as it comes.
func (p *prompt) requestFor(dialect engine.Dialect) engine.Request {
	req := p.request
	req.Tokens, req.Stream = p.tokens, p.stream
	if dialect != engine.SGLang || len(req.Sampling.Stop) == 0 {
		return req
	}
	req.Stream = true
	ids := append([]uint32(nil), req.Sampling.StopTokenIDs...)
	for _, stop := range req.Sampling.Stop {
		if one := p.plan.tokens.Encode(stop, false); len(one) == 1 {
			ids = append(ids, one[0])
		}
	}
	req.Sampling.Stop, req.Sampling.StopTokenIDs = nil, ids
	return req
}

// passedOn are the request headers that a worker may see.
var passedOn = [...]string{"traceparent", "tracestate"}

// metadata is what travels to the worker beside the request: our request id, and the trace that the request is part of.
func metadata(id string, h http.Header) map[string]string {
	m := map[string]string{"x-request-id": id}
	for _, name := range passedOn {
		if v := h.Get(name); v != "" && len(v) <= 512 && isPrintable(v) {
			m[name] = v
		}
	}
	return m
}

// announce tells the client by headers who is to answer, and which of its fields have no effect there; or refuses these.
func (g *Gateway) announce(lease *routing.Lease, p *prompt, speaks engine.Dialect, out reply) error {
	if g.config.WorkerHeader != "" {
		out.header(g.config.WorkerHeader, lease.Target().ID)
	}
	return g.tellIgnored(p.ignoredBy(speaks), out.header)
}

// tellIgnored names fields that have no effect in a header, or refuses them.
func (g *Gateway) tellIgnored(ignored []string, header func(name, value string)) error {
	if len(ignored) > 0 && g.config.UnsupportedFields == "refuse" {
		return unsupportedField(ignored[0])
	}
	const most = 20
	var names []string
	for _, f := range ignored[:min(len(ignored), most)] {
		names = append(names, cmp.Or(url.PathEscape(f), `""`)) // a header holds no more than ASCII
	}
	if len(names) > 0 {
		header("X-Leeway-Ignored-Parameters", strings.Join(names, ", "))
	}
	return nil
}

// ignoredBy names the fields that have no effect on an engine of this dialect.
func (p *prompt) ignoredBy(speaks engine.Dialect) []string {
	if speaks == engine.SGLang {
		return slices.Concat(p.ignored, p.seeds)
	}
	return p.ignored
}

// next reads the next delta.
func (gen *generation) next() error { return gen.stream.Recv(&gen.delta) }

// close stops the worker if it is still at work, and releases the lease with what came of it.
func (g *Gateway) close(gen *generation, a *answer, err error) {
	gen.stream.Close()
	outcome := routing.Outcome{PromptTokens: a.prompt, CachedTokens: a.cached, CompletionTokens: a.cost().CompletionTokens}
	if err != nil {
		outcome.Error = asFailure(err).Code
		countCut(err)
	}
	g.end(gen.lease, outcome)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// countCut counts an answer that ended before its time, by whose doing.
func countCut(err error) {
	e, fromWorker := errors.AsType[*engine.Error](err)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, errSlowReader):
		clientsGone.Inc()
	case errors.Is(err, workers.ErrBrokenAnswer):
		upstreamIncomplete.Inc()
	case fromWorker && (e.Transport || e.Code == engine.Unavailable):
		upstreamResets.Inc()
	case fromWorker:
		upstreamErrors.Inc()
	}
}
