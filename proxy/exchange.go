package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"
)

// exchange is one request's response on its way out: what was said of it so far, for the log and the metrics.
// It is the ResponseWriter of every handler.
type exchange struct {
	http.ResponseWriter
	control  *http.ResponseController
	unread   io.Reader // what is left of the request's body, where it must not be left; nil: it may be
	id       string    // the request id as the client sees it
	log      zerolog.Logger
	start    time.Time
	patience time.Duration // with a client that takes nothing of a body; 0: no end
	status   int           // 0: nothing sent
	code     string        // the error's code, "" for success
	worker   string        // that answers; "" if none does
	stream   *events       // nil: the response is one body
}

// begin makes the response a stream of events. Nothing is sent yet.
func (x *exchange) begin(r *http.Request, c Config) (*events, error) {
	x.patience = 0 // events have deadlines of their own, and their timer writes, too
	e, err := newEvents(x, r, c)
	x.stream = e
	return e, err
}

// answerID names the answer: as the client wants, or after the id it gave its request, or by an id of our own. It is
// never what the worker knows it by.
func (x *exchange) answerID(prefix, wanted string) string {
	if wanted != "" {
		return wanted
	}
	if !strings.HasPrefix(x.id, prefix) {
		prefix = x.id + "-"
	}
	return newID(prefix)
}

// close stops what may still write to the response besides its handler.
func (x *exchange) close() {
	if x.stream != nil {
		x.stream.close()
	}
}

func (x *exchange) WriteHeader(status int) {
	if x.status == 0 && status >= 200 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// mouthful is how much of a body a client must take within the patience with it, in bytes.
const mouthful = 16 << 10

// Write sends a part of the response: a body piece by piece, each with a deadline of its own.
func (x *exchange) Write(p []byte) (n int, err error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	if x.patience == 0 {
		return x.ResponseWriter.Write(p)
	}
	for wrote := 0; n < len(p) && err == nil; n += wrote {
		x.control.SetWriteDeadline(time.Now().Add(x.patience))
		wrote, err = x.ResponseWriter.Write(p[n:min(n+mouthful, len(p))])
	}
	return n, err
}

// FlushError sends the headers if they are still here.
func (x *exchange) FlushError() error {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	return x.control.Flush()
}

// Unwrap lets a ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// fail answers with the error: as a response or as the last event of a stream that has begun. A client that seems gone
// may have closed one direction only and still read: it must not take a stream that was cut for one that has ended.
func (x *exchange) fail(err error) {
	f := asFailure(err)
	x.code = f.Code
	switch {
	case f.Status == statusClientGone:
		x.log.Debug().Str("code", f.Code).Msg("client gone")
	case f.Status >= 500:
		strIf(x.log.Warn().Err(err).Int("status", f.Status).Str("code", f.Code), "worker", x.worker).Msg("request failed")
	}
	switch {
	case x.stream != nil && x.stream.abandon(f):
		if f.Status == statusClientGone {
			panic(http.ErrAbortHandler)
		}
	case x.status == 0:
		x.hearOut()
		f.write(x)
	}
}

// hearOut reads what is left of a body, for a while. An answer that does not wait for it resets the stream or connection,
// and clients lose the answer over that.
func (x *exchange) hearOut() {
	const most, patience = 64 << 20, time.Second
	if x.unread == nil {
		return
	}
	x.control.SetReadDeadline(time.Now().Add(patience))
	io.CopyN(io.Discard, x.unread, most)
}

// strIf adds a value under a key; nothing where it is "".
func strIf(event *zerolog.Event, key, value string) *zerolog.Event {
	if value == "" {
		return event
	}
	return event.Str(key, value)
}

// handler is a step that may end in an error; exchange.fail is where it becomes a response.
type handler func(x *exchange, r *http.Request) error

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	if err := h(x, r); err != nil {
		x.fail(err)
	}
}

// readBody reads the whole body, which also lets net/http watch for the client's leaving. A body that breaks off is one
// whose client has left.
func readBody(r *http.Request) ([]byte, error) {
	var buf bytes.Buffer
	if 0 < r.ContentLength && r.ContentLength <= smallBody {
		buf.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(r.Body)
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case err == nil, tooLarge, errors.Is(err, os.ErrDeadlineExceeded):
		return buf.Bytes(), err
	case r.Context().Err() != nil:
		return nil, context.Cause(r.Context())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, context.Canceled
	}
	return nil, errBadBody
}
