package wire

import (
	"io"
	"math"
	"time"

	"google.golang.org/grpc"

	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
)

// Events is a worker's stream of KV batches.
type Events struct {
	RPC grpc.ServerStreamingClient[commonpb.KvEventBatch]
}

// SubscribeRequest asks for events after a cursor, and for load records from the first moment where a worker can.
func SubscribeRequest(start uint64) *commonpb.SubscribeKvEventsRequest {
	return &commonpb.SubscribeKvEventsRequest{StartSequenceNumber: start, LoadRecordsBeforeFirstBatch: true}
}

// Recv implements engine.EventStream.
func (e Events) Recv() (*engine.Batch, error) {
	message, err := e.RPC.Recv()
	if err == io.EOF {
		return nil, io.EOF
	}
	if err != nil {
		return nil, Error(err)
	}
	return batch(message), nil
}

// batch translates a message; token ids and hashes are the message's own memory, not copied.
func batch(m *commonpb.KvEventBatch) *engine.Batch {
	b := &engine.Batch{
		Sequence: m.GetSequenceNumber(),
		Sent:     wallClock(m.GetTimestamp()),
		Rank:     m.GetDpRank(),
		LoadOnly: m.GetLoad().GetLoadOnly(),
	}
	if s := m.GetSnapshot(); s != nil {
		b.Snapshot = &engine.Snapshot{Index: s.GetIndex(), Count: s.GetCount(), Blocks: s.GetBlocks(), UnknownBefore: s.GetUnknownBefore()}
	}
	if l := m.GetLoad(); l != nil {
		b.Load = pushedLoad(b.Rank, l)
	}
	if len(m.GetEvents()) > 0 {
		b.Events = make([]engine.Event, 0, len(m.GetEvents()))
	}
	for _, e := range m.GetEvents() {
		b.Events = append(b.Events, event(e))
	}
	return b
}

// wallClock converts seconds since 1970; a time that no clock shows is taken as not set.
func wallClock(seconds float64) time.Time {
	if !(seconds > 0 && seconds < 1e11) {
		return time.Time{}
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9))
}

func event(m *commonpb.KvCacheEvent) engine.Event {
	e := engine.Event{ID: m.GetEventId()}
	switch data := m.GetData().(type) {
	case *commonpb.KvCacheEvent_Stored:
		e.Stored = stored(data.Stored)
	case *commonpb.KvCacheEvent_Removed:
		e.Removed = removed(data.Removed)
	case *commonpb.KvCacheEvent_Cleared:
		e.Cleared = &engine.Cleared{Ownership: data.Cleared.GetOwnership()}
	}
	return e
}

// tier keeps a number that is no tier from becoming one.
func tier(t commonpb.KvCacheTier) engine.Tier {
	return engine.Tier(min(uint32(t), math.MaxUint8))
}

func stored(m *commonpb.KvBlocksStored) *engine.Stored {
	s := &engine.Stored{
		Place: engine.Place{
			Tier:      tier(m.GetTier()),
			Medium:    m.GetMedium(),
			Group:     m.GroupIdx,
			GroupKind: m.GetKvCacheSpecKind(),
			Remote:    m.GetLocality() == commonpb.KvCacheLocality_KV_CACHE_LOCALITY_REMOTE,
			Ownership: m.GetOwnership(),
		},
		Parent:    m.ParentBlockHash,
		LoRAName:  m.GetLoraName(),
		CacheSalt: m.GetCacheSalt(),
		Blocks:    make([]engine.Block, len(m.GetBlocks())),
	}
	for i, b := range m.GetBlocks() {
		s.Blocks[i] = engine.Block{
			Hash:      b.GetBlockHash(),
			Tokens:    b.GetTokenIds(),
			Size:      int(b.GetBlockSize()),
			LoRAID:    b.LoraId,
			Level:     b.CacheLevel,
			ExtraKeys: len(b.GetExtraKeys()) > 0,
		}
	}
	return s
}

// removed has the level in its place: all its blocks lie on one. A stored block has its own.
func removed(m *commonpb.KvBlocksRemoved) *engine.Removed {
	return &engine.Removed{
		Place: engine.Place{
			Tier:      tier(m.GetTier()),
			Level:     m.CacheLevel,
			Medium:    m.GetMedium(),
			Group:     m.GroupIdx,
			Remote:    m.GetLocality() == commonpb.KvCacheLocality_KV_CACHE_LOCALITY_REMOTE,
			Ownership: m.GetOwnership(),
		},
		Hashes: m.GetBlockHashes(),
	}
}

func pushedLoad(rank int32, m *commonpb.EngineLoad) *engine.PushedLoad {
	return &engine.PushedLoad{
		RankLoad: engine.RankLoad{
			Rank:            rank,
			Running:         int(m.GetRunningRequests()),
			Waiting:         int(m.GetWaitingRequests()),
			WaitingUncached: integer(m.WaitingUncachedTokens),
			Usage:           m.GetTokenUsage(),
			ActiveUsage:     m.ActiveTokenUsage,
			GenThroughput:   m.GetGenThroughput(),
			CacheHitRate:    m.GetCacheHitRate(),
			UsedTokens:      int(m.GetNumUsedTokens()),
			MaxTokens:       int(m.GetMaxTotalNumTokens()),
			MaxRunning:      int(m.GetMaxRunningRequests()),
			EngineSilence:   milliseconds(m.EngineSilenceMs),
			ReportsSteps:    m.GetEngineReportsSteps(),
			PrefillPending:  integer(m.PrefillPendingTokens),
		},
		Age:    time.Duration(m.GetAgeMs()) * time.Millisecond,
		Sample: m.GetSample(),
	}
}

// integer keeps an absent number absent: unknown is not zero.
func integer(v *uint32) *int {
	if v == nil {
		return nil
	}
	n := int(*v)
	return &n
}

func milliseconds(v *uint32) *time.Duration {
	if v == nil {
		return nil
	}
	d := time.Duration(*v) * time.Millisecond
	return &d
}

// Uncached reads a count of waiting tokens that the wire cannot leave out: a zero beside a waiting queue may be
// meant or may be a field that this version never fills, so it is unknown.
func Uncached(tokens, waiting int32) *int {
	if tokens == 0 && waiting != 0 {
		return nil
	}
	n := int(tokens)
	return &n
}
