package wire

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"leeway/workers/engine"
)

// logprobs is an OutputLogProbs or InputLogProbs message: its numbers are the same in every dialect.
type logprobs struct {
	values []float32
	tokens []uint32
	ends   []int // where each token's alternatives end in tops
	tops   []engine.TopLogprob
	top    struct {
		values []float32
		tokens []uint32
	}
	list []engine.Logprob
}

func (l *logprobs) reset() {
	l.values, l.tokens, l.ends, l.tops = l.values[:0], l.tokens[:0], l.ends[:0], l.tops[:0]
}

// decode reads the message; in an InputLogProbs each value is a message of its own, empty for the first token.
func (l *logprobs) decode(b []byte, boxed bool) (err error) {
	for len(b) > 0 {
		number, kind, v, rest, err := next(b)
		if err != nil {
			return err
		}
		b = rest
		switch {
		case number == 1 && boxed && kind == protowire.BytesType:
			l.values, err = appendBoxed(l.values, v.bytes)
		case number == 1 && !boxed:
			l.values, err = appendFloats(l.values, kind, v)
		case number == 2:
			l.tokens, err = appendUint32s(l.tokens, kind, v)
		case number == 3 && kind == protowire.BytesType:
			err = l.decodeTop(v.bytes)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// decodeTop reads the alternatives of one token and appends them to those of the tokens before.
func (l *logprobs) decodeTop(b []byte) (err error) {
	values, tokens := l.top.values[:0], l.top.tokens[:0]
	for len(b) > 0 {
		number, kind, v, rest, err := next(b)
		if err != nil {
			return err
		}
		b = rest
		switch number {
		case 1:
			values, err = appendFloats(values, kind, v)
		case 2:
			tokens, err = appendUint32s(tokens, kind, v)
		}
		if err != nil {
			return err
		}
	}
	l.top.values, l.top.tokens = values, tokens
	if len(values) != len(tokens) {
		return malformed("alternatives without their log probabilities")
	}
	for i, token := range tokens {
		l.tops = append(l.tops, engine.TopLogprob{Token: token, Value: float64(values[i])})
	}
	l.ends = append(l.ends, len(l.tops))
	return nil
}

// entries gives the list for the first n tokens, or for all with n < 0. A servicer that takes a stop token off the
// end may leave its log probability; one that leaves a token without has broken the alignment of the whole list.
func (l *logprobs) entries(n int) ([]engine.Logprob, error) {
	if len(l.values) == 0 {
		return nil, nil
	}
	if n < 0 {
		n = len(l.values)
	}
	if len(l.values) < n || len(l.tokens) < n {
		return nil, malformed("fewer log probabilities than tokens")
	}
	l.list = l.list[:0]
	begin := 0
	for i := range n {
		entry := engine.Logprob{Token: l.tokens[i], Value: float64(l.values[i])}
		if i < len(l.ends) {
			entry.Top = l.tops[begin:l.ends[i]:l.ends[i]]
			begin = l.ends[i]
		}
		l.list = append(l.list, entry)
	}
	return l.list, nil
}

// appendFloats reads a repeated float, packed or not.
func appendFloats(dst []float32, kind protowire.Type, v value) ([]float32, error) {
	if kind == protowire.Fixed32Type {
		return append(dst, math.Float32frombits(uint32(v.number))), nil
	}
	if kind != protowire.BytesType {
		return dst, nil
	}
	if len(v.bytes)%4 != 0 {
		return dst, malformed("truncated floats")
	}
	for b := v.bytes; len(b) > 0; b = b[4:] {
		dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return dst, nil
}

// appendBoxed reads a message whose only field is an optional float; an absent value is NaN.
func appendBoxed(dst []float32, b []byte) ([]float32, error) {
	boxed := float32(math.NaN())
	for len(b) > 0 {
		number, kind, v, rest, err := next(b)
		if err != nil {
			return dst, err
		}
		if number == 1 && kind == protowire.Fixed32Type {
			boxed = math.Float32frombits(uint32(v.number))
		}
		b = rest
	}
	return append(dst, boxed), nil
}
