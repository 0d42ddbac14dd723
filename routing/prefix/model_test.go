package prefix

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// The model of a view is a map from a block to its copies; blocks are the nodes of a small tree of prompts.
type model map[int64]int

// complete is the model's note that nothing is unknown: there is no node 0.
const complete = 0

// node n of the tree has parent n/3 and these tokens; node 0 does not exist.
func nodeTokens(n int64) []uint32 { return []uint32{uint32(n), uint32(n) + 7, 1} }

func nodeEvent(n int64) Event {
	e := Event{Kind: Stored, Place: Place{Group: -1}, Blocks: []Block{{Hash: n, Tokens: nodeTokens(n), Size: 3}}}
	if n >= 3 {
		e.Parent, e.HasParent = n/3, true
	}
	return e
}

// path is the prompt that ends with a node, and one token more.
func path(n int64) (prompt []uint32, nodes []int64) {
	for ; n > 0; n /= 3 {
		nodes = append([]int64{n}, nodes...)
		prompt = append(nodeTokens(n), prompt...)
	}
	return append(prompt, 0), nodes
}

// TestViewsEqualAModelUnderAnyOrderOfEvents stores and removes blocks of random prompts at many workers, ancestors
// before descendants or after, and compares every claim.
func TestViewsEqualAModelUnderAnyOrderOfEvents(t *testing.T) {
	const workers, nodes = 70, 120 // more than a lane has
	chance := rand.New(rand.NewPCG(1, 1))
	ix := NewIndex(Config{Bytes: 1 << 30, MaxAge: maxAge})
	models, sources := make([]model, workers), make([]Source, workers)
	for i := range sources {
		models[i], sources[i] = model{}, Source{Feed: ix.Feed(fmt.Sprint(i)), Rank: -1}
	}
	var q Query
	for round := range 3000 {
		i := chance.IntN(workers)
		b := &Batch{Sequence: uint64(round)}
		b.Sequence, _ = sources[i].Feed.Cursor(0)
		b.Sequence++
		for range chance.IntN(12) {
			b.Events = append(b.Events, models[i].change(chance, nodes))
		}
		if got := sources[i].Feed.Apply(t0, b); got != Applied {
			t.Fatalf("round %d: verdict %d", round, got)
		}
		prompt, chain := path(1 + chance.Int64N(nodes-1))
		q.Ask(t0, prompt, sources)
		for w, c := range q.Claims {
			if want := 3 * models[w].holds(chain); c.Tokens != want {
				t.Fatalf("round %d: worker %d claims %d of %v, holds %d (%s)", round, w, c.Tokens, chain, want, c.Word)
			}
		}
	}
}

// change is a random event that an engine could send: a block is stored only after its parent.
func (m model) change(chance *rand.Rand, nodes int64) Event {
	n := 1 + chance.Int64N(nodes-1)
	switch {
	case chance.IntN(200) == 0:
		clear(m)
		m[complete] = 1
		return cleared
	case m[n] > 0 && chance.IntN(3) > 0:
		m[n]--
		return removed(n)
	case n < 3 || m[n/3] > 0:
		m[n]++
		return nodeEvent(n)
	case m[complete] > 0:
		return removed()
	}
	return removed(-n) // of something older than the stream
}

func (m model) holds(chain []int64) int {
	for i, n := range chain {
		if m[n] == 0 {
			return i
		}
	}
	return len(chain)
}

func TestMemoryStaysWithinItsBound(t *testing.T) { // row 14, case D13
	const bound = 4 << 20
	ix := NewIndex(Config{Bytes: bound, MaxAge: maxAge})
	small, big := ix.Feed("small"), ix.Feed("big")
	tokens := random(1, 161)
	small.Apply(t0, &Batch{Sequence: 1, Events: []Event{run(0, tokens, 16)}})
	for i := range 400 {
		big.Apply(t0, &Batch{Sequence: uint64(i), Events: []Event{run(int64(i)<<20, random(uint64(i+2), 16000), 16)}})
		if got := ix.Bytes(); got > bound {
			t.Fatalf("batch %d: %d bytes", i, got)
		}
	}
	if big.losses[Evicted].Load() == 0 {
		t.Error("nobody said that views were dropped")
	}
	var q Query
	q.Ask(t0, tokens, []Source{{Feed: small, Rank: -1}})
	if c := q.Claims[0]; c.Tokens != 160 {
		t.Errorf("the small worker paid for the big one: %d tokens, %s", c.Tokens, c.Word)
	}
}

func TestABlockAndOwnerTakeAtMost64Bytes(t *testing.T) {
	ix := NewIndex(Config{Bytes: 1 << 30, MaxAge: maxAge})
	f := ix.Feed("w")
	for i := range 100 {
		f.Apply(t0, &Batch{Sequence: uint64(i), Events: []Event{run(int64(i)<<20, random(uint64(i), 16*331), 16)}})
		if held := (i + 1) * 331; held > 1000 && ix.Bytes() > int64(64*held) {
			t.Fatalf("%d blocks take %d bytes", held, ix.Bytes())
		}
	}
}

// TestReadersAndWritersAtOnce is for the race detector; what it can assert is that no claim exceeds what was ever
// stored at that worker.
func TestReadersAndWritersAtOnce(t *testing.T) {
	ix := NewIndex(Config{Bytes: 1 << 30, MaxAge: time.Hour})
	tokens := random(1, 16*64+1)
	sources := make([]Source, 8)
	for i := range sources {
		sources[i] = Source{Feed: ix.Feed(fmt.Sprint(i)), Rank: -1}
	}
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for i, s := range sources {
		writers.Go(func() {
			for n := uint64(1); n < 300; n++ {
				e := run(0, tokens[:16*8*(i+1)], 16)
				s.Feed.Apply(t0, &Batch{Sequence: n, Events: []Event{cleared, e, run(1<<20, random(n+1, 1600), 16)}})
				if n%50 == 0 {
					s.Feed.Disconnected()
					s.Feed.Drop(Restart)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			var q Query
			for {
				select {
				case <-stop:
					return
				default:
				}
				q.Ask(t0, tokens, sources)
				for i := range q.Claims {
					if c := &q.Claims[i]; c.Tokens > 16*8*(i+1) {
						t.Errorf("worker %d claims %d tokens", i, c.Tokens)
					}
					q.Claims[i].Audit(1 << 20)
				}
				ix.Stats(t0)
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
}

// FuzzApply feeds batches made of arbitrary bytes. Whatever comes, nothing panics, a claim is of whole blocks within
// the prompt, and a removed worker leaves nothing.
func FuzzApply(f *testing.F) {
	f.Add([]byte{0, 1, 2, 0, 2, 3, 1, 1, 2, 2, 9, 9})
	f.Add([]byte("a gap, a restart, and blocks of two sizes"))
	f.Fuzz(func(t *testing.T, script []byte) {
		ix := NewIndex(Config{Bytes: 1 << 20, MaxAge: maxAge})
		feed := ix.Feed("w")
		prompt, _ := path(100)
		var q Query
		for len(script) >= 4 {
			op, number, node, flags := script[0], uint64(script[1]), int64(script[2]), script[3]
			script = script[4:]
			e := nodeEvent(node)
			e.Kind, e.Tier, e.Foreign = Kind(op%4), Tier(flags%5), flags&8 != 0
			e.Hashes = []int64{node}
			e.Blocks[0].Tokens = e.Blocks[0].Tokens[:min(int(flags>>6), 3)]
			b := &Batch{Sequence: number, Rank: int32(op >> 7), Events: []Event{e}, LoadOnly: op&32 != 0}
			if op&64 != 0 {
				b.Snapshot = &Snapshot{Index: uint32(flags & 3), Count: uint32(node & 3), UnknownBefore: number & 1}
			}
			if op&16 != 0 {
				feed.Disconnected()
			}
			feed.Apply(t0, b)
			q.Ask(t0, prompt, []Source{{Feed: feed, Rank: -1}, {Feed: feed, Rank: 1}})
			for _, c := range q.Claims {
				if c.Tokens < 0 || c.Tokens >= len(prompt) || c.BlockSize > 0 && c.Tokens%c.BlockSize != 0 {
					t.Fatalf("claim of %d tokens in blocks of %d", c.Tokens, c.BlockSize)
				}
			}
		}
		ix.Remove("w")
		if got := ix.Bytes(); got > slotBytes*4*laneWidth {
			t.Fatalf("%d bytes are left", got)
		}
	})
}
