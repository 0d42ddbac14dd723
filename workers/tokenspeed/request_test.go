package tokenspeed

import (
	"errors"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"

	"leeway/workers/engine"
	pb "leeway/workers/enginepb/tokenspeedpb"
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

func TestWhatTheClientLeavesOutIsPresent(t *testing.T) {
	zero, one := some(float32(0)), some(float32(1))
	check(t, generateRequest(&engine.Request{ID: "r", Tokens: []uint32{1}}), &pb.GenerateRequest{
		RequestId: "r", Tokenized: &pb.TokenizedInput{InputIds: []uint32{1}},
		SamplingParams: &pb.SamplingParams{
			Temperature: one, TopP: one, TopK: some(int32(-1)), MinP: zero, FrequencyPenalty: zero, PresencePenalty: zero,
			RepetitionPenalty: one, N: 1, SkipSpecialTokens: true, SpacesBetweenSpecialTokens: true,
		},
	})
}

func TestWhatTheClientSaysIsPassedOn(t *testing.T) {
	f := some[float32]
	check(t, generateRequest(full()), &pb.GenerateRequest{
		RequestId: "r", Tokenized: &pb.TokenizedInput{InputIds: []uint32{1, 2}}, Stream: true,
		ReturnLogprob: true, LogprobStartLen: some(int32(-1)), TopLogprobsNum: 3, DataParallelRank: some(int32(0)),
		SamplingParams: &pb.SamplingParams{
			Temperature: f(0), TopP: f(0.5), TopK: some(int32(40)), MinP: f(0.25), FrequencyPenalty: f(-0.5), PresencePenalty: f(1.5),
			RepetitionPenalty: f(1.25), MaxNewTokens: some(uint32(7)), MinNewTokens: 2, Stop: []string{"\n\n"},
			StopTokenIds: []uint32{9}, N: 3, IgnoreEos: true, NoStopTrim: true, SkipSpecialTokens: true,
			SpacesBetweenSpecialTokens: true, SamplingSeed: some(uint64(1) << 40), LogitBias: map[string]float32{"50": -100},
			Constraint: &pb.SamplingParams_JsonSchema{JsonSchema: "{}"},
		},
	})
}

func TestANegativeSeedIsRefusedBeforeItIsSent(t *testing.T) {
	_, err := New(nil).Generate(t.Context(), &engine.Request{Sampling: engine.Sampling{Seed: some(int64(-1))}})
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != engine.InvalidArgument {
		t.Errorf("got %v", err)
	}
}

func TestEveryConstraintHasItsPlace(t *testing.T) {
	for kind, want := range map[engine.ConstraintKind]any{
		engine.Regex:         &pb.SamplingParams_Regex{Regex: "x"},
		engine.JSONSchema:    &pb.SamplingParams_JsonSchema{JsonSchema: "x"},
		engine.EBNF:          &pb.SamplingParams_EbnfGrammar{EbnfGrammar: "x"},
		engine.StructuralTag: &pb.SamplingParams_StructuralTag{StructuralTag: "x"},
	} {
		got := samplingParams(&engine.Sampling{Constraint: engine.Constraint{Kind: kind, Text: "x"}}).GetConstraint()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d became %T", kind, got)
		}
	}
}
