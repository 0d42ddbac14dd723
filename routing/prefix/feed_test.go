package prefix

import (
	"math/rand/v2"
	"time"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

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
