package wire

import (
	"errors"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"leeway/workers/engine"
)

// transportPhrases begin or contain what grpc-go itself says when a connection or a frame failed. The library does
// not tell apart in any other way the statuses it makes from those a worker sent.
var transportPhrases = []string{
	"connection error:",
	"error reading from server",
	"closing transport due to",
	"transport is closing",
	"last connection error",
	"the connection is draining",
	"server is draining the connection",
	"stream terminated by RST_STREAM",
	"server closed the stream without sending trailers",
	"name resolver error",
	"produced zero addresses",
	"keepalive ping failed",
	"transport: ",
	"unexpected HTTP status code",
	"grpc: failed to unmarshal",
	"grpc: failed to decompress",
	"grpc: received unexpected payload format",
	"unexpected EOF",
}

// unsentPhrases are those of them that are said when there is no connection.
var unsentPhrases = []string{"connection error:", "last connection error", "name resolver error", "produced zero addresses"}

// Error translates what a call returned. A nil error stays nil.
func Error(err error) error {
	if err == nil {
		return nil
	}
	var already *engine.Error
	if errors.As(err, &already) {
		return err
	}
	s, ok := status.FromError(err)
	if !ok {
		s = status.FromContextError(err)
	}
	return &engine.Error{
		Code:      engine.Code(s.Code()),
		Message:   s.Message(),
		Transport: isTransport(s),
		Unsent:    isTransport(s) && says(s, unsentPhrases),
		Cause:     cause(s.Code(), err),
	}
}

func isTransport(s *status.Status) bool {
	return s.Code() != codes.DeadlineExceeded && says(s, transportPhrases)
}

func says(s *status.Status, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(phrase string) bool { return strings.Contains(s.Message(), phrase) })
}

// cause lets callers ask errors.Is for what they act on, and for a context's error.
func cause(code codes.Code, err error) error {
	switch code {
	case codes.Unimplemented:
		return engine.ErrUnsupported
	case codes.OutOfRange:
		return engine.ErrOutOfRange
	case codes.DataLoss:
		return engine.ErrDataLoss
	default:
		return err
	}
}

// malformed is an answer that breaks the protocol: as little to be trusted as a broken connection.
func malformed(message string) error {
	return &engine.Error{Code: engine.Internal, Message: "malformed answer: " + message, Transport: true}
}
