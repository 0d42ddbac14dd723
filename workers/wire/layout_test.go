package wire

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"leeway/workers/enginepb/sglangpb"
	"leeway/workers/enginepb/tokenspeedpb"
	"leeway/workers/enginepb/vllmpb"
)

func TestEveryDialectSaysWhatAnAnswerNeeds(t *testing.T) {
	inChunk := []Field{Tokens, PromptTokens, CachedTokens, Index, OutputLogprobs}
	inComplete := append([]Field{FinishReason, MatchedToken, MatchedStop, SpecAccepted, SpecDraft}, inChunk...)
	for _, response := range []proto.Message{&sglangpb.GenerateResponse{}, &vllmpb.GenerateResponse{}, &tokenspeedpb.GenerateResponse{}} {
		l := LayoutOf(response)
		if l.chunk == 0 || l.complete == 0 {
			t.Errorf("%T: chunk is %d, complete %d", response, l.chunk, l.complete)
		}
		for _, part := range []struct {
			want, has []Field
		}{{inChunk, l.chunkFields}, {inComplete, l.completeFields}} {
			for _, field := range part.want {
				if !slices.Contains(part.has, field) {
					t.Errorf("%T: %v lacks field %d", response, part.has, field)
				}
			}
		}
	}
}
