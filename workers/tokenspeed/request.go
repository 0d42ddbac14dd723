package tokenspeed

import (
	"leeway/workers/engine"
	pb "leeway/workers/enginepb/tokenspeedpb"
	"leeway/workers/wire"
)

// generateRequest maps a request to the dialect's.
func generateRequest(req *engine.Request) *pb.GenerateRequest {
	m := &pb.GenerateRequest{
		RequestId:        req.ID,
		Tokenized:        &pb.TokenizedInput{InputIds: req.Tokens},
		SamplingParams:   samplingParams(&req.Sampling),
		Stream:           req.Stream,
		DataParallelRank: req.Rank,
	}
	if req.Logprobs == nil && !req.PromptLogprobs {
		return m
	}
	m.ReturnLogprob = true
	start := int32(-1) // none of the prompt; 0 is all of it
	if req.PromptLogprobs {
		start = 0
	}
	m.LogprobStartLen = &start
	if req.Logprobs != nil {
		m.TopLogprobsNum = int32(*req.Logprobs)
	}
	return m
}

// samplingParams says everything by presence: what is absent the engine fills in by its own lights.
func samplingParams(s *engine.Sampling) *pb.SamplingParams {
	topK := wire.TopK(s.TopK, -1)
	p := &pb.SamplingParams{
		Temperature:                present(s.Temperature, 1),
		TopP:                       present(s.TopP, 1),
		TopK:                       &topK,
		MinP:                       present(s.MinP, 0),
		FrequencyPenalty:           present(s.FrequencyPenalty, 0),
		PresencePenalty:            present(s.PresencePenalty, 0),
		RepetitionPenalty:          present(s.RepetitionPenalty, 1),
		MaxNewTokens:               wire.Uint32(s.MaxTokens),
		MinNewTokens:               uint32(max(s.MinTokens, 0)),
		Stop:                       s.Stop,
		StopTokenIds:               s.StopTokenIDs,
		IgnoreEos:                  s.IgnoreEOS,
		SkipSpecialTokens:          true,
		SpacesBetweenSpecialTokens: true,
		N:                          uint32(max(s.N, 1)),
		LogitBias:                  wire.Bias(s.LogitBias),
		NoStopTrim:                 s.NoStopTrim,
	}
	if s.Seed != nil {
		seed := uint64(*s.Seed)
		p.SamplingSeed = &seed
	}
	constrain(p, s.Constraint)
	return p
}

// constrain sets the one constraint.
func constrain(p *pb.SamplingParams, c engine.Constraint) {
	switch c.Kind {
	case engine.Regex:
		p.Constraint = &pb.SamplingParams_Regex{Regex: c.Text}
	case engine.JSONSchema:
		p.Constraint = &pb.SamplingParams_JsonSchema{JsonSchema: c.Text}
	case engine.EBNF:
		p.Constraint = &pb.SamplingParams_EbnfGrammar{EbnfGrammar: c.Text}
	case engine.StructuralTag:
		p.Constraint = &pb.SamplingParams_StructuralTag{StructuralTag: c.Text}
	}
}

// present is a value that is there, whoever chose it.
func present(v *float64, otherwise float32) *float32 {
	f := wire.Float32(v, otherwise)
	return &f
}
