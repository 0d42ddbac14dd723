package openai

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"
)

// The document that the gateway hands out names every field that is read, and no other.
func TestTheDocumentNamesTheFieldsThatAreRead(t *testing.T) {
	data, err := os.ReadFile("../proxy/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	told := func(schemas ...string) (names []string) {
		for _, name := range schemas {
			names = slices.AppendSeq(names, maps.Keys(document.Components.Schemas[name].Properties))
		}
		return names
	}
	for _, tc := range []struct {
		name       string
		told, read []string
	}{
		{"chat", told("ChatRequest", "Sampling"), append(names(chatFields), names(samplingFields)...)},
		{"completions", told("CompletionRequest", "Sampling"), append(names(completionFields), names(samplingFields)...)},
		{"generate", told("GenerateRequest"), names(generateFields)},
		{"generate's sampling_params", told("GenerateSampling", "Sampling"), append(names(generateSampling), names(samplingFields)...)},
		{"embeddings", told("EmbeddingRequest"), names(embeddingFields)},
		{"tokenize", told("TokenizeRequest"), names(tokenizeFields)},
		{"detokenize", told("DetokenizeRequest"), names(detokenizeFields)},
		{"parse", told("ParseCallsRequest", "ParseReasoningRequest"), names(parseFields)},
	} {
		for _, name := range tc.read {
			if !slices.Contains(tc.told, name) {
				t.Errorf("%s: %s is read and not told", tc.name, name)
			}
		}
		for _, name := range tc.told {
			if !slices.Contains(tc.read, name) {
				t.Errorf("%s: %s is told and not read", tc.name, name)
			}
		}
	}
}

func names[F any](fields map[string]F) []string { return slices.Collect(maps.Keys(fields)) }
