package proxy

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Some tokenizers hold the marks of thoughts for special tokens, which decoding leaves out. A thought that stays in the
// content keeps them, too.
func TestThoughtsAreFoundBehindSpecialTokens(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../workers/sim/demo")); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"tokenizer.json", "tokenizer_config.json"} {
		path := filepath.Join(dir, file)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, regexp.MustCompile(`("special": *)false`).ReplaceAll(text, []byte("${1}true")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := start(t, one(t, "vllm", "<think>\n想</think>so"), func(s *setup) {
		s.models.ReasoningParser, s.models.TokenizerPath, s.models.DisableTokenizerAutoload = "qwen3", dir, true
		s.sim[0].TokenizerPath = dir
	})
	if got := b.bothWays(t, ""); got.reasoning != "\n想" || got.content != "so" {
		t.Errorf("%+v", got)
	}
	for _, members := range []string{"", weather} {
		if got := b.bothWays(t, members+`,"separate_reasoning":false`); got.reasoning != "" || got.content != "<think>\n想</think>so" {
			t.Errorf("as content: %+v", got)
		}
	}
}
