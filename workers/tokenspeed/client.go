// Package tokenspeed speaks the TokenSpeed dialect behind engine.Client.
package tokenspeed

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"leeway/workers/engine"
	pb "leeway/workers/enginepb/tokenspeedpb"
	"leeway/workers/wire"
)

// Client is a worker that speaks TokenSpeed.
type Client struct {
	wire.Client
	rpc pb.TokenSpeedSchedulerClient
}

// New speaks over conn, which Close closes.
func New(conn *grpc.ClientConn) *Client {
	rpc := pb.NewTokenSpeedSchedulerClient(conn)
	return &Client{wire.NewClient(conn, rpc, pb.TokenSpeedScheduler_Generate_FullMethodName, wire.LayoutOf(&pb.GenerateResponse{})), rpc}
}

// Generate implements engine.Generator.
func (c *Client) Generate(ctx context.Context, req *engine.Request) (engine.Stream, error) {
	if seed := req.Sampling.Seed; seed != nil && *seed < 0 {
		return nil, &engine.Error{Code: engine.InvalidArgument, Param: "seed", Message: "seed: this model's engine takes none below 0"}
	}
	return c.Send(ctx, req, generateRequest(req))
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
	return wire.Health(c.rpc.HealthCheck(ctx, &pb.HealthCheckRequest{}))
}

// Loads implements engine.Observer.
func (c *Client) Loads(ctx context.Context) (engine.Load, error) {
	sent := time.Now()
	answer, err := c.rpc.GetLoads(ctx, &pb.GetLoadsRequest{Include: []string{"core", "queues"}})
	return wire.Loads(sent, answer, err, rankLoad)
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
