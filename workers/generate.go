package workers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"leeway/workers/engine"
)

const (
	// abortDeadline bounds the call that stops a request nobody waits for any more.
	abortDeadline = 2 * time.Second
	// lingering is how long a worker may take to end a stream whose last word has come.
	lingering = time.Second
)

// Stream is the answer to one request. One goroutine reads it; Close may be called from any, any number of times.
type Stream struct {
	worker *worker
	client engine.Client
	id     string
	answer engine.Stream
	ctx    context.Context // ends with the caller's until Settle, and with the stream
	cancel context.CancelCauseFunc
	unhook func() bool
	left   int // choices that have not ended; the reader's own
	ended  []bool
	state  atomic.Uint32
	closed atomic.Bool

	sent     time.Time
	ticket   ticket
	again    bool // the request has failed on this worker before: that counts once
	outcome  atomic.Uint32
	tokens   int // of the prompt
	streamed bool
	waits    atomic.Bool // the reader waits for the worker
	begun    atomic.Bool // something has come
}

// What has become of a request. It runs once.
const (
	unsent uint32 = iota
	running
	complete
	aborted
)

// Generate sends a request to a target of the fleet. Its ID is replaced by one of the gateway's own, new for each
// attempt, because an engine may refuse one that it has seen. The caller owes the stream a Close; if the answer has
// not ended by then, or when ctx ends, the worker is told to stop.
func (p *Pool) Generate(ctx context.Context, id string, req *engine.Request) (*Stream, error) {
	return p.generate(ctx, id, req, false)
}

// GenerateAgain is Generate for a request that has failed on this target before. Another failure says no more of the
// worker than the first did, and is not held against it.
func (p *Pool) GenerateAgain(ctx context.Context, id string, req *engine.Request) (*Stream, error) {
	return p.generate(ctx, id, req, true)
}

func (p *Pool) generate(ctx context.Context, id string, req *engine.Request, again bool) (*Stream, error) {
	t, ok := (*p.targets.Load())[id]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrUnknownWorker, id)
	}
	sent := *req
	sent.ID, sent.Rank = "leeway-"+rand.Text(), t.rank
	choices := max(req.Sampling.N, 1)
	s := &Stream{
		worker: t.worker, id: sent.ID, left: choices, ended: make([]bool, choices),
		sent: time.Now(), again: again, tokens: len(req.Tokens), streamed: req.Stream,
	}
	var err error
	if s.client, s.ticket, err = t.worker.begin(s); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.unhook = context.AfterFunc(ctx, func() { s.leave(context.Cause(ctx)) })
	if s.answer, err = s.client.Generate(s.ctx, &sent); err != nil {
		defer s.Close()
		return nil, s.blame(err)
	}
	s.state.Store(running)
	if s.ctx.Err() != nil {
		s.abort()
	}
	return s, nil
}

// leave gives a request up. An abort must not be seen at the worker before it is here.
func (s *Stream) leave(cause error) {
	s.cancel(cause)
	s.abort()
}

// blame charges a failed call to the worker, unless it failed because its own context had ended.
func (s *Stream) blame(err error) error {
	if s.ctx.Err() != nil {
		return givenUp(context.Cause(s.ctx))
	}
	s.worker.fail(err)
	if !s.again {
		s.outcome.Store(uint32(blame(err)))
	}
	if e, ok := err.(*engine.Error); ok && !s.begun.Load() {
		early := *e
		early.Early = true
		return &early
	}
	return err
}

// ID is the request's id at the worker.
func (s *Stream) ID() string { return s.id }

// Recv fills d with the next part of the answer, as engine.Stream does, but io.EOF now means that every choice has
// ended well. An answer that is cut short, or that the engine ended for a reason of its own, is an error.
func (s *Stream) Recv(d *engine.Delta) error {
	s.waits.Store(true)
	err := s.answer.Recv(d)
	s.waits.Store(false)
	switch {
	case s.left == 0: // nothing that comes after the whole answer can spoil it
		return io.EOF
	case s.ctx.Err() != nil:
		return givenUp(context.Cause(s.ctx))
	case err == io.EOF:
		return s.failure("the stream ended before the answer did")
	case err != nil:
		if !isTransport(err) { // the worker ended it: there is nothing left to stop
			s.state.CompareAndSwap(running, complete)
		}
		return s.blame(err)
	case d.Index >= len(s.ended):
		return s.failure(fmt.Sprintf("choice %d was never asked for", d.Index))
	case s.ended[d.Index]:
		return s.failure(fmt.Sprintf("choice %d goes on after its end", d.Index))
	}
	if !s.begun.Load() {
		s.begin(d)
	}
	if !s.worker.spoke.Load() {
		s.worker.spoke.Store(true)
	}
	if d.Done {
		return s.endChoice(d)
	}
	return nil
}

// begin notes that the prompt is computed. How long that took tells how fast the worker is, if that was all it did.
func (s *Stream) begin(d *engine.Delta) {
	s.begun.Store(true)
	if s.streamed {
		took := time.Since(s.sent)
		s.worker.mu.Lock()
		defer s.worker.mu.Unlock()
		s.worker.pulse.prefilled(s.tokens-d.CachedTokens, took)
	}
}

// givenUp is what a reader gets once its own context has ended: the worker is not to blame.
func givenUp(cause error) error {
	code := engine.Canceled
	if errors.Is(cause, context.DeadlineExceeded) {
		code = engine.DeadlineExceeded
	}
	return &engine.Error{Code: code, Message: "the request was given up", Cause: cause}
}

// endChoice notes the end of a choice. "abort" here was not ours: once we abort, nobody reads.
func (s *Stream) endChoice(d *engine.Delta) error {
	if d.FinishReason == "error" || d.FinishReason == "abort" {
		return s.failure(fmt.Sprintf("the engine ended choice %d: %s", d.Index, d.FinishReason))
	}
	s.ended[d.Index] = true
	if s.left--; s.left == 0 {
		s.state.CompareAndSwap(running, complete)
		s.outcome.Store(uint32(success))
		s.worker.heard()
	}
	return nil
}

// failure is an answer that broke the protocol or was broken off, whatever the status says.
func (s *Stream) failure(message string) error {
	return s.blame(&engine.Error{Code: engine.Internal, Message: message, Cause: ErrBrokenAnswer})
}

// Close gives the worker back, and stops it if the answer has not ended.
func (s *Stream) Close() {
	if s.closed.Swap(true) {
		return
	}
	s.unhook()
	s.leave(context.Canceled)
	s.worker.end(s, s.ticket, outcome(s.outcome.Load()))
}

// Stop is Close for a reader that has all it wants before the worker has said all.
func (s *Stream) Stop() {
	s.outcome.Store(uint32(success))
	s.Close()
}

// Settle is Close for a reader to whom the whole answer has come. The worker, which has mostly done so already, ends the
// stream by itself; nobody waits for it.
func (s *Stream) Settle() {
	if s.left > 0 || s.ctx.Err() != nil {
		s.Close()
		return
	}
	if s.closed.Swap(true) {
		return
	}
	s.unhook()
	s.worker.end(s, s.ticket, success)
	s.worker.start(func() {
		late := time.AfterFunc(lingering, func() { s.cancel(context.Canceled) })
		defer late.Stop()
		var d engine.Delta
		for s.answer.Recv(&d) == nil {
		}
		s.cancel(context.Canceled)
	})
}

// abort tells the worker once to stop, unless the answer has ended. It does not wait for the worker.
func (s *Stream) abort() {
	if !s.state.CompareAndSwap(running, aborted) {
		return
	}
	s.worker.start(func() {
		ctx, cancel := context.WithTimeout(context.Background(), abortDeadline)
		defer cancel()
		if err := s.client.Abort(ctx, s.id); err != nil {
			s.worker.log.Debug().Err(err).Str("request", s.id).Msg("abort failed")
		}
	})
}

// start does what is left of a request, while the connection lasts. Whatever ends the connection ends that as well.
func (w *worker) start(end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.ends.Go(end)
	}
}

// begin counts a request in, if the worker takes any. s is nil for one that is no stream.
func (w *worker) begin(s *Stream) (client engine.Client, t ticket, err error) {
	w.judged(func(time.Time) {
		admitted := w.client != nil && w.state != Draining
		if admitted {
			t, admitted = w.breaker.admit(w.last)
		}
		if !admitted {
			err = fmt.Errorf("%w: %s", ErrNotReady, w.spec.URL)
			return
		}
		client = w.client
		if w.active++; s != nil {
			w.streams[s] = struct{}{}
		}
		if w.pulse.wedged {
			count("smg_worker_liveness_fallback_total", "stage", "selection")
		}
		w.gauges.active.Set(float64(w.active))
		w.gauges.requests.Inc()
	})
	return client, t, err
}

// end counts a request out, with what it says of the worker; the last one lets a removed worker go.
func (w *worker) end(s *Stream, t ticket, o outcome) {
	w.judged(func(now time.Time) {
		delete(w.streams, s)
		o = w.charge(now, s, o)
		w.gauges.ended(o)
		w.breaker.end(now, t, o)
		w.active--
		w.gauges.active.Set(float64(w.active))
		if w.state == Draining && w.active == 0 {
			close(w.drained)
		}
	})
}

// fail counts a failed request, and doubts the worker where the failure may be its own.
func (w *worker) fail(err error) {
	kind, code := "engine_error", codeOf(err)
	switch {
	case isTransport(err):
		kind = "upstream_reset"
	case code == engine.Unauthenticated || code == engine.PermissionDenied:
		kind = "credentials_refused"
		w.log.Error().Err(err).Msg("the worker refuses the gateway, which has no credentials for it")
	}
	w.gauges.spoilt(kind)
	if blame(err) != neutral {
		w.mu.Lock()
		w.blamed = err.Error()
		w.mu.Unlock()
	}
	w.doubt(err)
}
