package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// wordLevelOf returns a tokenizer whose words are whole pieces, with added tokens and a decoder.
func wordLevelOf(t *testing.T, vocab string, parts map[string]string) *Tokenizer {
	t.Helper()
	all := map[string]string{"model": `{"type":"WordLevel","vocab":` + vocab + `,"unk_token":"<unk>"}`}
	for name, text := range parts {
		all[name] = text
	}
	tok, err := Load(file(all))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// What is wanted in the tables of this file is what tokenizers 0.22.2 gives.
func TestTokensOfWhiteSpaceMayOverlapThoseThatTakeIt(t *testing.T) {
	for _, test := range []struct {
		added string
		texts map[string][]uint32
	}{
		{`[{"id":3,"content":"\r\n","rstrip":true}]`, map[string][]uint32{
			"\r\n\r\n": {3, 3}, "a\r\n\r\na": {1, 3, 3, 1}, "\r\n \r\n  a": {3, 3, 1}}},
		{`[{"id":3,"content":"  ","lstrip":true,"rstrip":true}]`, map[string][]uint32{
			"    a": {3, 1}, "a    a": {1, 3, 1}, "       ": {3}}},
		{`[{"id":3,"content":"<mask>","rstrip":true},{"id":4,"content":"\n","lstrip":true}]`, map[string][]uint32{
			"<mask>\na": {3, 1}, "a \n<mask>": {1, 4, 3}}},
		{`[{"id":3,"content":"<|a|>","rstrip":true,"normalized":true},{"id":4,"content":"\r\n","normalized":true}]`, map[string][]uint32{
			"<|a|>\r\n": {3, 4}, "<|a|>\r\n\r\na": {3, 4, 4, 1}, "<|a|> \r\n a": {3, 4, 0}}},
		{`[{"id":3,"content":"<m>","rstrip":true},{"id":4,"content":"\n"}]`, map[string][]uint32{
			"<m>\n\n  a": {3, 4, 4, 0}, "<m> \n a": {3, 4, 0}, "<m>\n a\n": {3, 4, 0, 4}}},
	} {
		tok := wordLevelOf(t, `{"<unk>":0,"a":1," ":2}`, map[string]string{"added_tokens": test.added})
		for text, want := range test.texts {
			if got := tok.Encode(text, false); !slices.Equal(got, want) {
				t.Errorf("%s: %q is %v, want %v", test.added, text, got, want)
			}
		}
	}
}

func TestBytesAndTheFirstTokenAreToldApart(t *testing.T) {
	const wordPiece, bytes, fuse = `{"type":"WordPiece","prefix":"##","cleanup":false}`, `{"type":"ByteFallback"}`, `{"type":"Fuse"}`
	const replace = `{"type":"Replace","pattern":{"Regex":"x*"},"content":"ab"}`
	for _, test := range []struct {
		decoders string
		ids      []uint32
		want     string
	}{
		{wordPiece + "," + bytes, []uint32{1, 2}, "\uFFFD b"},
		{wordPiece + "," + bytes, []uint32{3, 3}, "A <0x41>"},
		{wordPiece + "," + bytes, []uint32{4, 5, 2}, "\uFFFD <0xA9> b"},
		{wordPiece + "," + bytes, []uint32{2, 4, 5}, "b <0xC3> <0xA9>"},
		{wordPiece + "," + bytes + "," + fuse, []uint32{4, 4, 5}, "\uFFFD <0xC3> <0xA9>"},
		{bytes + "," + wordPiece, []uint32{1, 2}, "\uFFFD b"},
		{bytes + "," + wordPiece, []uint32{4, 5, 2}, "é b"},
		{bytes + "," + wordPiece, []uint32{2, 4, 5}, "b é"},
		{bytes + "," + wordPiece, []uint32{4, 4, 5}, "\uFFFD \uFFFD \uFFFD"},
		{bytes + "," + wordPiece, []uint32{6, 2}, "##c b"},
		{fuse + "," + replace, nil, ""},
		{fuse + "," + replace, []uint32{6, 2}, "ab#ab#abcabbab"},
	} {
		tok := wordLevelOf(t, `{"<unk>":0,"<0xFF>":1,"b":2,"<0x41>":3,"<0xC3>":4,"<0xA9>":5,"##c":6}`,
			map[string]string{"decoder": `{"type":"Sequence","decoders":[` + test.decoders + `]}`})
		if got := tok.Decode(test.ids, false); got != test.want {
			t.Errorf("%s: %v is %q, want %q", test.decoders, test.ids, got, test.want)
		}
		stream(t, tok, test.ids, false)
	}
}

// Every piece that comes of the text's first character gets the mark, as many as normalizing makes of it.
func TestTheFirstCharacterMayBecomeSeveralPieces(t *testing.T) {
	vocab := `{"<unk>":0,"▁1":1,"▁⁄":2,"▁2":3,"▁a":4,"2":5,"▁.":6,"▁":7}`
	digits := `{"type":"Digits","individual_digits":true},{"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":true}`
	for _, test := range []struct {
		normalizer, stages, text string
		want                     []uint32
	}{
		{`{"type":"NFKC"}`, digits, "½ a", []uint32{1, 2, 3, 4}},
		{`{"type":"NFKC"}`, digits, "12", []uint32{1, 5}},
		{`{"type":"Prepend","prepend":"▁"}`, `{"type":"Punctuation","behavior":"Isolated"},` + digits, ".", []uint32{7, 6}},
	} {
		tok := wordLevelOf(t, vocab, map[string]string{
			"normalizer": test.normalizer, "pre_tokenizer": `{"type":"Sequence","pretokenizers":[` + test.stages + `]}`})
		if got := tok.Encode(test.text, false); !slices.Equal(got, test.want) {
			t.Errorf("%s %s: %q is %v, want %v", test.normalizer, test.stages, test.text, got, test.want)
		}
	}
}

func TestANormalizedTokenThatNothingIsLeftOfIsRefused(t *testing.T) {
	_, err := Load(file(map[string]string{
		"normalizer": `{"type":"Strip","strip_left":true,"strip_right":true}`, "added_tokens": `[{"id":3,"content":"\n","normalized":true}]`}))
	if err == nil || !strings.Contains(err.Error(), `leaves nothing of "\n"`) {
		t.Errorf("error %v", err)
	}
}

func TestNothingIsReplacedInAnEmptyText(t *testing.T) {
	tok := wordLevelOf(t, `{"<unk>":0,"a":1}`, map[string]string{
		"normalizer": `{"type":"Sequence","normalizers":[{"type":"Strip","strip_left":true,"strip_right":true},{"type":"Replace","pattern":{"Regex":"$"},"content":"a"}]}`})
	if got := tok.Encode("  ", false); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

func TestAVocabularyWithMergesGetsTheTokensOfItsConfiguration(t *testing.T) {
	const vocab, merges = `{"a":0,"b":1,"ab":2,"<|endoftext|>":3}`, "#version: 0.2\na b\n"
	for _, test := range []struct {
		config, text string
		want, eos    []uint32
	}{
		{`{"tokenizer_class":"GPT2Tokenizer"}`, "ab<|endoftext|>", []uint32{2, 3}, []uint32{3}},
		{`{"tokenizer_class":"Qwen2Tokenizer","eos_token":"<|im_end|>"}`, "ab<|im_end|>", []uint32{2, 4}, []uint32{4}},
		{`{"tokenizer_class":"Qwen2Tokenizer","eos_token":null}`, "ab<|endoftext|>", []uint32{2, 3}, nil},
		{`{"tokenizer_class":"Qwen2Tokenizer","additional_special_tokens":["<x>"]}`, "<x>ab", []uint32{4, 2}, []uint32{3}},
	} {
		tok, err := Load(fstest.MapFS{"vocab.json": {Data: []byte(vocab)}, "merges.txt": {Data: []byte(merges)}, "tokenizer_config.json": {Data: []byte(test.config)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := tok.Encode(test.text, false); !slices.Equal(got, test.want) || !slices.Equal(tok.EOS(), test.eos) {
			t.Errorf("%s: %v, end %v; want %v, %v", test.config, got, tok.EOS(), test.want, test.eos)
		}
	}
}

func TestTheMapOfSpecialTokensNamesAdditionalOnes(t *testing.T) {
	fsys := file(nil)
	fsys["special_tokens_map.json"] = &fstest.MapFile{Data: []byte(`{"eos_token":"<e>","additional_special_tokens":["<x>",{"content":"<y>"}]}`)}
	tok, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.Encode("<e>ab<y><x>", false); !slices.Equal(got, []uint32{3, 2, 5, 4}) {
		t.Errorf("got %v", got)
	}
}
