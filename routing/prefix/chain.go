package prefix

import (
	"math/bits"
	"unsafe"

	"github.com/zeebo/xxh3"
)

// root is the hash that the first block of a prompt follows.
const root uint64 = 1337

// follow returns the hash of a prefix that ends with a block, from the hash of the prefix before it. It says the
// whole prefix: two chains meet only if all their tokens are equal. 0 is never returned; it means no hash.
//
// The block is hashed by itself and then folded into the chain, so that a processor can work on several blocks at
// once; hashing with the chain as the seed takes a quarter longer.
func follow(before uint64, block []uint32) uint64 {
	if len(block) == 0 {
		return 0
	}
	// The bytes of the tokens as they lie in memory: hashes never leave the process.
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(block))), 4*len(block))
	high, low := bits.Mul64(before^0x9E3779B97F4A7C15, xxh3.Hash(bytes)^0xD6E8FEB86659FD93)
	return max(high^low, 1)
}

// chain is the hashes of a prompt's blocks of one size, computed once and only as far as asked.
type chain struct {
	size   int
	tokens []uint32
	hashes []uint64
}

// begin makes the chain that of a prompt, keeping its memory.
func (c *chain) begin(tokens []uint32, size int) {
	c.size, c.tokens, c.hashes = size, tokens, c.hashes[:0]
}

// blocks returns how many blocks a cache can save: whole ones, and never the one with the prompt's last token, which
// an engine always computes.
func (c *chain) blocks() int { return max(len(c.tokens)-1, 0) / c.size }

// upTo returns the hashes of the first n blocks, or of all.
func (c *chain) upTo(n int) []uint64 {
	n = min(n, c.blocks())
	before := root
	if len(c.hashes) > 0 {
		before = c.hashes[len(c.hashes)-1]
	}
	for i := len(c.hashes); i < n; i++ {
		before = follow(before, c.tokens[i*c.size:(i+1)*c.size])
		c.hashes = append(c.hashes, before)
	}
	return c.hashes[:n]
}
