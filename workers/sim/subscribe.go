package sim

import (
	"math"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
)

// eventStream is one SubscribeKvEvents call.
type eventStream struct {
	l      *life
	stream grpc.ServerStreamingServer[commonpb.KvEventBatch]
	early  bool // load records are wanted before the first batch
	sent   int  // batches of events

	sequence uint64 // of the last batch, which heartbeats repeat
	rank     *int32
	sample   uint64
	last     *commonpb.EngineLoad
	lastAt   time.Time
	still    int // heartbeats in a row that said nothing new
}

// heartbeatCheck is how often a stream looks whether there is something to push.
const heartbeatCheck = 100 * time.Millisecond

// subscribe serves one stream until its caller leaves. The header goes out at once, before there is anything to say.
func (l *life) subscribe(req *commonpb.SubscribeKvEventsRequest, stream grpc.ServerStreamingServer[commonpb.KvEventBatch]) error {
	if l.w.o.NoKVEvents {
		return status.Error(codes.Unimplemented, "KV events are switched off")
	}
	sub := &subscriber{wake: make(chan struct{}, 1)}
	backlog, err := l.events.join(sub, req.StartSequenceNumber)
	if err != nil {
		return err
	}
	defer l.events.leave(sub)
	if err := stream.SendHeader(nil); err != nil {
		return err
	}
	s := &eventStream{
		l: l, stream: stream, lastAt: time.Now(),
		early: req.LoadRecordsBeforeFirstBatch && l.w.o.servicer() == Rust,
	}
	for i, b := range backlog {
		if f, ok := l.w.faults.one(FaultSnapshotCut); ok && b.Snapshot != nil && i >= f.After {
			return status.Error(f.code(codes.Unavailable), "the stream broke inside a snapshot")
		}
		if err := s.batch(b); err != nil {
			return err
		}
	}
	return s.follow(sub)
}

// follow sends what comes live, and heartbeats between.
func (s *eventStream) follow(sub *subscriber) error {
	ticker := time.NewTicker(heartbeatCheck)
	defer ticker.Stop()
	ctx := s.stream.Context()
	for {
		select {
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		case <-ticker.C:
			if err := s.heartbeat(); err != nil {
				return err
			}
		case <-sub.wake:
			batches, over := sub.pop()
			if over && s.l.w.o.servicer() == Rust {
				return status.Error(codes.DataLoss, "the subscriber is too slow")
			}
			for _, b := range batches {
				if err := s.batch(b); err != nil {
					return err
				}
			}
		}
	}
}

// batch sends events, with the load of their rank.
func (s *eventStream) batch(b *commonpb.KvEventBatch) error {
	if s.l.w.faults.on(FaultKVSilent) {
		return nil
	}
	ended := s.l.w.faults.fire(func(f Fault) bool { return f.Kind == FaultKVEnd && s.sent >= f.After })
	if len(ended) > 0 {
		return status.Error(ended[0].code(codes.Unavailable), ended[0].Message)
	}
	if f, ok := s.l.w.faults.one(FaultKVDelay); ok && !sleep(s.stream.Context(), time.Duration(f.For)) {
		return status.FromContextError(s.stream.Context().Err()).Err()
	}
	out := &commonpb.KvEventBatch{
		SequenceNumber: b.SequenceNumber, Timestamp: b.Timestamp, Events: b.Events, DpRank: b.DpRank, Snapshot: b.Snapshot,
	}
	if f, ok := s.l.w.faults.one(FaultUnknown); ok && b.Snapshot != nil {
		c := b.Snapshot
		out.Snapshot = &commonpb.KvSnapshotChunk{Index: c.Index, Count: c.Count, Blocks: c.Blocks, UnknownBefore: uint64(f.N)}
	}
	out.Load = s.record(b.GetDpRank(), s.last == nil)
	s.sent++
	s.sequence, s.rank = b.SequenceNumber, b.DpRank
	return s.stream.Send(out)
}

// heartbeat sends a load record alone when there is news, or after a while without.
func (s *eventStream) heartbeat() error {
	faults := &s.l.w.faults
	if s.l.w.o.servicer() == Bridge || s.sent == 0 && !s.early || s.l.engines.Err() != nil {
		return nil
	}
	before := s.last
	now := s.measure(s.rank, true)
	news := before == nil || differs(before, now)
	pause := time.Second
	if s.still >= 2 {
		pause = 5 * time.Second
	}
	if !news && time.Since(s.lastAt) < pause || faults.on(FaultNoHeartbeat) || faults.on(FaultNoRecord) {
		return nil
	}
	s.still++
	if news {
		s.still = 0
	}
	now.LoadOnly = true
	s.stamp(now)
	return s.stream.Send(&commonpb.KvEventBatch{
		SequenceNumber: s.sequence, Timestamp: float64(time.Now().UnixMicro()) / 1e6, DpRank: s.rank, Load: now,
	})
}

// record is the load to ride on a batch; nil where there is none.
func (s *eventStream) record(rank int32, telemetry bool) *commonpb.EngineLoad {
	if s.l.w.o.servicer() == Bridge || s.l.w.faults.on(FaultNoRecord) {
		return nil
	}
	load := s.measure(&rank, telemetry)
	s.stamp(load)
	return load
}

// stamp numbers a record and remembers it as the last one sent.
func (s *eventStream) stamp(load *commonpb.EngineLoad) {
	s.sample++
	load.Sample = s.sample
	s.last, s.lastAt = load, time.Now()
}

// measure is the load of a rank in the engine's words.
func (s *eventStream) measure(rank *int32, telemetry bool) *commonpb.EngineLoad {
	i := 0
	if rank != nil {
		i = int(*rank)
	}
	t := s.l.cores[i].sample()
	o := s.l.w.o
	load := &commonpb.EngineLoad{
		RunningRequests: uint32(t.Running), WaitingRequests: uint32(t.Waiting),
		TokenUsage: t.Usage, GenThroughput: t.Throughput, MaxRunningRequests: uint32(t.MaxRunning),
	}
	switch o.dialect() {
	case engine.TokenSpeed: // it counts cached blocks as used, and neither the uncached nor the rate
		load.TokenUsage, load.ActiveTokenUsage, load.GenThroughput = t.Filled, proto.Float64(t.Usage), 0
	case engine.VLLM:
		load.WaitingUncachedTokens = proto.Uint32(uint32(t.Estimate()))
	default:
		load.WaitingUncachedTokens = proto.Uint32(uint32(t.Uncached))
	}
	if o.servicer() == Rust {
		load.EngineSilenceMs, load.EngineReportsSteps = proto.Uint32(0), proto.Bool(true)
		load.PrefillPendingTokens = proto.Uint32(uint32(t.Pending))
	}
	if telemetry {
		load.CacheHitRate = proto.Float64(t.HitRate)
		load.NumUsedTokens = proto.Int32(int32(t.UsedTokens))
		load.MaxTotalNumTokens = proto.Int32(int32(t.MaxTokens))
	}
	return load
}

// differs says whether a record is news: any change of a count, usage by half a percent, throughput by 50 tokens a
// second or 5 %.
func differs(a, b *commonpb.EngineLoad) bool {
	rate := math.Abs(a.GenThroughput - b.GenThroughput)
	return a.RunningRequests != b.RunningRequests || a.WaitingRequests != b.WaitingRequests ||
		a.GetWaitingUncachedTokens() != b.GetWaitingUncachedTokens() || a.MaxRunningRequests != b.MaxRunningRequests ||
		math.Abs(a.TokenUsage-b.TokenUsage) > 0.005 || rate > 50 || rate > 0.05*max(a.GenThroughput, 1)
}
