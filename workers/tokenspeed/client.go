// Package tokenspeed speaks the TokenSpeed dialect behind engine.Client.
package tokenspeed

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
	pb "leeway/workers/enginepb/tokenspeedpb"
	"leeway/workers/wire"
)

// Client is a worker that speaks TokenSpeed.
type Client struct {
	conn *grpc.ClientConn
	rpc  pb.TokenSpeedSchedulerClient
}

// New speaks over conn, which Close closes.
func New(conn *grpc.ClientConn) *Client {
	return &Client{conn: conn, rpc: pb.NewTokenSpeedSchedulerClient(conn)}
}

// Close implements engine.Client.
func (c *Client) Close() error { return c.conn.Close() }

// Generate implements engine.Generator.
func (c *Client) Generate(ctx context.Context, req *engine.Request) (engine.Stream, error) {
	if seed := req.Sampling.Seed; seed != nil && *seed < 0 {
		return nil, &engine.Error{Code: engine.InvalidArgument, Message: "seed: this model's engine takes none below 0"}
	}
	ctx = wire.WithMetadata(ctx, req.Metadata)
	return wire.Generate(ctx, c.conn, pb.TokenSpeedScheduler_Generate_FullMethodName, generateRequest(req), req.Stream, &answer)
}

// Abort implements engine.Generator.
func (c *Client) Abort(ctx context.Context, id string) error {
	_, err := c.rpc.Abort(ctx, &pb.AbortRequest{RequestId: id, Reason: "the gateway no longer needs the answer"})
	return wire.Error(err)
}

// Embed implements engine.Generator: the dialect has no such call.
func (c *Client) Embed(context.Context, string, []uint32) (engine.Embedding, error) {
	return engine.Embedding{}, &engine.Error{Code: engine.Unimplemented, Message: "TokenSpeed has no embeddings", Cause: engine.ErrUnsupported}
}

// Health implements engine.Describer.
func (c *Client) Health(ctx context.Context) error {
	answer, err := c.rpc.HealthCheck(ctx, &pb.HealthCheckRequest{})
	if err != nil {
		return wire.Error(err)
	}
	return wire.HealthError(answer.GetHealthy(), answer.GetMessage())
}

// Tokenizer implements engine.Describer.
func (c *Client) Tokenizer(ctx context.Context) ([]byte, error) {
	return wire.Bundle(ctx, func(ctx context.Context) (grpc.ServerStreamingClient[commonpb.GetTokenizerChunk], error) {
		return c.rpc.GetTokenizer(ctx, &commonpb.GetTokenizerRequest{})
	})
}

// Events implements engine.Observer.
func (c *Client) Events(ctx context.Context, start uint64) (engine.EventStream, error) {
	stream, err := c.rpc.SubscribeKvEvents(ctx, wire.SubscribeRequest(start))
	if err != nil {
		return nil, wire.Error(err)
	}
	return wire.Events{RPC: stream}, nil
}

// Flush implements engine.Observer.
func (c *Client) Flush(ctx context.Context, timeout time.Duration) error {
	answer, err := c.rpc.FlushCache(ctx, &commonpb.FlushCacheRequest{TimeoutS: float32(timeout.Seconds())})
	if err != nil {
		return wire.Error(err)
	}
	return wire.FlushError(answer.GetSuccess(), answer.GetMessage())
}

// Loads implements engine.Observer.
func (c *Client) Loads(ctx context.Context) (engine.Load, error) {
	sent := time.Now()
	answer, err := c.rpc.GetLoads(ctx, &pb.GetLoadsRequest{Include: []string{"core", "queues"}})
	if err != nil {
		return engine.Load{}, wire.Error(err)
	}
	load := engine.Load{TakenAt: sent, RankCount: int(answer.GetDpRankCount()), Version: answer.GetVersion()}
	for _, rank := range answer.GetLoads() {
		load.Ranks = append(load.Ranks, rankLoad(rank))
	}
	return load, nil
}

// rankLoad takes what a rank reports. Its usage counts cached pages too; only the active part holds work.
func rankLoad(l *pb.SchedulerLoad) engine.RankLoad {
	return engine.RankLoad{
		Rank:            l.GetDpRank(),
		Running:         int(l.GetNumRunningReqs()),
		Waiting:         int(l.GetNumWaitingReqs()),
		WaitingUncached: wire.Uncached(l.GetNumWaitingUncachedTokens(), l.GetNumWaitingReqs()),
		Usage:           l.GetTokenUsage(),
		ActiveUsage:     l.ActiveTokenUsage,
		GenThroughput:   l.GetGenThroughput(),
		CacheHitRate:    l.GetCacheHitRate(),
		UsedTokens:      int(l.GetNumUsedTokens()),
		MaxTokens:       int(l.GetMaxTotalNumTokens()),
		MaxRunning:      int(l.GetMaxRunningRequests()),
	}
}
