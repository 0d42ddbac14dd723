package tokenizer

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// sharedDir returns the directory of the large test data, or skips: the project is tested without it, but less widely.
func sharedDir(t testing.TB) string {
	dir := sharedRoot()
	if _, err := os.Stat(filepath.Join(dir, "tokens")); err != nil {
		t.Skipf("SKIPPED: no large test data in %s (set LEEWAY_SHARED)", dir)
	}
	return filepath.Join(dir, "tokens")
}

func readGzip(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readLines[T any](t testing.TB, name string) []T {
	t.Helper()
	var out []T
	lines := bufio.NewScanner(strings.NewReader(string(readGzip(t, name))))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, v)
	}
	return out
}

func oneFile(tokenizer []byte) fstest.MapFS { return fstest.MapFS{"tokenizer.json": {Data: tokenizer}} }

func loadGzip(t testing.TB, name string) *Tokenizer {
	t.Helper()
	tok, err := Load(oneFile(readGzip(t, name)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return tok
}

func TestTheSharedGoldensAreMatchedByteForByte(t *testing.T) {
	dir := sharedDir(t)
	texts := readCorpus(t, filepath.Join(dir, "corpus.jsonl.gz"))
	mini, _ := filepath.Glob(filepath.Join(dir, "mini", "*.tokenizer.json.gz"))
	full, _ := filepath.Glob(filepath.Join(dir, "full", "*", "tokenizer.json.gz"))
	for _, file := range append(mini, full...) {
		name, goldens := strings.TrimSuffix(filepath.Base(file), ".tokenizer.json.gz"), "goldens_mini"
		if name == "tokenizer.json.gz" {
			name, goldens = filepath.Base(filepath.Dir(file)), "goldens_full"
		}
		t.Run(goldens+"/"+name, func(t *testing.T) {
			t.Parallel()
			checkGoldens(t, file, filepath.Join(dir, goldens, name+".jsonl.gz"), texts)
		})
	}
}
