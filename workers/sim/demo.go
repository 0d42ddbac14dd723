package sim

import (
	"encoding/json"
	"io/fs"
	"testing/fstest"
)

// demoTokenizer is the embedded tokenizer: for now one token for each byte.
func demoTokenizer() fs.FS {
	vocab := map[string]int{}
	next := 256
	for b := range 256 {
		r := rune(b)
		if !(b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE) {
			r = rune(next)
			next++
		}
		vocab[string(r)] = b
	}
	model, _ := json.Marshal(map[string]any{
		"added_tokens":  []any{map[string]any{"id": 256, "content": "<|im_end|>", "special": true}},
		"pre_tokenizer": map[string]any{"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
		"decoder":       map[string]any{"type": "ByteLevel"},
		"model":         map[string]any{"type": "BPE", "vocab": vocab, "merges": []string{}},
	})
	return fstest.MapFS{
		"tokenizer.json":        {Data: model},
		"tokenizer_config.json": {Data: []byte(`{"eos_token":"<|im_end|>","chat_template":"{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant: "}`)},
		"config.json":           {Data: []byte(`{"model_type":"sim","vocab_size":257,"eos_token_id":256}`)},
	}
}
