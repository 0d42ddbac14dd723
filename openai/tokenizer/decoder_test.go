package tokenizer

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// stream decodes ids one by one and checks that every piece is whole characters.
func stream(t *testing.T, tok *Tokenizer, ids []uint32, skip bool) string {
	t.Helper()
	d := tok.NewDecoder(skip)
	var out []byte
	for _, id := range ids {
		from := len(out)
		out = d.Append(out, id)
		if !utf8.Valid(out[from:]) {
			t.Fatalf("id %d of %v: piece %q is not whole characters", id, ids, out[from:])
		}
	}
	return string(d.Flush(out))
}

func TestAStreamDecodesToWhatTheWholeDoes(t *testing.T) {
	texts := readCorpus(t, "testdata/corpus.jsonl.gz")
	files, _ := filepath.Glob("testdata/*/*.tokenizer.json.gz")
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tokenizer.json.gz"), func(t *testing.T) {
			tok, r := loadGzip(t, file), rand.New(rand.NewPCG(7, 7))
			size := len(tok.decoding.flags)
			for i, text := range texts {
				ids := tok.Encode(text, i%2 == 0)
				for range r.IntN(4) { // ids in an order that no text has
					ids = append(ids, uint32(r.IntN(size+2)))
				}
				if i%3 == 0 {
					r.Shuffle(len(ids), func(a, b int) { ids[a], ids[b] = ids[b], ids[a] })
				}
				for _, skip := range []bool{false, true} {
					if got, want := stream(t, tok, ids, skip), tok.Decode(ids, skip); got != want {
						t.Fatalf("ids %v: streamed %q, whole %q", short(ids), got, want)
					}
				}
			}
		})
	}
}

func TestTheBytesOfTokensMakeTheText(t *testing.T) {
	texts := readCorpus(t, "testdata/corpus.jsonl.gz")
	for name, exact := range map[string]bool{"mini/qwen3vocab__llama3_glm4_cl100k": true, "mini/mistral_v01_spm": false} {
		tok := loadGzip(t, "testdata/"+name+".tokenizer.json.gz")
		for _, text := range texts {
			var all []byte
			for _, id := range tok.Encode(text, false) {
				all = tok.AppendBytes(all, id)
			}
			want := text
			if !exact { // it puts a space in front, and takes it away again from a whole text
				all, want = bytes.TrimLeft(all, " "), strings.TrimLeft(tok.Decode(tok.Encode(text, false), false), " ")
			}
			if string(all) != want {
				t.Fatalf("%s: %q became %q", name, text, all)
			}
		}
		if got := tok.AppendBytes(nil, 1<<21); got != nil {
			t.Errorf("%s: a token that is not there is %q", name, got)
		}
	}
}

func TestADecoderBeginsAnewAfterFlush(t *testing.T) {
	tok := loadGzip(t, "testdata/mini/mistral_v01_spm.tokenizer.json.gz")
	d := tok.NewDecoder(false)
	var first []byte
	for range 2 {
		var out []byte
		for _, id := range tok.Encode("hello world", false) {
			out = d.Append(out, id)
		}
		out = d.Flush(out)
		if first == nil {
			first = out
		}
		if string(out) != "hello world" || string(first) != string(out) {
			t.Errorf("decoded %q, then %q", first, out)
		}
	}
}

func TestBytesThatAreNoCharacterBecomeReplacementCharacters(t *testing.T) {
	spm := loadGzip(t, "testdata/mini/mistral_v01_spm.tokenizer.json.gz")
	level := loadGzip(t, "testdata/mini/qwen3.tokenizer.json.gz")
	id := func(tok *Tokenizer, token string) uint32 {
		id, ok := tok.ID(token)
		if !ok {
			t.Fatalf("no token %q", token)
		}
		return id
	}
	for _, test := range []struct {
		name   string
		tok    *Tokenizer
		tokens []string
		want   string
	}{
		{"a byte token for every byte of an invalid run", spm, []string{"<0xE4>", "<0xBD>", "a"}, "\uFFFD\uFFFDa"},
		{"a valid run is text", spm, []string{"<0xE4>", "<0xBD>", "<0xA0>", "a"}, "你a"},
		{"one bad byte spoils its run", spm, []string{"<0xE4>", "<0xBD>", "<0xA0>", "<0xFF>"}, "\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"byte level: one for the longest start of a character", level, []string{byteText(0xe4), byteText(0xbd), "a"}, "\uFFFDa"},
		{"byte level: a start that cannot go on is apart", level, []string{byteText(0xe0), byteText(0x80)}, "\uFFFD\uFFFD"},
		{"byte level: cut off at the end", level, []string{"a", byteText(0xf0), byteText(0x9f), byteText(0x98)}, "a\uFFFD"},
	} {
		var ids []uint32
		for _, token := range test.tokens {
			ids = append(ids, id(test.tok, token))
		}
		if got := test.tok.Decode(ids, false); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got := stream(t, test.tok, ids, false); got != test.want {
			t.Errorf("%s: streamed %q, want %q", test.name, got, test.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	var toks []*Tokenizer
	for _, name := range []string{"mini/qwen3", "mini/mistral_v01_spm", "zoo/unigram_bytes", "zoo/bert", "zoo/affixed"} {
		toks = append(toks, loadGzip(f, "testdata/"+name+".tokenizer.json.gz"))
	}
	f.Add(uint8(0), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(uint8(1), []byte{0, 200, 0, 201, 0, 202})
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		tok := toks[int(which)%len(toks)]
		var ids []uint32
		for i := 0; i+1 < len(data); i += 2 {
			ids = append(ids, uint32(data[i])<<8|uint32(data[i+1]))
		}
		for _, skip := range []bool{false, true} {
			whole := tok.Decode(ids, skip)
			if got := stream(t, tok, ids, skip); got != whole {
				t.Fatalf("streamed %q, whole %q", got, whole)
			}
		}
	})
}
