package routing

import (
	"fmt"
	"testing"
	"time"

	"leeway/routing/prefix"
)

// BenchmarkPick is a whole decision with an enforced preference: 64 workers, all with loads, a quarter of which hold
// the prompt's 512 blocks; taken, answered and released.
func BenchmarkPick(b *testing.B) {
	for _, workers := range []int{8, 64, 512} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			r := newRouter(b, workers, func(c *Config) { c.CacheMode = "enforce" })
			tokens := prompt(512*16 + 1)
			for i := range workers {
				r.Observe(name(i), idle(start))
				held := tokens
				if i%4 != 0 {
					held = tokens[:1600]
				}
				r.Feed(name(i)).Apply(start, stored(1, 0, held, 16))
			}
			b.ReportAllocs()
			now, n := start, 0
			for b.Loop() {
				now = now.Add(100 * time.Microsecond)
				if n++; n%64 == 0 { // a worker's push: its load, and that nothing else happened
					r.Observe(name(n/64%workers), idle(now))
					r.Feed(name(n/64%workers)).Apply(now, &prefix.Batch{Sequence: 1, LoadOnly: true})
				}
				lease, err := r.Pick(now, Request{Model: "m", Tokens: tokens, Chat: true, Streaming: true, PlainText: true})
				if err != nil || lease.receipt.Result != Complete {
					b.Fatal(err)
				}
				lease.Release()
			}
		})
	}
}

// stored is a batch that stores a prompt's whole blocks under hashes from first on.
func stored(sequence uint64, first int64, tokens []uint32, size int) *prefix.Batch {
	e := prefix.Event{Kind: prefix.Stored, Place: prefix.Place{Group: -1}}
	for i := 0; i+size <= len(tokens); i += size {
		e.Blocks = append(e.Blocks, prefix.Block{Hash: first + int64(len(e.Blocks)), Tokens: tokens[i : i+size], Size: size})
	}
	return &prefix.Batch{Sequence: sequence, Events: []prefix.Event{e}}
}
