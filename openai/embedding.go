package openai

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
)

// EmbeddingRequest is the body of POST /v1/embeddings.
type EmbeddingRequest struct {
	Model      string
	Input      Prompts
	Base64     bool // encoding_format "base64"; else "float"
	Dimensions *int
	User       string
	Ignored    []string
}

var embeddingFields = map[string]func(*scanner, *EmbeddingRequest){
	"model":           func(s *scanner, r *EmbeddingRequest) { r.Model = s.text() },
	"input":           func(s *scanner, r *EmbeddingRequest) { r.Input = s.prompts(anyPrompts) },
	"encoding_format": func(s *scanner, r *EmbeddingRequest) { r.Base64 = s.oneOf("float", "base64") == "base64" },
	"dimensions":      func(s *scanner, r *EmbeddingRequest) { r.Dimensions = s.count(1, math.MaxInt32) },
	"user":            func(s *scanner, r *EmbeddingRequest) { r.User = s.text() },
}

// DecodeEmbedding reads and checks the body of an embedding request. Its error is an *Error with status 400.
func DecodeEmbedding(body []byte) (*EmbeddingRequest, error) {
	r := &EmbeddingRequest{}
	return decode(body, r, embeddingFields, nil, &r.Ignored, func(s *scanner) {
		switch {
		case r.Model == "":
			s.missing("model")
		case r.Input.List == nil:
			s.missing("input")
		}
	})
}

// Embeddings is the answer, one vector for each input in order.
type Embeddings struct {
	Model        string
	Vectors      [][]float32
	Base64       bool // little-endian float32, as base64 text
	PromptTokens int
}

// AppendJSON appends the body.
func (e Embeddings) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"object":"list","data":[`...)
	for i, v := range e.Vectors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"object":"embedding","index":`...)
		dst = strconv.AppendInt(dst, int64(i), 10)
		dst = append(dst, `,"embedding":`...)
		if e.Base64 {
			dst = appendBase64(dst, v)
		} else {
			dst = appendFloats(dst, v)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `],"model":`...)
	dst = AppendString(dst, e.Model)
	dst = append(dst, `,"usage":{"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(e.PromptTokens), 10)
	dst = append(dst, `,"total_tokens":`...)
	dst = strconv.AppendInt(dst, int64(e.PromptTokens), 10)
	return append(dst, "}}"...)
}

// appendFloats writes what is no number as 0: JSON has no word for it.
func appendFloats(dst []byte, v []float32) []byte {
	dst = append(dst, '[')
	for i, f := range v {
		if i > 0 {
			dst = append(dst, ',')
		}
		d := float64(f)
		if math.IsNaN(d) || math.IsInf(d, 0) {
			d = 0
		}
		dst = strconv.AppendFloat(dst, d, 'g', -1, 32)
	}
	return append(dst, ']')
}

func appendBase64(dst []byte, v []float32) []byte {
	raw := make([]byte, 0, 4*len(v))
	for _, f := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
	}
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, raw)
	return append(dst, '"')
}
