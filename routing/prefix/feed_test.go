package prefix

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const maxAge = 30 * time.Second

func random(seed uint64, n int) []uint32 {
	source := rand.New(rand.NewPCG(seed, 1))
	tokens := make([]uint32, n)
	for i := range tokens {
		tokens[i] = source.Uint32N(150000)
	}
	return tokens
}

// run is a Stored event of a prompt's whole blocks from its root; the engine's hashes are first, first+1, …
func run(first int64, tokens []uint32, size int) Event {
	e := Event{Kind: Stored, Place: Place{Group: -1}}
	for i := 0; i+size <= len(tokens); i += size {
		e.Blocks = append(e.Blocks, Block{Hash: first + int64(len(e.Blocks)), Tokens: tokens[i : i+size], Size: size})
	}
	return e
}

// from is the part of a run that begins with a block.
func (e Event) from(block int) Event {
	e.Parent, e.HasParent, e.Blocks = e.Blocks[block-1].Hash, true, e.Blocks[block:]
	return e
}

func removed(hashes ...int64) Event {
	return Event{Kind: Removed, Place: Place{Group: -1}, Hashes: hashes}
}

var cleared = Event{Kind: Cleared, Place: Place{Group: -1}}

// worker is one feed under test, with a prompt of ten blocks of four tokens.
type worker struct {
	t      *testing.T
	feed   *Feed
	prompt []uint32
	now    time.Time
}

func newWorker(t *testing.T) *worker {
	ix := NewIndex(Config{Bytes: 1 << 30, MaxAge: maxAge})
	return &worker{t: t, feed: ix.Feed("w"), prompt: random(9, 41), now: t0}
}

// whole is the event that stores all of the prompt's blocks, as hashes 0 to 9.
func (w *worker) whole() Event { return run(0, w.prompt, 4) }

// batch applies events under a number and wants a verdict.
func (w *worker) batch(sequence uint64, want Verdict, events ...Event) {
	w.t.Helper()
	if got := w.feed.Apply(w.now, &Batch{Sequence: sequence, Events: events}); got != want {
		w.t.Fatalf("batch %d: verdict %d, want %d", sequence, got, want)
	}
}

func (w *worker) heartbeat(sequence uint64) {
	w.feed.Apply(w.now, &Batch{Sequence: sequence, LoadOnly: true})
}

func (w *worker) claim() Claim {
	var q Query
	q.Ask(w.now, w.prompt, []Source{{Feed: w.feed, Rank: -1}})
	return q.Claims[0]
}

// wants checks the claim: a word, and how many blocks.
func (w *worker) wants(word Word, blocks int) {
	w.t.Helper()
	if c := w.claim(); c.Word != word || c.Tokens != 4*blocks {
		w.t.Fatalf("claims %d tokens, %s; want %d blocks, %s", c.Tokens, c.Word, blocks, word)
	}
}

func (w *worker) lost(word Word, times uint64) {
	w.t.Helper()
	if got := w.feed.losses[word].Load(); got != times {
		w.t.Fatalf("lost %d times for %s, want %d", got, word, times)
	}
}

func TestAFreshStreamIsBasedOnItsFirstBatchWhateverItsNumber(t *testing.T) { // row 1, cases H5 and D22
	for _, first := range []uint64{0, 1, 40} {
		w := newWorker(t)
		w.wants(Warming, 0)
		w.heartbeat(first)
		w.heartbeat(0)
		w.wants(Warming, 0)
		w.batch(first, Applied, cleared, w.whole())
		w.wants(Certified, 10)
		w.batch(first+1, Applied, removed(9))
		w.wants(Certified, 9)
	}
}

func TestAClaimIsAtMostThePromptLessItsLastToken(t *testing.T) {
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.prompt = w.prompt[:40]
	w.wants(Certified, 9)
	w.prompt = w.prompt[:3] // case D21
	w.wants(Certified, 0)
}

func TestAClaimIsAnUnbrokenChainFromTheRoot(t *testing.T) { // row 5
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.batch(2, Applied, removed(4))
	w.wants(Certified, 4)
	w.batch(3, Applied, removed(0))
	w.wants(Certified, 0)
	again := w.whole()
	again.Blocks = again.Blocks[:1]
	w.batch(4, Applied, again)
	w.wants(Certified, 4)
	again = w.whole()
	again.Parent, again.HasParent, again.Blocks = 3, true, again.Blocks[4:5]
	w.batch(5, Applied, again)
	w.wants(Certified, 10)
}

func TestAnUnknownParentIsNoRoot(t *testing.T) { // row 4
	w := newWorker(t)
	orphans := w.whole()
	orphans.Parent, orphans.HasParent = 77, true
	w.batch(1, Applied, orphans)
	w.wants(Certified, 0)
	w.batch(2, Applied, w.whole()) // stored once more, with its place
	w.wants(Certified, 10)
	w.batch(3, Applied, removed(0, 1, 2, 3, 4, 5, 6, 7, 8, 9))
	w.wants(Certified, 10)
}

func TestCopiesAreCounted(t *testing.T) { // row 6
	w := newWorker(t)
	w.batch(1, Applied, cleared, w.whole(), w.whole())
	w.batch(2, Applied, removed(3))
	w.wants(Certified, 10)
	w.batch(3, Applied, removed(3))
	w.wants(Certified, 3)
	w.batch(4, Applied, removed(3)) // once too often, and the view is complete
	w.wants(Corrupt, 0)
	w.batch(5, Applied, w.whole())
	w.wants(Certified, 10)
	w.lost(Corrupt, 1)
}

func TestABatchSentTwiceCountsOnce(t *testing.T) { // case D7
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.batch(1, Heard, w.whole())
	w.batch(2, Applied, removed(0))
	w.wants(Certified, 0)
}

func TestContradictionsEndTheCertificate(t *testing.T) { // row 7, case D4
	short := Event{Kind: Stored, Place: Place{Group: -1}, Blocks: []Block{{Hash: 50, Tokens: []uint32{1, 2, 3}, Size: 4}}}
	empty := Event{Kind: Stored, Place: Place{Group: -1}, Blocks: []Block{{Hash: 50, Size: 4}}}
	for _, c := range []struct {
		name  string
		event Event
		want  Word
	}{
		{"a hash stored with other tokens", run(0, random(3, 4), 4), Corrupt},
		{"a block with too few tokens", short, Corrupt},
		{"a block without tokens", empty, Corrupt},
		{"a second block size", run(50, random(3, 8), 8), BlockSize},
	} {
		w := newWorker(t)
		w.batch(1, Applied, w.whole())
		w.batch(2, Applied, c.event)
		if got := w.claim(); got.Word != c.want || got.Tokens != 0 {
			t.Errorf("%s: %s with %d tokens, want %s", c.name, got.Word, got.Tokens, c.want)
		}
		w.batch(3, Applied, w.whole())
		w.wants(Certified, 10)
	}
}

func TestOnlyTheEnginesOwnDeviceCopiesOfPlainBlocksCount(t *testing.T) { // row 9, cases D5, D6, D19
	for name, change := range map[string]func(*Event){
		"host tier":        func(e *Event) { e.Tier = Host },
		"external tier":    func(e *Event) { e.Tier = External },
		"medium":           func(e *Event) { e.Medium = "CPU" },
		"cache level":      func(e *Event) { e.Blocks[0].Level = 1 },
		"remote":           func(e *Event) { e.Remote = true },
		"another owner":    func(e *Event) { e.Owner = "kvcr" },
		"sliding window":   func(e *Event) { e.Group, e.GroupKind = 1, "sliding_window" },
		"adapter or salt":  func(e *Event) { e.Foreign = true },
		"image in a block": func(e *Event) { e.Blocks[0].Foreign = true },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t)
			e := w.whole()
			change(&e)
			w.batch(1, Applied, cleared, e)
			w.wants(Certified, 0)
			gone := removed(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
			if e.Blocks[0].Level == 0 {
				gone.Place = e.Place
				w.batch(2, Applied, gone)
				w.wants(Certified, 0)
			}
		})
	}
}

func TestAGroupWithoutAKindIsWhatItWasBefore(t *testing.T) {
	w := newWorker(t)
	window := run(100, random(3, 4), 4)
	window.Group, window.GroupKind = 1, "sliding_window"
	silent, main := w.whole(), w.whole()
	silent.Group, main.Group = 1, 0
	w.batch(1, Applied, window, silent)
	w.wants(Certified, 0)
	w.batch(2, Applied, main)
	w.wants(Certified, 10)
}

func TestForeignBlocksDoNotSetTheBlockSize(t *testing.T) {
	w := newWorker(t)
	e := run(100, random(3, 8), 8)
	e.Foreign = true
	w.batch(1, Applied, e)
	w.batch(2, Applied, w.whole())
	w.wants(Certified, 10)
}

func TestOneHashForAPlainBlockAndAForeignOneIsCorrupt(t *testing.T) {
	w := newWorker(t)
	e := w.whole()
	e.Foreign = true
	w.batch(1, Applied, w.whole())
	w.batch(2, Applied, e) // whose copy a removal would take cannot be told
	w.wants(Corrupt, 0)
}

func TestAnOrphanMayTurnOutToBeForeign(t *testing.T) { // row 7
	w := newWorker(t)
	image, child := run(500, w.prompt[:4], 4), run(501, w.prompt[4:8], 4)
	image.Foreign = true
	child.Parent, child.HasParent = 500, true
	w.batch(1, Applied, w.whole(), child)
	w.batch(2, Applied, image, child) // known now to be behind the image
	w.batch(3, Applied, removed(500)) // of which the engine keeps no copy,
	w.batch(4, Applied, child)        // but one of what follows
	w.batch(5, Applied, removed(501))
	w.wants(Certified, 10)
	w.batch(6, Applied, run(501, w.prompt[:4], 4))
	w.wants(Corrupt, 0)
}

func TestWhatFollowsAForeignBlockIsForeign(t *testing.T) {
	w := newWorker(t)
	first, rest := w.whole(), w.whole()
	first.Foreign, first.Blocks = true, first.Blocks[:1]
	rest.Parent, rest.HasParent, rest.Blocks = 0, true, rest.Blocks[1:]
	w.batch(1, Applied, first, rest)
	w.wants(Certified, 0)
}

func TestAWorkerKeepsItsOwnBlockSize(t *testing.T) { // row 8, case D4
	ix := NewIndex(Config{Bytes: 1 << 30, MaxAge: maxAge})
	tokens := random(5, 65)
	var sources []Source
	for _, size := range []int{4, 16, 64} {
		f := ix.Feed(fmt.Sprint(size))
		f.Apply(t0, &Batch{Sequence: 1, Events: []Event{run(0, tokens, size)}})
		sources = append(sources, Source{Feed: f, Rank: -1})
	}
	var q Query
	q.Ask(t0, tokens, sources)
	for i, c := range q.Claims {
		if c.Tokens != 64 {
			t.Errorf("source %d claims %d of 64 tokens (%s)", i, c.Tokens, c.Word)
		}
	}
}

func TestABlockBehindTheDeviceBreaksTheRun(t *testing.T) { // rows 4 and 9
	w := newWorker(t)
	e := w.whole()
	e.Blocks[1].Level = 1
	w.batch(1, Applied, e)
	w.wants(Certified, 1)
	w.prompt = append(slices.Clone(w.prompt[:4]), w.prompt[8:]...) // without the block that was skipped
	w.wants(Certified, 1)
}

func TestGroupsBeyondTheBoundAreNotTakenForTheMainOne(t *testing.T) { // row 9
	w := newWorker(t)
	e := w.whole()
	for group := range int64(maxGroups + 2) {
		e.Group, e.GroupKind = group, "sliding_window"
		w.batch(uint64(group), Applied, e)
	}
	e.GroupKind = "" // said before, and forgotten
	w.batch(maxGroups+2, Applied, e)
	w.wants(Certified, 0)
}

func TestAForeignBlocksChildSetsNoBlockSize(t *testing.T) { // rows 7 and 9
	w := newWorker(t)
	first, child := run(100, random(3, 8), 8), run(101, random(4, 8), 8)
	first.Foreign = true
	child.Parent, child.HasParent = 100, true
	w.batch(1, Applied, first, child, w.whole())
	w.wants(Certified, 10)
}

func TestMoreCopiesThanAreCountedIsCorrupt(t *testing.T) { // row 6
	w := newWorker(t)
	e := w.whole()
	e.Blocks = e.Blocks[:1]
	for n := range uint64(maxCopies) {
		w.batch(n, Applied, e)
	}
	w.wants(Certified, 1)
	w.batch(uint64(maxCopies), Applied, e)
	w.wants(Corrupt, 0)
}

func TestAKindWithoutAGroupSaysNothingOfOthers(t *testing.T) {
	w := newWorker(t)
	window := run(100, random(3, 4), 4)
	window.GroupKind = "sliding_window"
	w.batch(1, Applied, window, w.whole())
	w.wants(Certified, 10)
}

func TestWhatAnotherOwnerClearsIsNotTheEngines(t *testing.T) { // rows 3 and 9
	w := newWorker(t)
	theirs := cleared
	theirs.Owner = "kvcr"
	w.batch(1, Applied, w.whole())
	w.batch(2, Applied, theirs)
	w.wants(Certified, 10)
	w.batch(2, Heard, theirs) // a duplicate, not a restart
	w.wants(Certified, 10)
}

func TestAnEmptiedViewIsNotComplete(t *testing.T) { // rows 2, 6 and 13
	for name, empty := range map[string]func(*worker){
		"a flush": func(w *worker) { w.feed.Flush(w.now.Add(maxAge)); w.now = w.now.Add(maxAge + 1) },
		"a gap":   func(w *worker) { w.feed.NoResume(); w.batch(5, Applied) },
	} {
		w := newWorker(t)
		w.batch(1, Applied, cleared, w.whole())
		empty(w)
		cursor, _ := w.feed.Cursor(0)
		if w.batch(cursor+1, Applied, removed(77)); w.claim().Word != Certified {
			t.Errorf("after %s: a removal of what may have been there ended the certificate", name)
		}
	}
}

func TestAWorkerMayGoOnWithAnotherBlockSize(t *testing.T) { // row 8
	w := newWorker(t)
	w.batch(1, Applied, w.whole())
	w.batch(2, Applied, run(50, w.prompt, 8))
	w.wants(BlockSize, 0)
	w.batch(3, Applied, run(50, w.prompt, 8))
	w.wants(Certified, 10) // 40 tokens
}
