package proxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"leeway/openai"
)

const weather = `,"tools":[{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}}}},{"type":"function","function":{"name":"clock"}}]`

// called is what an answer says and does, put together from a stream or read from a whole.
type called struct {
	content, reasoning, finish string
	calls                      []string // name(arguments)
	ids                        int
}

func together(all []chunk) (c called) {
	var names, arguments []string
	for _, k := range all {
		for _, choice := range k.Choices {
			for _, m := range []*string{choice.Delta.Content, choice.Message.Content} {
				if m != nil {
					c.content += *m
				}
			}
			for i, call := range append(choice.Delta.ToolCalls, choice.Message.ToolCalls...) {
				if choice.Message.Role != nil {
					call.Index = i
				}
				for len(names) <= call.Index {
					names, arguments = append(names, ""), append(arguments, "")
				}
				names[call.Index] += call.Function.Name
				arguments[call.Index] += call.Function.Arguments
				if call.ID != "" {
					c.ids++
				}
			}
			if choice.FinishReason != nil {
				c.finish += *choice.FinishReason
			}
		}
	}
	for i := range names {
		c.calls = append(c.calls, fmt.Sprintf("%s(%s)", names[i], arguments[i]))
	}
	return c
}

// bothWays asks for the same as a stream and whole, and fails unless both say the same.
func (b *bed) bothWays(t *testing.T, members string) called {
	t.Helper()
	stream := b.chat(t, members+`,"stream":true`)
	whole := b.chat(t, members)
	if stream.status != 200 || whole.status != 200 {
		t.Fatalf("%d %s\n%d %s", stream.status, stream.body, whole.status, whole.body)
	}
	s, w := together(chunks(t, stream.body)), together([]chunk{oneChunk(t, []byte(whole.body))})
	s.reasoning, w.reasoning = thoughts(t, stream.body), thoughts(t, whole.body)
	if fmt.Sprintf("%+v", s) != fmt.Sprintf("%+v", w) {
		t.Errorf("stream %+v\n whole %+v", s, w)
	}
	return s
}

// thoughts adds up every reasoning_content in a body.
func thoughts(t *testing.T, body string) (all string) {
	t.Helper()
	for line := range strings.Lines(body) {
		var in struct {
			Choices []struct {
				Delta, Message struct {
					Reasoning string `json:"reasoning_content"`
				}
			}
		}
		if json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &in) != nil {
			continue
		}
		for _, c := range in.Choices {
			all += c.Delta.Reasoning + c.Message.Reasoning
		}
	}
	return all
}

func TestToolCallsAreTakenOutOfTheText(t *testing.T) { // cases A8, A9, A24
	call := func(city string) string {
		return `<tool_call>` + "\n" + `{"name": "weather", "arguments": {"city": "` + city + `", "days": 3}}` + "\n" + `</tool_call>`
	}
	for _, tc := range []struct {
		name, text, members string
		want                called
	}{
		{"one call", "\n \n" + call("Köln 🙂"), weather, called{calls: []string{`weather({"city":"Köln 🙂","days":3})`}, finish: "tool_calls", ids: 1}},
		{"text and two calls", "Let me look.\n" + call("A") + "\n" + call("B"), weather,
			called{content: "Let me look.", calls: []string{`weather({"city":"A","days":3})`, `weather({"city":"B","days":3})`}, finish: "tool_calls", ids: 2}},
		{"only one wanted", call("A") + "\n" + call("B"), weather + `,"parallel_tool_calls":false`,
			called{calls: []string{`weather({"city":"A","days":3})`}, finish: "tool_calls", ids: 1}},
		{"a stop inside a call", call("A, B"), weather + `,"stop":", B"`, called{calls: []string{`weather({"city":"A)`}, finish: "stop", ids: 1}},
		{"a stop behind a call", call("A") + " so", weather + `,"stop":"so"`,
			called{calls: []string{`weather({"city":"A","days":3})`}, finish: "tool_calls", ids: 1}},
		{"no tools given", call("A"), "", called{content: call("A"), finish: "stop"}},
		{"no tools wanted", call("A"), weather + `,"tool_choice":"none"`, called{content: call("A"), finish: "stop"}},
		{"no call", "Just text.", weather, called{content: "Just text.", finish: "stop"}},
		{"the terminator inside an argument", call("// data: [DONE]"), weather, called{calls: []string{`weather({"city":"// data: [DONE]","days":3})`}, finish: "tool_calls", ids: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := start(t, one(t, "vllm", tc.text), func(s *setup) { s.models.ToolCallParser = "hermes" })
			got := b.bothWays(t, tc.members)
			got.content = strings.TrimRight(got.content, "\n")
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", tc.want) {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestAToolThatIsNotAllowedIsTypedAllTheSame(t *testing.T) {
	text := "<tool_call>\n<function=weather>\n<parameter=city>\n123\n</parameter>\n</function>\n</tool_call>"
	b := start(t, one(t, "vllm", text), func(s *setup) { s.models.ToolCallParser = "qwen_xml" })
	got := b.bothWays(t, weather+`,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"clock"}]}`)
	if len(got.calls) != 1 || got.calls[0] != `weather({"city":"123"})` {
		t.Errorf("%+v", got)
	}
}

func TestForcedCallIsShapedAndReadAsJSON(t *testing.T) {
	for choice, text := range map[string]string{
		`"required"`: `[{"name": "weather", "parameters": {"city": "A"}}]`,
		`{"type":"function","function":{"name":"weather"}}`: `{"city": "A"}`,
	} {
		b := start(t, one(t, "vllm", text))
		got := b.bothWays(t, weather+`,"tool_choice":`+choice)
		if len(got.calls) != 1 || got.calls[0] != `weather({"city":"A"})` || got.content != "" || got.finish != "tool_calls" {
			t.Errorf("%s: %+v", choice, got)
		}
		for _, r := range b.workers[0].Requests() {
			if r.Request.Sampling.Constraint.Text == "" {
				t.Errorf("%s: the worker was not told", choice)
			}
		}
	}
}

// A client that wants thoughts in the content gets them as they were written, and its call from behind them.
func TestForcedCallIsNotTakenFromAThought(t *testing.T) {
	text := "<think>\nhm {\"a\":1}\n</think>\n\n{\"city\":\"Rome\"}"
	for members, want := range map[string]called{
		``:                            {reasoning: "\nhm {\"a\":1}\n", calls: []string{`weather({"city":"Rome"})`}, ids: 1, finish: "tool_calls"},
		`,"separate_reasoning":false`: {content: "<think>\nhm {\"a\":1}\n</think>", calls: []string{`weather({"city":"Rome"})`}, ids: 1, finish: "tool_calls"},
	} {
		b := start(t, one(t, "vllm", text), func(s *setup) { s.models.ReasoningParser = "qwen3" })
		got := b.bothWays(t, weather+`,"tool_choice":{"type":"function","function":{"name":"weather"}}`+members)
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s\n got %+v\nwant %+v", members, got, want)
		}
	}
}

func TestThoughtsInTheContentKeepTheirMarkers(t *testing.T) {
	call := "<tool_call>{\"name\":\"weather\",\"arguments\":{}}</tool_call>"
	for family, x := range map[string]struct{ text, content string }{
		"cohere_cmd":  {"<|START_THINKING|>I " + call + "<|END_THINKING|><|START_RESPONSE|>Hi.<|END_RESPONSE|>" + call, "<|START_THINKING|>I " + call + "<|END_THINKING|>Hi."},
		"gemma4":      {"<|channel>thought\nI<channel|>Hi." + call, "<|channel>thought\nI<channel|>Hi."},
		"mistral_v13": {"[THINK]I[/THINK]Hi." + call, "[THINK]I[/THINK]Hi."},
		"kimi_k3":     {"<|open|>think<|sep|>I<|close|>think<|sep|><|open|>response<|sep|>Hi." + call, "<|open|>think<|sep|>I<|close|>think<|sep|>Hi."},
		"hy_v4":       {"<think:x>I</think:x>Hi." + call, "<think:x>I</think:x>Hi."},
	} {
		b := start(t, one(t, "vllm", x.text), func(s *setup) { s.models.ReasoningParser, s.models.ToolCallParser = family, "hermes" })
		got := b.bothWays(t, weather+`,"separate_reasoning":false`)
		if want := (called{content: x.content, calls: []string{"weather({})"}, ids: 1, finish: "tool_calls"}); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s\n got %+v\nwant %+v", family, got, want)
		}
	}
}

func TestReasoningIsToldFromContent(t *testing.T) {
	text := "<think>\nLet me 想 about it.\n</think>\n\nIt is so."
	b := start(t, one(t, "sglang", text), func(s *setup) { s.models.ReasoningParser = "qwen3" })
	got := b.bothWays(t, "")
	if strings.TrimSpace(got.reasoning) != "Let me 想 about it." || strings.TrimSpace(got.content) != "It is so." {
		t.Errorf("%+v", got)
	}
	raw := b.bothWays(t, `,"separate_reasoning":false`)
	if raw.reasoning != "" || raw.content != text {
		t.Errorf("not separated: %+v", raw)
	}
	usage := chunks(t, b.chat(t, `,"stream":true,"stream_options":{"include_usage":true}`).body)
	if last, _ := json.Marshal(usage[len(usage)-1]); usage[len(usage)-1].Usage == nil {
		t.Errorf("%s", last)
	}
	stopped := b.bothWays(t, `,"stop":["It is"]`)
	if strings.TrimSpace(stopped.content) != "" || strings.TrimSpace(stopped.reasoning) != "Let me 想 about it." {
		t.Errorf("stopped: %+v", stopped)
	}
}

func TestHarmonyMarkersNeverReachTheClient(t *testing.T) { // case A28
	text := "<|channel|>analysis<|message|>Hm, 想.<|end|><|start|>assistant<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{\"city\":\"A\"}<|call|>" +
		"<|start|>assistant<|channel|>final<|message|>Hi.<|return|>"
	b := start(t, one(t, "vllm", text), func(s *setup) { s.models.ReasoningParser, s.models.ToolCallParser = "harmony", "harmony" })
	for members, want := range map[string]called{
		``:                                      {content: `{"city":"A"}Hi.`, reasoning: "Hm, 想.", finish: "stop"},
		`,"separate_reasoning":false`:           {content: `Hm, 想.{"city":"A"}Hi.`, finish: "stop"},
		weather:                                 {content: "Hi.", reasoning: "Hm, 想.", calls: []string{`weather({"city":"A"})`}, ids: 1, finish: "tool_calls"},
		weather + `,"separate_reasoning":false`: {content: "Hm, 想.Hi.", calls: []string{`weather({"city":"A"})`}, ids: 1, finish: "tool_calls"},
		`,"skip_special_tokens":false,"stop":["想y","Hi.x"]`: {content: `{"city":"A"}Hi.`, reasoning: "Hm, 想.", finish: "stop"}, // case A4
	} {
		got := b.bothWays(t, members)
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s\n got %+v\nwant %+v", members, got, want)
		}
	}
}

func TestAThoughtComesInOnePieceIfSoWanted(t *testing.T) {
	text := "<think>\nLet me 想 about it.\n</think>\n\nIt is so."
	b := start(t, one(t, "sglang", text), func(s *setup) { s.models.ReasoningParser = "qwen3" })
	got := b.bothWays(t, `,"stream_reasoning":false`)
	if streamed := b.bothWays(t, ""); got.reasoning != streamed.reasoning || got.content != streamed.content {
		t.Errorf("%+v, and in pieces %+v", got, streamed)
	}
	body := b.chat(t, `,"stream":true,"stream_reasoning":false`).body
	if n := strings.Count(body, `"reasoning_content"`); n != 1 {
		t.Errorf("the thought came in %d pieces: %s", n, body)
	}
}

func TestPromptSaysWhereAnAnswerBegins(t *testing.T) {
	for _, tc := range []struct {
		parser, prompt string
		inside         bool
	}{
		{"qwen3", "<|im_start|>assistant\n", false},
		{"qwen3", "<|im_start|>assistant\n<think>\n", true},
		{"qwen3", "<|im_start|>assistant\n<think>\n\n</think>\n\n", false},
		{"deepseek_r1", "<｜Assistant｜>", true},
		{"deepseek_r1", "<｜Assistant｜></think>", false},
		{"kimi", "◁think▷", true},
		{"kimi", "◁think▷◁/think▷", false},
		{"cohere_cmd", "<|START_THINKING|><|END_THINKING|>", false},
		{"cohere_cmd", "<|START_THINKING|>", true},
		{"hy4", "<think:opensource>", true},
		{"kimi_k3", "<|open|>think<|sep|><|close|>think<|sep|>", false},
	} {
		if got := startsInside(tc.parser, tc.prompt, true); got != tc.inside {
			t.Errorf("%s after %q: %v", tc.parser, tc.prompt, got)
		}
	}
}

func TestAModelThatIsNotToThinkDoesNotBeginInAThought(t *testing.T) {
	if startsInside("deepseek_r1", "<｜Assistant｜>", false) {
		t.Error("it does")
	}
}

func TestAForcedCallLeavesRoomForTheThoughtThatTheEngineConstrains(t *testing.T) {
	for _, tc := range []struct {
		format, start string
		inThought     bool
		begins        string
	}{
		{"glm47_moe", "", false, `{"format":{"type":"sequence","elements":[{"type":"any_text"`},
		{"glm47_moe", "", true, `{"format":{"type":"sequence","elements":[{"type":"any_text"`},
		{"glm47_moe", "first_token", true, `{"format":{"type":"sequence","elements":[{"type":"tag"`},
		{"glm47_moe", "first_token", false, `{"format":{"type":"sequence","elements":[{"type":"any_text"`},
		{"glm47_moe", "after_reasoning", true, `{"format":{"type":"triggered_tags"`},
		{"qwen", "first_token", true, `{"`},
	} {
		l := &library{config: ModelConfig{ToolCallParser: tc.format}}
		req, err := openai.DecodeChat([]byte(question(weather + `,"tool_choice":"required"`)))
		if err != nil {
			t.Fatal(err)
		}
		p := &prompt{model: &model{name: "demo", start: tc.start}}
		p.plan.startsInside = tc.inThought
		if err := l.planTools(p, req, tc.inThought); err != nil {
			t.Fatal(err)
		}
		if c := p.request.Sampling.Constraint.Text; !strings.HasPrefix(c, tc.begins) {
			t.Errorf("%+v: %s", tc, c)
		}
		if p.plan.startsInside != (tc.inThought && !p.plan.calls.bare) {
			t.Errorf("%+v: the answer starts inside: %v", tc, p.plan.startsInside)
		}
	}
}

// The published gateway's tables read both, and may be named once.
func TestOneNameMayChooseBothParsers(t *testing.T) {
	for _, tc := range []struct{ given, want ModelConfig }{
		{ModelConfig{ToolCallParser: "ling"}, ModelConfig{ReasoningParser: "ling", ToolCallParser: "ling"}},
		{ModelConfig{ReasoningParser: "minimax_m2"}, ModelConfig{ReasoningParser: "minimax_m2", ToolCallParser: "minimax_m2"}},
		{ModelConfig{ReasoningParser: "qwen3"}, ModelConfig{ReasoningParser: "qwen3"}},
		{ModelConfig{ToolCallParser: "qwen"}, ModelConfig{ToolCallParser: "qwen"}},
		{ModelConfig{ReasoningParser: "qwen3", ToolCallParser: "glm"}, ModelConfig{ReasoningParser: "qwen3", ToolCallParser: "glm"}},
	} {
		if r, c := tc.given.reasoningParser(), tc.given.toolCallParser(); r != tc.want.ReasoningParser || c != tc.want.ToolCallParser {
			t.Errorf("%+v: %q and %q", tc.given, r, c)
		}
	}
}

func TestAnEmptyAnswerHasItsRole(t *testing.T) {
	for _, dialect := range dialects {
		b := start(t, one(t, dialect, ""), func(s *setup) { s.models.ReasoningParser, s.models.ToolCallParser = "deepseek_r1", "hermes" })
		for _, members := range []string{"", weather} {
			got := add(chunks(t, b.chat(t, members+`,"stream":true`).body), 0)
			if got.roles != 1 || got.content != "" || len(got.finish) != 1 || got.finish[0] != "stop" {
				t.Errorf("%s%s: %+v", dialect, members, got)
			}
		}
	}
}

// A family that the published gateway reads by a table, named once.
func TestAHunyuanAnswerIsTakenApart(t *testing.T) {
	text := "<think:opensource>想 </think> so</think:opensource>Look:<tool_calls:opensource><tool_call:opensource>weather" +
		"<arg_key:opensource>city</arg_key:opensource><arg_value:opensource>Rome</arg_value:opensource></tool_call:opensource></tool_calls:opensource>"
	b := start(t, one(t, "tokenspeed", text), func(s *setup) { s.models.ToolCallParser = "hy4" })
	want := called{content: "Look:", reasoning: "想 </think> so", calls: []string{`weather({"city":"Rome"})`}, ids: 1, finish: "tool_calls"}
	if got := b.bothWays(t, weather); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// These are all names that SMG 1.13.0 takes, but for hf: what that one reads is said in each tokenizer's own files.
func TestEveryNameOfThePublishedGatewayStarts(t *testing.T) {
	both := "cohere_cmd deepseek_v4 deepseek_v4.1 deepseek_v41 dots3 function_gemma gemma4 glm glm4 hy4 hy_v4 inkling iquest json " +
		"k2_horizon kimi_k3 lfm2.5 ling llama_nemotron minicpm5 minimax_m2 minimax_m3 mistral_v13 olmo3 passthrough plain qwen2.5 " +
		"qwen3 qwen3_tagged qwen3_tagged_direct seed_oss step3 xlam"
	for _, name := range strings.Fields(both + " base deepseek_r1 deepseek_v31 glm45 kimi kimi_k25 kimi_thinking minimax nano_v3 qwen3_thinking") {
		if err := (ModelConfig{ReasoningParser: name}).Validate(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range strings.Fields(strings.TrimPrefix(both, "cohere_cmd ") + " cohere deepseek deepseek31 deepseek32 glm45_moe glm47_moe kimik2 " +
		"llama mistral nemotron pythonic qwen qwen_coder qwen_xml sarashina") {
		if err := (ModelConfig{ToolCallParser: name}).Validate(); err != nil {
			t.Error(err)
		}
	}
	if err := (ModelConfig{ReasoningParser: "hf", ToolCallParser: "hf"}).Validate(); err == nil || strings.Count(err.Error(), "response template") != 2 {
		t.Error(err)
	}
}

func TestUnknownParsersAreRefusedAtTheStart(t *testing.T) {
	err := ModelConfig{ReasoningParser: "x", ToolCallParser: "y"}.Validate()
	if err == nil || !strings.Contains(err.Error(), "reasoning_parser: ") || !strings.Contains(err.Error(), "tool_call_parser: ") {
		t.Error(err)
	}
}
