// Package vllm speaks the vLLM dialect behind engine.Client.
package vllm

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
	pb "leeway/workers/enginepb/vllmpb"
	"leeway/workers/wire"
)

// Client is a worker that speaks vLLM.
type Client struct {
	conn *grpc.ClientConn
	rpc  pb.VllmEngineClient
}

// New speaks over conn, which Close closes.
func New(conn *grpc.ClientConn) *Client {
	return &Client{conn: conn, rpc: pb.NewVllmEngineClient(conn)}
}

// Close implements engine.Client.
func (c *Client) Close() error { return c.conn.Close() }

// Generate implements engine.Generator.
func (c *Client) Generate(ctx context.Context, req *engine.Request) (engine.Stream, error) {
	ctx = wire.WithMetadata(ctx, req.Metadata)
	return wire.Generate(ctx, c.conn, pb.VllmEngine_Generate_FullMethodName, generateRequest(req), req.Stream, &answer)
}

// Abort implements engine.Generator.
func (c *Client) Abort(ctx context.Context, id string) error {
	_, err := c.rpc.Abort(ctx, &pb.AbortRequest{RequestIds: []string{id}})
	return wire.Error(err)
}

// Embed implements engine.Generator.
func (c *Client) Embed(ctx context.Context, id string, tokens []uint32) (engine.Embedding, error) {
	answer, err := c.rpc.Embed(ctx, &pb.EmbedRequest{RequestId: id, Tokenized: &pb.TokenizedInput{InputIds: tokens}})
	if err != nil {
		return engine.Embedding{}, wire.Error(err)
	}
	return engine.Embedding{Values: answer.GetEmbedding(), PromptTokens: int(answer.GetPromptTokens())}, nil
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

// rankLoad takes what a rank reports. Used and total tokens are sums over all ranks in each of them.
func rankLoad(l *pb.SchedulerLoad) engine.RankLoad {
	return engine.RankLoad{
		Rank:            l.GetDpRank(),
		Running:         int(l.GetNumRunningReqs()),
		Waiting:         int(l.GetNumWaitingReqs()),
		WaitingUncached: wire.Uncached(l.GetNumWaitingUncachedTokens(), l.GetNumWaitingReqs()),
		Usage:           l.GetTokenUsage(),
		GenThroughput:   l.GetGenThroughput(),
		CacheHitRate:    l.GetCacheHitRate(),
		UsedTokens:      int(l.GetNumUsedTokens()),
		MaxTokens:       int(l.GetMaxTotalNumTokens()),
		MaxRunning:      int(l.GetMaxRunningRequests()),
	}
}
