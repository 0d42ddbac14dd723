package sim

import (
	"math"
	"strconv"
)

// embeddingSize is the width of a made-up embedding.
const embeddingSize = 8

// embedding makes up a unit vector that depends on every token.
func embedding(tokens []uint32) []float32 {
	v := make([]float32, embeddingSize)
	for i, id := range tokens {
		v[(i+int(id))%embeddingSize] += float32(id%97) + 1
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// parseID reads a token id that is a map key on the wire.
func parseID(text string) (uint32, bool) {
	id, err := strconv.ParseUint(text, 10, 32)
	return uint32(id), err == nil
}
