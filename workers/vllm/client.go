// Package vllm speaks the vLLM dialect behind engine.Client.
package vllm

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"leeway/workers/engine"
	pb "leeway/workers/enginepb/vllmpb"
	"leeway/workers/wire"
)

// Client is a worker that speaks vLLM.
type Client struct {
	wire.Client
	rpc pb.VllmEngineClient
}

// New speaks over conn, which Close closes.
func New(conn *grpc.ClientConn) *Client {
	rpc := pb.NewVllmEngineClient(conn)
	return &Client{wire.NewClient(conn, rpc, pb.VllmEngine_Generate_FullMethodName, wire.LayoutOf(&pb.GenerateResponse{})), rpc}
}

// Generate implements engine.Generator.
func (c *Client) Generate(ctx context.Context, req *engine.Request) (engine.Stream, error) {
	return c.Send(ctx, req, generateRequest(req))
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
	return wire.Health(c.rpc.HealthCheck(ctx, &pb.HealthCheckRequest{}))
}

// Loads implements engine.Observer.
func (c *Client) Loads(ctx context.Context) (engine.Load, error) {
	sent := time.Now()
	answer, err := c.rpc.GetLoads(ctx, &pb.GetLoadsRequest{Include: []string{"core", "queues"}})
	return wire.Loads(sent, answer, err, rankLoad)
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
