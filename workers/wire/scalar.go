package wire

import (
	"strconv"

	"google.golang.org/protobuf/types/known/structpb"
)

// Float32 is v, or otherwise where the client left it out.
func Float32(v *float64, otherwise float32) float32 {
	if v == nil {
		return otherwise
	}
	return float32(*v)
}

// Uint32 keeps an absent count absent.
func Uint32(v *int) *uint32 {
	if v == nil {
		return nil
	}
	n := uint32(max(*v, 0))
	return &n
}

// TopK is v where it limits anything, else all: what the dialect takes for every token.
func TopK(v *int, all int32) int32 {
	if v == nil || *v <= 0 {
		return all
	}
	return int32(min(*v, 1<<30))
}

// Bias writes the token ids of a bias as text, as two of the dialects key it.
func Bias(bias map[uint32]float64) map[string]float32 {
	if len(bias) == 0 {
		return nil
	}
	named := make(map[string]float32, len(bias))
	for token, weight := range bias {
		named[strconv.FormatUint(uint64(token), 10)] = float32(weight)
	}
	return named
}

// IDs converts token ids that the wire carries as signed.
func IDs(signed []int32) []uint32 {
	var ids []uint32
	for _, id := range signed {
		if id >= 0 {
			ids = append(ids, uint32(id))
		}
	}
	return ids
}

// Arguments are a server's start arguments, or other facts, as a loose object.
type Arguments struct{ *structpb.Struct }

// Int is the first of the named arguments that is a positive number, else 0.
func (a Arguments) Int(names ...string) int {
	for _, name := range names {
		if n := a.GetFields()[name].GetNumberValue(); n >= 1 && n < 1<<31 {
			return int(n)
		}
	}
	return 0
}

// Text is the first of the named arguments that is a string with something in it.
func (a Arguments) Text(names ...string) string {
	for _, name := range names {
		if s := a.GetFields()[name].GetStringValue(); s != "" {
			return s
		}
	}
	return ""
}
