package tokenizer

import (
	"os"
	"slices"
	"testing"
)

const demoDir = "../../workers/sim/demo"

func loadDemo(t testing.TB) *Tokenizer {
	t.Helper()
	tok, err := Load(os.DirFS(demoDir))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestTheDemoTokenizerSpeaksChatML(t *testing.T) {
	tok := loadDemo(t)
	end, ok := tok.ID("<|im_end|>")
	if !ok || !tok.IsSpecial(end) {
		t.Fatalf("<|im_end|> is id %d, special %v", end, tok.IsSpecial(end))
	}
	pad, _ := tok.ID("<|endoftext|>")
	if want := []uint32{end, pad}; !slices.Equal(tok.EOS(), want) {
		t.Errorf("end ids %v, want %v", tok.EOS(), want)
	}
	if got := tok.SpecialToken("eos_token"); got != "<|im_end|>" {
		t.Errorf("eos_token %q", got)
	}
	text := "<|im_start|>user\nWhat is a prefix cache?<|im_end|>\n<|im_start|>assistant\n"
	ids := tok.Encode(text, true)
	if got := tok.Decode(ids, false); got != text {
		t.Errorf("decoded %q, want %q", got, text)
	}
	if got, want := tok.Decode(ids, true), "user\nWhat is a prefix cache?\nassistant\n"; got != want {
		t.Errorf("decoded without special tokens %q, want %q", got, want)
	}
	if think, _ := tok.ID("<think>"); tok.IsSpecial(think) {
		t.Error("<think> is special; its text would be lost in an answer")
	}
	if n := tok.VocabSize(); n != 4103 {
		t.Errorf("%d tokens", n)
	}
}
