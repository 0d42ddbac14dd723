package engine

import "fmt"

// Code is a gRPC status code by its canonical number; engine does not import gRPC so that nothing behind it does.
type Code uint32

// The codes that a caller tells apart.
const (
	OK Code = iota
	Canceled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

// Error is a failed call. Message is the worker's own text: it may name paths and addresses, so it goes to logs and
// to the client only where the code says that the request was at fault.
type Error struct {
	Code    Code
	Message string
	// Transport says that the connection failed rather than the worker: a reset, a refused dial, a broken frame.
	Transport bool
	// Unsent says that there was no connection to begin with, so that the worker knows nothing of the call.
	Unsent bool
	// Early says that nothing of an answer had come.
	Early bool
	// Param is the client's field that is at fault, where that is known.
	Param string
	Cause error
}

func (e *Error) Error() string {
	if e.Transport {
		return fmt.Sprintf("connection to the worker: %s (code %d)", e.Message, e.Code)
	}
	return fmt.Sprintf("worker: %s (code %d)", e.Message, e.Code)
}

func (e *Error) Unwrap() error { return e.Cause }
