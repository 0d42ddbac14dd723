package proxy

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
)

// observe is the outermost layer: it names the request, counts it, logs it, and survives its handler.
func (g *Gateway) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{ResponseWriter: w, control: http.NewResponseController(w), start: time.Now(), id: g.requestID(r), patience: secs(g.config.WriteTimeout)}
		if r.Header.Get("Expect") == "" { // else nothing is sent before it is asked for
			x.unread = r.Body
		}
		g.asked.Store(x.start.UnixNano())
		x.log = g.log.With().Str("request_id", x.id).Logger()
		w.Header().Set("X-Request-Id", x.id)
		defer g.account(x, r)
		defer x.close()
		defer recoverInto(x)
		next.ServeHTTP(x, r)
	})
}

// recoverInto turns a handler's panic into an error. A response that has begun cannot be mended: its connection is
// closed, which a client can tell from an end.
func recoverInto(x *exchange) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler {
		panic(p)
	}
	x.log.Error().Interface("panic", p).Bytes("stack", debug.Stack()).Msg("panic in a handler")
	begun := x.stream == nil && x.status != 0 || x.stream != nil && x.stream.started()
	x.fail(errPanic)
	if begun {
		panic(http.ErrAbortHandler)
	}
}

func (g *Gateway) account(x *exchange, r *http.Request) {
	path := "other"
	if c := chi.RouteContext(r.Context()); c != nil && c.RoutePattern() != "" && x.status != http.StatusNotFound {
		path = c.RoutePattern()
	}
	status, code, took := x.status, x.code, time.Since(x.start)
	switch {
	case code == "client_closed_request", code == "client_too_slow":
		status = statusClientGone
	case code != "" && status == http.StatusOK:
		code = "stream_error"
	}
	countResponse(r.Method, path, status, code, took)
	event := x.log.Info().Str("method", r.Method).Str("path", r.URL.Path).Int("status", status)
	strIf(strIf(event, "code", x.code), "worker", x.worker).Dur("took_ms", took).Msg("request")
}

// requestID keeps what the client sent if it is printable and short, and makes an id otherwise. The first of the
// configured headers that is there decides.
func (g *Gateway) requestID(r *http.Request) string {
	for _, name := range g.config.RequestIDHeaders {
		if values := r.Header.Values(name); len(values) > 0 {
			if isRequestID(values[0]) {
				return values[0]
			}
			break
		}
	}
	prefix := "req-"
	switch {
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		prefix = "chatcmpl-"
	case strings.HasSuffix(r.URL.Path, "/completions"):
		prefix = "cmpl-"
	case r.URL.Path == "/generate":
		prefix = "gnt-"
	}
	return newID(prefix)
}

func isRequestID(s string) bool {
	return 1 <= len(s) && len(s) <= 128 && isPrintable(s) && !strings.Contains(s, " ")
}

// isPrintable reports whether s is ASCII without control characters.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// newID is the prefix and 24 characters that no one can guess.
func newID(prefix string) string {
	return prefix + strings.ToLower(rand.Text()[:24])
}

// authenticate lets in who holds the key.
func (g *Gateway) authenticate(next http.Handler) http.Handler {
	return handler(func(x *exchange, r *http.Request) error {
		if g.credentials.open() {
			next.ServeHTTP(x, r)
			return nil
		}
		sent := r.Header.Values("Authorization")
		challenge := `Bearer realm="data-plane"`
		if len(sent) == 1 {
			key, isBearer := strings.CutPrefix(sent[0], "Bearer ")
			if isBearer && g.credentials.admits(key) {
				next.ServeHTTP(x, r)
				return nil
			}
			if isBearer && key != "" {
				challenge += `, error="invalid_token"`
			}
		}
		x.Header().Set("WWW-Authenticate", challenge)
		return fail(http.StatusUnauthorized, "invalid_api_key", "The API key is missing or wrong; send it as \"Authorization: Bearer <key>\".", kindValidation)
	})
}

// smallBody is what a request that has to queue may hold in memory; it is read so that its client's leaving is seen.
const smallBody = 1 << 20

// admit bounds how many requests are served at once. The permit is held until the response has ended.
func (g *Gateway) admit(next http.Handler) http.Handler {
	return handler(func(x *exchange, r *http.Request) error {
		waited := false
		leave, err := g.admission.enter(r.Context(), func() {
			waited = true
			admissionQueue.Inc()
			bufferSmallBody(r)
		})
		if waited {
			admissionQueue.Dec()
		}
		countAdmission(err)
		if err != nil {
			return err
		}
		admissionInflight.Inc()
		defer admissionInflight.Dec()
		defer leave()
		next.ServeHTTP(x, r)
		return nil
	})
}

// bufferSmallBody reads a body that is known to be small. net/http watches for the client's leaving only then.
func bufferSmallBody(r *http.Request) {
	if r.ContentLength <= 0 || r.ContentLength > smallBody {
		return
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failedReader{err}))
}

// failedReader ends a body the way it ended when it was first read.
type failedReader struct{ err error }

func (f failedReader) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// limit bounds the body in size and in silence.
func (g *Gateway) limit(next http.Handler) http.Handler {
	return handler(func(x *exchange, r *http.Request) error {
		if r.ContentLength > g.config.MaxPayloadSize {
			return &http.MaxBytesError{Limit: g.config.MaxPayloadSize}
		}
		r.Body = http.MaxBytesReader(x, &steadyBody{ReadCloser: r.Body, control: x.control, patience: secs(g.config.BodyStallTimeout)}, g.config.MaxPayloadSize)
		next.ServeHTTP(x, r)
		return nil
	})
}

// steadyBody gives every read of a body its own deadline.
type steadyBody struct {
	io.ReadCloser
	control  *http.ResponseController
	patience time.Duration
}

func (b *steadyBody) Read(p []byte) (int, error) {
	if b.patience > 0 {
		b.control.SetReadDeadline(time.Now().Add(b.patience))
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil && b.patience > 0 && errors.Is(err, io.EOF) {
		b.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// cors answers browsers; without a list of origins there is no such layer, and browsers of other origins are refused
// by their own rules.
func (g *Gateway) cors(next http.Handler) http.Handler {
	origins := g.config.CORSAllowedOrigins
	if len(origins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, origin := w.Header(), r.Header.Get("Origin")
		h.Add("Vary", "Origin")
		allowed := ""
		for _, o := range origins {
			if o == "*" || o == origin {
				allowed = o
			}
		}
		if origin != "" && allowed != "" {
			h.Set("Access-Control-Allow-Origin", allowed)
			h.Set("Access-Control-Expose-Headers", "x-request-id, traceparent, tracestate")
		}
		if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
			next.ServeHTTP(w, r)
			return
		}
		if allowed != "" {
			h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE, OPTIONS")
			h.Set("Access-Control-Allow-Headers", "content-type, authorization, anthropic-version, anthropic-beta, traceparent, tracestate")
			h.Set("Access-Control-Max-Age", "3600")
		}
		w.WriteHeader(http.StatusOK)
	})
}
