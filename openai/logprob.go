package openai

import (
	"math"
	"strconv"
)

// TokenLogprob is one generated token, how likely it was, and the likeliest in its place. Token may hold half a
// character: it is shown with U+FFFD, while its bytes are exact.
type TokenLogprob struct {
	Token   string
	Logprob float32
	Top     []TopLogprob
	Offset  int // the characters of the answer before it
}

// TopLogprob is one candidate for a position.
type TopLogprob struct {
	Token   string
	Logprob float32
}

// AppendLogprobs appends a choice's logprobs object, null when there is none.
func AppendLogprobs(dst []byte, tokens []TokenLogprob) []byte {
	if tokens == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"content":[`...)
	for i, t := range tokens {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendTokenLogprob(dst, t.Token, t.Logprob)
		dst = append(dst, `,"top_logprobs":[`...)
		for j, top := range t.Top {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendTokenLogprob(dst, top.Token, top.Logprob), '}')
		}
		dst = append(dst, "]}"...)
	}
	return append(dst, `],"refusal":null}`...)
}

// appendTokenLogprob leaves the object open.
func appendTokenLogprob(dst []byte, token string, logprob float32) []byte {
	dst = append(dst, `{"token":`...)
	dst = AppendString(dst, token)
	dst = append(dst, `,"logprob":`...)
	dst = appendLogprob(dst, logprob)
	dst = append(dst, `,"bytes":[`...)
	for i := range len(token) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(token[i]), 10)
	}
	return append(dst, ']')
}

// impossible stands for a logprob that JSON cannot write: −Inf, and NaN.
const impossible = -9999

func appendLogprob(dst []byte, p float32) []byte {
	f := float64(p)
	switch {
	case math.IsInf(f, 1):
		f = 0
	case math.IsInf(f, 0) || math.IsNaN(f):
		f = impossible
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 32)
}

// appendTextLogprobs appends the columns that completions use. Offsets count characters; offset is of the answer itself.
func appendTextLogprobs(dst []byte, tokens []TokenLogprob, offset int) []byte {
	if tokens == nil {
		return append(dst, "null"...)
	}
	column := func(name string, cell func(t *TokenLogprob)) {
		dst = append(dst, name...)
		for i := range tokens {
			if i > 0 {
				dst = append(dst, ',')
			}
			cell(&tokens[i])
		}
	}
	column(`{"tokens":[`, func(t *TokenLogprob) { dst = AppendString(dst, t.Token) })
	column(`],"token_logprobs":[`, func(t *TokenLogprob) { dst = appendLogprob(dst, t.Logprob) })
	column(`],"top_logprobs":[`, func(t *TokenLogprob) { dst = appendTopByToken(dst, t.Top) })
	column(`],"text_offset":[`, func(t *TokenLogprob) {
		dst = strconv.AppendInt(dst, int64(offset+t.Offset), 10)
	})
	return append(dst, "]}"...)
}

// appendTopByToken appends candidates as an object; of two that look the same the likelier, which comes first, stays.
func appendTopByToken(dst []byte, top []TopLogprob) []byte {
	dst = append(dst, '{')
	for i, t := range top {
		if seen(top[:i], t.Token) {
			continue
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, t.Token)
		dst = append(dst, ':')
		dst = appendLogprob(dst, t.Logprob)
	}
	return append(dst, '}')
}

func seen(top []TopLogprob, token string) bool {
	for _, t := range top {
		if t.Token == token {
			return true
		}
	}
	return false
}
