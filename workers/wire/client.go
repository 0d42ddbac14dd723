package wire

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
)

// Client is the part of a worker's client that every dialect has in the same words.
type Client struct {
	conn   *grpc.ClientConn
	rpc    common
	method string // the full name of Generate
	layout Layout
}

// common is what the dialects' generated clients share.
type common interface {
	GetTokenizer(context.Context, *commonpb.GetTokenizerRequest, ...grpc.CallOption) (grpc.ServerStreamingClient[commonpb.GetTokenizerChunk], error)
	SubscribeKvEvents(context.Context, *commonpb.SubscribeKvEventsRequest, ...grpc.CallOption) (grpc.ServerStreamingClient[commonpb.KvEventBatch], error)
	FlushCache(context.Context, *commonpb.FlushCacheRequest, ...grpc.CallOption) (*commonpb.FlushCacheResponse, error)
}

// NewClient returns the shared part of a client that speaks over conn: rpc is the dialect's generated client, method
// the full name of its Generate, and layout that of its answers.
func NewClient(conn *grpc.ClientConn, rpc common, method string, layout Layout) Client {
	return Client{conn, rpc, method, layout}
}

// Close implements engine.Client.
func (c *Client) Close() error { return c.conn.Close() }

// Send begins an answer; message is the dialect's form of req.
func (c *Client) Send(ctx context.Context, req *engine.Request, message any) (engine.Stream, error) {
	return generate(WithMetadata(ctx, req.Metadata), c.conn, c.method, message, req.Stream, &c.layout)
}

// Tokenizer implements engine.Describer.
func (c *Client) Tokenizer(ctx context.Context) ([]byte, error) {
	return bundle(ctx, func(ctx context.Context) (grpc.ServerStreamingClient[commonpb.GetTokenizerChunk], error) {
		return c.rpc.GetTokenizer(ctx, &commonpb.GetTokenizerRequest{})
	})
}

// Events implements engine.Observer.
func (c *Client) Events(ctx context.Context, start uint64) (engine.EventStream, error) {
	stream, err := c.rpc.SubscribeKvEvents(ctx, SubscribeRequest(start))
	if err != nil {
		return nil, Error(err)
	}
	if _, err := stream.Header(); err != nil {
		return nil, Error(err)
	}
	return Events{RPC: stream}, nil
}

// Flush implements engine.Observer.
func (c *Client) Flush(ctx context.Context, timeout time.Duration) error {
	answer, err := c.rpc.FlushCache(ctx, &commonpb.FlushCacheRequest{TimeoutS: float32(timeout.Seconds())})
	switch {
	case err != nil:
		return Error(err)
	case !answer.GetSuccess():
		return &engine.Error{Code: engine.FailedPrecondition, Message: "flush refused: " + answer.GetMessage()}
	}
	return nil
}

// Serving implements engine.Describer by the standard health service. A server that has none, or has none for this
// service, says nothing.
func (c *Client) Serving(ctx context.Context) error {
	service, _, _ := strings.Cut(strings.TrimPrefix(c.method, "/"), "/")
	answer, err := healthpb.NewHealthClient(c.conn).Check(ctx, &healthpb.HealthCheckRequest{Service: service})
	if err == nil && answer.GetStatus() == healthpb.HealthCheckResponse_NOT_SERVING {
		return &engine.Error{Code: engine.Unavailable, Message: "not serving yet: it warms up, or is about to end"}
	}
	return nil
}

// Health says what a dialect's answer to a health check means.
func Health(answer interface {
	GetHealthy() bool
	GetMessage() string
}, err error) error {
	switch {
	case err != nil:
		return Error(err)
	case !answer.GetHealthy():
		return &engine.Error{Code: engine.Unavailable, Message: "unhealthy: " + answer.GetMessage()}
	}
	return nil
}

// Loads says what a dialect's answer to a poll sent at some time means; rank translates each rank's part.
func Loads[R any](sent time.Time, answer interface {
	GetDpRankCount() int32
	GetVersion() string
	GetLoads() []R
}, err error, rank func(R) engine.RankLoad) (engine.Load, error) {
	if err != nil {
		return engine.Load{}, Error(err)
	}
	load := engine.Load{TakenAt: sent, RankCount: int(answer.GetDpRankCount()), Version: answer.GetVersion()}
	for _, r := range answer.GetLoads() {
		load.Ranks = append(load.Ranks, rank(r))
	}
	return load, nil
}
