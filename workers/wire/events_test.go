package wire

import (
	"io"
	"reflect"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
	pb "leeway/workers/enginepb/sglangpb"
)

// publisher sends the batches it was given to whoever asks as a gateway does.
type publisher struct {
	pb.UnimplementedSglangSchedulerServer
	batches []*commonpb.KvEventBatch
	asked   chan *commonpb.SubscribeKvEventsRequest
}

func (p *publisher) SubscribeKvEvents(r *commonpb.SubscribeKvEventsRequest, stream grpc.ServerStreamingServer[commonpb.KvEventBatch]) error {
	p.asked <- r
	for _, b := range p.batches {
		if err := stream.Send(b); err != nil {
			return err
		}
	}
	return nil
}

func receive(t *testing.T, sent ...*commonpb.KvEventBatch) []*engine.Batch {
	t.Helper()
	p := &publisher{batches: sent, asked: make(chan *commonpb.SubscribeKvEventsRequest, 1)}
	rpc, err := serve(t, p).SubscribeKvEvents(t.Context(), SubscribeRequest(7))
	if err != nil {
		t.Fatal(err)
	}
	events := Events{RPC: rpc}
	var got []*engine.Batch
	for {
		b, err := events.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, b)
	}
	if r := <-p.asked; r.GetStartSequenceNumber() != 7 || !r.GetLoadRecordsBeforeFirstBatch() {
		t.Errorf("asked for %v", r)
	}
	return got
}

func TestABatchKeepsAllThatTellsBlocksApart(t *testing.T) {
	got := receive(t, &commonpb.KvEventBatch{
		SequenceNumber: 40, Timestamp: 1764646476.5, DpRank: proto.Int32(1),
		Events: []*commonpb.KvCacheEvent{
			{EventId: 1, Data: &commonpb.KvCacheEvent_Cleared{Cleared: &commonpb.KvCacheCleared{Ownership: proto.String("kvcr")}}},
			{EventId: 2, Data: &commonpb.KvCacheEvent_Stored{Stored: &commonpb.KvBlocksStored{
				ParentBlockHash: proto.Int64(-9), Tier: commonpb.KvCacheTier_KV_CACHE_TIER_HOST.Enum(), Medium: proto.String("CPU"),
				GroupIdx: proto.Uint32(0), KvCacheSpecKind: proto.String("full_attention"), LoraName: proto.String("l"),
				CacheSalt: proto.String("s"), Locality: commonpb.KvCacheLocality_KV_CACHE_LOCALITY_REMOTE.Enum(),
				Blocks: []*commonpb.KvBlock{{
					BlockHash: -1, TokenIds: []uint32{1, 2}, BlockSize: 2, LoraId: proto.Int64(0), CacheLevel: proto.Int32(1),
					ExtraKeys: []*commonpb.KvBlockExtraKey{{}},
				}},
			}}},
			{EventId: 3, Data: &commonpb.KvCacheEvent_Removed{Removed: &commonpb.KvBlocksRemoved{BlockHashes: []int64{-1}, CacheLevel: proto.Int32(2)}}},
			{EventId: 4},
		},
	})
	want := &engine.Batch{
		Sequence: 40, Sent: time.Unix(1764646476, 500000000), Rank: 1,
		Events: []engine.Event{
			{ID: 1, Cleared: &engine.Cleared{Ownership: "kvcr"}},
			{ID: 2, Stored: &engine.Stored{
				Place: engine.Place{
					Tier: engine.TierHost, Medium: "CPU", Group: proto.Uint32(0), GroupKind: "full_attention", Remote: true,
				},
				Parent: proto.Int64(-9), LoRAName: "l", CacheSalt: "s",
				Blocks: []engine.Block{{Hash: -1, Tokens: []uint32{1, 2}, Size: 2, LoRAID: proto.Int64(0), Level: proto.Int32(1), ExtraKeys: true}},
			}},
			{ID: 3, Removed: &engine.Removed{Place: engine.Place{Level: proto.Int32(2)}, Hashes: []int64{-1}}},
			{ID: 4},
		},
	}
	if len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("got  %+v\nwant %+v", got[0], want)
	}
}

func TestALoadRecordSaysWhatItDoesNotKnow(t *testing.T) {
	got := receive(t,
		&commonpb.KvEventBatch{Load: &commonpb.EngineLoad{RunningRequests: 2, TokenUsage: 0.5, AgeMs: 30, Sample: 4, LoadOnly: true}},
		&commonpb.KvEventBatch{
			DpRank: proto.Int32(3), Snapshot: &commonpb.KvSnapshotChunk{Index: 1, Count: 2, Blocks: 9, UnknownBefore: 5},
			Load: &commonpb.EngineLoad{WaitingUncachedTokens: proto.Uint32(0), EngineSilenceMs: proto.Uint32(40), PrefillPendingTokens: proto.Uint32(8)},
		})
	first, second := got[0], got[1]
	if !first.LoadOnly || first.Load.WaitingUncached != nil || first.Load.EngineSilence != nil || first.Load.ActiveUsage != nil ||
		first.Load.Age != 30*time.Millisecond || first.Load.Running != 2 || first.Load.Sample != 4 || !first.Sent.IsZero() {
		t.Errorf("got %+v", first.Load)
	}
	if second.LoadOnly || *second.Load.WaitingUncached != 0 || *second.Load.EngineSilence != 40*time.Millisecond ||
		*second.Load.PrefillPending != 8 || second.Load.Rank != 3 || *second.Snapshot != (engine.Snapshot{Index: 1, Count: 2, Blocks: 9, UnknownBefore: 5}) {
		t.Errorf("got %+v, %+v", second.Load, second.Snapshot)
	}
}

func TestAWorkersClockMaySayAnything(t *testing.T) {
	for _, seconds := range []float64{-1, 0, 1e300} {
		if got := wallClock(seconds); !got.IsZero() {
			t.Errorf("%v became %v", seconds, got)
		}
	}
}

func TestAZeroBesideAQueueIsUnknown(t *testing.T) {
	if Uncached(0, 3) != nil {
		t.Error("a field that was not filled in became a zero")
	}
	if n := Uncached(0, 0); n == nil || *n != 0 {
		t.Error("an empty queue has no tokens")
	}
	if n := Uncached(7, 0); n == nil || *n != 7 {
		t.Error("a count was lost")
	}
}

// case F6
func TestALargeBatchPasses(t *testing.T) {
	tokens := make([]uint32, 2_000_000)
	for i := range tokens {
		tokens[i] = 150_000 // three bytes each, 6 MB in all
	}
	got := receive(t, &commonpb.KvEventBatch{Events: []*commonpb.KvCacheEvent{{Data: &commonpb.KvCacheEvent_Stored{
		Stored: &commonpb.KvBlocksStored{Blocks: []*commonpb.KvBlock{{TokenIds: tokens}}},
	}}}})
	if len(got) != 1 || len(got[0].Events[0].Stored.Blocks[0].Tokens) != len(tokens) {
		t.Error("it was cut")
	}
}

func TestANumberThatIsNoTierIsNotTheDevice(t *testing.T) {
	for _, number := range []commonpb.KvCacheTier{-255, -1, 7, 257, 1 << 30} {
		if got := tier(number); got <= engine.TierExternal {
			t.Errorf("%d is taken for tier %d", number, got)
		}
	}
}
