package sim

import (
	"reflect"
	"testing"

	"leeway/workers/engine"
	"leeway/workers/enginepb/sglangpb"
	"leeway/workers/enginepb/tokenspeedpb"
	"leeway/workers/enginepb/vllmpb"
)

// f is a float as it is after a journey through 32 bits.
func f(v float32) *float64 { return new(float64(v)) }

func TestSGLangTakesEveryValueAsItCame(t *testing.T) {
	got := sglangRequest(&sglangpb.GenerateRequest{
		RequestId: "a", Tokenized: &sglangpb.TokenizedInput{InputIds: []uint32{1, 2}}, Stream: true, RequireReasoning: true,
		ReturnLogprob: true, TopLogprobsNum: 3, LogprobStartLen: -1, DataParallelRank: new(int32(0)),
		SamplingParams: &sglangpb.SamplingParams{
			Temperature: 0.5, TopP: 1, TopK: -1, MaxNewTokens: new(uint32(7)), MinNewTokens: 2, N: 1, Stop: []string{"x"},
			StopTokenIds: []uint32{9}, IgnoreEos: true, LogitBias: map[string]float32{"5": -1, "five": 1},
			Constraint: &sglangpb.SamplingParams_Regex{Regex: "a+"},
		},
	})
	want := &engine.Request{
		ID: "a", Tokens: []uint32{1, 2}, Stream: true, Reasoning: true, Logprobs: new(3), Rank: new(int32(0)),
		Sampling: engine.Sampling{
			Temperature: f(0.5), TopP: f(1), TopK: new(-1), MinP: f(0), FrequencyPenalty: f(0), PresencePenalty: f(0),
			RepetitionPenalty: f(0), // not 1: this servicer replaces no zeros
			MaxTokens:         new(7), MinTokens: 2, N: 1, Stop: []string{"x"}, StopTokenIDs: []uint32{9}, IgnoreEOS: true,
			LogitBias: map[uint32]float64{5: -1}, Constraint: engine.Constraint{Kind: engine.Regex, Text: "a+"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestVLLMLeavesTemperatureSeedAndLimitOpen(t *testing.T) {
	face := &vllmFace{}
	got := face.request(&vllmpb.GenerateRequest{
		RequestId: "a", Input: &vllmpb.GenerateRequest_Tokenized{Tokenized: &vllmpb.TokenizedInput{InputIds: []uint32{1}}},
		SamplingParams: &vllmpb.SamplingParams{
			TopP: 1, TopK: 0, RepetitionPenalty: 1, Logprobs: new(int32(1)), PromptLogprobs: new(int32(0)), Seed: new(int32(-4)),
			LogitBias: map[int32]float32{5: 2, -5: 1}, Constraint: &vllmpb.SamplingParams_Grammar{Grammar: "root"},
		},
	})
	want := &engine.Request{
		ID: "a", Tokens: []uint32{1}, Logprobs: new(1), PromptLogprobs: true,
		Sampling: engine.Sampling{
			TopP: f(1), TopK: new(0), MinP: f(0), FrequencyPenalty: f(0), PresencePenalty: f(0), RepetitionPenalty: f(1),
			Seed: new(int64(-4)), LogitBias: map[uint32]float64{5: 2}, Constraint: engine.Constraint{Kind: engine.EBNF, Text: "root"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestTokenSpeedGoesByPresence(t *testing.T) {
	got := tokenspeedRequest(&tokenspeedpb.GenerateRequest{
		RequestId: "a", Tokenized: &tokenspeedpb.TokenizedInput{InputIds: []uint32{1}}, ReturnLogprob: true, TopLogprobsNum: 2,
		SamplingParams: &tokenspeedpb.SamplingParams{
			Temperature: new(float32(0)), TopK: new(int32(4)), SamplingSeed: new(uint64(8)), NoStopTrim: true,
			LogitBias: map[string]float32{"6": 3}, Constraint: &tokenspeedpb.SamplingParams_StructuralTag{StructuralTag: "{}"},
		},
	})
	want := &engine.Request{
		ID: "a", Tokens: []uint32{1}, Logprobs: new(2),
		Sampling: engine.Sampling{
			Temperature: f(0), TopK: new(4), Seed: new(int64(8)), NoStopTrim: true, LogitBias: map[uint32]float64{6: 3},
			Constraint: engine.Constraint{Kind: engine.StructuralTag, Text: "{}"},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}

func TestEveryConstraintHasItsKind(t *testing.T) {
	for want, all := range map[engine.ConstraintKind][]engine.Constraint{
		engine.JSONSchema: {
			sglangRequest(&sglangpb.GenerateRequest{SamplingParams: &sglangpb.SamplingParams{Constraint: &sglangpb.SamplingParams_JsonSchema{JsonSchema: "{}"}}}).Sampling.Constraint,
			(&vllmFace{}).request(&vllmpb.GenerateRequest{SamplingParams: &vllmpb.SamplingParams{Constraint: &vllmpb.SamplingParams_JsonSchema{JsonSchema: "{}"}}}).Sampling.Constraint,
			tokenspeedRequest(&tokenspeedpb.GenerateRequest{SamplingParams: &tokenspeedpb.SamplingParams{Constraint: &tokenspeedpb.SamplingParams_JsonSchema{JsonSchema: "{}"}}}).Sampling.Constraint,
		},
		engine.EBNF: {
			sglangRequest(&sglangpb.GenerateRequest{SamplingParams: &sglangpb.SamplingParams{Constraint: &sglangpb.SamplingParams_EbnfGrammar{EbnfGrammar: "g"}}}).Sampling.Constraint,
			tokenspeedRequest(&tokenspeedpb.GenerateRequest{SamplingParams: &tokenspeedpb.SamplingParams{Constraint: &tokenspeedpb.SamplingParams_EbnfGrammar{EbnfGrammar: "g"}}}).Sampling.Constraint,
		},
		engine.Regex: {
			(&vllmFace{}).request(&vllmpb.GenerateRequest{SamplingParams: &vllmpb.SamplingParams{Constraint: &vllmpb.SamplingParams_Regex{Regex: "r"}}}).Sampling.Constraint,
			tokenspeedRequest(&tokenspeedpb.GenerateRequest{SamplingParams: &tokenspeedpb.SamplingParams{Constraint: &tokenspeedpb.SamplingParams_Regex{Regex: "r"}}}).Sampling.Constraint,
		},
		engine.StructuralTag: {
			sglangRequest(&sglangpb.GenerateRequest{SamplingParams: &sglangpb.SamplingParams{Constraint: &sglangpb.SamplingParams_StructuralTag{StructuralTag: "s"}}}).Sampling.Constraint,
			(&vllmFace{}).request(&vllmpb.GenerateRequest{SamplingParams: &vllmpb.SamplingParams{Constraint: &vllmpb.SamplingParams_StructuralTag{StructuralTag: "s"}}}).Sampling.Constraint,
		},
	} {
		for i, got := range all {
			if got.Kind != want || got.Text == "" {
				t.Errorf("constraint %d of kind %d became %+v", i, want, got)
			}
		}
	}
}

func TestARequestWithoutSamplingParametersIsServed(t *testing.T) {
	w, m := start(t, Options{Canned: true, OutputTokens: 2})
	stream, err := sglangpb.NewSglangSchedulerClient(m.conn).Generate(brief(t), &sglangpb.GenerateRequest{Tokenized: &sglangpb.TokenizedInput{InputIds: []uint32{1}}})
	if err == nil {
		_, err = stream.Recv()
	}
	if err != nil || len(w.Requests()) != 1 {
		t.Errorf("%v", err)
	}
}

func TestVLLMTakesTextInPlaceOfTokens(t *testing.T) {
	w, m := start(t, Options{Dialect: "vllm"})
	stream, err := vllmpb.NewVllmEngineClient(m.conn).Generate(brief(t), &vllmpb.GenerateRequest{Input: &vllmpb.GenerateRequest_Text{Text: "hello there"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := stream.Recv()
	if want := len(w.voice.encode("hello there")); err != nil || int(got.GetComplete().GetPromptTokens()) != want {
		t.Errorf("%v, %v, want %d prompt tokens", err, got, want)
	}
}

func TestEmbeddingsAreUnitVectorsOfTheirTokens(t *testing.T) {
	_, m := start(t, Options{Dialect: "vllm"})
	vl := vllmpb.NewVllmEngineClient(m.conn)
	a, err := vl.Embed(brief(t), &vllmpb.EmbedRequest{Tokenized: &vllmpb.TokenizedInput{InputIds: []uint32{1, 2, 3}}})
	if err != nil || a.PromptTokens != 3 || int(a.EmbeddingDim) != len(a.Embedding) {
		t.Fatalf("%v, %v", a, err)
	}
	var length float32
	for _, x := range a.Embedding {
		length += x * x
	}
	if length < 0.999 || length > 1.001 {
		t.Errorf("length %v", length)
	}
	if _, err := vl.Embed(brief(t), &vllmpb.EmbedRequest{}); err == nil {
		t.Error("nothing has an embedding")
	}
	_, m = start(t, Options{})
	b, err := sglangpb.NewSglangSchedulerClient(m.conn).Embed(brief(t), &sglangpb.EmbedRequest{Tokenized: &sglangpb.TokenizedInput{InputIds: []uint32{1, 2, 3}}})
	if err != nil || !reflect.DeepEqual(a.Embedding, b.Embedding) {
		t.Errorf("%v, %v", b, err)
	}
}

func TestModelInfoIsTheSameInEveryDialect(t *testing.T) {
	o := Options{Model: "m", ContextLength: 4096, Defaults: `{"temperature":0.6}`}
	o.Dialect = "vllm"
	w, m := start(t, o)
	vl, err := vllmpb.NewVllmEngineClient(m.conn).GetModelInfo(brief(t), &vllmpb.GetModelInfoRequest{})
	if err != nil {
		t.Fatal(err)
	}
	o.Dialect = "tokenspeed"
	_, m = start(t, o)
	ts, err := tokenspeedpb.NewTokenSpeedSchedulerClient(m.conn).GetModelInfo(brief(t), &tokenspeedpb.GetModelInfoRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if vl.ServedModelName != "m" || ts.ServedModelName != "m" || vl.MaxContextLength != 4096 || ts.MaxContextLength != 4096 ||
		int(vl.VocabSize) != w.voice.vocab || vl.DefaultSamplingParamsJson != o.Defaults || ts.DefaultSamplingParamsJson != o.Defaults {
		t.Errorf("%v\n%v", vl, ts)
	}
	if len(vl.EosTokenIds) != 1 || vl.EosTokenIds[0] != int32(w.voice.eos[0]) {
		t.Errorf("the usual servicer names one end token, not %v", vl.EosTokenIds)
	}
}
