package sim

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
)

// listen collects what a subscription brings until its end; the channel is closed after err is set.
type listener struct {
	batches chan *commonpb.KvEventBatch
	err     error
}

func (m *mouth) listen(ctx context.Context, t *testing.T, req *commonpb.SubscribeKvEventsRequest) *listener {
	t.Helper()
	stream, err := m.common.SubscribeKvEvents(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{batches: make(chan *commonpb.KvEventBatch, 4096)}
	if _, err := stream.Header(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(l.batches)
		for {
			b, err := stream.Recv()
			if err != nil {
				l.err = err
				return
			}
			l.batches <- b
		}
	}()
	return l
}

// next returns the next batch of events, heartbeats passed over.
func (l *listener) next(t *testing.T) *commonpb.KvEventBatch {
	t.Helper()
	for {
		select {
		case b, ok := <-l.batches:
			if !ok {
				t.Fatalf("the stream ended: %v", l.err)
			}
			if !b.GetLoad().GetLoadOnly() {
				return b
			}
		case <-time.After(5 * time.Second):
			t.Fatal("no batch for 5 s")
		}
	}
}

func (l *listener) end(t *testing.T) codes.Code {
	t.Helper()
	for {
		select {
		case _, ok := <-l.batches:
			if !ok {
				return status.Code(l.err)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("the stream does not end")
		}
	}
}

func (m *mouth) say(t *testing.T, id string, tokens []uint32, max int) {
	t.Helper()
	if _, err := m.generate(brief(t), ask{id: id, tokens: tokens, max: max}, nil); err != nil {
		t.Fatal(err)
	}
}

func kinds(b *commonpb.KvEventBatch) []string {
	var out []string
	for _, e := range b.Events {
		switch {
		case e.GetStored() != nil:
			out = append(out, "stored")
		case e.GetRemoved() != nil:
			out = append(out, "removed")
		default:
			out = append(out, "cleared")
		}
	}
	return out
}

func TestAPromptsBlocksAreStoredAsAChainOfItsTokens(t *testing.T) {
	for _, d := range dialects {
		w, m := start(t, Options{Dialect: string(d), BlockSize: 8})
		l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
		tokens := words(w, 44, "hello")
		m.say(t, "a", tokens, 1)
		b := l.next(t)
		if b.DpRank == nil || *b.DpRank != 0 || b.Load == nil || b.Timestamp == 0 {
			t.Errorf("%s: %v", d, b)
		}
		if first := kinds(b)[0] == "cleared"; first == (d == engine.TokenSpeed) { // case H5
			t.Errorf("%s: begins with cleared: %v", d, first)
		}
		keys := AppendKeys(nil, tokens, 8)
		var parent *int64
		at := 0
		for _, e := range b.Events {
			s := e.GetStored()
			if s == nil {
				continue
			}
			if d != engine.VLLM && len(s.Blocks) != 1 {
				t.Errorf("%s: %d blocks in one event", d, len(s.Blocks))
			}
			if (parent == nil) != (s.ParentBlockHash == nil) || parent != nil && *parent != *s.ParentBlockHash {
				t.Errorf("%s: block %d has the wrong parent", d, at)
			}
			for _, block := range s.Blocks {
				if block.BlockHash != int64(keys[at]) || !slices.Equal(block.TokenIds, tokens[8*at:8*at+8]) || block.BlockSize != 8 {
					t.Errorf("%s: block %d is %v", d, at, block)
				}
				parent = &block.BlockHash
				at++
			}
			if s.GetTier() != commonpb.KvCacheTier_KV_CACHE_TIER_DEVICE {
				t.Errorf("%s: tier %v", d, s.GetTier())
			}
		}
		if at != 5 {
			t.Errorf("%s: %d blocks stored, want 5", d, at)
		}
	}
}

func TestThePythonServicerKnowsNoPast(t *testing.T) {
	w, m := start(t, Options{})
	m.say(t, "a", words(w, 40, "hello"), 1)
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{LoadRecordsBeforeFirstBatch: true})
	select {
	case b := <-l.batches:
		t.Errorf("before the first batch came %v", b)
	case <-time.After(300 * time.Millisecond):
	}
	m.say(t, "b", words(w, 40, "goodbye"), 1)
	if b := l.next(t); b.SequenceNumber != 1 || b.Load == nil {
		t.Errorf("the first batch is number %d", b.SequenceNumber)
	}
	ctx, cancel := context.WithCancel(brief(t))
	defer cancel()
	stream, err := m.common.SubscribeKvEvents(ctx, &commonpb.SubscribeKvEventsRequest{StartSequenceNumber: 1})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.OutOfRange {
		t.Errorf("a cursor: %v", err)
	}
}

func TestHeartbeatsRepeatTheLastNumberOnceABatchHasCome(t *testing.T) {
	w, m := start(t, Options{FirstSequence: 40})
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
	m.say(t, "a", words(w, 40, "hello"), 1)
	if b := l.next(t); b.SequenceNumber != 40 {
		t.Fatalf("number %d", b.SequenceNumber)
	}
	var last uint64
	for range 2 {
		select {
		case b := <-l.batches:
			load := b.GetLoad()
			if !load.GetLoadOnly() || len(b.Events) > 0 || b.SequenceNumber != 40 || b.GetDpRank() != 0 || load.Sample <= last {
				t.Errorf("%v", b)
			}
			if load.MaxTotalNumTokens == nil || load.EngineSilenceMs != nil {
				t.Errorf("telemetry: %v", load)
			}
			last = load.Sample
		case <-time.After(3 * time.Second):
			t.Fatal("no heartbeat for 3 s")
		}
	}
}

func TestTheBridgeSendsEventsAndNothingElse(t *testing.T) {
	w, m := start(t, Options{Servicer: string(Bridge)})
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{StartSequenceNumber: 99}) // ignored
	m.say(t, "a", words(w, 40, "hello"), 1)
	b := l.next(t)
	if b.Load != nil || b.DpRank != nil || b.Events[len(b.Events)-1].GetStored().Tier != nil {
		t.Errorf("%v", b)
	}
}

func TestTheRustServicerReplaysResumesAndRefuses(t *testing.T) {
	w, m := start(t, Options{Dialect: "vllm", Servicer: string(Rust)})
	for _, first := range []string{"one", "two", "three"} {
		m.say(t, first, words(w, 40, first), 1)
	}
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
	for want := range uint64(3) {
		if b := l.next(t); b.SequenceNumber != want || b.Snapshot != nil || b.DpRank != nil {
			t.Errorf("replay of %d: %v", want, b)
		}
	}
	l = m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{StartSequenceNumber: 1})
	if b := l.next(t); b.SequenceNumber != 2 {
		t.Errorf("after 1 came %d", b.SequenceNumber)
	}
	stream, err := m.common.SubscribeKvEvents(brief(t), &commonpb.SubscribeKvEventsRequest{StartSequenceNumber: 9})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.OutOfRange {
		t.Errorf("a cursor in the future: %v", err)
	}
}

func TestTheRustServicerSnapshotsWhatHistoryForgot(t *testing.T) {
	w, m := start(t, Options{Servicer: string(Rust), History: 2})
	held := map[int64]bool{}
	for _, first := range []string{"one", "two", "three"} {
		tokens := words(w, 40, first)
		m.say(t, first, tokens, 1)
		for _, k := range AppendKeys(nil, tokens, 16) {
			held[int64(k)] = true
		}
	}
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
	b := l.next(t)
	if s := b.GetSnapshot(); s == nil || s.Count != 1 || s.Blocks != uint64(len(held)) || b.SequenceNumber != 2 || kinds(b)[0] != "cleared" {
		t.Fatalf("%v", b)
	}
	for _, e := range b.Events[1:] {
		delete(held, e.GetStored().Blocks[0].BlockHash)
	}
	if len(held) > 0 {
		t.Errorf("%d blocks are not in the snapshot", len(held))
	}
	m.say(t, "four", words(w, 40, "four"), 1)
	if b := l.next(t); b.SequenceNumber != 3 || b.Snapshot != nil {
		t.Errorf("live: %v", b)
	}
}

func TestSnapshotsSayParentsFirstInBoundedChunks(t *testing.T) {
	h := newHistory(1, 0)
	const n = snapshotBlocks + 10
	store := func(seq uint64, hash, parent int64) {
		h.add(&commonpb.KvEventBatch{SequenceNumber: seq, Events: []*commonpb.KvCacheEvent{{Data: &commonpb.KvCacheEvent_Stored{
			Stored: &commonpb.KvBlocksStored{ParentBlockHash: &parent, Blocks: []*commonpb.KvBlock{{BlockHash: hash}}}}}}})
	}
	for i := int64(n); i >= 1; i-- { // children first
		store(uint64(n-i+100), i, i-1)
	}
	chunks, ok := h.since(0)
	if !ok || len(chunks) != 2 {
		t.Fatalf("%d chunks", len(chunks))
	}
	said := map[int64]bool{0: true}
	for i, c := range chunks {
		if c.Snapshot.Index != uint32(i) || c.Snapshot.Blocks != n || c.SequenceNumber != uint64(n+99-1+i) {
			t.Errorf("chunk %d: %v number %d", i, c.Snapshot, c.SequenceNumber)
		}
		for _, e := range c.Events {
			if s := e.GetStored(); s != nil {
				if !said[s.GetParentBlockHash()] {
					t.Fatalf("block %d came before its parent", s.Blocks[0].BlockHash)
				}
				said[s.Blocks[0].BlockHash] = true
			}
		}
	}
	if len(said) != n+1 {
		t.Errorf("%d blocks", len(said))
	}
}

func TestRustLoadRecordsMayComeBeforeTheFirstBatch(t *testing.T) {
	_, m := start(t, Options{Servicer: string(Rust)})
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{LoadRecordsBeforeFirstBatch: true})
	select {
	case b := <-l.batches:
		if !b.GetLoad().GetLoadOnly() || b.SequenceNumber != 0 || b.DpRank != nil || b.Load.EngineSilenceMs == nil {
			t.Errorf("%v", b)
		}
	case <-time.After(3 * time.Second):
		t.Error("no record for 3 s")
	}
}

func TestAFlushIsToldWithTheNextBatch(t *testing.T) { // case H4
	for _, d := range dialects {
		w, m := start(t, Options{Dialect: string(d)})
		l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
		m.say(t, "a", words(w, 40, "hello"), 1)
		l.next(t)
		if r, err := m.common.FlushCache(brief(t), &commonpb.FlushCacheRequest{}); err != nil || !r.Success {
			t.Fatalf("%s: %v, %v", d, r, err)
		}
		if d == engine.TokenSpeed { // it says so at once, block by block
			if got := kinds(l.next(t)); !slices.Equal(got, []string{"removed", "removed"}) {
				t.Errorf("%s: %v", d, got)
			}
			continue
		}
		m.say(t, "b", words(w, 40, "hello"), 1)
		if got := kinds(l.next(t)); got[0] != "cleared" || got[1] != "stored" {
			t.Errorf("%s: %v", d, got)
		}
	}
}

func TestEachRankHasItsOwnSequenceAndCache(t *testing.T) {
	w, m := start(t, Options{Ranks: 2, Dialect: "vllm"})
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
	tokens := words(w, 40, "hello")
	for rank := range int32(2) {
		all, err := m.generate(brief(t), ask{id: "a", tokens: tokens, max: 1, rank: &rank}, nil)
		if err != nil || all[0].cached != 0 {
			t.Errorf("rank %d: %v, %+v", rank, err, all)
		}
		if b := l.next(t); b.GetDpRank() != rank || b.SequenceNumber != 0 {
			t.Errorf("rank %d: %v", rank, b)
		}
	}
	if _, err := m.generate(brief(t), ask{id: "a", tokens: tokens, rank: new(int32(2))}, nil); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a rank that is not there: %v", err)
	}
}
