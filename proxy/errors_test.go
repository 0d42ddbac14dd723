package proxy

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"leeway/routing"
	"leeway/workers"
	"leeway/workers/engine"
)

func TestEveryErrorHasAStatusACodeAndNoSecret(t *testing.T) {
	worker := func(code engine.Code) error { return &engine.Error{Code: code, Message: "secret"} }
	broken := func(code engine.Code) error {
		return &engine.Error{Code: code, Message: "secret", Transport: true}
	}
	for _, tc := range []struct {
		err    error
		status int
		code   string
		again  bool // worth another worker
	}{
		{&engine.Error{Code: engine.FailedPrecondition, Message: "decode only\nsecret"}, 400, "worker_stream_failed", false},
		{&engine.Error{Code: engine.OutOfRange, Message: "too long\nsecret"}, 400, "worker_stream_failed", false},
		{&engine.Error{Code: engine.Unavailable, Message: "secret", Early: true}, 503, "start_generation_failed", true},
		{&engine.Error{Code: engine.Internal, Message: "secret", Early: true, Cause: workers.ErrBrokenAnswer}, 500, "no_responses_from_server", true},
		{worker(engine.Unauthenticated), 502, "worker_stream_failed", true},
		{worker(engine.PermissionDenied), 502, "worker_stream_failed", true},
		{worker(engine.NotFound), 404, "worker_stream_failed", false},
		{worker(engine.AlreadyExists), 409, "worker_stream_failed", false},
		{worker(engine.Aborted), 409, "worker_stream_failed", false},
		{worker(engine.ResourceExhausted), 429, "worker_stream_failed", true},
		{worker(engine.Internal), 500, "worker_stream_failed", true},
		{worker(engine.Unknown), 500, "worker_stream_failed", true},
		{worker(engine.DataLoss), 500, "worker_stream_failed", true},
		{worker(engine.Unimplemented), 501, "worker_stream_failed", false},
		{worker(engine.Canceled), 502, "worker_stream_failed", true},
		{broken(engine.Internal), 502, "worker_stream_failed", true},
		{worker(engine.Unavailable), 503, "worker_stream_failed", true},
		{broken(engine.Unavailable), 503, "worker_stream_failed", true},
		{worker(engine.DeadlineExceeded), 504, "worker_stream_failed", true},
		{routing.ErrNoTarget, 404, "model_not_found", false},
		{routing.ErrNoHealthy, 503, "no_available_workers", false},
		{routing.ErrSaturated, 503, "no_available_workers", false},
		{routing.ErrOverloaded, 503, "worker_overload_protection_shed", false},
		{errQueueFull, 429, "admission_queue_full", false},
		{errQueueTimeout, 503, "admission_queue_timeout", false},
		{context.Canceled, 499, "client_closed_request", false},
		{&engine.Error{Code: engine.Canceled, Message: "secret", Cause: context.Canceled}, 499, "client_closed_request", true},
		{fmt.Errorf("secret"), 500, "internal_error", false},
	} {
		f := asFailure(fmt.Errorf("secret: %w", tc.err))
		if f.Status != tc.status || f.Code != tc.code || f.Type == "" {
			t.Errorf("%v: %d %s %s, want %d %s", tc.err, f.Status, f.Type, f.Code, tc.status, tc.code)
		}
		if strings.Contains(f.Message, "secret") {
			t.Errorf("%v: the client hears %q", tc.err, f.Message)
		}
		if got := elsewhere(tc.err); got != tc.again {
			t.Errorf("%v: another worker: %v", tc.err, got)
		}
	}
}

func TestAFullOrUnableWorkerSaysWhatToDo(t *testing.T) {
	for code, want := range map[engine.Code]string{
		engine.ResourceExhausted: "The worker has no room for the request now; try again later.",
		engine.Unimplemented:     "The worker's engine does not do what the request asks for.",
	} {
		if f := asFailure(&engine.Error{Code: code}); f.Message != want {
			t.Errorf("%v: %s", code, f.Message)
		}
	}
}

func TestAWorkersRefusalIsOneErrorObject(t *testing.T) { // case A31
	f := asFailure(&engine.Error{Code: engine.InvalidArgument, Message: "bad regex\nat /srv/engine.py"})
	if f.Status != 400 || f.Type != "invalid_request_error" || f.Message != "The worker refused the request: bad regex" {
		t.Errorf("%+v", f.apiError)
	}
}

func TestInAStreamTheRequestsOwnFaultIsCalledSo(t *testing.T) {
	for code, want := range map[engine.Code]string{
		engine.ResourceExhausted: "rate_limit_error", engine.NotFound: "invalid_request_error", engine.Internal: "stream_error", engine.DeadlineExceeded: "stream_error",
	} {
		if got := asFailure(&engine.Error{Code: code}).event().Type; got != want {
			t.Errorf("%v: %s, want %s", code, got, want)
		}
	}
}
