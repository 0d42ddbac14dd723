package sim

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"leeway/workers/engine"
	"leeway/workers/enginepb/sglangpb"
)

// sglangFace speaks sglang.grpc.scheduler.
type sglangFace struct {
	commonFace
	sglangRest
}

// sglangRest says UNIMPLEMENTED to what the face has no method for, one level below its own.
type sglangRest struct {
	sglangpb.UnimplementedSglangSchedulerServer
}

// Generate counts every choice's tokens so far in its chunks.
func (f *sglangFace) Generate(in *sglangpb.GenerateRequest, stream grpc.ServerStreamingServer[sglangpb.GenerateResponse]) error {
	req := sglangRequest(in)
	return f.life.generate(stream.Context(), req, func(p *part) error {
		out := &sglangpb.GenerateResponse{RequestId: req.ID}
		if p.done {
			out.Response = &sglangpb.GenerateResponse_Complete{Complete: f.complete(p, req)}
		} else {
			out.Response = &sglangpb.GenerateResponse_Chunk{Chunk: &sglangpb.GenerateStreamChunk{
				TokenIds: p.tokens, PromptTokens: uint32(p.prompt), CompletionTokens: uint32(p.said),
				CachedTokens: uint32(p.cached), Index: uint32(p.index),
				OutputLogprobs: sglangLogprobs(p.logprobs), InputLogprobs: sglangPromptLogprobs(p.promptLP),
			}}
		}
		return stream.Send(out)
	})
}

// complete numbers only the choices of a stream: those of whole answers all say 0.
func (f *sglangFace) complete(p *part, req *engine.Request) *sglangpb.GenerateComplete {
	c := &sglangpb.GenerateComplete{
		OutputIds: p.tokens, FinishReason: p.finish, PromptTokens: uint32(p.prompt), CompletionTokens: uint32(p.said),
		CachedTokens: uint32(p.cached), OutputLogprobs: sglangLogprobs(p.logprobs), InputLogprobs: sglangPromptLogprobs(p.promptLP),
	}
	if req.Stream {
		c.Index = uint32(p.index)
	}
	if req.Stream && f.life.w.o.servicer() == Rust {
		c.OutputIds = p.answer.tokens[:p.said]
	}
	if id := p.answer.matchedToken; id != nil {
		c.MatchedStop = &sglangpb.GenerateComplete_MatchedTokenId{MatchedTokenId: *id}
	}
	return c
}

// sglangRequest takes every value as it came: this servicer replaces no zeros.
func sglangRequest(in *sglangpb.GenerateRequest) *engine.Request {
	s := in.GetSamplingParams()
	if s == nil {
		s = &sglangpb.SamplingParams{}
	}
	req := &engine.Request{
		ID: in.RequestId, Tokens: in.GetTokenized().GetInputIds(), Stream: in.Stream, Rank: in.DataParallelRank,
		Reasoning: in.RequireReasoning,
		Sampling: engine.Sampling{
			Temperature: ptr[float32, float64](s.GetTemperature()), TopP: ptr[float32, float64](s.GetTopP()),
			TopK: ptr[int32, int](s.GetTopK()), MinP: ptr[float32, float64](s.GetMinP()),
			FrequencyPenalty: ptr[float32, float64](s.GetFrequencyPenalty()), PresencePenalty: ptr[float32, float64](s.GetPresencePenalty()),
			RepetitionPenalty: ptr[float32, float64](s.GetRepetitionPenalty()),
			MaxTokens:         maybe[uint32, int](s.MaxNewTokens), MinTokens: int(s.GetMinNewTokens()),
			Stop: s.GetStop(), StopTokenIDs: s.GetStopTokenIds(), N: int(s.GetN()),
			LogitBias: bias(s.GetLogitBias(), parseID), IgnoreEOS: s.GetIgnoreEos(), NoStopTrim: s.GetNoStopTrim(),
		},
	}
	switch c := s.GetConstraint().(type) {
	case *sglangpb.SamplingParams_Regex:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.Regex, Text: c.Regex}
	case *sglangpb.SamplingParams_JsonSchema:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.JSONSchema, Text: c.JsonSchema}
	case *sglangpb.SamplingParams_EbnfGrammar:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.EBNF, Text: c.EbnfGrammar}
	case *sglangpb.SamplingParams_StructuralTag:
		req.Sampling.Constraint = engine.Constraint{Kind: engine.StructuralTag, Text: c.StructuralTag}
	}
	if in.ReturnLogprob {
		req.Logprobs = ptr[int32, int](in.TopLogprobsNum)
		req.PromptLogprobs = in.LogprobStartLen >= 0
	}
	return req
}

func sglangLogprobs(lps []engine.Logprob) *sglangpb.OutputLogProbs {
	if len(lps) == 0 {
		return nil
	}
	out := &sglangpb.OutputLogProbs{}
	for _, lp := range lps {
		out.TokenLogprobs = append(out.TokenLogprobs, float32(lp.Value))
		out.TokenIds = append(out.TokenIds, lp.Token)
		top := &sglangpb.TopLogProbs{}
		for _, t := range lp.Top {
			top.Values = append(top.Values, float32(t.Value))
			top.TokenIds = append(top.TokenIds, t.Token)
		}
		out.TopLogprobs = append(out.TopLogprobs, top)
	}
	return out
}

// sglangPromptLogprobs has no value for the first token, which nothing precedes.
func sglangPromptLogprobs(lps []engine.Logprob) *sglangpb.InputLogProbs {
	if len(lps) == 0 {
		return nil
	}
	out := &sglangpb.InputLogProbs{}
	for i, lp := range lps {
		value := &sglangpb.InputTokenLogProb{}
		if i > 0 {
			value.Value = new(float32(lp.Value))
		}
		out.TokenLogprobs = append(out.TokenLogprobs, value)
		out.TokenIds = append(out.TokenIds, lp.Token)
	}
	return out
}

// Abort knows no unknown ids.
func (f *sglangFace) Abort(_ context.Context, in *sglangpb.AbortRequest) (*sglangpb.AbortResponse, error) {
	f.life.abort(in.RequestId, in.Reason)
	return &sglangpb.AbortResponse{Success: true}, nil
}

// HealthCheck takes as long as the token that the real one generates for it.
func (f *sglangFace) HealthCheck(ctx context.Context, _ *sglangpb.HealthCheckRequest) (*sglangpb.HealthCheckResponse, error) {
	healthy, message := f.life.check(ctx)
	return &sglangpb.HealthCheckResponse{Healthy: healthy, Message: message}, nil
}

func (f *sglangFace) Embed(_ context.Context, in *sglangpb.EmbedRequest) (*sglangpb.EmbedResponse, error) {
	tokens := in.GetTokenized().GetInputIds()
	if len(tokens) == 0 {
		return nil, status.Error(codes.InvalidArgument, "the prompt has no tokens")
	}
	v := embedding(tokens)
	return &sglangpb.EmbedResponse{Embedding: v, EmbeddingDim: uint32(len(v)), PromptTokens: uint32(len(tokens))}, nil
}

func (f *sglangFace) GetModelInfo(context.Context, *sglangpb.GetModelInfoRequest) (*sglangpb.GetModelInfoResponse, error) {
	o, v := f.life.w.o, f.life.w.voice
	return &sglangpb.GetModelInfoResponse{
		ModelPath: f.life.modelPath(), TokenizerPath: f.life.modelPath(), IsGeneration: true, WeightVersion: "default",
		ServedModelName: o.Model, MaxContextLength: int32(o.ContextLength), VocabSize: int32(v.vocab),
		ModelType: "sim", Architectures: []string{"SimForCausalLM"}, EosTokenIds: f.life.endIDs(),
		MaxReqInputLen: int32(o.ContextLength - 1), DefaultSamplingParamsJson: o.Defaults,
	}, nil
}

// GetServerInfo says most of it in server_args, whose keys are those of the engine's own flags.
func (f *sglangFace) GetServerInfo(context.Context, *sglangpb.GetServerInfoRequest) (*sglangpb.GetServerInfoResponse, error) {
	o := f.life.w.o
	args, err := structpb.NewStruct(map[string]any{
		"served_model_name": o.Model, "model_path": f.life.modelPath(), "tokenizer_path": f.life.modelPath(),
		"page_size": f.life.blockSize(), "dp_size": f.life.ranks(), "tp_size": 1,
		"max_running_requests": o.MaxRunning, "context_length": o.ContextLength,
	})
	if err != nil {
		return nil, fmt.Errorf("server args: %w", err)
	}
	return &sglangpb.GetServerInfoResponse{
		ServerArgs: args, ActiveRequests: int32(f.life.active()), UptimeSeconds: f.life.uptime().Seconds(),
		SglangVersion: version(o.dialect()), ServerType: "grpc", StartTime: timestamppb.New(f.life.started),
		MaxTotalNumTokens: int32(o.KVTokens),
	}, nil
}

// sglangSections are the parts of a load report that can be asked for.
var sglangSections = []string{"core", "memory", "speculative", "lora", "disaggregation", "disagg", "queues", "all"}

// GetLoads reports everything, except from the rust servicer, which only counts requests and tokens.
func (f *sglangFace) GetLoads(_ context.Context, in *sglangpb.GetLoadsRequest) (*sglangpb.GetLoadsResponse, error) {
	for _, section := range in.Include {
		if !slices.Contains(sglangSections, section) {
			return nil, status.Errorf(codes.InvalidArgument, "include: there is no section %q", section)
		}
	}
	if f.life.engines.Err() != nil {
		return nil, f.life.coreDead()
	}
	out := &sglangpb.GetLoadsResponse{Timestamp: timestamp(), Version: version(engine.SGLang), Aggregate: &sglangpb.AggregateMetrics{}}
	for rank, s := range f.life.samples() {
		if in.DpRank != nil && int(*in.DpRank) != rank {
			continue
		}
		load := &sglangpb.SchedulerLoad{
			DpRank: int32(rank), NumRunningReqs: int32(s.Running), NumWaitingReqs: int32(s.Waiting),
			NumTotalReqs: int32(s.Running + s.Waiting), TokenUsage: s.Usage, MaxRunningRequests: int32(s.MaxRunning),
			MaxTotalNumTokens: int32(s.MaxTokens), NumUsedTokens: int32(s.UsedTokens), Utilization: s.Usage,
		}
		if f.life.w.o.servicer() != Rust {
			load.GenThroughput, load.CacheHitRate = s.Throughput, s.HitRate
			load.NumWaitingUncachedTokens = int32(s.Uncached)
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
