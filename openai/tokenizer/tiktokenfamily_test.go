package tokenizer

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

func TestATiktokenFamilyBringsItsSpecialTokens(t *testing.T) {
	for _, test := range []struct {
		name, config, token string
		id                  uint32
	}{
		{"qwen.tiktoken", "", "<|im_end|>", 151645},
		{"qwen3_6.tiktoken", "", "<|im_end|>", 248046},
		{"qwen.tiktoken", `{"model_type":"qwen3_5_moe"}`, "<|endoftext|>", 248044},
		{"cl100k_base.tiktoken", "", "<|endofprompt|>", 100276},
		{"o200k_base.tiktoken", "", "<|endoftext|>", 199999},
		{"gpt2.tiktoken", "", "<|endoftext|>", 50256},
		{"tokenizer.model", `{"model_type":"llama"}`, "<|eot_id|>", 128009},
		{"tokenizer.model", `{"model_type":"mllama"}`, "<|reserved_special_token_245|>", 128255},
		{"tokenizer.model", `{"model_type":"llama4"}`, "<|eot|>", 200008},
		{"tokenizer.model", `{"model_type":"llama4"}`, "<|patch|>", 200092},
		{"tokenizer.model", `{"model_type":"llama4"}`, "<|reasoning_thinking_end|>", 201143},
	} {
		fsys := fstest.MapFS{test.name: {Data: byteRanks()}}
		if test.config != "" {
			fsys["config.json"] = &fstest.MapFile{Data: []byte(test.config)}
		}
		tok, err := Load(fsys)
		if err != nil {
			t.Errorf("%s %s: %v", test.name, test.config, err)
			continue
		}
		if id, _ := tok.ID(test.token); id != test.id || !tok.IsSpecial(id) {
			t.Errorf("%s %s: %s is %d, want %d", test.name, test.config, test.token, id, test.id)
		}
	}
}

// byteRanks is a tiktoken file of the bytes and one token more.
func byteRanks() []byte {
	var out []byte
	for b := range 256 {
		out = fmt.Appendf(out, "%s %d\n", base64.StdEncoding.EncodeToString([]byte{byte(b)}), b)
	}
	return append(out, "YWI= 256\n"...)
}

func TestATiktokenFileThatIsNotWholeIsRefused(t *testing.T) {
	all := string(byteRanks())
	for data, want := range map[string]string{
		"":                                       "no token for the byte 0x00",
		strings.Replace(all, "Cg== 10\n", "", 1): "no token for the byte 0x0a",
		all + "YWI= 257\n":                       "line 258: the token is empty or has a rank already",
		all + " 257\n":                           "line 258: the token is empty or has a rank already",
		all + "YWM= 256\n":                       "line 258: id 256 is given to both",
	} {
		_, err := Load(fstest.MapFS{"o200k.tiktoken": {Data: []byte(data)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A mark continues a word for Qwen 3.5, and Llama 4 cuts between lower and upper case.
func TestATiktokenFamilyCutsWordsItsOwnWay(t *testing.T) {
	for name, want := range map[string]int{"qwen.tiktoken": 2, "qwen3_5.tiktoken": 1} {
		spec, _ := tiktokenFamily(name, new(sideFiles))
		p, err := parsePattern(*spec.preTokenizer.Pretokenizers[0].Pattern.Regex)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(p.all("e\u0301")); got != want {
			t.Errorf("%s: %d words, want %d", name, got, want)
		}
	}
	side := new(sideFiles)
	for kind, want := range map[string]int{"llama": 1, "llama4": 2} {
		side.config.ModelType = kind
		spec, _ := tiktokenFamily("tokenizer.model", side)
		p, err := parsePattern(*spec.preTokenizer.Pretokenizers[0].Pattern.Regex)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(p.all("camelCase")); got != want {
			t.Errorf("%s: %d words, want %d", kind, got, want)
		}
	}
}
