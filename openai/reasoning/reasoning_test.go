package reasoning

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// answers is what models write and what it comes to.
var answers = []struct {
	family             string
	inside             bool
	text               string
	reasoning, content string
}{
	{"qwen3", false, "<think>\nabc\n</think>\n\nhello", "\nabc\n", "\n\nhello"},
	{"qwen3", false, "\n<think>a</think>b <think>c</think>", "a", "b <think>c</think>"},
	{"qwen3", false, "hello <think>x</think> y", "x", "hello  y"},
	{"qwen3", false, "no <thin fence </think>", "", "no <thin fence </think>"},
	{"qwen3", false, "<think>never closed </thin", "never closed </thin", ""},
	{"qwen3", false, "", "", ""},
	{"qwen3", false, " \n ", "", " \n "},
	{"qwen3", true, "the prompt has opened it</think>so", "the prompt has opened it", "so"},
	{"deepseek_r1", true, "<think>\nrepeated</think>b", "\nrepeated", "b"},
	{"deepseek_r1", true, "\n<thi", "\n<thi", ""},
	{"deepseek_r1", true, "only thoughts", "only thoughts", ""},
	{"kimi", false, "◁think▷你好🙂◁/think▷再见🙂", "你好🙂", "再见🙂"},
	{"minimax_m3", false, "<mm:think>a</mm:think>b", "a", "b"},
	{"minimax_m3", false, "\n</mm:think>b", "", "b"},
	{"minimax_m3", false, "a</mm:think>b", "", "a</mm:think>b"},
	{"minimax_m3", false, "</mm:th", "", "</mm:th"},
	{"gemma4", false, "<|channel>thought\na<channel|>b", "a", "b"},
	{"gemma4", false, "<|channel>thought\na<channel|><|channel>thought\nx<channel|>b", "ax", "b"},
	{"gemma4", false, "<|channel>thought\na<channel|><|tool_call>call:f{}<tool_call|><|channel>thought\n?<channel|> c <channel|>d <|channel> e",
		"a?", "<|tool_call>call:f{}<tool_call|> c d <|channel> e"},
	{"kimi_k3", false, "plain", "", "plain"},
	{"kimi_k3", false, "<|open|>think<|sep|>Hm.<|close|>think<|sep|><|open|>response<|sep|>Hi.", "Hm.", "Hi."},
	{"harmony", false, "<|channel|>analysis to=python code<|message|>print(1)<|call|><|start|>assistant<|channel|>final<|message|>1", "print(1)", "1"},
	{"harmony", false, "<|channel|>analysis to=functions.f<|message|>{}<|call|>", "", "<|channel|>analysis to=functions.f<|message|>{}<|call|>"},
	{"cohere_cmd", false, "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|>", "a", "b"},
	{"cohere_cmd", false, "<|START_RESPONSE|>b <|END<|END_RESPONSE|>", "", "b <|END"},
	{"kimi_k3", true, "Hm.<|close|>think<|sep|><|open|>response<|sep|>Hi.<|close|>response<|sep|><|open|>tools<|sep|>",
		"Hm.", "Hi.<|open|>tools<|sep|>"},
	{"hy_v4", false, "<think>a</think>b", "a", "b"},
	{"hy_v4", false, "<think:6124c78e>a</think>b</think:x></think:6124c78e>c", "a</think>b</think:x>", "c"},
	{"hy4", true, "the prompt has opened it</think:opensource>so", "the prompt has opened it", "so"},
	{"hy4", true, "<think:opensource>again</think:opensource>so", "again", "so"},
	{"hy4", true, "so </think:open source> it </thinking> is</think>.", "so </think:open source> it </thinking> is", "."},
	{"hy4", false, "a <think:b c> <think", "", "a <think:b c> <think"},
	{"hy4", false, "<think:" + strings.Repeat("x", 80) + ">a", "", "<think:" + strings.Repeat("x", 80) + ">a"},
	{"k2_horizon", false, "<ifm|think>a</ifm|think_fast>b</ifm|think>c", "a</ifm|think_fast>b", "c"},
	{"k2_horizon", false, "<ifm|think_fast>a</ifm|think_fast>c", "a", "c"},
	{"k2_horizon", true, "a</ifm|think_faster>c", "a", "c"},
	{"k2_horizon", true, "<ifm|think_faster>a</ifm|think>b</ifm|think_faster>c", "a</ifm|think>b", "c"},
	{"seed_oss", false, "<seed:think>a</think></seed:think>b", "a</think>", "b"},
	{"mistral_v13", false, "[THINK]a [/T][/THINK]b [THINK]", "a [/T]", "b [THINK]"},
	{"minimax_m2", true, "a</think>\n\nb", "a", "\n\nb"},
	{"qwen2.5", false, "<think>a</think>b", "", "<think>a</think>b"},
	{"llama_nemotron", false, "<think>\n<TOOLCALL>[]</TOOLCALL></think>b", "\n<TOOLCALL>[]</TOOLCALL>", "b"},
	{"passthrough", false, "<think>a</think>", "", "<think>a</think>"},
	{"harmony", false, "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>", "Hm.", "Hi."},
	{"harmony", false, "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>",
		"Hm.", "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>"},
	{"harmony", false, "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>analysis<|message|>cut <|en", "cut <|en", "I look."},
	{"inkling", false, "<|message_model|><|content_thinking|>Hm.<|end_message|><|message_model|><|content_text|>Hi.<|end_message|>" +
		"<|message_model|><|content_thinking|>So.<|end_message|><|message_model|><|content_invoke_tool_json|>{}<|end_message|><|content_model_end_sampling|>",
		"Hm.So.", "Hi.<|content_invoke_tool_json|>{}<|end_message|>"},
	{"inkling", false, "plain <|content_ text", "", "plain <|content_ text"},
	{"inkling", false, "<|message_model|>f<|content_invoke_tool_json|>{}<|end_message|><|message_model|>g.h-1<|content_invoke_tool_json|>{}<|end_message|>",
		"", "<|content_invoke_tool_json|>{}<|end_message|><|content_invoke_tool_json|>{}<|end_message|>"},
	{"inkling", false, "f<|content_invoke_tool_json|>{}<|end_message|>", "", "<|content_invoke_tool_json|>{}<|end_message|>"},
	{"inkling", false, "自问<|content_thinking|>Hm.<|end_message|><|message_model|>me<|content_text|>OK<|end_message|>", "Hm.", "OK"},
	{"inkling", false, "OK<|end_message|><|message_model|>bare<|end_message|>", "", "OKbare"},
	{"inkling", false, `<|content_invoke_tool_json|>{"a":"<|content_thinking|>b<|content_text|>"}<|end_message|><|content_thinking|>Hm`, "Hm",
		`<|content_invoke_tool_json|>{"a":"<|content_thinking|>b<|content_text|>"}<|end_message|>`},
	{"inkling", false, "OK<|content_tex", "", "OK<|content_tex"},
	{"inkling", false, "so be it<|content_text|>x<|content_invoke_tool_text|>y<|content_tool_error|>z", "", "so be itxyz"},
	{"inkling", false, "<|message_model|>" + strings.Repeat("x", 200) + "<|content_text|>", "", strings.Repeat("x", 200)},
	{"harmony", false, "plain <|start|> text", "", "plain <|start|> text"},
	{"harmony", false, " to=functions.f<|channel|>commentary json<|message|>{}<|call|>", "",
		"<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}<|call|>"},
	{"harmony", false, " to=python <|channel|>analysis code<|message|>print(1)<|call|>", "print(1)", ""},
	{"harmony", false, " to=functions.f<|channel|>comm", "", ""},
	{"harmony", false, " to=functions.f", "", " to=functions.f"},
	{"harmony", false, " to=x<y <|channel|>final<|message|>z", "", " to=x<y z"},
	{"harmony", false, " to=x <|end|> <|channel|>final<|message|>z", "", " to=x <|end|> z"},
	{"harmony", false, "to=3, it says: 想", "", "to=3, it says: 想"},
	{"harmony", false, " to=f<|channel|>" + strings.Repeat("x", 600) + "<|message|>a", "", " to=f<|channel|>" + strings.Repeat("x", 600) + "<|message|>a"},
	{"harmony", false, "<|channel|>analysis Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi", " Hm.", "Hi"},
	{"harmony", false, "<|channel|>finally<|end|>", "", "finally"},
	{"harmony", false, "<|channel|>final Hello<|end|><|start|>assistant you.<|end|><|start|>assistant<|channel|>final<|message|> Hi", "", " Hello you. Hi"},
	{"harmony", false, `<|channel|>commentary to=functions.f json{"a":1}<|call|><|start|>assistant<|channel|>commentary to=functions.g<|message|>{}<|call|>`,
		"", ` to=functions.f json{"a":1}<|start|>assistant<|channel|>commentary to=functions.g<|message|>{}<|call|>`},
	{"harmony", false, "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|chan", "Hm.", ""},
	{"harmony", false, "<|channel|>ana", "", ""},
}

func part(t testing.TB, family string, inside bool, pieces ...string) (reasoning, content string) {
	t.Helper()
	p, err := New(family, inside)
	if err != nil {
		t.Fatal(err)
	}
	for _, piece := range append(pieces, "") {
		r, c := p.Add(piece)
		reasoning, content = reasoning+r, content+c
	}
	r, c := p.Flush()
	return reasoning + r, content + c
}

// case A10, case A28
func TestAnswersArePartedHoweverTheyAreCut(t *testing.T) {
	for _, x := range answers {
		check := func(pieces ...string) {
			if r, c := part(t, x.family, x.inside, pieces...); r != x.reasoning || c != x.content {
				t.Errorf("%s: %q gives %q and %q", x.family, pieces, r, c)
			}
		}
		check(x.text)
		for i := range len(x.text) {
			check(x.text[:i], x.text[i:])
		}
		check(strings.Split(x.text, "")...)
		var single []string
		for i := range len(x.text) {
			single = append(single, x.text[i:i+1])
		}
		check(single...)
	}
}

func TestWhereNoToolParserFollowsNoMarkerIsLeft(t *testing.T) { // case A28
	p, err := NewLast("harmony", false)
	if err != nil {
		t.Fatal(err)
	}
	r, c := p.Add("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>")
	if r != "Hm." || c != "{}" {
		t.Errorf("%q and %q", r, c)
	}
	p, err = NewLast("inkling", false)
	if err != nil {
		t.Fatal(err)
	}
	if r, c := p.Add("<|content_thinking|>Hm.<|end_message|><|content_invoke_tool_json|>{}<|end_message|>"); r != "Hm." || c != "{}" {
		t.Errorf("%q and %q", r, c)
	}
}

// Put together again, the pieces of an answer are the answer but for the markers around content.
func TestThoughtsKeepTheirPlaceAndTheirMarkers(t *testing.T) {
	for _, x := range []struct {
		family string
		inside bool
		text   string
		want   []Piece
	}{
		{"qwen3", false, "x <think>a</think>b", []Piece{{Content, "x "}, {Marker, "<think>"}, {Thought, "a"}, {Marker, "</think>"}, {Content, "b"}}},
		{"qwen3", true, "<think>a</think>b", []Piece{{Marker, "<think>"}, {Thought, "a"}, {Marker, "</think>"}, {Content, "b"}}},
		{"gemma4", false, "a<|channel>thought\nb<channel|>c<|channel>thought\nd", []Piece{{Content, "a"}, {Marker, "<|channel>thought\n"},
			{Thought, "b"}, {Marker, "<channel|>"}, {Content, "c"}, {Marker, "<|channel>thought\n"}, {Thought, "d"}}},
		{"cohere_cmd", false, "<|START<|START_THINKING|>a<|END_THINKING|><|START_TEXT|>b", []Piece{{Content, "<|START"},
			{Marker, "<|START_THINKING|>"}, {Thought, "a"}, {Marker, "<|END_THINKING|>"}, {Content, "b"}}},
		{"inkling", false, "<|content_thinking|>a<|end_message|><|content_text|>b<|end_message|>", []Piece{
			{Marker, "<|content_thinking|>"}, {Thought, "a"}, {Marker, "<|end_message|>"}, {Content, "b"}}},
		{"harmony", false, "<|channel|>analysis<|message|>a<|end|>b", []Piece{{Thought, "a"}, {Content, "b"}}},
	} {
		for _, cut := range [][]string{{x.text}, bytewise(x.text)} {
			p, _ := New(x.family, x.inside)
			var got []Piece
			for i := range len(cut) + 1 {
				text := ""
				if i < len(cut) {
					text = cut[i]
				}
				for _, piece := range p.Pieces(text, i == len(cut)) {
					if n := len(got); n > 0 && got[n-1].Kind == piece.Kind {
						got[n-1].Text += piece.Text
					} else {
						got = append(got, piece)
					}
				}
			}
			if !slices.Equal(got, x.want) {
				t.Errorf("%s: %q gives %q", x.family, cut, got)
			}
		}
	}
}

func TestTextIsNotHeldLongerThanItMustBe(t *testing.T) {
	p, _ := New("qwen3", true)
	if r, _ := p.Add("so far <"); r != "so far " {
		t.Errorf("got %q", r)
	}
	if r, _ := p.Add("b"); r != "<b" {
		t.Errorf("got %q", r)
	}
	if _, c := p.Add("</think>x"); c != "x" {
		t.Errorf("got %q", c)
	}
	p, _ = New("inkling", false)
	if _, c := p.Add("Plain"); c != "" { // may be the tool's name
		t.Errorf("got %q", c)
	}
	if _, c := p.Add(" wor"); c != "Plain wor" {
		t.Errorf("got %q", c)
	}
}

func TestEveryFamilyPartsAnAnswer(t *testing.T) {
	for _, name := range Names() {
		m := families[name]
		if len(m.open) != len(m.close) {
			t.Fatalf("%s: %q and %q", name, m.open, m.close)
		}
		for i := range m.open {
			for _, text := range []string{m.open[i] + "a {你} \n<b>" + m.close[i] + "c", "\n " + m.open[i] + "a {你} \n<b>" + m.close[i] + "c"} {
				for _, pieces := range [][]string{{text}, bytewise(text)} {
					if r, c := part(t, name, m.inside, pieces...); r != "a {你} \n<b>" || c != "c" {
						t.Errorf("%s: %q gives %q and %q", name, pieces, r, c)
					}
				}
			}
		}
	}
}

func bytewise(text string) (pieces []string) {
	for i := range len(text) {
		pieces = append(pieces, text[i:i+1])
	}
	return pieces
}

func TestThePromptTellsWhereTheAnswerBegins(t *testing.T) {
	for _, x := range []struct {
		family, prompt string
		open, told     bool
	}{
		{"qwen3", "<|im_start|>assistant\n<think>\n", true, true},
		{"qwen3", "<|im_start|>assistant\n<think>\n\n</think>\n\n", false, true},
		{"qwen3", "<|im_start|>assistant\n", false, false},
		{"qwen3", "what is <think:x>", false, false},
		{"hy4", "<hy_Assistant><think:opensource>", true, true},
		{"hy4", "<hy_Assistant></think:opensource>", false, true},
		{"hy4", "no bracket", false, false},
		{"k2_horizon", "<ifm|think_fast>", true, true},
		{"mistral_v13", "[/INST][THINK]", true, true},
		{"gemma4", "<|channel>thought\n<channel|>", false, true},
		{"kimi", "◁think▷", true, true},
		{"cohere_cmd", "<|START_THINKING|><|END_THINKING|>", false, true},
		{"harmony", "<think>", false, false},
	} {
		if open, told := Opened(x.family, x.prompt); open != x.open || told != x.told {
			t.Errorf("%s: %q: %v, %v", x.family, x.prompt, open, told)
		}
	}
}

// What a model writes without end is read in proportion to its length, whether or not a marker may still come.
func TestEndlessTextIsReadInLinearTime(t *testing.T) {
	for _, name := range []string{"qwen3", "hy4", "k2_horizon", "kimi_k3", "gemma4", "harmony", "inkling"} {
		for _, again := range []string{" ", "<", "<think:x", "<|channel|>", "<|start|>x", "<|end|>", "<|end_message|>", "<|end_of_msg|>"} {
			text := strings.Repeat(again, 500_000/len(again))
			for _, step := range []int{len(again), len(text)} {
				for _, inside := range []bool{false, true} {
					p, _ := New(name, inside)
					begin := time.Now()
					for at := 0; at < len(text); at += step {
						p.Add(text[at : at+step])
					}
					p.Flush()
					if took := time.Since(begin); took > 5*time.Second {
						t.Errorf("%s: %s… by %d took %v", name, again, step, took)
					}
				}
			}
		}
	}
}

func TestMarkersThatAreSpecialTokensAreHidden(t *testing.T) {
	special := func(marker string) bool { return marker == "</seed:think>" }
	for name, want := range map[string]bool{"seed_oss": true, "qwen3": false, "hy4": true, "harmony": true, "plain": false} {
		if got := Hidden(name, special); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestANameMayStandForBothParsers(t *testing.T) {
	for _, name := range paired {
		if _, err := New(name, false); err != nil {
			t.Error(err)
		}
	}
	if !Paired("ling") || Paired("qwen3") || Paired("minimax_m3") {
		t.Error("which names stand for both is wrong")
	}
	if _, err := New("hf", false); err == nil || !strings.Contains(err.Error(), "response template") {
		t.Errorf("hf: %v", err)
	}
}

func TestModelsChooseTheirFamily(t *testing.T) {
	for model, want := range map[string]string{
		"deepseek-ai/DeepSeek-R1": "deepseek_r1", "DeepSeek-V3.1": "deepseek_v31", "DeepSeek-V4": "deepseek_v4",
		"DeepSeek-V4.1": "deepseek_v41", "Qwen/Qwen3-8B": "qwen3", "qwen3-thinking-4b": "qwen3_thinking", "GLM-4.5": "glm45",
		"Kimi-K2-Thinking": "kimi_thinking", "Kimi-K2.5": "kimi_k25", "Kimi-VL": "kimi", "Kimi-K3": "kimi_k3", "step3": "step3",
		"MiniMax-M2": "minimax", "MiniMax-M3": "minimax_m3", "c4ai-command-a": "cohere_cmd", "NVIDIA-Nemotron-Nano-9B": "nano_v3",
		"gpt-oss-120b": "harmony", "gemma-4-27b": "gemma4", "inkling-1": "inkling", "demo": "", "llama-3": "",
	} {
		got := ForModel(model)
		if got != want {
			t.Errorf("%s: %q, want %q", model, got, want)
		}
		if got != "" {
			if _, err := New(got, StartsInside(got)); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := New("nosuch", false); err == nil || !strings.Contains(err.Error(), "qwen3") {
		t.Errorf("unknown parser: %v", err)
	}
	if StartsInside("harmony") || !StartsInside("step3") {
		t.Error("facts about families are wrong")
	}
}

// longestFence is what both markers of a fence may take away.
const longestFence = 2 * (len("</think:>") + maxSuffix)

func FuzzSplit(f *testing.F) {
	names := Names()
	for _, x := range answers {
		for i, name := range names {
			if name == x.family {
				f.Add(uint8(i), x.inside, x.text, uint8(2))
			}
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, inside bool, text string, cut uint8) {
		name := names[int(n)%len(names)]
		reasoning, content := part(t, name, inside, text)
		var pieces []string
		for rest := text; rest != ""; {
			k := min(1+int(cut)%7, len(rest))
			pieces = append(pieces, rest[:k])
			rest = rest[k:]
		}
		if r, c := part(t, name, inside, pieces...); r != reasoning || c != content {
			t.Fatalf("%s: %q gives %q and %q, whole %q and %q", name, pieces, r, c, reasoning, content)
		}
		if name != "harmony" && name != "inkling" && families[name].drop == nil && len(reasoning)+len(content) < len(strings.TrimSpace(text))-longestFence {
			t.Fatalf("%s: %q lost text: %q and %q", name, text, reasoning, content)
		}
	})
}
