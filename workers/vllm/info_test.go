package vllm

import (
	"testing"
	"time"

	pb "leeway/workers/enginepb/vllmpb"
)

func TestInfoMergesBothMessages(t *testing.T) {
	i := info(
		&pb.GetModelInfoResponse{ServedModelName: "m", MaxContextLength: 4096, VocabSize: 10, EosTokenIds: []int32{2}, DefaultSamplingParamsJson: "{}"},
		&pb.GetServerInfoResponse{BlockSize: 32, DataParallelSize: 4, MaxNumSeqs: 256, UptimeSeconds: 3, KvConnector: "nixl", KvRole: "kv_both", EngineReasoningParser: "qwen3"},
	)
	if i.Model != "m" || i.ContextLength != 4096 || i.VocabSize != 10 || i.EOS[0] != 2 || i.DefaultSampling != "{}" {
		t.Errorf("model: %+v", i)
	}
	if i.BlockSize != 32 || i.Ranks != 4 || i.MaxRunning != 256 || i.Uptime != 3*time.Second || i.Role != "kv_both" || i.ReasoningParser != "qwen3" {
		t.Errorf("server: %+v", i)
	}
	if i = info(&pb.GetModelInfoResponse{}, &pb.GetServerInfoResponse{}); i.Ranks != 1 || i.BlockSize != 0 {
		t.Errorf("nothing reported: %+v", i)
	}
}
