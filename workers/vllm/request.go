package vllm

import (
	"math"

	"leeway/workers/engine"
	pb "leeway/workers/enginepb/vllmpb"
	"leeway/workers/wire"
)

// maxLogprobs is how many alternatives the engine allows unless it was started otherwise.
const maxLogprobs = 20

// generateRequest maps a request to the dialect's. The engine gives the log probability of a chosen token only along
// with at least one alternative.
func generateRequest(req *engine.Request) *pb.GenerateRequest {
	m := &pb.GenerateRequest{
		RequestId:        req.ID,
		Input:            &pb.GenerateRequest_Tokenized{Tokenized: &pb.TokenizedInput{InputIds: req.Tokens}},
		SamplingParams:   samplingParams(&req.Sampling),
		Stream:           req.Stream,
		DataParallelRank: req.Rank,
	}
	if req.Logprobs != nil {
		n := int32(min(max(*req.Logprobs, 1), maxLogprobs))
		m.SamplingParams.Logprobs = &n
		if req.PromptLogprobs {
			m.SamplingParams.PromptLogprobs = &n
		}
	} else if req.PromptLogprobs {
		m.SamplingParams.PromptLogprobs = new(int32)
	}
	return m
}

// samplingParams leaves the temperature out where the client did, and says "all tokens" with a top_k of 0, the
// dialect's being unsigned.
func samplingParams(s *engine.Sampling) *pb.SamplingParams {
	p := &pb.SamplingParams{
		TopP:                       wire.Float32(s.TopP, 1),
		TopK:                       uint32(wire.TopK(s.TopK, 0)),
		MinP:                       wire.Float32(s.MinP, 0),
		FrequencyPenalty:           wire.Float32(s.FrequencyPenalty, 0),
		PresencePenalty:            wire.Float32(s.PresencePenalty, 0),
		RepetitionPenalty:          wire.Float32(s.RepetitionPenalty, 1),
		MaxTokens:                  wire.Uint32(s.MaxTokens),
		MinTokens:                  uint32(max(s.MinTokens, 0)),
		Stop:                       s.Stop,
		StopTokenIds:               s.StopTokenIDs,
		SkipSpecialTokens:          true,
		SpacesBetweenSpecialTokens: true,
		IgnoreEos:                  s.IgnoreEOS,
		N:                          uint32(max(s.N, 1)),
		Seed:                       seed(s.Seed),
		IncludeStopStrInOutput:     s.NoStopTrim,
		LogitBias:                  bias(s.LogitBias),
	}
	if s.Temperature != nil {
		t := float32(*s.Temperature)
		p.Temperature = &t
	}
	constrain(p, s.Constraint)
	return p
}

// constrain sets the one constraint; the dialect calls a grammar simply that.
func constrain(p *pb.SamplingParams, c engine.Constraint) {
	switch c.Kind {
	case engine.Regex:
		p.Constraint = &pb.SamplingParams_Regex{Regex: c.Text}
	case engine.JSONSchema:
		p.Constraint = &pb.SamplingParams_JsonSchema{JsonSchema: c.Text}
	case engine.EBNF:
		p.Constraint = &pb.SamplingParams_Grammar{Grammar: c.Text}
	case engine.StructuralTag:
		p.Constraint = &pb.SamplingParams_StructuralTag{StructuralTag: c.Text}
	}
}

// seed folds what is beyond the dialect's 32 bits into them, so that they do not all become one seed.
func seed(v *int64) *int32 {
	if v == nil {
		return nil
	}
	n := int32(*v)
	if int64(n) != *v {
		n = int32((*v ^ *v>>32) & math.MaxInt32)
	}
	return &n
}

// bias keeps token ids as numbers, which this dialect alone does.
func bias(bias map[uint32]float64) map[int32]float32 {
	if len(bias) == 0 {
		return nil
	}
	signed := make(map[int32]float32, len(bias))
	for token, weight := range bias {
		signed[int32(token)] = float32(weight)
	}
	return signed
}
