package main

import (
	"context"
	"net"
	"sync/atomic"

	"google.golang.org/grpc"

	"leeway/workers/enginepb/tokenspeedpb"
)

// load is what a worker reports; zero counts and rates are reported as such.
type load struct {
	running, waiting, uncached int
	usage, throughput          float64
}

// heldRequest is a request that a worker keeps until end is closed.
type heldRequest struct {
	worker int
	end    chan struct{}
}

// worker reports the load it was given and holds every request it gets.
type worker struct {
	tokenspeedpb.UnimplementedTokenSpeedSchedulerServer
	index    int
	url      string
	server   *grpc.Server
	load     atomic.Pointer[load]
	polls    atomic.Int64
	told     atomic.Pointer[load] // what the last poll was answered with
	arrivals chan<- int
	requests chan *heldRequest
}

func startWorker(index int, arrivals chan<- int) (*worker, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &worker{index: index, url: "grpc://" + listener.Addr().String(), arrivals: arrivals, requests: make(chan *heldRequest, 64)}
	w.load.Store(&load{})
	w.server = grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	tokenspeedpb.RegisterTokenSpeedSchedulerServer(w.server, w)
	go w.server.Serve(listener)
	return w, nil
}

func (w *worker) Generate(_ *tokenspeedpb.GenerateRequest, stream grpc.ServerStreamingServer[tokenspeedpb.GenerateResponse]) error {
	held := &heldRequest{worker: w.index, end: make(chan struct{})}
	w.requests <- held
	w.arrivals <- w.index
	select {
	case <-held.end:
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
	chunk := &tokenspeedpb.GenerateStreamChunk{TokenIds: []uint32{100}, PromptTokens: 1, CompletionTokens: 1}
	if err := stream.Send(&tokenspeedpb.GenerateResponse{Response: &tokenspeedpb.GenerateResponse_Chunk{Chunk: chunk}}); err != nil {
		return err
	}
	complete := &tokenspeedpb.GenerateComplete{OutputIds: []uint32{100}, FinishReason: "length", PromptTokens: 1, CompletionTokens: 1}
	return stream.Send(&tokenspeedpb.GenerateResponse{Response: &tokenspeedpb.GenerateResponse_Complete{Complete: complete}})
}

func (w *worker) GetLoads(context.Context, *tokenspeedpb.GetLoadsRequest) (*tokenspeedpb.GetLoadsResponse, error) {
	l := w.load.Load()
	defer w.polls.Add(1)
	defer w.told.Store(l)
	return &tokenspeedpb.GetLoadsResponse{DpRankCount: 1, Loads: []*tokenspeedpb.SchedulerLoad{{
		NumRunningReqs: int32(l.running), NumWaitingReqs: int32(l.waiting), NumTotalReqs: int32(l.running + l.waiting),
		NumWaitingUncachedTokens: int32(l.uncached), TokenUsage: l.usage, GenThroughput: l.throughput,
	}}}, nil
}

func (w *worker) HealthCheck(context.Context, *tokenspeedpb.HealthCheckRequest) (*tokenspeedpb.HealthCheckResponse, error) {
	return &tokenspeedpb.HealthCheckResponse{Healthy: true}, nil
}

func (w *worker) Abort(context.Context, *tokenspeedpb.AbortRequest) (*tokenspeedpb.AbortResponse, error) {
	return &tokenspeedpb.AbortResponse{Success: true}, nil
}

func (w *worker) GetModelInfo(context.Context, *tokenspeedpb.GetModelInfoRequest) (*tokenspeedpb.GetModelInfoResponse, error) {
	return &tokenspeedpb.GetModelInfoResponse{ServedModelName: "judged", MaxContextLength: 1 << 20, VocabSize: 1 << 20}, nil
}

func (w *worker) GetServerInfo(context.Context, *tokenspeedpb.GetServerInfoRequest) (*tokenspeedpb.GetServerInfoResponse, error) {
	return &tokenspeedpb.GetServerInfoResponse{UptimeSeconds: 1}, nil
}
