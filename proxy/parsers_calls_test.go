package proxy

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestArgumentsMayHoldTheMarksOfThoughts(t *testing.T) {
	for _, tc := range []struct{ reasoning, format, text string }{
		{"qwen3", "qwen", `<tool_call>{"name": "weather", "arguments": {"city": "a <think>b</think> %s"}}</tool_call>`},
		{"qwen3", "json", `{"name": "weather", "arguments": {"city": "a <think>b</think> %s"}}`},
		{"qwen3", "llama", `{"name": "weather", "parameters": {"city": "a <think>b</think> %s"}}`},
		{"qwen3", "xlam", `[{"name": "weather", "arguments": {"city": "a <think>b</think> %s"}}]`},
		{"qwen3", "pythonic", `[weather(city="a <think>b</think> %s")]`},
		{"gemma4", "gemma4", `<|tool_call>call:weather{city:<|"|>a <think>b</think> %s<|"|>}<tool_call|>`},
		{"inkling", "inkling", `weather<|content_invoke_tool_json|>{"args":{"city":"a <think>b</think> %s"},"name":"weather"}<|end_message|>`},
		{"harmony", "harmony", ` to=functions.weather<|channel|>commentary json<|message|>{"city": "a <think>b</think> %s"}<|call|>`},
	} {
		mark := map[string]string{"gemma4": "<|channel>thought x", "inkling": "<|content_thinking|>x"}[tc.reasoning]
		b := start(t, one(t, "vllm", fmt.Sprintf(tc.text, mark)), func(s *setup) { s.models.ReasoningParser, s.models.ToolCallParser = tc.reasoning, tc.format })
		got := b.bothWays(t, weather)
		want := called{calls: []string{`weather({"city":"a <think>b</think> ` + mark + `"})`}, ids: 1, finish: "tool_calls"}
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s\n got %+v\nwant %+v", tc.format, got, want)
		}
	}
}

// case A8
func TestNoCallHasTheIDOfAnotherInTheConversation(t *testing.T) {
	text := `<|open|>tools<|sep|><|open|>call tool="weather" index="1"<|sep|><|close|>call<|sep|><|close|>tools<|sep|>`
	b := start(t, one(t, "vllm", text), func(s *setup) { s.models.ToolCallParser = "kimi_k3" })
	body := `{"model":"demo","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"weather_0","type":"function",` +
		`"function":{"name":"weather","arguments":"{}"}}]},{"role":"tool","tool_call_id":"weather_0","content":"x"},{"role":"user","content":"question"}]` + weather + `}`
	resp := b.post(t, t.Context(), "/v1/chat/completions", body)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	calls := oneChunk(t, answer).Choices[0].Message.ToolCalls
	if len(calls) != 1 || calls[0].ID != "weather_1" {
		t.Errorf("%s", answer)
	}
}

// What SDKs add up is what the whole answer says.
func TestACallThatIsCutOffBehindItsNameHasArguments(t *testing.T) {
	b := start(t, one(t, "vllm", "<tool_call>\n<function=weather>\n"), func(s *setup) { s.models.ToolCallParser = "qwen_xml" })
	for members, want := range map[string]string{weather: `"arguments":""}`, weather + `,"stream":true`: `"function":{"arguments":""}`} {
		if got := b.chat(t, members); !strings.Contains(got.body, want) {
			t.Errorf("%s", got.body)
		}
	}
}
