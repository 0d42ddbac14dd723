package sglang

import (
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "leeway/workers/enginepb/sglangpb"
)

func TestInfoMergesBothMessages(t *testing.T) {
	args, err := structpb.NewStruct(map[string]any{
		"page_size": 64, "dp_size": 2, "max_running_requests": 128, "reasoning_parser": "qwen3", "constrained_decoding_start": "after_reasoning",
	})
	if err != nil {
		t.Fatal(err)
	}
	i := modelInfo(&pb.GetModelInfoResponse{
		ServedModelName: "m", ModelPath: "/m", EosTokenIds: []int32{2, -1}, MaxContextLength: 4096, WeightVersion: "w",
		PreferredSamplingParams: `{"top_p":1}`,
	})
	addServerInfo(&i, &pb.GetServerInfoResponse{ServerArgs: args, StartTime: timestamppb.New(time.Unix(9, 0)), UptimeSeconds: 1.5})
	if i.Model != "m" || i.ContextLength != 4096 || len(i.EOS) != 1 || i.WeightVersion != "w" || i.DefaultSampling != `{"top_p":1}` {
		t.Errorf("model: %+v", i)
	}
	if i.BlockSize != 64 || i.Ranks != 2 || i.MaxRunning != 128 || i.ReasoningParser != "qwen3" || i.ConstrainedStart != "after_reasoning" {
		t.Errorf("server: %+v", i)
	}
	if !i.StartTime.Equal(time.Unix(9, 0)) || i.Uptime != 1500*time.Millisecond {
		t.Errorf("process: %v, %v", i.StartTime, i.Uptime)
	}
}

func TestThePageSizeMayStandWithTheScheduler(t *testing.T) {
	scheduler, err := structpb.NewStruct(map[string]any{"page_size": 16})
	if err != nil {
		t.Fatal(err)
	}
	i := modelInfo(&pb.GetModelInfoResponse{})
	addServerInfo(&i, &pb.GetServerInfoResponse{SchedulerInfo: scheduler})
	if i.BlockSize != 16 || i.Ranks != 1 || !i.StartTime.IsZero() {
		t.Errorf("got %+v", i)
	}
}
