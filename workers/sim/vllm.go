package sim

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"leeway/workers/engine"
	"leeway/workers/enginepb/vllmpb"
)

// vllmFace speaks vllm.grpc.engine.
type vllmFace struct {
	commonFace
	vllmRest
}

// vllmRest says UNIMPLEMENTED to what the face has no method for, one level below its own.
type vllmRest struct {
	vllmpb.UnimplementedVllmEngineServer
}

// Generate ends an aborted stream of the usual servicer with an empty chunk before the complete.
func (f *vllmFace) Generate(in *vllmpb.GenerateRequest, stream grpc.ServerStreamingServer[vllmpb.GenerateResponse]) error {
	req := f.request(in)
	return f.life.generate(stream.Context(), req, func(p *part) error {
		if p.done {
			if req.Stream && p.finish == "abort" && f.life.w.o.servicer() != Rust {
				if err := stream.Send(f.chunk(&part{index: p.index, prompt: p.prompt, cached: p.cached})); err != nil {
					return err
				}
			}
			return stream.Send(f.complete(p, req))
		}
		return stream.Send(f.chunk(p))
	})
}

// chunk counts its own tokens, or with the rust servicer all so far.
func (f *vllmFace) chunk(p *part) *vllmpb.GenerateResponse {
	count := min(len(p.tokens), p.said)
	if f.life.w.o.servicer() == Rust {
		count = p.said
	}
	return &vllmpb.GenerateResponse{Response: &vllmpb.GenerateResponse_Chunk{Chunk: &vllmpb.GenerateStreamChunk{
		TokenIds: p.tokens, PromptTokens: uint32(p.prompt), CompletionTokens: uint32(count),
		CachedTokens: uint32(p.cached), Index: uint32(p.index),
		OutputLogprobs: vllmLogprobs(p.logprobs), InputLogprobs: vllmPromptLogprobs(p.promptLP),
	}}}
}

// complete repeats the last tokens of a stream and counts only these, or with the rust servicer gives all.
func (f *vllmFace) complete(p *part, req *engine.Request) *vllmpb.GenerateResponse {
	c := &vllmpb.GenerateComplete{
		OutputIds: p.tokens, FinishReason: p.finish, PromptTokens: uint32(p.prompt), CompletionTokens: uint32(min(len(p.tokens), p.said)),
		CachedTokens: uint32(p.cached), Index: uint32(p.index),
		OutputLogprobs: vllmLogprobs(p.logprobs), InputLogprobs: vllmPromptLogprobs(p.promptLP),
	}
	if req.Stream && f.life.w.o.servicer() == Rust {
		c.OutputIds, c.CompletionTokens = p.answer.tokens[:p.said], uint32(p.said)
	}
	switch {
	case p.answer.matchedStop != "":
		c.MatchedStop = &vllmpb.GenerateComplete_MatchedStopStr{MatchedStopStr: p.answer.matchedStop}
	case p.answer.matchedToken != nil && !p.answer.eos: // the model's own end is not said
		c.MatchedStop = &vllmpb.GenerateComplete_MatchedTokenId{MatchedTokenId: *p.answer.matchedToken}
	}
	return &vllmpb.GenerateResponse{Response: &vllmpb.GenerateResponse_Complete{Complete: c}}
}

// request leaves open what has presence on the wire; a prompt may come as text.
func (f *vllmFace) request(in *vllmpb.GenerateRequest) *engine.Request {
	s := in.GetSamplingParams()
	if s == nil {
		s = &vllmpb.SamplingParams{}
	}
	req := &engine.Request{
		ID: in.RequestId, Tokens: in.GetTokenized().GetInputIds(), Stream: in.Stream, Rank: in.DataParallelRank,
		Logprobs: maybe[int32, int](s.Logprobs), PromptLogprobs: s.PromptLogprobs != nil,
		Sampling: engine.Sampling{
			Temperature: maybe[float32, float64](s.Temperature), TopP: ptr[float32, float64](s.GetTopP()),
			TopK: ptr[uint32, int](s.GetTopK()), MinP: ptr[float32, float64](s.GetMinP()),
			FrequencyPenalty: ptr[float32, float64](s.GetFrequencyPenalty()), PresencePenalty: ptr[float32, float64](s.GetPresencePenalty()),
			RepetitionPenalty: ptr[float32, float64](s.GetRepetitionPenalty()),
			MaxTokens:         maybe[uint32, int](s.MaxTokens), MinTokens: int(s.GetMinTokens()),
			Stop: s.GetStop(), StopTokenIDs: s.GetStopTokenIds(), N: int(s.GetN()), Seed: maybe[int32, int64](s.Seed),
			LogitBias: bias(s.GetLogitBias(), func(id int32) (uint32, bool) { return uint32(id), id >= 0 }),
			IgnoreEOS: s.GetIgnoreEos(), NoStopTrim: s.GetIncludeStopStrInOutput(),
		},
	}
	if text := in.GetText(); text != "" {
		req.Tokens = f.life.w.voice.encode(text)
	}
	switch c := s.GetConstraint().(type) {
	case *vllmpb.SamplingParams_Regex:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.Regex, Text: c.Regex}
	case *vllmpb.SamplingParams_JsonSchema:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.JSONSchema, Text: c.JsonSchema}
	case *vllmpb.SamplingParams_Grammar:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.EBNF, Text: c.Grammar}
	case *vllmpb.SamplingParams_StructuralTag:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.StructuralTag, Text: c.StructuralTag}
	}
	return req
}

func vllmLogprobs(lps []engine.Logprob) *vllmpb.OutputLogProbs {
	if len(lps) == 0 {
		return nil
	}
	out := &vllmpb.OutputLogProbs{}
	for _, lp := range lps {
		out.TokenLogprobs = append(out.TokenLogprobs, float32(lp.Value))
		out.TokenIds = append(out.TokenIds, lp.Token)
		top := &vllmpb.TopLogProbs{}
		for _, t := range lp.Top {
			top.Values = append(top.Values, float32(t.Value))
			top.TokenIds = append(top.TokenIds, t.Token)
		}
		out.TopLogprobs = append(out.TopLogprobs, top)
	}
	return out
}

// vllmPromptLogprobs has no value for the first token, which nothing precedes.
func vllmPromptLogprobs(lps []engine.Logprob) *vllmpb.InputLogProbs {
	if len(lps) == 0 {
		return nil
	}
	out := &vllmpb.InputLogProbs{}
	for i, lp := range lps {
		value := &vllmpb.InputTokenLogProb{}
		if i > 0 {
			value.Value = new(float32(lp.Value))
		}
		out.TokenLogprobs = append(out.TokenLogprobs, value)
		out.TokenIds = append(out.TokenIds, lp.Token)
	}
	return out
}

// Abort takes several ids, and knows no unknown ones.
func (f *vllmFace) Abort(_ context.Context, in *vllmpb.AbortRequest) (*vllmpb.AbortResponse, error) {
	for _, id := range in.RequestIds {
		f.life.abort(id, "")
	}
	return &vllmpb.AbortResponse{}, nil
}

// HealthCheck only looks at the engine's state.
func (f *vllmFace) HealthCheck(context.Context, *vllmpb.HealthCheckRequest) (*vllmpb.HealthCheckResponse, error) {
	if !f.life.healthy() {
		return &vllmpb.HealthCheckResponse{Message: "the engine is not healthy"}, nil
	}
	return &vllmpb.HealthCheckResponse{Healthy: true, Message: "healthy"}, nil
}

func (f *vllmFace) Embed(_ context.Context, in *vllmpb.EmbedRequest) (*vllmpb.EmbedResponse, error) {
	tokens := in.GetTokenized().GetInputIds()
	if len(tokens) == 0 {
		return nil, status.Error(codes.InvalidArgument, "the prompt has no tokens")
	}
	v := embedding(tokens)
	return &vllmpb.EmbedResponse{Embedding: v, EmbeddingDim: uint32(len(v)), PromptTokens: uint32(len(tokens))}, nil
}

func (f *vllmFace) GetModelInfo(context.Context, *vllmpb.GetModelInfoRequest) (*vllmpb.GetModelInfoResponse, error) {
	o, v := f.life.w.o, f.life.w.voice
	return &vllmpb.GetModelInfoResponse{
		ModelPath: f.life.modelPath(), TokenizerPath: f.life.modelPath(), IsGeneration: true, ServedModelName: o.Model,
		MaxContextLength: uint32(o.ContextLength), VocabSize: uint32(v.vocab), ModelType: "sim",
		Architectures: []string{"SimForCausalLM"}, EosTokenIds: f.life.endIDs(), MaxReqInputLen: int32(o.ContextLength),
		DefaultSamplingParamsJson: o.Defaults,
	}, nil
}

// GetServerInfo of the usual servicer knows neither its type nor its age.
func (f *vllmFace) GetServerInfo(context.Context, *vllmpb.GetServerInfoRequest) (*vllmpb.GetServerInfoResponse, error) {
	o := f.life.w.o
	info := &vllmpb.GetServerInfoResponse{
		ActiveRequests: uint32(f.life.active()), DataParallelSize: int32(f.life.ranks()), KvCacheDtype: "auto",
		BlockSize: int32(f.life.blockSize()), MaxNumSeqs: int32(o.MaxRunning),
	}
	if o.servicer() == Rust {
		info.ServerType, info.UptimeSeconds = "vllm-grpc", f.life.uptime().Seconds()
	}
	return info, nil
}

// GetLoads of the older servicer knew neither tokens nor throughput, and one rank only.
func (f *vllmFace) GetLoads(context.Context, *vllmpb.GetLoadsRequest) (*vllmpb.GetLoadsResponse, error) {
	if f.life.engines.Err() != nil {
		return nil, f.life.coreDead()
	}
	out := &vllmpb.GetLoadsResponse{Timestamp: timestamp(), Version: version(engine.VLLM)}
	samples := f.life.samples()
	used, most := 0, 0 // of every rank alike, the sum over all
	for _, s := range samples {
		used, most = used+s.UsedTokens, most+s.MaxTokens
	}
	for rank, s := range samples {
		load := &vllmpb.SchedulerLoad{
			DpRank: int32(rank), NumRunningReqs: int32(s.Running), NumWaitingReqs: int32(s.Waiting),
			NumTotalReqs: int32(s.Running + s.Waiting), TokenUsage: s.Usage, Utilization: s.Usage,
			MaxRunningRequests: int32(s.MaxRunning), CacheHitRate: s.HitRate,
		}
		if f.life.w.o.servicer() != Bridge {
			load.NumUsedTokens, load.MaxTotalNumTokens = int32(used), int32(most)
		}
		if f.life.w.o.servicer() == Python || f.life.w.o.servicer() == Rust && rank == 0 {
			load.NumWaitingUncachedTokens, load.GenThroughput = int32(s.Estimate()), s.Throughput
		}
		f.life.distort(load)
		out.Loads = append(out.Loads, load)
		if f.life.w.o.servicer() == Bridge {
			break
		}
	}
	out.DpRankCount = f.life.rankCount(len(out.Loads))
	return out, nil
}
