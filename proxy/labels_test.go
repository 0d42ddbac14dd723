package proxy

import (
	"maps"
	"testing"

	"leeway/workers"
	"leeway/workers/engine"
)

func TestLabelsAreWhatAWorkerSaysAndAboveThatWhatOperatorsSay(t *testing.T) {
	said := engine.Info{
		Model: "m", ModelType: "qwen3", Architectures: []string{"Qwen3ForCausalLM"}, ContextLength: 4096, EOS: []uint32{1, 2},
		BlockSize: 16, Ranks: 2, IsGeneration: true,
	}
	operators := map[string]string{"rack": "a", "served_model_name": "ours"}
	for _, c := range []struct {
		status workers.Status
		want   map[string]string
	}{
		{workers.Status{Spec: workers.Spec{Labels: operators}}, operators}, // it has not answered yet
		{workers.Status{Dialect: "vllm", Info: said, Spec: workers.Spec{Labels: operators}}, map[string]string{
			"served_model_name": "ours", "rack": "a", "model_type": "qwen3", "architectures": `["Qwen3ForCausalLM"]`, "context_length": "4096",
			"eos_token_ids": "[1,2]", "page_size": "16", "dp_size": "2", "is_generation": "true",
		}},
	} {
		if got := labels(c.status); !maps.Equal(got, c.want) {
			t.Errorf("got  %v\nwant %v", got, c.want)
		}
	}
	if operators["model_type"] != "" || len(operators) != 2 {
		t.Errorf("the operators' own labels were changed: %v", operators)
	}
}
