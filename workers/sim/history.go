package sim

import (
	"slices"
	"time"

	"leeway/workers/enginepb/commonpb"
)

// history is what a rust servicer's relay remembers: the latest batches, and every block that is there now.
type history struct {
	limit   int
	first   uint64 // number of the first batch ever
	batches []*commonpb.KvEventBatch
	held    map[int64]heldBlock
	order   []int64 // of storing; may name blocks that have gone
}

// heldBlock is a block that is in the cache now, and what a snapshot has to say of it.
type heldBlock struct {
	parent *int64
	stored *commonpb.KvBlocksStored // whose place it has
	block  *commonpb.KvBlock
}

// newHistory keeps so many batches, the very first of which has the number first.
func newHistory(limit int, first uint64) *history {
	return &history{limit: limit, first: first, held: map[int64]heldBlock{}}
}

// add records a batch and forgets the oldest beyond the limit.
func (h *history) add(b *commonpb.KvEventBatch) {
	if len(h.batches) >= h.limit {
		h.batches = slices.Delete(h.batches, 0, len(h.batches)-h.limit+1)
	}
	h.batches = append(h.batches, b)
	for _, e := range b.Events {
		h.apply(e)
	}
	if len(h.order) > 2*len(h.held)+1024 {
		h.order = slices.DeleteFunc(h.order, func(hash int64) bool { _, ok := h.held[hash]; return !ok })
	}
}

// apply keeps the account of what is held.
func (h *history) apply(e *commonpb.KvCacheEvent) {
	switch {
	case e.GetCleared() != nil:
		clear(h.held)
	case e.GetRemoved() != nil:
		for _, hash := range e.GetRemoved().BlockHashes {
			delete(h.held, hash)
		}
	default:
		parent := e.GetStored().ParentBlockHash
		for _, b := range e.GetStored().GetBlocks() {
			h.held[b.BlockHash] = heldBlock{parent: parent, stored: e.GetStored(), block: b}
			h.order = append(h.order, b.BlockHash)
			parent = new(b.BlockHash)
		}
	}
}

// since gives the batches after a cursor; from 0 everything, or a snapshot of it. False: the cursor is outside.
func (h *history) since(start uint64) ([]*commonpb.KvEventBatch, bool) {
	if len(h.batches) == 0 {
		return nil, start == 0
	}
	oldest, newest := h.batches[0].SequenceNumber, h.batches[len(h.batches)-1].SequenceNumber
	switch {
	case start == 0 && oldest == h.first:
		return slices.Clone(h.batches), true
	case start == 0:
		return h.snapshot(newest), true
	case start+1 < oldest || start > newest:
		return nil, false
	}
	i, _ := slices.BinarySearchFunc(h.batches, start+1, func(b *commonpb.KvEventBatch, seq uint64) int {
		return int(int64(b.SequenceNumber) - int64(seq))
	})
	return slices.Clone(h.batches[i:]), true
}

// snapshotBlocks is the most that a chunk carries.
const snapshotBlocks = 2048

// snapshot says everything that is held, parents first, in chunks whose numbers end at the cut.
func (h *history) snapshot(cut uint64) []*commonpb.KvEventBatch {
	events := []*commonpb.KvCacheEvent{{Data: &commonpb.KvCacheEvent_Cleared{Cleared: &commonpb.KvCacheCleared{}}}}
	said := map[int64]bool{}
	var say func(hash int64)
	say = func(hash int64) {
		b, ok := h.held[hash]
		if !ok || said[hash] {
			return
		}
		said[hash] = true
		if b.parent != nil {
			say(*b.parent)
		}
		s := b.stored
		events = append(events, &commonpb.KvCacheEvent{Data: &commonpb.KvCacheEvent_Stored{Stored: &commonpb.KvBlocksStored{
			Blocks: []*commonpb.KvBlock{b.block}, ParentBlockHash: b.parent, Tier: s.Tier, Medium: s.Medium,
			GroupIdx: s.GroupIdx, KvCacheSpecKind: s.KvCacheSpecKind, Locality: s.Locality,
		}}})
	}
	for _, hash := range h.order {
		say(hash)
	}
	count := max((len(events)-1+snapshotBlocks-1)/snapshotBlocks, 1)
	var chunks []*commonpb.KvEventBatch
	for i := range count {
		from, to := i*snapshotBlocks+min(i, 1), min((i+1)*snapshotBlocks+1, len(events))
		chunks = append(chunks, &commonpb.KvEventBatch{
			SequenceNumber: cut - min(cut, uint64(count-1-i)), Timestamp: float64(time.Now().UnixMicro()) / 1e6, Events: events[from:to],
			DpRank:   new(int32(0)),
			Snapshot: &commonpb.KvSnapshotChunk{Index: uint32(i), Count: uint32(count), Blocks: uint64(len(events) - 1)},
		})
	}
	return chunks
}
