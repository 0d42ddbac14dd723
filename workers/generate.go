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

// abortDeadline bounds the call that stops a request nobody waits for any more.
const abortDeadline = 2 * time.Second

// Stream is the answer to one request. One goroutine reads it; Close may be called from any, any number of times.
type Stream struct {
	worker *worker
	client engine.Client
	id     string
	answer engine.Stream
	ctx    context.Context
	cancel context.CancelFunc
	unhook func() bool
	left   int // choices that have not ended; the reader's own
	ended  []bool
	state  atomic.Uint32
	closed atomic.Bool
}

// What has become of a request. It leaves running once.
const (
	running uint32 = iota
	complete
	aborted
)

// Generate sends a request to a target of the fleet. Its ID is replaced by one of the gateway's own, new for each
// attempt, because an engine may refuse one that it has seen. The caller owes the stream a Close; if the answer has
// not ended by then, or when ctx ends, the worker is told to stop.
func (p *Pool) Generate(ctx context.Context, id string, req *engine.Request) (*Stream, error) {
	t, ok := (*p.targets.Load())[id]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrUnknownWorker, id)
	}
	client, err := t.worker.begin()
	if err != nil {
		return nil, err
	}
	sent := *req
	sent.ID, sent.Rank = "leeway-"+rand.Text(), t.rank
	choices := max(req.Sampling.N, 1)
	s := &Stream{worker: t.worker, client: client, id: sent.ID, left: choices, ended: make([]bool, choices)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	if s.answer, err = client.Generate(s.ctx, &sent); err != nil {
		defer s.cancel()
		t.worker.end()
		return nil, s.blame(err)
	}
	s.unhook = context.AfterFunc(s.ctx, s.abort) // not ctx: an abort must not be seen at the worker before it is here
	return s, nil
}

// blame charges a failed call to the worker, unless it failed because its own context had ended.
func (s *Stream) blame(err error) error {
	if s.ctx.Err() != nil {
		return givenUp(context.Cause(s.ctx))
	}
	s.worker.fail(err)
	return err
}

// ID is the request's id at the worker.
func (s *Stream) ID() string { return s.id }

// Recv fills d with the next part of the answer, as engine.Stream does, but io.EOF now means that every choice has
// ended well. An answer that is cut short, or that the engine ended for a reason of its own, is an error.
func (s *Stream) Recv(d *engine.Delta) error {
	err := s.answer.Recv(d)
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
	case d.Done:
		return s.endChoice(d)
	}
	if !s.worker.spoke.Load() {
		s.worker.spoke.Store(true)
	}
	return nil
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
		s.worker.heard()
	}
	return nil
}

// failure is an answer that broke the protocol or was broken off, whatever the status says.
func (s *Stream) failure(message string) error {
	err := &engine.Error{Code: engine.Internal, Message: message, Cause: ErrBrokenAnswer}
	s.worker.fail(err)
	return err
}

// Close gives the worker back, and stops it if the answer has not ended.
func (s *Stream) Close() {
	if s.closed.Swap(true) {
		return
	}
	s.unhook()
	s.abort()
	s.cancel()
	s.worker.end()
}

// abort tells the worker once to stop, unless the answer has ended. It does not wait for the worker.
func (s *Stream) abort() {
	if !s.state.CompareAndSwap(running, aborted) {
		return
	}
	s.worker.startAbort(func() {
		ctx, cancel := context.WithTimeout(context.Background(), abortDeadline)
		defer cancel()
		if err := s.client.Abort(ctx, s.id); err != nil {
			s.worker.log.Debug().Err(err).Str("request", s.id).Msg("abort failed")
		}
	})
}

// startAbort runs an abort while the connection lasts. Whatever ends the connection ends the request as well.
func (w *worker) startAbort(abort func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.aborts.Go(abort)
	}
}

// begin counts a request in, if the worker takes any.
func (w *worker) begin() (engine.Client, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client == nil || w.state == Draining {
		return nil, fmt.Errorf("%w: %s", ErrNotReady, w.spec.URL)
	}
	w.active++
	w.gauges.active.Set(float64(w.active))
	w.gauges.requests.Inc()
	return w.client, nil
}

// end counts a request out; the last one lets a removed worker go.
func (w *worker) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.active--
	w.gauges.active.Set(float64(w.active))
	if w.state == Draining && w.active == 0 {
		close(w.drained)
	}
}

// fail counts a failed request, and doubts the worker where the failure may be its own.
func (w *worker) fail(err error) {
	kind := "engine_error"
	if isTransport(err) {
		kind = "upstream_reset"
	}
	w.gauges.failed(kind)
	w.doubt(err)
}
