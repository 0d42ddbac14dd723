package tokenizer

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// file returns a tokenizer.json with some of its parts replaced.
func file(parts map[string]string) fstest.MapFS {
	all := map[string]string{
		"normalizer": "null", "pre_tokenizer": "null", "post_processor": "null", "decoder": "null", "added_tokens": "[]",
		"model": `{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}`,
	}
	for name, text := range parts {
		all[name] = text
	}
	var members []string
	for name, text := range all {
		members = append(members, fmt.Sprintf("%q:%s", name, text))
	}
	return oneFile([]byte("{" + strings.Join(members, ",") + "}"))
}

func TestWhatIsNotSupportedStopsTheLoadByName(t *testing.T) {
	for _, test := range []struct{ part, text, error string }{
		{"normalizer", `{"type":"Frobnicate"}`, "normalizer Frobnicate: not supported"},
		{"normalizer", `{"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"Zap"}]}`, "normalizer Zap: not supported"},
		{"normalizer", `{"type":"NFC","strength":3}`, `unknown field "strength"`},
		{"normalizer", `{"type":"Precompiled","precompiled_charsmap":"AAAA"}`, "precompiled_charsmap"},
		{"pre_tokenizer", `{"type":"UnicodeScripts"}`, "pre_tokenizer UnicodeScripts: not supported"},
		{"pre_tokenizer", `{"type":"Split","pattern":{"Regex":"a"},"behavior":"Sideways","invert":false}`, `behavior: "Sideways"`},
		{"pre_tokenizer", `{"type":"Split","pattern":{"Regex":"(a"},"behavior":"Isolated","invert":false}`, "pattern"},
		{"pre_tokenizer", `{"type":"Split","pattern":{"Regex":"\\p{Klingon}"},"behavior":"Isolated","invert":false}`, `\p{Klingon} is not supported`},
		{"pre_tokenizer", `{"type":"Split","pattern":{"Regex":"(?i:ss)+x"},"behavior":"Isolated","invert":false}`, "case folding"},
		{"pre_tokenizer", `{"type":"Split","pattern":{"Regex":"(?:a?){2}$"},"behavior":"Isolated","invert":false}`, "{2} of a part that can be empty"},
		{"normalizer", `{"type":"Replace","pattern":{"Regex":"(\\s)\\1"},"content":""}`, "escape \\1 is not supported"},
		{"normalizer", `{"type":"Replace","pattern":{"Regex":"(?:(?:a{1000}){1000}){1000}"},"content":""}`, "too many repeats"},
		{"normalizer", `{"lowercase":true}`, `normalizer: type is missing in {"lowercase":true}`},
		{"post_processor", `{"type":"Sequence","processors":[{"type":"RobertaProcessing","sep":["a",0],"cls":["b",1]},{"type":"ByteLevel"},{"type":"RobertaProcessing","sep":["a",0],"cls":["b",1]}]}`,
			"post_processor RobertaProcessing: a second processor after one that adds tokens is not supported"},
		{"post_processor", `{"type":"Novel"}`, "post_processor Novel: not supported"},
		{"post_processor", `{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}}],"pair":[],"special_tokens":{}}`, "has no ids"},
		{"normalizer", `{"type":"Sequence","normalizers":[` + strings.Repeat(`{"type":"Replace","pattern":{"String":"a"},"content":"aaaaaaaaaaaaaaaa"},`, 9) + `{"type":"NFC"}]}`, "normalizer Replace: "},
		{"pre_tokenizer", `{"type":"Split","pattern":{"Regex":"` + strings.Repeat("[", 1<<17) + `"},"behavior":"Isolated","invert":false}`, "the limit is"},
		{"decoder", `{"type":"Strip","content":"","start":1000000000,"stop":0}`, "decoder Strip: content"},
		{"decoder", `{"type":"Strip","content":"a","start":-1,"stop":0}`, "decoder Strip: start, stop"},
		{"decoder", `{"type":"Crypt"}`, "decoder Crypt: not supported"},
		{"decoder", `{"type":"Sequence","decoders":[{"type":"CTC"},{"type":"Crypt"}]}`, "decoder Crypt: not supported"},
		{"model", `{"type":"BPE","vocab":{"a":0},"merges":["a b"]}`, `"b" is not in the vocabulary`},
		{"model", `{"type":"BPE","vocab":{"a":0},"merges":[],"dropout":0.1}`, "dropout 0.1 is not supported"},
		{"model", `{"type":"BPE","vocab":{"a":0},"merges":[],"sparkle":true}`, "model.sparkle is not supported"},
		{"model", `{"type":"BPE","vocab":{"a":99999999},"merges":[]}`, "token id between 0 and"},
		{"model", `{"type":"BPE","vocab":{"a":0,"b":0},"merges":[]}`, `id 0 is given to both`},
		{"model", `{"type":"BPE","vocab":{"a":0},"merges":[],"unk_token":"?"}`, "model.unk_token"},
		{"model", `{"type":"Unigram","vocab":[["a",-1]],"unk_id":null}`, "model.unk_id"},
		{"model", `{"type":"Trigram","vocab":{"a":0}}`, `model.type: "Trigram" is not supported`},
		{"model", `{"type":"BPE"}`, "model.vocab is missing"},
		{"added_tokens", `[{"id":-4,"content":"x"}]`, "added_tokens"},
		{"extra", `1`, `"extra" is not supported`},
	} {
		_, err := Load(file(map[string]string{test.part: test.text}))
		if err == nil || !strings.Contains(err.Error(), test.error) || !strings.HasPrefix(err.Error(), "tokenizer.json: ") {
			t.Errorf("%s %s: error %v, want %q", test.part, test.text, err, test.error)
		}
	}
}

func TestAModelWithoutATypeIsToldByItsMembers(t *testing.T) {
	for model, want := range map[string][]uint32{
		`{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}`: {2},
		`{"unk_id":0,"vocab":[["<unk>",0],["ab",-1]]}`:    {1},
		`{"vocab":{"[UNK]":0,"a":1,"##b":2},"unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":9}`: {1, 2},
		`{"vocab":{"[UNK]":0,"ab":4},"unk_token":"[UNK]"}`:                                                                      {4},
	} {
		for _, pre := range []string{"null", `{"type":"ByteLevel","add_prefix_space":false}`} {
			tok, err := Load(file(map[string]string{"model": model, "pre_tokenizer": pre}))
			if err != nil {
				t.Errorf("%s: %v", model, err)
				continue
			}
			if got := tok.Encode("ab", false); !slices.Equal(got, want) {
				t.Errorf("%s with %s: %v, want %v", model, pre, got, want)
			}
		}
	}
}

func TestADirectoryWithoutATokenizerSaysWhatItWants(t *testing.T) {
	if _, err := Load(fstest.MapFS{}); !errors.Is(err, ErrNoTokenizer) {
		t.Errorf("error %v", err)
	}
	fsys := fstest.MapFS{"tokenizer.model": {Data: []byte("\x0a\x0b\x0c binary")}, "config.json": {Data: []byte(`{"model_type":"llama"}`)}}
	if _, err := Load(fsys); err == nil || !strings.Contains(err.Error(), "SentencePiece") {
		t.Errorf("error %v", err)
	}
}

func TestEndIDsAndNamesComeFromTheFilesBeside(t *testing.T) {
	fsys := file(map[string]string{"added_tokens": `[{"id":3,"content":"</s>","special":true},{"id":4,"content":"<|eot|>","special":true}]`})
	fsys["config.json"] = &fstest.MapFile{Data: []byte(`{"eos_token_id":null,"text_config":{"eos_token_id":7}}`)}
	fsys["generation_config.json"] = &fstest.MapFile{Data: []byte(`{"eos_token_id":[4,7,3]}`)}
	fsys["special_tokens_map.json"] = &fstest.MapFile{Data: []byte(`{"bos_token":{"content":"<s>"},"eos_token":"<|eot|>","pad_token":null}`)}
	fsys["tokenizer_config.json"] = &fstest.MapFile{Data: []byte(`{"eos_token":{"content":"</s>","lstrip":false}}`)}
	tok, err := Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	if want := []uint32{7, 4, 3}; !slices.Equal(tok.EOS(), want) {
		t.Errorf("end ids %v, want %v", tok.EOS(), want)
	}
	for name, want := range map[string]string{"bos_token": "<s>", "eos_token": "</s>", "pad_token": "", "no_token": ""} {
		if got := tok.SpecialToken(name); got != want {
			t.Errorf("%s %q, want %q", name, got, want)
		}
	}
	if text, ok := tok.Token(2); text != "ab" || !ok {
		t.Errorf("token 2: %q, %v", text, ok)
	}
	if text, _ := tok.Token(5); text != "<s>" {
		t.Errorf("token 5: %q; it has a name and so is added", text)
	}
	if _, ok := tok.Token(6); ok {
		t.Error("there is a token 6")
	}
}

// plainFiles writes a byte-level tokenizer.json as vocab.json and merges.txt, and as a tiktoken file.
func plainFiles(t *testing.T, name string) (vocabMerges, tiktoken fstest.MapFS) {
	var parsed struct {
		Model struct {
			Vocab  map[string]uint32
			Merges [][2]string
		}
		Added []addedToken `json:"added_tokens"`
	}
	var loose struct{ Model struct{ Merges []string } }
	raw := readGzip(t, name)
	json.Unmarshal(raw, &loose)
	json.Unmarshal(raw, &parsed)
	merges := "#version: 0.2\n"
	for _, m := range loose.Model.Merges {
		if m != "" {
			merges += m + "\n"
		}
	}
	for _, m := range parsed.Model.Merges {
		if m[0] != "" {
			merges += m[0] + " " + m[1] + "\n"
		}
	}
	vocab, _ := json.Marshal(parsed.Model.Vocab)
	added := map[string]addedToken{}
	for _, token := range parsed.Added {
		added[fmt.Sprint(token.ID)] = token
	}
	config, _ := json.Marshal(map[string]any{"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": added})
	var ranks strings.Builder
	alphabet := newByteAlphabet()
	for token, id := range parsed.Model.Vocab {
		text, _ := alphabet.unmap(nil, []byte(token))
		fmt.Fprintf(&ranks, "%s %d\n", base64.StdEncoding.EncodeToString(text), id)
	}
	vocabMerges = fstest.MapFS{"vocab.json": {Data: vocab}, "merges.txt": {Data: []byte(merges)}, "tokenizer_config.json": {Data: config}}
	tiktoken = fstest.MapFS{"qwen.tiktoken": {Data: []byte(ranks.String())}, "tokenizer_config.json": {Data: config}}
	return vocabMerges, tiktoken
}

func TestPlainFilesGiveTheSameIDs(t *testing.T) {
	const name = "testdata/mini/qwen3.tokenizer.json.gz"
	want := loadGzip(t, name)
	vocabMerges, tiktoken := plainFiles(t, name)
	for kind, fsys := range map[string]fstest.MapFS{"vocab.json": vocabMerges, "tiktoken": tiktoken} {
		tok, err := Load(fsys)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		different := 0
		texts := readCorpus(t, "testdata/corpus.jsonl.gz")
		for _, text := range texts {
			ids := tok.Encode(text, false)
			if !slices.Equal(ids, want.Encode(text, false)) {
				different++
			}
			if got := tok.Decode(ids, false); kind == "vocab.json" && got != want.Decode(ids, false) {
				t.Errorf("%s: decoded %q", kind, got)
			}
		}
		// tiktoken also joins tokens that this vocabulary, cut off from a larger one, has no merge for.
		if different > 0 && kind == "vocab.json" || different > len(texts)/10 {
			t.Errorf("%s: %d of %d texts differ", kind, different, len(texts))
		}
	}
}

func TestLargeVocabulariesLoadFastAndSmall(t *testing.T) {
	if raced {
		t.Skip("the race detector keeps memory of its own")
	}
	dir := sharedDir(t)
	for _, name := range []string{"qwen3", "deepseek_v3", "gptoss"} {
		data := readGzip(t, filepath.Join(dir, "full", name, "tokenizer.json.gz"))
		heap := heapOf(func() *Tokenizer { tok, _ := Load(oneFile(data)); return tok })
		low := time.Hour
		var tok *Tokenizer
		for range 3 {
			start := time.Now()
			var err error
			if tok, err = Load(oneFile(data)); err != nil {
				t.Fatal(err)
			}
			low = min(low, time.Since(start))
		}
		t.Logf("%s: %d tokens in %v, %.1f MB", name, tok.VocabSize(), low, float64(heap)/1e6)
		if heap > 25<<20 {
			t.Errorf("%s keeps %d bytes", name, heap)
		}
	}
}

// heapOf returns how much of the heap what make returns holds.
func heapOf(make func() *Tokenizer) uint64 {
	live := func() uint64 {
		var m runtime.MemStats
		for range 3 { // a pool gives its members up in the second
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := live()
	kept := make()
	after := live()
	runtime.KeepAlive(kept)
	return after - min(before, after)
}

func FuzzLoad(f *testing.F) {
	for _, parts := range []map[string]string{
		{}, {"decoder": `{"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"_"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":1}]}`},
		{"pre_tokenizer": `{"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"a+|(?!\\S)"},"behavior":"Isolated","invert":false},{"type":"ByteLevel","add_prefix_space":true,"use_regex":true}]}`},
		{"normalizer": `{"type":"Sequence","normalizers":[{"type":"NFKC"},{"type":"Precompiled","precompiled_charsmap":"CAAAAAEAAAABAAAAYQA="}]}`},
		{"model": `{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["a",-1.5],["ab",-2]],"byte_fallback":true}`},
		{"model": `{"type":"WordPiece","unk_token":"a","continuing_subword_prefix":"##","max_input_chars_per_word":10,"vocab":{"a":0,"##b":1}}`},
		{"added_tokens": `[{"id":3,"content":"<x>","lstrip":true,"rstrip":true,"single_word":true,"normalized":true,"special":true}]`},
	} {
		f.Add(file(parts)["tokenizer.json"].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		slow := time.AfterFunc(5*time.Second, func() { panic(fmt.Sprintf("still at it: %q", data)) })
		defer slow.Stop()
		tok, err := Load(oneFile(data))
		if err != nil {
			return
		}
		ids := tok.Encode("ab a<x> b\tAé日 <0x41>", true)
		tok.Decode(ids, true)
		stream(t, tok, ids, false)
	})
}

func TestAVocabularyMayHaveManyMoreMergesThanTokens(t *testing.T) {
	const longest = 64
	vocab, merges := map[string]int{}, []string{}
	for n := 1; n <= longest; n++ {
		whole := strings.Repeat("a", n)
		vocab[whole] = n
		for left := 1; left < n; left++ {
			merges = append(merges, whole[:left]+" "+whole[left:])
		}
	}
	model, err := json.Marshal(map[string]any{"type": "BPE", "vocab": vocab, "merges": merges})
	if err != nil {
		t.Fatal(err)
	}
	tok, err := Load(file(map[string]string{"model": string(model)}))
	if err != nil {
		t.Fatal(err)
	}
	if got := tok.Encode(strings.Repeat("a", 8), false); !slices.Equal(got, []uint32{8}) {
		t.Errorf("got %v, want the token of eight", got)
	}
}
