package vllm

import (
	"context"
	"time"

	"leeway/workers/engine"
	pb "leeway/workers/enginepb/vllmpb"
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

// info merges the two messages. The default servicer reports no version, start time or uptime: a restart shows in
// its KV events only.
func info(m *pb.GetModelInfoResponse, s *pb.GetServerInfoResponse) engine.Info {
	return engine.Info{
		Model:            m.GetServedModelName(),
		ModelPath:        m.GetModelPath(),
		TokenizerPath:    m.GetTokenizerPath(),
		ModelType:        m.GetModelType(),
		Architectures:    m.GetArchitectures(),
		ContextLength:    int(m.GetMaxContextLength()),
		MaxPromptTokens:  int(m.GetMaxReqInputLen()),
		VocabSize:        int(m.GetVocabSize()),
		EOS:              wire.IDs(m.GetEosTokenIds()),
		DefaultSampling:  m.GetDefaultSamplingParamsJson(),
		IsGeneration:     m.GetIsGeneration(),
		SupportsVision:   m.GetSupportsVision(),
		BlockSize:        int(s.GetBlockSize()),
		Ranks:            max(int(s.GetDataParallelSize()), 1),
		MaxRunning:       int(s.GetMaxNumSeqs()),
		ReasoningParser:  s.GetEngineReasoningParser(),
		ConstrainedStart: s.GetConstrainedDecodingStart(),
		Uptime:           time.Duration(s.GetUptimeSeconds() * float64(time.Second)),
		KVConnector:      s.GetKvConnector(),
		Role:             s.GetKvRole(),
	}
}
