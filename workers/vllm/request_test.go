package vllm

import (
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"leeway/workers/engine"
	pb "leeway/workers/enginepb/vllmpb"
)

func some[T any](v T) *T { return &v }

// full is a request in which the client said everything.
func full() *engine.Request {
	return &engine.Request{
		ID: "r", Tokens: []uint32{1, 2}, Stream: true, Logprobs: some(3), Rank: some(int32(0)), Reasoning: true,
		Sampling: engine.Sampling{
			Temperature: some(0.0), TopP: some(0.5), TopK: some(40), MinP: some(0.25), FrequencyPenalty: some(-0.5),
			PresencePenalty: some(1.5), RepetitionPenalty: some(1.25), MaxTokens: some(7), MinTokens: 2,
			Stop: []string{"\n\n"}, StopTokenIDs: []uint32{9}, N: 3, Seed: some(int64(1) << 40),
			LogitBias: map[uint32]float64{50: -100}, IgnoreEOS: true, NoStopTrim: true,
			Constraint: engine.Constraint{Kind: engine.JSONSchema, Text: "{}"},
		},
	}
}

func check(t *testing.T, got, want proto.Message) {
	t.Helper()
	if !proto.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestWhatTheClientLeavesOutIsLeftToTheServicer(t *testing.T) {
	check(t, generateRequest(&engine.Request{ID: "r", Tokens: []uint32{1}}), &pb.GenerateRequest{
		RequestId: "r", Input: &pb.GenerateRequest_Tokenized{Tokenized: &pb.TokenizedInput{InputIds: []uint32{1}}},
		SamplingParams: &pb.SamplingParams{
			TopP: 1, RepetitionPenalty: 1, N: 1, SkipSpecialTokens: true, SpacesBetweenSpecialTokens: true,
		},
	})
}

func TestWhatTheClientSaysIsPassedOn(t *testing.T) {
	check(t, generateRequest(full()), &pb.GenerateRequest{
		RequestId: "r", Input: &pb.GenerateRequest_Tokenized{Tokenized: &pb.TokenizedInput{InputIds: []uint32{1, 2}}},
		Stream: true, DataParallelRank: some(int32(0)),
		SamplingParams: &pb.SamplingParams{
			Temperature: some(float32(0)), TopP: 0.5, TopK: 40, MinP: 0.25, FrequencyPenalty: -0.5, PresencePenalty: 1.5,
			RepetitionPenalty: 1.25, MaxTokens: some(uint32(7)), MinTokens: 2, Stop: []string{"\n\n"}, StopTokenIds: []uint32{9},
			N: 3, IgnoreEos: true, IncludeStopStrInOutput: true, SkipSpecialTokens: true, SpacesBetweenSpecialTokens: true,
			Seed: some(int32(1 << 8)), Logprobs: some(int32(3)), LogitBias: map[int32]float32{50: -100},
			Constraint: &pb.SamplingParams_JsonSchema{JsonSchema: "{}"},
		},
	})
}

func TestATopKThatLimitsNothingIsZero(t *testing.T) {
	for k, want := range map[int]uint32{-1: 0, 0: 0, 1: 1} {
		if got := samplingParams(&engine.Sampling{TopK: &k}).GetTopK(); got != want {
			t.Errorf("%d became %d", k, got)
		}
	}
}

func TestSeedsAreFoldedIntoTheDialectsWidth(t *testing.T) {
	for from, want := range map[int64]int32{math.MinInt64: 0, math.MaxInt64: 0, math.MinInt32: math.MinInt32, -1: -1, 7: 7, math.MaxInt32: math.MaxInt32, 1<<31 + 5: 5, 3<<32 + 4: 7} {
		if got := samplingParams(&engine.Sampling{Seed: &from}).GetSeed(); got != want {
			t.Errorf("%d became %d", from, got)
		}
	}
}

func TestLogprobsAreOneToTwenty(t *testing.T) {
	for from, want := range map[int]int32{0: 1, 5: 5, 21: 20} {
		if got := generateRequest(&engine.Request{Logprobs: &from}).GetSamplingParams().GetLogprobs(); got != want {
			t.Errorf("%d became %d", from, got)
		}
	}
}

func TestEveryConstraintHasItsPlace(t *testing.T) {
	for kind, want := range map[engine.ConstraintKind]any{
		engine.Regex:         &pb.SamplingParams_Regex{Regex: "x"},
		engine.JSONSchema:    &pb.SamplingParams_JsonSchema{JsonSchema: "x"},
		engine.EBNF:          &pb.SamplingParams_Grammar{Grammar: "x"},
		engine.StructuralTag: &pb.SamplingParams_StructuralTag{StructuralTag: "x"},
	} {
		got := samplingParams(&engine.Sampling{Constraint: engine.Constraint{Kind: kind, Text: "x"}}).GetConstraint()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d became %T", kind, got)
		}
	}
}
