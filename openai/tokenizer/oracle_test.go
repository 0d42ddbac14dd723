package tokenizer

import (
	"bufio"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// oracle is Hugging Face's library in a Python process: a question a line, an answer a line.
type oracle struct {
	in  io.Writer
	out *bufio.Reader
}

type oracleAnswer struct {
	IDs, Special   []uint32
	Whole, Skipped string
}

// python returns the interpreter that has the library, or skips.
func python(t testing.TB) string {
	name := os.Getenv("LEEWAY_PYTHON")
	if name == "" {
		name = "python3"
	}
	if err := exec.Command(name, "-c", "import tokenizers").Run(); err != nil {
		t.Skipf("SKIPPED: %s has no tokenizers package (set LEEWAY_PYTHON to an interpreter that has)", name)
	}
	return name
}

// startOracle starts the library on a tokenizer.json.gz.
func startOracle(t testing.TB, file string) *oracle {
	name := python(t)
	plain := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := os.WriteFile(plain, readGzip(t, file), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, "testdata/oracle/serve.py", plain)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &oracle{in, bufio.NewReaderSize(out, 1<<20)}
}

func (o *oracle) ask(t testing.TB, question any) (a oracleAnswer) {
	line, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	line, err = o.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("the oracle died: %v", err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// compare encodes and decodes a text both ways.
func (o *oracle) compare(t *testing.T, tok *Tokenizer, text string, normalized bool) bool {
	t.Helper()
	want := o.ask(t, map[string]string{"text": text})
	ids, special := tok.Encode(text, false), tok.Encode(text, true)
	switch {
	case !slices.Equal(ids, want.IDs):
		t.Errorf("%q: ids %v, want %v", text, short(ids), short(want.IDs))
	case !slices.Equal(special, want.Special):
		t.Errorf("%q: with special tokens %v, want %v", text, short(special), short(want.Special))
	case normalized: // newer versions decode normalized added tokens to their normalized text
		return true
	case tok.Decode(ids, false) != want.Whole:
		t.Errorf("%q: decoded %q, want %q", text, tok.Decode(ids, false), want.Whole)
	case tok.Decode(special, true) != want.Skipped:
		t.Errorf("%q: decoded without special tokens %q, want %q", text, tok.Decode(special, true), want.Skipped)
	default:
		return true
	}
	return false
}

func hasNormalizedTokens(tok *Tokenizer) bool { return tok.addedNormal != nil }

// randomText draws from the corpus: slices of texts, single characters, and characters from anywhere in Unicode.
func randomText(r *rand.Rand, texts []string) string {
	var out strings.Builder
	for range 1 + r.IntN(8) {
		runes := []rune(texts[r.IntN(len(texts))])
		switch a := r.IntN(len(runes) + 1); r.IntN(4) {
		case 0:
			out.WriteString(string(runes[a:min(len(runes), a+r.IntN(40))]))
		case 1:
			out.WriteString(strings.Repeat(string(runes[a:min(len(runes), a+1)]), 1+r.IntN(4)))
		case 2:
			out.WriteString(string(runes[a:min(len(runes), a+1+r.IntN(3))]))
		case 3:
			out.WriteRune(rune(r.IntN([...]int{0x80, 0x800, 0x3000, 0xd800, 0x20000, 0x10ffff}[r.IntN(6)])))
		}
	}
	return strings.ToValidUTF8(out.String(), "\uFFFD")
}

func TestRandomTextsMatchTheLibrary(t *testing.T) {
	python(t)
	texts := readCorpus(t, "testdata/corpus.jsonl.gz")
	files, _ := filepath.Glob("testdata/*/*.tokenizer.json.gz")
	count := 60
	if os.Getenv("LEEWAY_LONG") != "" {
		count = 4000
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tokenizer.json.gz"), func(t *testing.T) {
			o, tok := startOracle(t, file), loadGzip(t, file)
			r := rand.New(rand.NewPCG(rand.Uint64(), 1))
			for n, bad := 0, 0; n < count && bad < 5; n++ {
				if !o.compare(t, tok, randomText(r, texts), hasNormalizedTokens(tok)) {
					bad++
				}
			}
		})
	}
}

func FuzzEncodeParity(f *testing.F) {
	python(f)
	file := os.Getenv("LEEWAY_FUZZ_TOKENIZER")
	if file == "" {
		file = "testdata/mini/qwen3.tokenizer.json.gz"
	}
	for _, text := range readCorpus(f, "testdata/corpus.jsonl.gz")[:60] {
		f.Add(text)
	}
	o, tok := startOracle(f, file), loadGzip(f, file)
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		o.compare(t, tok, text, hasNormalizedTokens(tok))
	})
}
