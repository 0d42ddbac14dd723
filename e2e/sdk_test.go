package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

// accumulated asks for a stream and returns what the SDK's accumulator makes of it, and what it said had just finished.
func accumulated(t *testing.T, client openai.Client, params openai.ChatCompletionNewParams) (*openai.ChatCompletion, []string) {
	t.Helper()
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := client.Chat.Completions.NewStreaming(context.Background(), params)
	var answer openai.ChatCompletionAccumulator
	var finished []string
	for stream.Next() {
		if !answer.AddChunk(stream.Current()) {
			t.Fatalf("the accumulator refuses %s", stream.Current().RawJSON())
		}
		if call, ok := answer.JustFinishedToolCall(); ok {
			finished = append(finished, call.Name+call.Arguments)
		}
		if text, ok := answer.JustFinishedContent(); ok && text != "" {
			finished = append(finished, text)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if u := answer.Usage; u.PromptTokens == 0 || u.TotalTokens != u.PromptTokens+u.CompletionTokens {
		t.Errorf("usage %+v", u)
	}
	return &answer.ChatCompletion, finished
}

func saying(text string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: "demo", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(text)}}
}

func TestTheGoSDKHoldsAConversationWithTools(t *testing.T) {
	for _, dialect := range []string{"sglang", "vllm", "tokenspeed"} {
		t.Run(dialect, func(t *testing.T) {
			_, url := simulate(t, dialect, "", "--replies", "interop/conversation.jsonl", "--speed", "10")
			g := serve(t, "--worker-urls", url, "--tool-call-parser", "hermes", "--reasoning-parser", "qwen3")
			client := openai.NewClient(option.WithBaseURL(g.url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
			t.Run("tools", func(t *testing.T) { callTools(t, client) })
			t.Run("record", func(t *testing.T) { askForRecord(t, client) })
			t.Run("two choices", func(t *testing.T) { askTwice(t, client) })
		})
	}
}

func callTools(t *testing.T, client openai.Client) {
	params := saying("What are the weather and the time in Oslo?")
	for _, name := range []string{"weather", "clock"} {
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: name, Parameters: shared.FunctionParameters{"type": "object", "properties": map[string]any{"city": map[string]string{"type": "string"}}},
		}))
	}
	answer, finished := accumulated(t, client, params)
	want := []string{`weather{"city":"Oslo 🙂","days":3}`, `clock{"city":"Oslo"}`}
	if c := answer.Choices[0]; c.FinishReason != "tool_calls" || c.Message.Content != "" || fmt.Sprint(finished) != fmt.Sprint(want) {
		t.Fatalf("%+v, finished %q", c.Message, finished)
	}
	params.Messages = append(params.Messages, answer.Choices[0].Message.ToParam())
	for i, result := range []string{"18 degrees", "12:00"} {
		call := answer.Choices[0].Message.ToolCalls[i]
		if call.Function.Name+call.Function.Arguments != want[i] || call.ID == "" {
			t.Errorf("call %d: %+v", i, call)
		}
		params.Messages = append(params.Messages, openai.ToolMessage(result, call.ID))
	}
	answer, _ = accumulated(t, client, params)
	if got := strings.TrimSpace(answer.Choices[0].Message.Content); got != "Oslo has 18 degrees, and it is noon there." || answer.Choices[0].FinishReason != "stop" {
		t.Errorf("%q", got)
	}
}

func askForRecord(t *testing.T, client openai.Client) {
	params := saying("Ada Lovelace as a record")
	params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "person", Strict: openai.Bool(true), Schema: map[string]any{"type": "object"}},
	}
	answer, _ := accumulated(t, client, params)
	if got := answer.Choices[0].Message.Content; got != `{"name": "Ada", "born": 1815, "tags": ["math", "poetry 你好"]}` {
		t.Errorf("%q", got)
	}
}

func askTwice(t *testing.T, client openai.Client) {
	params := saying("Say hello")
	params.N, params.Logprobs, params.TopLogprobs = openai.Int(2), openai.Bool(true), openai.Int(2)
	whole, err := client.Chat.Completions.New(context.Background(), params)
	if err != nil {
		t.Fatal(err)
	}
	streamed, _ := accumulated(t, client, params)
	for _, answer := range []*openai.ChatCompletion{whole, streamed} {
		for i := range 2 {
			c := answer.Choices[i]
			var text []byte
			for _, token := range c.Logprobs.Content {
				for _, b := range token.Bytes {
					text = append(text, byte(b))
				}
				if len(token.TopLogprobs) != 2 {
					t.Errorf("%+v has not two alternatives", token)
				}
			}
			if c.Message.Content != "Hello, 世界 🙂!" || string(text) != c.Message.Content || c.FinishReason != "stop" {
				t.Errorf("choice %d: %+v, its tokens say %q", i, c, text)
			}
		}
	}
}
