package sglang

import (
	"leeway/workers/engine"
	pb "leeway/workers/enginepb/sglangpb"
	"leeway/workers/wire"
)

// layout is where the dialect keeps what. Whole answers to n > 1 all say index 0.
func layout() wire.Layout {
	l := wire.LayoutOf(&pb.GenerateResponse{})
	l.NumbersByArrival = true
	return l
}

// generateRequest maps a request to the dialect's.
func generateRequest(req *engine.Request) *pb.GenerateRequest {
	m := &pb.GenerateRequest{
		RequestId:        req.ID,
		Tokenized:        &pb.TokenizedInput{InputIds: req.Tokens},
		SamplingParams:   samplingParams(&req.Sampling),
		LogprobStartLen:  -1, // none of the prompt; 0 would be all of it
		DataParallelRank: req.Rank,
		Stream:           req.Stream,
		RequireReasoning: req.Reasoning,
	}
	if req.Logprobs != nil {
		m.ReturnLogprob, m.TopLogprobsNum = true, int32(*req.Logprobs)
	}
	if req.PromptLogprobs {
		m.ReturnLogprob, m.LogprobStartLen = true, 0
	}
	return m
}

// samplingParams writes every value: the servicer hands zeros to the engine as they are, where top_k 0 means that no
// token is left to choose. The dialect has no seed, and its stop strings would need a tokenizer in the engine: the
// gateway matches them itself and sends as ids those that are a single token.
func samplingParams(s *engine.Sampling) *pb.SamplingParams {
	p := &pb.SamplingParams{
		Temperature:                wire.Float32(s.Temperature, 1),
		TopP:                       wire.Float32(s.TopP, 1),
		TopK:                       wire.TopK(s.TopK, -1),
		MinP:                       wire.Float32(s.MinP, 0),
		FrequencyPenalty:           wire.Float32(s.FrequencyPenalty, 0),
		PresencePenalty:            wire.Float32(s.PresencePenalty, 0),
		RepetitionPenalty:          wire.Float32(s.RepetitionPenalty, 1),
		MaxNewTokens:               wire.Uint32(s.MaxTokens),
		MinNewTokens:               uint32(max(s.MinTokens, 0)),
		StopTokenIds:               s.StopTokenIDs,
		SkipSpecialTokens:          true,
		SpacesBetweenSpecialTokens: true,
		N:                          uint32(max(s.N, 1)),
		IgnoreEos:                  s.IgnoreEOS,
		NoStopTrim:                 s.NoStopTrim,
		LogitBias:                  wire.Bias(s.LogitBias),
	}
	switch text := s.Constraint.Text; s.Constraint.Kind {
	case engine.Regex:
		p.Constraint = &pb.SamplingParams_Regex{Regex: text}
	case engine.JSONSchema:
		p.Constraint = &pb.SamplingParams_JsonSchema{JsonSchema: text}
	case engine.EBNF:
		p.Constraint = &pb.SamplingParams_EbnfGrammar{EbnfGrammar: text}
	case engine.StructuralTag:
		p.Constraint = &pb.SamplingParams_StructuralTag{StructuralTag: text}
	}
	return p
}
