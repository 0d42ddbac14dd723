package prefix

import (
	"fmt"
	"testing"
	"time"
)

// filled returns an index of n workers that hold the first blocks of a prompt, and much else besides.
func filled(tb testing.TB, workers, blocks, others int) (*Index, []Source, []uint32) {
	tb.Helper()
	ix := NewIndex(Config{Bytes: 1 << 34, MaxAge: time.Minute})
	tokens := random(1, blocks*16+1)
	sources := make([]Source, workers)
	for w := range sources {
		f := ix.Feed(fmt.Sprint(w))
		f.Apply(t0, &Batch{Sequence: 1, Events: []Event{run(0, tokens, 16)}})
		f.Apply(t0, &Batch{Sequence: 2, Events: []Event{run(1<<32, random(uint64(w+2), others*16), 16)}})
		sources[w] = Source{Feed: f, Rank: -1}
	}
	return ix, sources, tokens
}

// BenchmarkAsk is the whole look-up of a prompt that every worker holds, hashing included.
func BenchmarkAsk(b *testing.B) {
	for _, workers := range []int{8, 64, 512} {
		for _, blocks := range []int{32, 512, 8192} {
			if workers*blocks > 1<<20 {
				continue
			}
			b.Run(fmt.Sprintf("%dx%d", workers, blocks), func(b *testing.B) {
				_, sources, tokens := filled(b, workers, blocks, 2000)
				var q Query
				b.ReportAllocs()
				for b.Loop() {
					q.Ask(t0, tokens, sources)
				}
				if q.Claims[workers-1].Tokens != blocks*16 {
					b.Fatal(q.Claims[workers-1])
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*blocks), "ns/block")
			})
		}
	}
}

// BenchmarkHash is the share of hashing in that.
func BenchmarkHash(b *testing.B) {
	tokens := random(1, 512*16+1)
	var c chain
	for b.Loop() {
		c.begin(tokens, 16)
		c.upTo(512)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*512), "ns/block")
}

// BenchmarkApply stores new blocks and removes the oldest at a steady size.
func BenchmarkApply(b *testing.B) {
	const held, batch = 50000, 50
	ix := NewIndex(Config{Bytes: 1 << 34, MaxAge: time.Minute})
	f := ix.Feed("w")
	events := make([]Event, 0, 4*held/batch)
	for i := range cap(events) {
		events = append(events, run(int64(i*batch), random(uint64(i), batch*16), 16))
	}
	sequence := uint64(0)
	store := func(i int) {
		sequence++
		f.Apply(t0, &Batch{Sequence: sequence, Events: events[i%len(events) : i%len(events)+1]})
	}
	for i := range held / batch {
		store(i)
	}
	b.ReportAllocs()
	i := held / batch
	for b.Loop() {
		store(i)
		sequence++
		gone := events[(i-held/batch)%len(events)].Blocks
		hashes := make([]int64, len(gone))
		for j := range gone {
			hashes[j] = gone[j].Hash
		}
		f.Apply(t0, &Batch{Sequence: sequence, Events: []Event{{Kind: Removed, Place: Place{Group: -1}, Hashes: hashes}}})
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch*2), "ns/block")
	b.ReportMetric(float64(ix.Bytes())/held, "bytes/block")
}
