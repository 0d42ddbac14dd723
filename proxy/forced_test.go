package proxy

import (
	"fmt"
	"strings"
	"testing"
)

func TestAForcedCallMayComeInTheModelsOwnWords(t *testing.T) {
	for parser, text := range map[string]string{ // forced by its markers, or by a schema that the engine does not keep
		"harmony": "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{\"city\":\"A\"}<|call|>",
		"qwen3":   "<think>hm</think><tool_call>\n{\"name\":\"weather\",\"arguments\":{\"city\":\"A\"}}\n</tool_call>",
	} {
		b := start(t, one(t, "sglang", text), func(s *setup) { s.models.ReasoningParser, s.models.ToolCallParser = parser, parser })
		for _, choice := range []string{`"required"`, `{"type":"function","function":{"name":"weather"}}`, `"auto"`} {
			got := b.bothWays(t, weather+`,"tool_choice":`+choice)
			want := called{reasoning: "hm", calls: []string{`weather({"city":"A"})`}, ids: 1, finish: "tool_calls"}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("%s, %s\n got %+v\nwant %+v", parser, choice, got, want)
			}
		}
	}
}

func TestToolsThatDoNotFitTogetherAreNamedAsTheClientNamedThem(t *testing.T) {
	b := start(t, one(t, "vllm", greeting))
	const f, g = `{"name":"f","parameters":{"$defs":{"x":{"type":"string"}}}}`, `{"name":"g","parameters":{"$defs":{"x":{"type":"integer"}}}}`
	for field, list := range map[string]string{
		"functions": f + "," + g,
		"tools":     `{"type":"function","function":` + f + `},{"type":"function","function":` + g + "}",
	} {
		got := b.chat(t, fmt.Sprintf(`,%q:[%s],"tool_choice":"required"`, field, list))
		if e := errorOf(t, got.body); got.status != 400 || e.Code != "invalid_tool_configuration" || e.Param != field || !strings.Contains(e.Message, `'`+field+`': function "g": $defs.x differs`) {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}
