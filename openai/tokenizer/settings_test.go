package tokenizer

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// configured returns a tokenizer of a, b and ab with the special token <s>, and a tokenizer_config.json beside it.
func configured(t *testing.T, config string) *Tokenizer {
	t.Helper()
	fsys := file(map[string]string{
		"added_tokens":  `[{"id":3,"content":"<s>","special":true},{"id":4,"content":"<q>"}]`,
		"pre_tokenizer": `{"type":"ByteLevel","add_prefix_space":false}`,
		"decoder":       `{"type":"ByteLevel"}`,
	})
	fsys["tokenizer_config.json"] = &fstest.MapFile{Data: []byte(config)}
	tok, err := Load(fsys)
	if err != nil {
		t.Fatalf("%s: %v", config, err)
	}
	return tok
}

func TestTheConfigurationAddsTokensAsTransformersDoes(t *testing.T) {
	for _, test := range []struct {
		config, text string
		ids          []uint32
		skipped      string
	}{
		{`{}`, "a<s>b<q>", []uint32{0, 3, 1, 4}, "ab<q>"},
		{`{"bos_token":"<b>","eos_token":{"content":"<e>"}}`, "a<b><e>", []uint32{0, 5, 6}, "a"},
		{`{"bos_token":"<s>","pad_token":null}`, "a<s>", []uint32{0, 3}, "a"},
		{`{"extra_special_tokens":["<x>",{"content":"<y>"}]}`, "<y><x>", []uint32{6, 5}, ""},
		{`{"extra_special_tokens":{"video":"<v>","audio":"<a>"}}`, "<a><v>", []uint32{6, 5}, ""},
		{`{"additional_special_tokens":["<x>","<s>"]}`, "<x><s>", []uint32{5, 3}, ""},
		{`{"added_tokens_decoder":{"4":{"content":"<q>","special":true},"7":{"content":"<z>"}}}`, "a<q><z>", []uint32{0, 4, 5}, "a<z>"},
		{`{"added_tokens_decoder":{"3":{"content":"<s>"}}}`, "a<s>", []uint32{0, 3}, "a"},
		{`{"added_tokens_decoder":{"2":{"content":"ab","special":true}}}`, "ab", []uint32{2}, ""},
		{`{"split_special_tokens":true}`, "a<s>b<q>", []uint32{0, 1, 4}, "ab<q>"},
		{`{"add_bos_token":true,"bos_token":"<s>"}`, "ab", []uint32{2}, "ab"},
	} {
		tok := configured(t, test.config)
		ids := tok.Encode(test.text, true)
		if !slices.Equal(ids, test.ids) {
			t.Errorf("%s: %q is %v, want %v", test.config, test.text, ids, test.ids)
		}
		if got := tok.Decode(ids, true); got != test.skipped {
			t.Errorf("%s: %v is %q, want %q", test.config, ids, got, test.skipped)
		}
	}
}

func TestThePrefixSpaceIsTheClassesOwn(t *testing.T) {
	for config, want := range map[string]bool{
		`{"tokenizer_class":"GPT2Tokenizer","add_prefix_space":true}`:           true,
		`{"tokenizer_class":"PreTrainedTokenizerFast","add_prefix_space":true}`: false,
		`{"tokenizer_class":"GPT2Tokenizer"}`:                                   false,
	} {
		tok := configured(t, config)
		if _, has := tok.stages[0].(prefixSpace); has != want {
			t.Errorf("%s: a prefix space: %v, want %v", config, has, want)
		}
	}
}

func TestPlainFilesTakeTheirSurroundFromTheConfiguration(t *testing.T) {
	tok, err := Load(fstest.MapFS{
		"vocab.json": {Data: []byte(`{"a":0,"b":1,"ab":2}`)},
		"merges.txt": {Data: []byte("#version: 0.2\na b\n")},
		"tokenizer_config.json": {Data: []byte(`{"tokenizer_class":"GPT2Tokenizer","bos_token":"<s>","eos_token":"</s>",
			"add_bos_token":true,"add_eos_token":true,"added_tokens_decoder":{"8":{"content":"<s>"},"9":{"content":"</s>"}}}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.Encode("ab", true); !slices.Equal(got, []uint32{3, 2, 4}) {
		t.Errorf("got %v", got)
	}
}

func TestABadConfigurationIsNamed(t *testing.T) {
	for config, want := range map[string]string{
		`{"extra_special_tokens":7}`:                              "extra_special_tokens",
		`{"added_tokens_decoder":{"-1":{"content":"x"}}}`:         `bad id "-1"`,
		`{"added_tokens_decoder":{"9999999999":{"content":"x"}}}`: "bad id",
		`[]`: "tokenizer_config.json",
	} {
		fsys := file(nil)
		fsys["tokenizer_config.json"] = &fstest.MapFile{Data: []byte(config)}
		if _, err := Load(fsys); err == nil || !strings.Contains(err.Error(), "tokenizer_config.json") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", config, err, want)
		}
	}
}
