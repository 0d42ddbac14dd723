package openai

import "strconv"

// Usage is what an answer cost, over all its choices.
type Usage struct {
	PromptTokens       int
	CompletionTokens   int
	CachedTokens       int // of the prompt's
	ReasoningTokens    int // of the completion's
	AcceptedPrediction int
	RejectedPrediction int
}

// AppendJSON appends the usage object with all its details; zeros are shown.
func (u Usage) AppendJSON(dst []byte) []byte {
	field := func(name string, n int) {
		dst = append(dst, name...)
		dst = strconv.AppendInt(dst, int64(n), 10)
	}
	field(`{"prompt_tokens":`, u.PromptTokens)
	field(`,"completion_tokens":`, u.CompletionTokens)
	field(`,"total_tokens":`, u.PromptTokens+u.CompletionTokens)
	field(`,"prompt_tokens_details":{"cached_tokens":`, u.CachedTokens)
	field(`,"audio_tokens":`, 0)
	field(`},"completion_tokens_details":{"reasoning_tokens":`, u.ReasoningTokens)
	field(`,"audio_tokens":`, 0)
	field(`,"accepted_prediction_tokens":`, u.AcceptedPrediction)
	field(`,"rejected_prediction_tokens":`, u.RejectedPrediction)
	return append(dst, "}}"...)
}
