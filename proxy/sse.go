package proxy

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	sse "github.com/tmaxmax/go-sse"
)

// events is a response as server-sent events. Chunks come ready framed and are written as they are; the session under
// it sends what is rare. A comment keeps the connection alive whenever nothing has been sent for a while, which is
// also the only thing that sends headers before the first chunk.
type events struct {
	session *sse.Session
	w       *stampedWriter
	quiet   time.Duration // 0: no comments

	mu     sync.Mutex // one event at a time: the handler's, or the timer's comment
	last   time.Time  // when something was sent
	begun  bool       // headers and perhaps bytes are out
	ended  bool       // the terminator is out, or the client is gone
	err    error      // why writing failed, for good
	ticker *time.Timer
}

// newEvents prepares the response; nothing is sent yet. The caller must call close.
func newEvents(w http.ResponseWriter, r *http.Request, c Config) (*events, error) {
	stamped := &stampedWriter{ResponseWriter: w, control: http.NewResponseController(w), patience: secs(c.WriteTimeout)}
	session, err := sse.Upgrade(stamped, r)
	if err != nil {
		return nil, err
	}
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	if r.ProtoMajor == 1 {
		h.Set("Connection", "keep-alive")
	}
	e := &events{session: session, w: stamped, quiet: secs(c.SSEKeepAlive), last: time.Now()}
	if e.quiet > 0 {
		e.mu.Lock()
		e.ticker = time.AfterFunc(e.quiet, e.tick)
		e.mu.Unlock()
	}
	return e, nil
}

// header sets a header of the response, if the headers are still here.
func (e *events) header(name, value string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.begun {
		e.w.Header().Set(name, value)
	}
}

// write sends frames, each of which ends with a blank line, in one piece.
func (e *events) write(frames []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended || e.err != nil {
		return e.err
	}
	e.last = time.Now()
	if !e.begun {
		e.begun = true
		e.w.stamp()
	}
	e.w.extend(e.last)
	if _, err := e.w.Write(frames); err != nil {
		return e.broken(err)
	}
	return e.broken(e.w.FlushError())
}

// finish sends the last frames and the terminator, which comes once and last, in one piece.
func (e *events) finish(frames []byte) error {
	err := e.write(append(frames, doneFrame...))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	return err
}

// abandon ends a stream that has begun with an event that says why. If the client has nothing yet it keeps the stream
// from beginning and returns false.
func (e *events) abandon(why failure) bool {
	e.mu.Lock()
	begun, over := e.begun, e.ended || e.err != nil
	if !begun || why.Status == statusClientGone {
		e.ended = true
	}
	e.mu.Unlock()
	if begun && !over && why.Status != statusClientGone {
		m := &sse.Message{}
		m.AppendData(string(why.event().AppendJSON(nil)))
		e.send(m)
		e.finish(nil)
	}
	return begun
}

// started reports whether the client has headers, and perhaps bytes.
func (e *events) started() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.begun
}

// close stops the comments. Nothing is written once it has returned.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	if e.ticker != nil {
		e.ticker.Stop()
	}
}

// tick sends a comment if the stream has been quiet for long enough, and comes back when that may next be so.
func (e *events) tick() {
	e.mu.Lock()
	since := time.Since(e.last)
	idle := !e.ended && e.err == nil
	e.mu.Unlock()
	if !idle {
		return
	}
	if since >= e.quiet {
		m := &sse.Message{}
		m.AppendComment("ping")
		e.send(m)
		since = 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.ended && e.err == nil {
		e.ticker.Reset(e.quiet - since)
	}
}

// send puts a rare event through the session.
func (e *events) send(m *sse.Message) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended || e.err != nil {
		return
	}
	e.last, e.begun = time.Now(), true
	e.w.extend(e.last)
	err := e.session.Send(m)
	if err == nil {
		err = e.session.Flush()
	}
	e.broken(err)
}

// broken remembers the first failure to write.
func (e *events) broken(err error) error {
	if e.err == nil {
		e.err = cutOff(err)
	}
	return e.err
}

// cutOff says why a client has not got what was written: it takes nothing, or is no longer there.
func cutOff(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlowReader
	}
	return context.Canceled
}

// stampedWriter gives the response its content type at the last moment, as a stream or not at all, and moves the
// write deadline along: now and then, since each move costs a system timer.
type stampedWriter struct {
	http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration // 0: no deadline
	until    time.Time
	stamped  bool
}

func (w *stampedWriter) stamp() {
	if !w.stamped {
		w.stamped = true
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	}
}

// FlushError is what the session flushes with; it sets a content type of its own before it first does.
func (w *stampedWriter) FlushError() error {
	if !w.stamped {
		w.stamp()
	}
	return w.control.Flush()
}

func (w *stampedWriter) extend(now time.Time) {
	if w.patience > 0 && w.until.Sub(now) < w.patience*3/4 {
		w.until = now.Add(w.patience)
		w.control.SetWriteDeadline(w.until)
	}
}

// doneFrame ends every stream.
const doneFrame = "data: [DONE]\n\n"
