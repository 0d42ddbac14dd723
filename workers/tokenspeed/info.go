package tokenspeed

import (
	"context"
	"time"

	"leeway/workers/engine"
	pb "leeway/workers/enginepb/tokenspeedpb"
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
	return info(model, server), nil
}

// info merges the two messages; what the start arguments do not say is not reported.
func info(m *pb.GetModelInfoResponse, s *pb.GetServerInfoResponse) engine.Info {
	args := wire.Arguments{Struct: s.GetServerArgs()}
	i := engine.Info{
		Model:            m.GetServedModelName(),
		ModelPath:        m.GetModelPath(),
		TokenizerPath:    m.GetTokenizerPath(),
		ModelType:        m.GetModelType(),
		Architectures:    m.GetArchitectures(),
		ContextLength:    int(m.GetMaxContextLength()),
		MaxPromptTokens:  int(m.GetMaxReqInputLen()),
		VocabSize:        int(m.GetVocabSize()),
		EOS:              wire.IDs(m.GetEosTokenIds()),
		WeightVersion:    m.GetWeightVersion(),
		DefaultSampling:  m.GetDefaultSamplingParamsJson(),
		IsGeneration:     true, // the dialect serves nothing else
		SupportsVision:   m.GetSupportsVision(),
		Version:          s.GetTokenspeedVersion(),
		BlockSize:        args.Int("block_size", "page_size"),
		Ranks:            max(args.Int("dp_size"), 1),
		MaxRunning:       args.Int("max_num_seqs"),
		ReasoningParser:  args.Text("engine_reasoning_parser"),
		ConstrainedStart: args.Text("constrained_decoding_start"),
		Uptime:           time.Duration(s.GetUptimeSeconds() * float64(time.Second)),
		MaxTotalTokens:   int(s.GetMaxTotalNumTokens()),
	}
	if s.GetStartTime() != nil {
		i.StartTime = s.GetStartTime().AsTime()
	}
	return i
}
