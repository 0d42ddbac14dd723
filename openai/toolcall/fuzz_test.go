package toolcall

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// FuzzSplit holds for any text in any format: cut anywhere it comes to the same, and if it calls nothing it comes out
// as it went in.
func FuzzSplit(f *testing.F) {
	names := Names()
	for _, x := range transcripts(f) {
		for i, name := range names {
			if name == x.Format {
				f.Add(uint8(i), x.Text, uint8(3))
			}
		}
	}
	for i, name := range names {
		f.Add(uint8(i), marked(f, name), uint8(0))
	}
	tools := declared(f)
	f.Fuzz(func(t *testing.T, n uint8, text string, cut uint8) {
		name := names[int(n)%len(names)]
		whole := parse(t, name, tools, text)
		if len(whole.Calls) == 0 && formats[name].drop == nil && whole.Content != text {
			t.Fatalf("%s: %q came out as %q", name, text, whole.Content)
		}
		size := 1 + int(cut)%7
		var pieces []string
		for rest := text; rest != ""; {
			k := min(size, len(rest))
			pieces = append(pieces, rest[:k])
			rest = rest[k:]
		}
		if got := parse(t, name, tools, pieces...); !reflect.DeepEqual(got, whole) {
			t.Fatalf("%s: %q\n got %+v\nwant %+v", name, pieces, got, whole)
		}
		checkBehind(t, "qwen3", name, tools, text, pieces)
		if len(text) > 8 && strings.Contains(text, "<") {
			at := strings.Index(text, "<") + 1
			if got := parse(t, name, tools, text[:at], text[at:]); !reflect.DeepEqual(got, whole) {
				t.Fatalf("%s: %q | %q\n got %+v\nwant %+v", name, text[:at], text[at:], got, whole)
			}
		}
	})
}

func TestModelsChooseTheirFormat(t *testing.T) {
	for model, want := range map[string]string{
		"Qwen/Qwen3-8B": "qwen", "Qwen3-Coder-480B": "qwen_xml", "Qwen/Qwen3.5-35B": "qwen_xml",
		"meta-llama/Llama-3.1-8B": "json", "meta-llama/Llama-3.2-3B": "llama", "meta-llama/Llama-4-Scout": "pythonic",
		"deepseek-ai/DeepSeek-V3": "deepseek", "DeepSeek-V3.1": "deepseek31", "DeepSeek-V3.2": "deepseek32",
		"DeepSeek-V3.2-Exp": "deepseek31", "DeepSeek-V4": "deepseek_v4", "deepseek-r1": "pythonic",
		"zai-org/GLM-4.5": "glm45_moe", "GLM-4.7": "glm47_moe", "GLM-5": "glm47_moe", "glm-4-9b": "json",
		"moonshotai/Kimi-K2-Instruct": "kimik2", "MiniMaxAI/MiniMax-M2": "minimax_m2", "stepfun-ai/step3": "step3",
		"CohereLabs/c4ai-command-a": "cohere", "mistralai/Mistral-7B": "mistral", "openai/gpt-oss-20b": "harmony", "demo": "",
		"deepseek-ai/DeepSeek-V4.1-Flash": "deepseek_v41", "MiniMaxAI/MiniMax-M3": "minimax_m3", "tencent/Hy4-preview": "hy_v4",
		"sarashina2.2-3b-instruct": "sarashina", "inkling-1": "inkling",
	} {
		if got := ForModel(model); got != want {
			t.Errorf("%s: %q, want %q", model, got, want)
		}
		if want != "" {
			if _, err := New(want, nil); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := New("nosuch", nil); err == nil || !strings.Contains(err.Error(), "qwen_xml") {
		t.Errorf("unknown parser: %v", err)
	}
}

func TestANameMayStandForBothParsers(t *testing.T) {
	for _, name := range paired {
		if _, err := New(name, nil); err != nil {
			t.Error(err)
		}
	}
	if !Paired("qwen3") || Paired("qwen") || Paired("json") {
		t.Error("which names stand for both is wrong")
	}
	if _, err := New("hf", nil); err == nil || !strings.Contains(err.Error(), "response template") {
		t.Errorf("hf: %v", err)
	}
}

// splices is how many spliced texts per transcript a test run tries.
const splices = 20

// Texts made of pieces of transcripts are broken in more ways than one would think of; they too come to the same for
// every cut, byte by byte or at random.
func TestSplicedTranscripts(t *testing.T) {
	tools := declared(t)
	list := transcripts(t)
	for _, x := range list {
		for range splices {
			text := splice(list, x)
			whole := parse(t, x.Format, tools, text)
			for _, pieces := range [][]string{bytewise(text), randomly(text), randomly(text)} {
				if got := parse(t, x.Format, tools, pieces...); !reflect.DeepEqual(got, whole) {
					t.Fatalf("%s: %q\n got %+v\nwant %+v", x.Format, pieces, got, whole)
				}
			}
			if len(whole.Calls) == 0 && formats[x.Format].drop == nil && whole.Content != text {
				t.Fatalf("%s: %q came out as %q", x.Format, text, whole.Content)
			}
		}
	}
}

// splice joins random pieces of transcripts of one format, or now and then of any.
func splice(list []transcript, x transcript) string {
	var text strings.Builder
	for range 1 + rand.IntN(4) {
		from := x
		if y := list[rand.IntN(len(list))]; y.Format == x.Format || rand.IntN(20) == 0 {
			from = y
		}
		a, b := rand.IntN(len(from.Text)+1), rand.IntN(len(from.Text)+1)
		text.WriteString(from.Text[min(a, b):max(a, b)])
	}
	return text.String()
}
