package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"leeway/openai"
	"leeway/routing"
	"leeway/workers"
	"leeway/workers/engine"
)

// failure is an error as the client is to see it. This file is the only place where one is made.
type failure struct {
	*apiError
	retryAfter int    // seconds; 0: no Retry-After
	kind       string // the error_type of the router's metrics
}

type apiError = openai.Error

// The error_type values of smg_router_request_errors_total.
const (
	kindNoWorkers  = "no_workers"
	kindTimeout    = "timeout"
	kindBackend    = "backend_error"
	kindValidation = "validation_error"
	kindInternal   = "internal_error"
	kindGone       = "client_closed_request"
)

// statusClientGone is for the log and the metrics: the client that it describes is no longer there to read it.
const statusClientGone = 499

// unknownModel is the name of a model that nobody serves. It is a routing.ErrNoTarget.
type unknownModel string

func (m unknownModel) Error() string { return fmt.Sprintf("no worker serves the model %q", string(m)) }

// Is makes it equal to what the router says of such a model.
func (unknownModel) Is(target error) bool { return target == routing.ErrNoTarget }

var (
	errSlowReader   = errors.New("the client reads too slowly")
	errDraining     = errors.New("the gateway is shutting down")
	errPanic        = errors.New("panic in a handler")
	errNoTokenizer  = errors.New("no tokenizer: loading from workers is off and no path is given")
	errTokenizing   = errors.New("the tokenizer is still being loaded")
	errBadTokenizer = errors.New("the tokenizer could not be loaded")
	errBodyStalled  = errors.New("the request body stopped arriving")
	errNoEmbeddings = errors.New("the worker has no embeddings")
	errBadBody      = errors.New("the framing of the request body is broken")
)

// known lists what a client hears of the errors that are no accident. Texts are for the client; the errors' own are not.
var known = []struct {
	err        error
	status     int
	code       string
	message    string
	retryAfter int
	kind       string
}{
	{routing.ErrNoTarget, 404, "model_not_found", "No worker serves this model.", 0, kindNoWorkers},
	{routing.ErrNoHealthy, 503, "no_available_workers", "No worker of this model can take requests now.", 1, kindNoWorkers},
	{routing.ErrSaturated, 503, "no_available_workers", "Every worker of this model is at its limit of waiting requests.", 1, kindNoWorkers},
	{routing.ErrOverloaded, 503, "worker_overload_protection_shed", "Every worker of this model is overloaded.", 10, kindNoWorkers},
	{errQueueFull, 429, "admission_queue_full", "The gateway serves as many requests as it may, and its queue is full.", 2, kindTimeout},
	{errQueueTimeout, 503, "admission_queue_timeout", "The request waited in the gateway's queue for longer than it may.", 2, kindTimeout},
	{errTokenizing, 503, "tokenizer_not_ready", "The model's tokenizer is still being loaded.", 1, kindInternal},
	{errBadTokenizer, 503, "tokenizer_load_failed", "The model's tokenizer could not be loaded.", 0, kindInternal},
	{errNoTokenizer, 500, "tokenizer_not_found", "There is no tokenizer for this model.", 0, kindInternal},
	{errBodyStalled, 408, "request_body_stalled", "The request body stopped arriving.", 0, kindTimeout},
	{errBadBody, 400, "invalid_request_body", "The framing of the request body is broken.", 0, kindValidation},
	{errNoEmbeddings, 501, "unsupported_backend", "This model's workers make no embeddings.", 0, kindValidation},
	{workers.ErrNotReady, 503, "no_available_workers", "The chosen worker cannot take requests now.", 1, kindNoWorkers},
	{workers.ErrUnknownWorker, 503, "no_available_workers", "The chosen worker has left.", 1, kindNoWorkers},
	{errDraining, 503, "shutting_down", "The gateway is shutting down.", 1, kindInternal},
	{errSlowReader, statusClientGone, "client_too_slow", "The client reads too slowly.", 0, kindGone},
	{context.Canceled, statusClientGone, "client_closed_request", "The client closed the connection.", 0, kindGone},
	{context.DeadlineExceeded, 504, "timeout", "The request took too long.", 0, kindTimeout},
}

// asFailure translates any error.
func asFailure(err error) failure {
	if f, ok := errors.AsType[failure](err); ok {
		return f
	}
	if e, ok := errors.AsType[*openai.Error](err); ok {
		return failure{apiError: e, kind: kindValidation}
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fail(413, "request_body_too_large", fmt.Sprintf("The request body is larger than the limit of %d bytes.", e.Limit), kindValidation)
	}
	if m, ok := errors.AsType[unknownModel](err); ok {
		return fail(404, "model_not_found", fmt.Sprintf("No worker serves the model '%s'.", clip(string(m), 200)), kindNoWorkers)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errBodyStalled
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			f := fail(k.status, k.code, k.message, k.kind)
			f.retryAfter = k.retryAfter
			return f
		}
	}
	if e, ok := errors.AsType[*engine.Error](err); ok {
		return fromWorker(e)
	}
	return fail(500, "internal_error", "Something went wrong inside the gateway.", kindInternal)
}

// fromWorker translates a worker's status. Its text is shown where the request may be at fault; a fault of the worker's
// own is for the log.
func fromWorker(e *engine.Error) failure {
	status, code := workerStatus(e), workerCode(e)
	switch {
	case isCredentials(e):
		return fail(status, code, "The worker refused the gateway's own credentials.", kindBackend)
	case e.Code == engine.InvalidArgument && !e.Transport:
		f := fail(status, "invalid_request_parameters", "The worker refused the request: "+firstLine(e.Message), kindValidation)
		f.Param = e.Param
		return f
	case status == http.StatusTooManyRequests:
		return fail(status, code, "The worker has no room for the request now; try again later.", kindBackend)
	case status == http.StatusNotImplemented:
		return fail(status, code, "The worker's engine does not do what the request asks for.", kindBackend)
	case status == http.StatusBadRequest:
		return fail(status, code, "The worker refused the request: "+firstLine(e.Message), kindBackend)
	case status < 500:
		return fail(status, code, "The worker refused the request.", kindBackend)
	case status == http.StatusGatewayTimeout:
		return fail(status, code, "The worker did not answer in time.", kindTimeout)
	}
	return fail(status, code, "The worker failed before its answer was complete.", kindBackend)
}

// workerCode says how far an answer had come.
func workerCode(e *engine.Error) string {
	switch {
	case e.Early && errors.Is(e, workers.ErrBrokenAnswer):
		return "no_responses_from_server"
	case e.Early:
		return "start_generation_failed"
	}
	return "worker_stream_failed"
}

// workerStatus maps gRPC statuses; a failure of the connection under the call is a bad gateway, whatever its code.
func workerStatus(e *engine.Error) int {
	if e.Transport && e.Code != engine.Unavailable {
		return http.StatusBadGateway
	}
	switch e.Code {
	case engine.InvalidArgument, engine.FailedPrecondition, engine.OutOfRange:
		return http.StatusBadRequest
	case engine.Canceled, engine.Unauthenticated, engine.PermissionDenied:
		return http.StatusBadGateway
	case engine.NotFound:
		return http.StatusNotFound
	case engine.AlreadyExists, engine.Aborted:
		return http.StatusConflict
	case engine.ResourceExhausted:
		return http.StatusTooManyRequests
	case engine.Unavailable:
		return http.StatusServiceUnavailable
	case engine.DeadlineExceeded:
		return http.StatusGatewayTimeout
	case engine.Unimplemented:
		return http.StatusNotImplemented
	}
	return http.StatusInternalServerError
}

// isCredentials says that a worker does not let the gateway in. The client, whose key went no further than here, can do
// nothing about that, and must not take its own for wrong.
func isCredentials(e *engine.Error) bool {
	return !e.Transport && (e.Code == engine.Unauthenticated || e.Code == engine.PermissionDenied)
}

// elsewhere reports whether another worker may do better where this one failed.
func elsewhere(err error) bool {
	if e, ok := errors.AsType[*engine.Error](err); ok {
		switch workerStatus(e) {
		case 408, 429, 500, 502, 503, 504:
			return true
		}
		return false
	}
	return errors.Is(err, workers.ErrNotReady) || errors.Is(err, workers.ErrUnknownWorker)
}

func fail(status int, code, message, kind string) failure {
	return failure{apiError: &openai.Error{Status: status, Type: errorType(status), Code: code, Message: message}, kind: kind}
}

// unsupportedField refuses what would have no effect.
func unsupportedField(name string) failure {
	f := fail(http.StatusBadRequest, "unsupported_parameter", fmt.Sprintf("'%s' has no effect on this model's workers; leave it out.", clip(name, 64)), kindValidation)
	f.Param = clip(name, 64)
	return f
}

func errorType(status int) string {
	switch {
	case status >= 500:
		return openai.TypeServer
	case status == http.StatusTooManyRequests:
		return openai.TypeRateLimit
	case status == http.StatusForbidden:
		return openai.TypePermission
	}
	return openai.TypeInvalidRequest
}

// event is the failure as the last event of a stream that has begun.
func (f failure) event() *openai.Error {
	e := *f.apiError
	e.Message = "Stream error: " + e.Message
	switch {
	case f.Status < 500 && f.kind == kindBackend: // the request's own fault is called so
	case f.kind == kindBackend, f.kind == kindTimeout:
		e.Type = "stream_error"
	case f.kind == kindInternal:
		e.Type = "internal_error"
	}
	return &e
}

// write sends the failure as a whole response, once nothing else has been.
func (f failure) write(w http.ResponseWriter) {
	h := w.Header()
	for _, stale := range []string{"Content-Length", "Content-Encoding", "Cache-Control", "Connection"} {
		h.Del(stale)
	}
	h.Set("Content-Type", "application/json")
	h.Set("X-SMG-Error-Code", f.Code)
	if f.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(f.retryAfter))
	}
	w.WriteHeader(f.Status)
	w.Write(f.AppendJSON(nil))
}

// firstLine bounds what a worker can put into a client's error.
func firstLine(s string) string {
	for i, r := range s {
		if r == '\n' || i >= 400 {
			return s[:i]
		}
	}
	return s
}
