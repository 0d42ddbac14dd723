package openai

import (
	"math"
	"strconv"
	"unicode/utf8"
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
	column(`{"tokens":[`, func(t *TokenLogprob) { dst = appendTextToken(dst, t.Token) })
	column(`],"token_logprobs":[`, func(t *TokenLogprob) { dst = appendLogprob(dst, t.Logprob) })
	column(`],"top_logprobs":[`, func(t *TokenLogprob) { dst = appendTopByToken(dst, t) })
	column(`],"text_offset":[`, func(t *TokenLogprob) {
		dst = strconv.AppendInt(dst, int64(offset+t.Offset), 10)
	})
	return append(dst, "]}"...)
}

// appendTextToken appends a token as a string. One that is no text by itself is shown by its bytes, as OpenAI does, since
// several such would look the same: bytes:\xe4\xbd.
func appendTextToken(dst []byte, token string) []byte {
	if utf8.ValidString(token) {
		return AppendString(dst, token)
	}
	shown := make([]byte, 0, len("bytes:")+4*len(token))
	shown = append(shown, "bytes:"...)
	for _, c := range []byte(token) {
		if c < utf8.RuneSelf && plain[c] && c != 0x7f {
			shown = append(shown, c)
		} else {
			shown = append(shown, '\\', 'x', hex[c>>4], hex[c&0xF])
		}
	}
	return AppendString(dst, shown)
}

// appendTopByToken appends the candidates for a position as an object, the token itself always among them. Of several
// that read the same the likeliest stands.
func appendTopByToken(dst []byte, t *TokenLogprob) []byte {
	var room [maxTopLogprobs + 1]TopLogprob
	top := append(append(room[:0], t.Top...), TopLogprob{t.Token, t.Logprob})
	dst = append(dst, '{')
	first := true
	for i, c := range top {
		if i != likeliest(top, c.Token) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendTextToken(dst, c.Token)
		dst = append(dst, ':')
		dst = appendLogprob(dst, c.Logprob)
	}
	return append(dst, '}')
}

// likeliest is the index of the most probable candidate of that text.
func likeliest(top []TopLogprob, token string) int {
	best := -1
	for i, c := range top {
		if c.Token == token && (best < 0 || c.Logprob > top[best].Logprob) {
			best = i
		}
	}
	return best
}
