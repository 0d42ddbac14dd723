package prefix

import "testing"

// chunk applies one part of a snapshot of the worker's prompt: its first five blocks, or the others.
func (w *worker) chunk(sequence uint64, s Snapshot, events ...Event) {
	w.t.Helper()
	if got := w.feed.Apply(w.now, &Batch{Sequence: sequence, Events: events, Snapshot: &s}); got != Applied {
		w.t.Fatalf("chunk %d: verdict %d", s.Index, got)
	}
}

func (w *worker) halves() (first, second Event) {
	first, second = w.whole(), w.whole()
	first.Blocks, second.Blocks = first.Blocks[:5], second.Blocks[5:]
	second.Parent, second.HasParent = 4, true
	return first, second
}

func TestABatchInsideASnapshotEndsIt(t *testing.T) { // row 2b
	w := newWorker(t)
	first, second := w.halves()
	w.chunk(7, Snapshot{Index: 0, Count: 2}, cleared, first)
	w.batch(8, Applied, second) // no chunk, so what the snapshot still had to list is unknown
	w.wants(Certified, 0)
	w.batch(9, Applied, removed(77)) // and so this is no contradiction
	w.wants(Certified, 0)
}

func TestASnapshotThatBeginsAnewForgetsTheOneBefore(t *testing.T) { // row 2b
	w := newWorker(t)
	first, second := w.halves()
	w.chunk(7, Snapshot{Index: 0, Count: 3}, cleared, w.whole())
	w.chunk(8, Snapshot{Index: 0, Count: 2}, first)
	w.wants(Reconnect, 0)
	w.chunk(9, Snapshot{Index: 1, Count: 2}, second)
	w.batch(10, Applied, removed(9))
	w.wants(Certified, 9) // one copy: that of the first snapshot is forgotten
}

func TestOfASnapshotThatIsNotInOrderNothingIsKept(t *testing.T) { // row 2b
	for name, chunks := range map[string][]uint32{
		"its beginning is missing": {1, 2}, "its middle is missing": {0, 2}, "a chunk comes twice": {0, 1, 1, 2},
	} {
		w := newWorker(t)
		first, _ := w.halves()
		for i, index := range chunks {
			w.chunk(uint64(7+i), Snapshot{Index: index, Count: 3}, first)
		}
		if c := w.claim(); c.Word == Certified {
			t.Errorf("%s: it is certified", name)
		}
		w.batch(11, Applied, removed(77)) // it may have been in what is missing
		w.wants(Certified, 0)
	}
}

func TestWhatComesBetweenTheChunksIsNotUndoneByTheNext(t *testing.T) { // row 2b
	w := newWorker(t)
	first, second := w.halves()
	w.chunk(7, Snapshot{Index: 0, Count: 2}, cleared, first)
	w.batch(9, Applied, removed(5, 6))
	w.chunk(8, Snapshot{Index: 1, Count: 2}, second)
	w.wants(Certified, 0)
	w.batch(10, Applied)
	w.wants(Certified, 0)
}

func TestAFlushInsideASnapshotEndsIt(t *testing.T) { // row 13
	w := newWorker(t)
	first, second := w.halves()
	w.chunk(7, Snapshot{Index: 0, Count: 2}, cleared, first)
	w.feed.Flush(w.now.Add(maxAge))
	w.chunk(8, Snapshot{Index: 1, Count: 2}, second)
	w.wants(Warming, 0)
	w.now = w.now.Add(maxAge + 1)
	w.batch(9, Applied, removed(4)) // told of late, and no contradiction
	w.wants(Certified, 0)
}

func TestASnapshotIsNotCompleteBeforeItsLastChunk(t *testing.T) { // row 2b
	w := newWorker(t)
	first, second := w.halves()
	w.chunk(7, Snapshot{Index: 0, Count: 2}, cleared, first)
	w.chunk(8, Snapshot{Index: 1, Count: 2}, removed(77), second)
	w.wants(Certified, 10)
}

func TestASnapshotThatContradictsItselfStartsOver(t *testing.T) { // rows 2b and 7
	w := newWorker(t)
	first, second := w.halves()
	w.chunk(7, Snapshot{Index: 0, Count: 2}, cleared, first)
	w.chunk(8, Snapshot{Index: 1, Count: 2}, run(3, random(3, 4), 4))
	w.wants(Corrupt, 0)
	w.batch(9, Applied, second)
	w.wants(Certified, 0)
}

func TestAChunkOfNoSnapshotIsNoSignOfLife(t *testing.T) { // rows 2b and 14
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.now = w.now.Add(maxAge / 2)
	w.chunk(7, Snapshot{Index: 1, Count: 2})
	w.now = w.now.Add(maxAge/2 + 1)
	w.wants(Stale, 0)
}

func TestASnapshotThatDoesNotFitIntoMemoryIsNotKept(t *testing.T) { // row 2b, case D13
	w := newWorker(t)
	first, second := w.halves()
	bound := w.feed.index.cfg.Bytes
	w.feed.index.cfg.Bytes = 1
	w.chunk(7, Snapshot{Index: 0, Count: 2}, cleared, first)
	w.feed.index.cfg.Bytes = bound
	w.chunk(8, Snapshot{Index: 1, Count: 2}, second)
	w.wants(Evicted, 0)
	w.batch(9, Applied, removed(0)) // no contradiction
	w.wants(Certified, 0)
}

func TestASnapshotHasAsManyChunksAsItsFirstSays(t *testing.T) { // row 2b
	w := newWorker(t)
	first, second := w.halves()
	w.chunk(7, Snapshot{Index: 0, Count: 4}, cleared, first)
	w.chunk(8, Snapshot{Index: 1, Count: 2}, second)
	w.wants(Reconnect, 0)
}

func TestASnapshotWithAFaultIsNotCertifiedByItsLastChunk(t *testing.T) { // rows 2b and 6
	w := newWorker(t)
	first, second := w.halves()
	w.chunk(7, Snapshot{Index: 0, Count: 3}, cleared, first)
	w.chunk(8, Snapshot{Index: 1, Count: 3}, run(0, random(3, 4), 4)) // a hash that names another block already
	w.wants(Corrupt, 0)
	w.chunk(9, Snapshot{Index: 2, Count: 3}, second)
	w.wants(Corrupt, 0)
}

func TestACacheThatIsEmptiedInsideASnapshotEndsIt(t *testing.T) { // rows 2b and 13
	w := newWorker(t)
	first, second := w.halves()
	w.chunk(7, Snapshot{Index: 0, Count: 2}, cleared, first)
	w.feed.Empty()
	w.chunk(8, Snapshot{Index: 1, Count: 2}, second)
	w.wants(Reconnect, 0)
	w.batch(9, Applied, removed(4)) // told of late, and no contradiction
	w.wants(Certified, 0)
}
