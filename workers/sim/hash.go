package sim

// AppendKeys appends the keys of the full blocks of tokens from the first block that keys does not hold yet. Each
// key stands for its block and everything before it; it is never 0.
func AppendKeys(keys []uint64, tokens []uint32, blockSize int) []uint64 {
	var parent uint64
	if n := len(keys); n > 0 {
		parent = keys[n-1]
	}
	for at := len(keys) * blockSize; at+blockSize <= len(tokens); at += blockSize {
		parent = chain(parent, tokens[at:at+blockSize])
		keys = append(keys, parent)
	}
	return keys
}

// chain hashes a block behind its parent. The constants are those of FNV and of a finalizer that spreads every bit;
// nobody but this package has to arrive at the same number.
func chain(parent uint64, tokens []uint32) uint64 {
	h := parent ^ 0xcbf29ce484222325
	for _, t := range tokens {
		h = (h ^ uint64(t)) * 0x100000001b3
		h ^= h >> 29
	}
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return max(h, 1)
}
