package sim

import (
	"context"
	"fmt"
	"math"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"leeway/workers/engine"
	"leeway/workers/enginepb/tokenspeedpb"
)

// tokenspeedFace speaks tokenspeed.grpc.scheduler.
type tokenspeedFace struct {
	commonFace
	tokenspeedRest
}

// tokenspeedRest says UNIMPLEMENTED to what the face has no method for, one level below its own.
type tokenspeedRest struct {
	tokenspeedpb.UnimplementedTokenSpeedSchedulerServer
}

// Generate counts every choice's tokens so far, also the stop token that it does not show.
func (f *tokenspeedFace) Generate(in *tokenspeedpb.GenerateRequest, stream grpc.ServerStreamingServer[tokenspeedpb.GenerateResponse]) error {
	req := tokenspeedRequest(in)
	return f.life.generate(stream.Context(), req, func(p *part) error {
		out := &tokenspeedpb.GenerateResponse{RequestId: req.ID}
		tokens := trimmed(p, p.tokens, req)
		if p.done {
			out.Response = &tokenspeedpb.GenerateResponse_Complete{Complete: f.complete(p, tokens, req)}
		} else {
			out.Response = &tokenspeedpb.GenerateResponse_Chunk{Chunk: &tokenspeedpb.GenerateStreamChunk{
				TokenIds: tokens, PromptTokens: uint32(p.prompt), CompletionTokens: uint32(p.said),
				CachedTokens: uint32(p.cached), Index: uint32(p.index), OutputLogprobs: tokenspeedLogprobs(p.logprobs, len(tokens)),
			}}
		}
		return stream.Send(out)
	})
}

// trimmed takes the stop token off the end of an answer, as this servicer does unless told otherwise.
func trimmed(p *part, tokens []uint32, req *engine.Request) []uint32 {
	atEnd := len(p.answer.tokens) > 0 && p.answer.matchedToken != nil && len(tokens) > 0 &&
		&tokens[len(tokens)-1] == &p.answer.tokens[len(p.answer.tokens)-1]
	if atEnd && !req.Sampling.NoStopTrim {
		return tokens[:len(tokens)-1]
	}
	return tokens
}

// complete repeats the last tokens of a stream, or with the rust servicer gives all.
func (f *tokenspeedFace) complete(p *part, tokens []uint32, req *engine.Request) *tokenspeedpb.GenerateComplete {
	c := &tokenspeedpb.GenerateComplete{
		OutputIds: tokens, FinishReason: p.finish, PromptTokens: uint32(p.prompt), CompletionTokens: uint32(p.said),
		CachedTokens: uint32(p.cached), Index: uint32(p.index), OutputLogprobs: tokenspeedLogprobs(p.logprobs, len(tokens)),
	}
	if req.Stream && f.life.w.o.servicer() == Rust {
		c.OutputIds = trimmed(p, p.answer.tokens[:p.said], req)
	}
	switch {
	case p.answer.matchedStop != "":
		c.MatchedStop = &tokenspeedpb.GenerateComplete_MatchedStopStr{MatchedStopStr: p.answer.matchedStop}
	case p.answer.matchedToken != nil:
		c.MatchedStop = &tokenspeedpb.GenerateComplete_MatchedTokenId{MatchedTokenId: *p.answer.matchedToken}
	}
	return c
}

// tokenspeedRequest goes by presence: what did not come is not set.
func tokenspeedRequest(in *tokenspeedpb.GenerateRequest) *engine.Request {
	s := in.GetSamplingParams()
	if s == nil {
		s = &tokenspeedpb.SamplingParams{}
	}
	req := &engine.Request{
		ID: in.RequestId, Tokens: in.GetTokenized().GetInputIds(), Stream: in.Stream, Rank: in.DataParallelRank,
		Sampling: engine.Sampling{
			Temperature: maybe[float32, float64](s.Temperature), TopP: maybe[float32, float64](s.TopP),
			TopK: maybe[int32, int](s.TopK), MinP: maybe[float32, float64](s.MinP),
			FrequencyPenalty: maybe[float32, float64](s.FrequencyPenalty), PresencePenalty: maybe[float32, float64](s.PresencePenalty),
			RepetitionPenalty: maybe[float32, float64](s.RepetitionPenalty),
			MaxTokens:         maybe[uint32, int](s.MaxNewTokens), MinTokens: int(s.MinNewTokens),
			Stop: s.Stop, StopTokenIDs: s.StopTokenIds, N: int(s.N), Seed: maybe[uint64, int64](s.SamplingSeed),
			LogitBias: bias(s.LogitBias, parseID), IgnoreEOS: s.IgnoreEos, NoStopTrim: s.NoStopTrim,
		},
	}
	switch c := s.Constraint.(type) {
	case *tokenspeedpb.SamplingParams_Regex:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.Regex, Text: c.Regex}
	case *tokenspeedpb.SamplingParams_JsonSchema:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.JSONSchema, Text: c.JsonSchema}
	case *tokenspeedpb.SamplingParams_EbnfGrammar:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.EBNF, Text: c.EbnfGrammar}
	case *tokenspeedpb.SamplingParams_StructuralTag:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.StructuralTag, Text: c.StructuralTag}
	}
	if in.ReturnLogprob {
		req.Logprobs = ptr[int32, int](in.TopLogprobsNum)
	}
	return req
}

func tokenspeedLogprobs(lps []engine.Logprob, n int) *tokenspeedpb.OutputLogProbs {
	if lps = lps[:min(n, len(lps))]; len(lps) == 0 {
		return nil
	}
	out := &tokenspeedpb.OutputLogProbs{}
	for _, lp := range lps {
		out.TokenLogprobs = append(out.TokenLogprobs, float32(lp.Value))
		out.TokenIds = append(out.TokenIds, lp.Token)
		top := &tokenspeedpb.TopLogProbs{}
		for _, t := range lp.Top {
			top.Values = append(top.Values, float32(t.Value))
			top.TokenIds = append(top.TokenIds, t.Token)
		}
		out.TopLogprobs = append(out.TopLogprobs, top)
	}
	return out
}

// Abort knows no unknown ids.
func (f *tokenspeedFace) Abort(_ context.Context, in *tokenspeedpb.AbortRequest) (*tokenspeedpb.AbortResponse, error) {
	f.life.abort(in.RequestId, in.Reason)
	return &tokenspeedpb.AbortResponse{Success: true}, nil
}

// HealthCheck takes as long as the token that the real one generates for it.
func (f *tokenspeedFace) HealthCheck(ctx context.Context, _ *tokenspeedpb.HealthCheckRequest) (*tokenspeedpb.HealthCheckResponse, error) {
	healthy, message := f.life.check(ctx)
	return &tokenspeedpb.HealthCheckResponse{Healthy: healthy, Message: message}, nil
}

func (f *tokenspeedFace) GetModelInfo(context.Context, *tokenspeedpb.GetModelInfoRequest) (*tokenspeedpb.GetModelInfoResponse, error) {
	o, v := f.life.w.o, f.life.w.voice
	return &tokenspeedpb.GetModelInfoResponse{
		ModelPath: f.life.modelPath(), TokenizerPath: f.life.modelPath(), ServedModelName: o.Model, ModelType: "sim",
		Architectures: []string{"SimForCausalLM"}, MaxContextLength: int32(o.ContextLength),
		MaxReqInputLen: int32(o.ContextLength - 1), VocabSize: int32(v.vocab), EosTokenIds: f.life.endIDs(),
		WeightVersion: "default", DefaultSamplingParamsJson: o.Defaults,
	}, nil
}

// GetServerInfo names ranks only where there is more than one.
func (f *tokenspeedFace) GetServerInfo(context.Context, *tokenspeedpb.GetServerInfoRequest) (*tokenspeedpb.GetServerInfoResponse, error) {
	o := f.life.w.o
	fields := map[string]any{
		"served_model_name": o.Model, "model": f.life.modelPath(), "block_size": f.life.blockSize(), "max_num_seqs": o.MaxRunning,
	}
	if n := f.life.ranks(); n > 1 {
		fields["dp_size"] = n
	}
	args, err := structpb.NewStruct(fields)
	if err != nil {
		return nil, fmt.Errorf("server args: %w", err)
	}
	return &tokenspeedpb.GetServerInfoResponse{
		ServerArgs: args, ActiveRequests: int32(f.life.active()), UptimeSeconds: f.life.uptime().Seconds(),
		MaxTotalNumTokens: int32(o.KVTokens), TokenspeedVersion: version(o.dialect()), StartTime: timestamppb.New(f.life.started),
	}, nil
}

// GetLoads counts cached blocks as used, and names those of running requests apart; the older servicer did not.
func (f *tokenspeedFace) GetLoads(_ context.Context, in *tokenspeedpb.GetLoadsRequest) (*tokenspeedpb.GetLoadsResponse, error) {
	if f.life.engines.Err() != nil {
		return nil, f.life.coreDead()
	}
	out := &tokenspeedpb.GetLoadsResponse{Timestamp: timestamp(), Version: version(engine.TokenSpeed), Aggregate: &tokenspeedpb.AggregateMetrics{}}
	samples := f.life.samples()
	if in.DpRank != nil && int(*in.DpRank) < len(samples) && *in.DpRank >= 0 {
		samples = slices.Clone(samples[*in.DpRank : *in.DpRank+1])
	}
	for rank, s := range samples {
		load := &tokenspeedpb.SchedulerLoad{
			DpRank: int32(rank) + in.GetDpRank(), NumRunningReqs: int32(s.Running), NumWaitingReqs: int32(s.Waiting),
			NumTotalReqs: int32(s.Running + s.Waiting), NumUsedTokens: int32(math.Round(s.Filled * float64(s.MaxTokens))),
			MaxTotalNumTokens: int32(s.MaxTokens), MaxRunningRequests: int32(s.MaxRunning), TokenUsage: s.Filled, Utilization: s.Filled,
		}
		switch f.life.w.o.servicer() {
		case Python:
			load.ActiveTokenUsage = new(s.Usage)
		case Rust:
			load.ActiveTokenUsage = new(s.Filled)
		}
		f.life.distort(load)
		out.Loads = append(out.Loads, load)
		out.Aggregate.TotalRunningReqs += load.NumRunningReqs
		out.Aggregate.TotalWaitingReqs += load.NumWaitingReqs
		out.Aggregate.TotalReqs += load.NumTotalReqs
	}
	out.DpRankCount = f.life.rankCount(len(out.Loads))
	return out, nil
}
