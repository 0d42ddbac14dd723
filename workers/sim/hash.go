package sim

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"
)

// AppendKeys appends the keys of the full blocks of tokens from the first block that keys does not hold yet. Each
// key stands for its block and everything before it; it is never 0.
func AppendKeys(keys []uint64, tokens []uint32, blockSize int) []uint64 {
	var parent uint64
	if n := len(keys); n > 0 {
		parent = keys[n-1]
	}
	buf := make([]byte, 0, 8+4*blockSize)
	for at := len(keys) * blockSize; at+blockSize <= len(tokens); at += blockSize {
		buf = binary.LittleEndian.AppendUint64(buf[:0], parent)
		for _, t := range tokens[at : at+blockSize] {
			buf = binary.LittleEndian.AppendUint32(buf, t)
		}
		parent = max(xxh3.Hash(buf), 1)
		keys = append(keys, parent)
	}
	return keys
}
