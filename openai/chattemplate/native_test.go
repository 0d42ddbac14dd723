package chattemplate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leeway/openai"
)

func native(t testing.TB, architecture string) *Set {
	t.Helper()
	set, err := Load(files("config.json", `{"architectures":["`+architecture+`"]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const (
	turns = `"messages":[{"role":"system","content":"S"},{"role":"user","content":"a"},{"role":"assistant","content":"b","reasoning_content":"r"},{"role":"user","content":"c"}]`
	tool  = `"tools":[{"type":"function","function":{"name":"w","parameters":{"z":1.0,"a":{}}}}]`
	used  = `"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"","reasoning_content":"r","tool_calls":[` +
		`{"id":"1","type":"function","function":{"name":"w","arguments":"{\"c\":\"P\",\"n\":1.0}"}},{"id":"2","type":"function","function":{"name":"w","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"2","content":"B"},{"role":"tool","tool_call_id":"1","content":"A"}]`
)

func TestNativePromptsHaveTheirModelsForm(t *testing.T) {
	const v32, v4, k3 = "DeepseekV32ForCausalLM", "DeepseekV4ForCausalLM", "KimiK3ForConditionalGeneration"
	for _, c := range []struct{ architecture, body, want string }{
		{v32, turns, "<｜begin▁of▁sentence｜>S<｜User｜>a<｜Assistant｜></think>b<｜end▁of▁sentence｜><｜User｜>c<｜Assistant｜></think>"},
		{v32, turns + `,"chat_template_kwargs":{"thinking":true}`, "<｜begin▁of▁sentence｜>S<｜User｜>a<｜Assistant｜></think>b<｜end▁of▁sentence｜><｜User｜>c<｜Assistant｜><think>"},
		{v32, used + `,"thinking":{"type":"enabled"}`, "<｜begin▁of▁sentence｜><｜User｜>q<｜Assistant｜><think>r</think>\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"w\">\n" +
			"<｜DSML｜parameter name=\"c\" string=\"true\">P</｜DSML｜parameter>\n<｜DSML｜parameter name=\"n\" string=\"false\">1.0</｜DSML｜parameter>\n</｜DSML｜invoke>\n" +
			"<｜DSML｜invoke name=\"w\">\n\n</｜DSML｜invoke>\n</｜DSML｜function_calls><｜end▁of▁sentence｜>\n\n<function_results>\n<result>B</result>\n<result>A</result>\n</function_results>\n\n<think>"},
		{v4, turns + `,"reasoning_effort":"low"`, "<｜begin▁of▁sentence｜>S<｜User｜>a<｜Assistant｜></think>b<｜end▁of▁sentence｜><｜User｜>c<｜Assistant｜><think>"},
		{v4, turns + `,"reasoning_effort":"none"`, "<｜begin▁of▁sentence｜>S<｜User｜>a<｜Assistant｜></think>b<｜end▁of▁sentence｜><｜User｜>c<｜Assistant｜></think>"},
		{v4, used + `,"reasoning_effort":"medium"`, "<｜begin▁of▁sentence｜><｜User｜>q<｜Assistant｜></think>\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"w\">\n" +
			"<｜DSML｜parameter name=\"c\" string=\"true\">P</｜DSML｜parameter>\n<｜DSML｜parameter name=\"n\" string=\"false\">1.0</｜DSML｜parameter>\n</｜DSML｜invoke>\n" +
			"<｜DSML｜invoke name=\"w\">\n\n</｜DSML｜invoke>\n</｜DSML｜tool_calls><｜end▁of▁sentence｜><｜User｜><tool_result>A</tool_result>\n\n<tool_result>B</tool_result><｜Assistant｜><think>"},
		{k3, hello + `,"thinking":{"type":"disabled"}`, "<|open|>message role=\"user\"<|sep|>Hi<|close|>message<|sep|><|end_of_msg|><|open|>message role=\"assistant\"<|sep|><|open|>response<|sep|>"},
	} {
		got, err := native(t, c.architecture).Render(chat(t, c.body), Special{}, goldenNow)
		if err != nil || got != c.want {
			t.Errorf("%s\n got %q, %v\nwant %q", c.body, got, err, c.want)
		}
	}
}

// The reference has no message to go on with; the renderers end where that message's text ends.
func TestANativePromptEndsWhereTheContinuedTextEnds(t *testing.T) {
	const body = `"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"Once upon","reasoning_content":"r"}],"continue_final_message":true`
	for architecture, want := range map[string]string{
		"GptOssForCausalLM":              "<|start|>user<|message|>q<|end|><|start|>assistant<|channel|>final<|message|>Once upon",
		"DeepseekV32ForCausalLM":         "<｜User｜>q<｜Assistant｜></think>Once upon",
		"DeepseekV4ForCausalLM":          "<｜User｜>q<｜Assistant｜><think>r</think>Once upon",
		"DeepseekV41ForCausalLM":         "<｜User｜>q<｜Assistant｜><think>r</think>Once upon",
		"KimiK3ForConditionalGeneration": "<|open|>think<|sep|>r<|close|>think<|sep|><|open|>response<|sep|>Once upon",
	} {
		if got, err := native(t, architecture).Render(chat(t, body), Special{}, goldenNow); err != nil || !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %q, %v", architecture, got, err)
		}
	}
}

func TestTheArchitectureDecidesBeforeATemplateDoes(t *testing.T) {
	checkpoint := files("config.json", `{"model_type":"gpt_oss"}`, "chat_template.jinja", "template")
	for override, want := range map[string]string{"": "<|start|>system", "override": "override"} {
		set, err := Load(checkpoint, override)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := set.Render(chat(t, hello), Special{}, goldenNow); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("override %q: got %q, %v", override, got, err)
		}
	}
}

func TestTheFirstDeepSeekV4IsKnownByItsEncoder(t *testing.T) {
	const config = `{"architectures":["DeepseekV4ForCausalLM"]}`
	for encoder, want := range map[string]string{"no words on effort": "sentence｜><｜User｜>", deepSeekEffortBeyond: "sentence｜>Reasoning Effort: Absolute"} {
		set, err := Load(files("config.json", config, "encoding/encoding_dsv4.py", encoder), "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := set.Render(chat(t, hello), Special{}, goldenNow); err != nil || !strings.Contains(got, want) {
			t.Errorf("%.20s: got %.100q, %v", encoder, got, err)
		}
	}
}

func TestEffortsThatAModelDoesNotKnowAreRefused(t *testing.T) {
	for architecture, field := range map[string]string{
		"GptOssForCausalLM": `"reasoning_effort":"max"`, "DeepseekV41ForCausalLM": `"reasoning_effort":"medium"`,
		"KimiK3ForCausalLM": `"chat_template_kwargs":{"thinking_effort":"some"}`,
	} {
		_, err := native(t, architecture).Render(chat(t, hello+","+field), Special{}, goldenNow)
		if _, ok := err.(*openai.Error); !ok || !strings.Contains(err.Error(), "effort") {
			t.Errorf("%s: got %v", architecture, err)
		}
	}
}

func TestToolsAreDeclaredInTheSystemMessage(t *testing.T) {
	for architecture, want := range map[string]string{
		"DeepseekV32ForCausalLM": "sentence｜>S\n\n## Tools\n\nYou have", "DeepseekV4ForCausalLM": "unchecked.\n\nS\n\n## Tools\n\nYou have",
		"KimiK3ForCausalLM": `[{"function":{"name":"w","parameters":{"a":{},"z":1.0}},"type":"function"}]`,
	} {
		got, err := native(t, architecture).Render(chat(t, turns+","+tool), Special{}, goldenNow)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, %v", architecture, got, err)
		}
	}
}

func TestResultsWithoutACallAreRefused(t *testing.T) {
	body := `"messages":[{"role":"user","content":"q"},{"role":"tool","tool_call_id":"1","content":"A"}]`
	for _, architecture := range []string{"DeepseekV32ForCausalLM", "KimiK3ForCausalLM"} {
		if _, err := native(t, architecture).Render(chat(t, body), Special{}, goldenNow); err == nil || !strings.Contains(err.Error(), "messages[1]") {
			t.Errorf("%s: got %v", architecture, err)
		}
	}
}

// TestKimiAgreesWithItsTranscription compares with a template that was transcribed from Kimi's own code.
func TestKimiAgreesWithItsTranscription(t *testing.T) {
	dir := sharedDir(t)
	source, err := os.ReadFile(filepath.Join(dir, "ardanlabs", "Kimi-K3.jinja"))
	if err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	conversations := readGolden(t, filepath.Join(dir, "conversations.json.gz"))
	set := native(t, "KimiK3ForConditionalGeneration")
	compared := 0
	for i, name := range conversations.keys {
		vars := conversations.values[i].(*Dict)
		req, err := openai.DecodeChat(requestBody(t, vars))
		if err != nil {
			continue // it has parts or orders that no request may have
		}
		want, failure := renderGolden(string(source), vars)
		if add, _ := vars.Get("add_generation_prompt"); failure != "" || add != Bool(true) || name == Str("developer") {
			continue // a developer's message is the system's here; there it is lost
		}
		got, err := set.Render(req, Special{}, goldenNow)
		if compared++; err != nil || got != want {
			t.Errorf("%s: %v\n got %.600q\nwant %.600q", name, err, got, want)
		}
	}
	t.Logf("%d conversations compared", compared)
}

// requestBody makes a chat request of a golden's variables.
func requestBody(t *testing.T, vars *Dict) []byte {
	var body struct {
		Model    string            `json:"model"`
		Messages []json.RawMessage `json:"messages"`
		Tools    json.RawMessage   `json:"tools,omitempty"`
		Kwargs   json.RawMessage   `json:"chat_template_kwargs,omitempty"`
	}
	body.Model = "m"
	kwargs := NewDict(2)
	for i, key := range vars.keys {
		switch value := vars.values[i]; key {
		case Str("messages"):
			for _, m := range value.(*List).items {
				body.Messages = append(body.Messages, json.RawMessage(dumpJSON(compactJSON, argumentsAsText(m.(*Dict)))))
			}
		case Str("tools"):
			body.Tools = json.RawMessage(dumpJSON(compactJSON, value))
		case Str("thinking"), Str("enable_thinking"), Str("reasoning_effort"):
			kwargs.Set(string(key.(Str)), value)
		}
	}
	body.Kwargs = json.RawMessage(dumpJSON(compactJSON, kwargs))
	out, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// argumentsAsText writes the arguments of calls as clients send them.
func argumentsAsText(m *Dict) *Dict {
	calls, ok := m.Get("tool_calls")
	if !ok {
		return m
	}
	out := m.clone()
	var list []Value
	for _, item := range calls.(*List).items {
		call := item.(*Dict).clone()
		fn, _ := call.Get("function")
		f := fn.(*Dict).clone()
		if a, _ := f.Get("arguments"); a != nil {
			if _, isText := text(a); !isText {
				f.Set("arguments", Str(dumpJSON(compactJSON, a)))
			}
		}
		call.Set("function", f)
		list = append(list, call)
	}
	out.Set("tool_calls", newList(list))
	return out
}
