package prefix

import "testing"

// A request may wait until what was claimed for it has gone, and store it anew. An engine that tells is believed.
func TestAnEvictionThatWasToldRefutesNothing(t *testing.T) { // row 16
	for told, want := range map[bool]Word{true: Certified, false: Refuted} {
		w := newWorker(t)
		w.batch(1, Applied, w.whole())
		claim := w.claim()
		if told {
			w.batch(2, Applied, removed(9, 8, 7, 6))
			w.batch(3, Applied, w.whole().from(6))
		}
		if got := claim.Audit(24); got != Over {
			t.Errorf("told %t: %s", told, got)
		}
		w.wants(want, map[bool]int{true: 10}[told])
		later := w.claim()
		later.Audit(0)
		if w.claim().Word != Refuted {
			t.Errorf("told %t: what had gone before a claim excuses it", told)
		}
	}
}

func TestAClaimIsRefutedIfTooMuchHasLeftToRemember(t *testing.T) { // row 16
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	claim := w.claim()
	w.batch(2, Applied, removed(9, 8, 7, 6))
	other := random(3, 4*remembered)
	w.batch(3, Applied, run(100, other, 4))
	for i := range int64(remembered - 4) {
		w.feed.Apply(t0, &Batch{Sequence: uint64(4 + i), Events: []Event{removed(100 + i)}})
	}
	early := claim
	early.Audit(24)
	w.wants(Certified, 6)
	w.batch(remembered, Applied, removed(100+remembered-1))
	claim.Audit(24)
	w.wants(Refuted, 0)
}

// The end of a prefix may have gone, but not all that is missing.
func TestAnEvictionExcusesNoMoreThanWhatHasGone(t *testing.T) { // row 16
	for cached, want := range map[int]Word{32: Certified, 28: Refuted, 0: Refuted} {
		w := newWorker(t)
		w.batch(1, Applied, w.whole())
		claim := w.claim()
		w.batch(2, Applied, removed(9))
		claim.Audit(cached)
		w.wants(want, map[Word]int{Certified: 9}[want])
	}
}

func TestEvictionsAreRememberedAmongMany(t *testing.T) {
	var r recent
	const later = 100
	for i := range uint64(remembered + later) {
		r.add([]uint64{i})
	}
	for prefix, want := range map[uint64]bool{later - 1: false, later: true, remembered + later - 1: true, remembered + later: false} {
		if got := r.left(prefix, 0, 1); got != want {
			t.Errorf("prefix %d has left: %t", prefix, got)
		}
	}
	if r.left(later, later+1, 1) {
		t.Error("it left before")
	}
	if r.left(remembered, remembered, later+1) {
		t.Error("so many have not left since")
	}
}
