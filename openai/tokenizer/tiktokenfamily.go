package tokenizer

import (
	"fmt"
	"path"
	"strings"
)

// tiktokenFamily returns the family's spec without its vocabulary, and the special tokens it is known to have. The file's
// name tells the family, else the configuration beside it.
func tiktokenFamily(file string, side *sideFiles) (*spec, []addedToken) {
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	kind := side.config.ModelType
	switch {
	case hasPrefix(base, "qwen3_5", "qwen3_6", "qwen3.5", "qwen3.6"), strings.HasPrefix(base, "qwen") && hasPrefix(kind, "qwen3_5"):
		return byteLevelSpec(qwen35Pattern, false, true), specialsFrom(248044, "<|endoftext|>", "<|im_start|>", "<|im_end|>")
	case strings.HasPrefix(base, "qwen"):
		return byteLevelSpec(qwen2Pattern, false, true), specialsFrom(151643, "<|endoftext|>", "<|im_start|>", "<|im_end|>")
	case strings.HasPrefix(base, "cl100k"):
		known := specialsFrom(100257, "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
		return byteLevelSpec(cl100kPattern, false, false), append(known, specialsFrom(100276, "<|endofprompt|>")...)
	case strings.HasPrefix(base, "o200k"):
		return byteLevelSpec(o200kPattern, false, false), append(specialsFrom(199999, "<|endoftext|>"), specialsFrom(200018, "<|endofprompt|>")...)
	case hasPrefix(base, "r50k", "p50k", "gpt2"):
		return byteLevelSpec(gpt2Pattern, false, false), specialsFrom(50256, "<|endoftext|>")
	case side.tokenizer.Class == "TikTokenTokenizer", strings.HasPrefix(kind, "kimi"):
		return byteLevelSpec(kimiPattern, false, false), nil
	case strings.HasPrefix(kind, "llama4"):
		return byteLevelSpec(o200kPattern, false, false), llama4Specials()
	case hasPrefix(kind, "llama", "mllama"):
		return byteLevelSpec(cl100kPattern, false, false), llama3Specials()
	}
	return nil, nil
}

func hasPrefix(text string, prefixes ...string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

// specialsFrom numbers special tokens from an id on.
func specialsFrom(first uint32, texts ...string) []addedToken {
	out := make([]addedToken, len(texts))
	for i, text := range texts {
		out[i] = addedToken{Content: text, ID: first + uint32(i), Special: true}
	}
	return out
}

// numbered appends count texts of a form that numbers them from a number on.
func numbered(texts []string, form string, from, count int) []string {
	for i := range count {
		texts = append(texts, fmt.Sprintf(form, from+i))
	}
	return texts
}

func llama3Specials() []addedToken {
	texts := []string{
		"<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>",
		"<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>",
		"<|python_tag|>", "<|image|>",
	}
	return specialsFrom(128000, numbered(texts, "<|reserved_special_token_%d|>", 2, 256-len(texts))...)
}

func llama4Specials() []addedToken {
	texts := []string{"<|begin_of_text|>", "<|end_of_text|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"}
	texts = append(texts, "<|header_start|>", "<|header_end|>", "<|eom|>", "<|eot|>", "<|step|>")
	texts = numbered(texts, "<|text_post_train_reserved_special_token_%d|>", 0, 6)
	texts = append(texts, "<|python_start|>", "<|python_end|>", "<|finetune_right_pad|>")
	texts = numbered(texts, "<|text_post_train_reserved_special_token_%d|>", 8, 61)
	texts = append(texts, "<|image_start|>", "<|image_end|>")
	texts = numbered(texts, "<|vision_reserved_special_token_%d|>", 0, 2)
	texts = append(texts, "<|tile_x_separator|>", "<|tile_y_separator|>")
	texts = numbered(texts, "<|vision_reserved_special_token_%d|>", 2, 4)
	texts = append(texts, "<|image|>", "<|vision_reserved_special_token_6|>", "<|patch|>")
	texts = numbered(texts, "<|vision_reserved_special_token_%d|>", 7, 1041)
	texts = numbered(texts, "<|reasoning_reserved_special_token_%d|>", 0, 8)
	texts = append(texts, "<|reasoning_thinking_start|>", "<|reasoning_thinking_end|>")
	return specialsFrom(200000, numbered(texts, "<|reserved_special_token_%d|>", 0, 2048-len(texts))...)
}
