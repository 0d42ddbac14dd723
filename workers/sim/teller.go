package sim

import (
	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
)

// teller puts cache changes into the words of a dialect.
type teller struct {
	blockSize int
	coalesce  bool // one event for a run of blocks; else one for each
	clears    bool // the dialect says when a cache was emptied
	place     bool // tier, medium and locality are said
	group     bool // the group of layers is said as well
}

// newTeller knows the habits of a dialect and a servicer.
func newTeller(o Options) teller {
	d := o.dialect()
	return teller{
		blockSize: o.BlockSize,
		coalesce:  d == engine.VLLM,
		clears:    d != engine.TokenSpeed,
		place:     o.servicer() != Bridge,
		group:     o.servicer() != Bridge && d == engine.VLLM,
	}
}

// tell turns changes into events, numbered later.
func (t teller) tell(changes []Change, choices map[*Job]*choice) []*commonpb.KvCacheEvent {
	var events []*commonpb.KvCacheEvent
	for _, c := range changes {
		if c.Job == nil {
			events = append(events, t.removed(c.Removed))
			continue
		}
		ch := choices[c.Job]
		if ch == nil {
			continue
		}
		width := c.To - c.From
		if !t.coalesce {
			width = 1
		}
		for from := c.From; from < c.To; from += width {
			events = append(events, t.stored(ch, from, from+width))
		}
	}
	return events
}

// stored says that blocks from one to another of a choice are there now, and what they hold.
func (t teller) stored(ch *choice, from, to int) *commonpb.KvCacheEvent {
	s := &commonpb.KvBlocksStored{}
	if from > 0 {
		s.ParentBlockHash = new(int64(ch.Keys[from-1]))
	}
	for i := from; i < to; i++ {
		s.Blocks = append(s.Blocks, &commonpb.KvBlock{
			BlockHash: int64(ch.Keys[i]),
			TokenIds:  ch.tokens[i*t.blockSize : (i+1)*t.blockSize],
			BlockSize: int32(t.blockSize),
		})
	}
	if t.place {
		s.Tier = commonpb.KvCacheTier_KV_CACHE_TIER_DEVICE.Enum()
		s.Medium = new("GPU")
		s.Locality = commonpb.KvCacheLocality_KV_CACHE_LOCALITY_LOCAL.Enum()
	}
	if t.group {
		s.GroupIdx = new(uint32(0))
		s.KvCacheSpecKind = new("full_attention")
	}
	return &commonpb.KvCacheEvent{Data: &commonpb.KvCacheEvent_Stored{Stored: s}}
}

// removed says that a block is gone.
func (t teller) removed(key uint64) *commonpb.KvCacheEvent {
	r := &commonpb.KvBlocksRemoved{BlockHashes: []int64{int64(key)}}
	if t.place {
		r.Tier = commonpb.KvCacheTier_KV_CACHE_TIER_DEVICE.Enum()
		r.Medium = new("GPU")
		r.Locality = commonpb.KvCacheLocality_KV_CACHE_LOCALITY_LOCAL.Enum()
	}
	if t.group {
		r.GroupIdx = new(uint32(0))
	}
	return &commonpb.KvCacheEvent{Data: &commonpb.KvCacheEvent_Removed{Removed: r}}
}

// cleared says that everything is gone.
func (t teller) cleared() *commonpb.KvCacheEvent {
	return &commonpb.KvCacheEvent{Data: &commonpb.KvCacheEvent_Cleared{Cleared: &commonpb.KvCacheCleared{}}}
}
