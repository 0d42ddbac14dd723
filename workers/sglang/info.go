package sglang

import (
	"cmp"
	"context"
	"time"

	"leeway/workers/engine"
	pb "leeway/workers/enginepb/sglangpb"
	"leeway/workers/wire"
)

// Info implements engine.Describer.
func (c *Client) Info(ctx context.Context) (engine.Info, error) {
	model, err := c.rpc.GetModelInfo(ctx, &pb.GetModelInfoRequest{})
	if err != nil {
		return engine.Info{}, wire.Error(err)
	}
	server, err := c.rpc.GetServerInfo(ctx, &pb.GetServerInfoRequest{})
	if err != nil {
		return engine.Info{}, wire.Error(err)
	}
	info := modelInfo(model)
	addServerInfo(&info, server)
	return info, nil
}

// modelInfo takes the model's own sampling defaults, or else those that the operator gave the engine.
func modelInfo(m *pb.GetModelInfoResponse) engine.Info {
	return engine.Info{
		Model:           m.GetServedModelName(),
		ModelPath:       m.GetModelPath(),
		TokenizerPath:   m.GetTokenizerPath(),
		ModelType:       m.GetModelType(),
		Architectures:   m.GetArchitectures(),
		ContextLength:   int(m.GetMaxContextLength()),
		MaxPromptTokens: int(m.GetMaxReqInputLen()),
		VocabSize:       int(m.GetVocabSize()),
		EOS:             wire.IDs(m.GetEosTokenIds()),
		WeightVersion:   m.GetWeightVersion(),
		DefaultSampling: cmp.Or(m.GetDefaultSamplingParamsJson(), m.GetPreferredSamplingParams()),
		IsGeneration:    m.GetIsGeneration(),
		SupportsVision:  m.GetSupportsVision(),
	}
}

// addServerInfo picks from the start arguments, which are the engine's own names and may change with its version:
// whatever is missing there is not reported.
func addServerInfo(info *engine.Info, s *pb.GetServerInfoResponse) {
	args, scheduler := wire.Arguments{Struct: s.GetServerArgs()}, wire.Arguments{Struct: s.GetSchedulerInfo()}
	info.Version = s.GetSglangVersion()
	info.BlockSize = cmp.Or(args.Int("page_size"), scheduler.Int("page_size"))
	info.Ranks = max(args.Int("dp_size"), 1)
	info.MaxRunning = args.Int("max_running_requests")
	info.ReasoningParser = args.Text("engine_reasoning_parser", "reasoning_parser")
	info.ConstrainedStart = args.Text("constrained_decoding_start")
	if s.GetStartTime() != nil {
		info.StartTime = s.GetStartTime().AsTime()
	}
	info.Uptime = time.Duration(s.GetUptimeSeconds() * float64(time.Second))
	info.MaxTotalTokens = int(s.GetMaxTotalNumTokens())
	info.Role = args.Text("disaggregation_mode")
}
