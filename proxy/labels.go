package proxy

import (
	"encoding/json"
	"maps"
	"strconv"

	"leeway/workers"
)

// labels are what is known of a worker in SMG's words: what it says of itself, and above that what operators say.
// What it does not say is left out.
func labels(s workers.Status) map[string]string {
	if s.Dialect == "" {
		return s.Spec.Labels
	}
	i := &s.Info
	known := map[string]string{
		"served_model_name": i.Model, "model_path": i.ModelPath, "tokenizer_path": i.TokenizerPath, "model_type": i.ModelType,
		"weight_version": i.WeightVersion, "version": i.Version, "reasoning_parser": i.ReasoningParser,
		"default_sampling_params_json": i.DefaultSampling, "is_generation": strconv.FormatBool(i.IsGeneration),
		"dp_size": strconv.Itoa(max(i.Ranks, 1)),
	}
	for name, n := range map[string]int{
		"context_length": i.ContextLength, "max_req_input_len": i.MaxPromptTokens, "vocab_size": i.VocabSize,
		"page_size": i.BlockSize, "max_running_requests": i.MaxRunning,
	} {
		if n > 0 {
			known[name] = strconv.Itoa(n)
		}
	}
	if len(i.EOS) > 0 {
		known["eos_token_ids"] = list(i.EOS)
	}
	if len(i.Architectures) > 0 {
		known["architectures"] = list(i.Architectures)
	}
	maps.DeleteFunc(known, func(_, value string) bool { return value == "" })
	maps.Copy(known, s.Spec.Labels)
	return known
}

func list[T any](all []T) string {
	text, err := json.Marshal(all)
	if err != nil {
		return ""
	}
	return string(text)
}

// modelCard is a model as a worker serves it. Operators give the id alone.
type modelCard struct {
	ID            string   `json:"id"`
	Type          string   `json:"hf_model_type,omitempty"`
	Architectures []string `json:"architectures,omitempty"`
	ContextLength int      `json:"context_length,omitempty"`
	TokenizerPath string   `json:"tokenizer_path,omitempty"`
}
