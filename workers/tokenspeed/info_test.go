package tokenspeed

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "leeway/workers/enginepb/tokenspeedpb"
)

func TestInfoMergesBothMessages(t *testing.T) {
	args, err := structpb.NewStruct(map[string]any{"block_size": 64, "dp_size": 2, "max_num_seqs": 128, "engine_reasoning_parser": "kimi_k2"})
	if err != nil {
		t.Fatal(err)
	}
	i := info(
		&pb.GetModelInfoResponse{ServedModelName: "m", MaxContextLength: 4096, EosTokenIds: []int32{2}, WeightVersion: "w"},
		&pb.GetServerInfoResponse{ServerArgs: args, StartTime: timestamppb.New(time.Unix(9, 0)), TokenspeedVersion: "1", MaxTotalNumTokens: 5},
	)
	if i.Model != "m" || i.ContextLength != 4096 || i.EOS[0] != 2 || i.WeightVersion != "w" || !i.IsGeneration {
		t.Errorf("model: %+v", i)
	}
	if i.BlockSize != 64 || i.Ranks != 2 || i.MaxRunning != 128 || i.ReasoningParser != "kimi_k2" || i.Version != "1" || i.MaxTotalTokens != 5 {
		t.Errorf("server: %+v", i)
	}
	if !i.StartTime.Equal(time.Unix(9, 0)) {
		t.Errorf("started %v", i.StartTime)
	}
}
