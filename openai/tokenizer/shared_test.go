package tokenizer

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// sharedDir returns the directory of the large test data, or skips: the project is tested without it, but less widely.
func sharedDir(t testing.TB) string {
	dir := os.Getenv("LEEWAY_SHARED")
	if dir == "" {
		dir = "../../../shared"
	}
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

func loadGzip(t testing.TB, name string) *Tokenizer {
	t.Helper()
	tok, err := Load(fstest.MapFS{"tokenizer.json": {Data: readGzip(t, name)}})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return tok
}

type corpusLine struct {
	I    int
	Text string
}

// goldenLine says what the library gives for a text of the corpus: ids or their hash, the special tokens in front, the
// decoded text or its hash where it is not the text, and the same without special tokens.
type goldenLine struct {
	I, N      int
	IDs       []uint32
	H         string
	SP        []uint32
	Dec, Skip json.RawMessage
}

func hashIDs(ids []uint32) string {
	h := sha256.New()
	for _, id := range ids {
		h.Write(binary.LittleEndian.AppendUint32(nil, id))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sameText tells whether text is what raw says: nothing for otherwise, a text, or an object with its hash.
func sameText(t *testing.T, raw json.RawMessage, text, otherwise string) bool {
	if len(raw) == 0 {
		return text == otherwise
	}
	var want string
	if json.Unmarshal(raw, &want) == nil {
		return text == want
	}
	var hashed struct{ H string }
	if err := json.Unmarshal(raw, &hashed); err != nil {
		t.Fatalf("golden %s: %v", raw, err)
	}
	sum := sha256.Sum256([]byte(text))
	return strings.HasPrefix(hex.EncodeToString(sum[:]), hashed.H)
}

func checkGolden(t *testing.T, tok *Tokenizer, texts []string, g goldenLine) bool {
	text := texts[g.I]
	ids := tok.Encode(text, false)
	ok := len(ids) == g.N
	if g.H != "" {
		ok = ok && strings.HasPrefix(hashIDs(ids), g.H)
	} else {
		ok = ok && slices.Equal(ids, g.IDs)
	}
	if !ok {
		t.Errorf("text %d %.80q: ids %v, want %v", g.I, text, short(ids), short(g.IDs))
		return false
	}
	whole := tok.Encode(text, true)
	if want := append(slices.Clone(g.SP), ids...); !slices.Equal(whole, want) {
		t.Errorf("text %d %.80q: with special tokens %v, want %v", g.I, text, short(whole), short(want))
		return false
	}
	dec := tok.Decode(ids, false)
	if !sameText(t, g.Dec, dec, text) {
		t.Errorf("text %d %.80q: decoded %.80q, want %.80s", g.I, text, dec, g.Dec)
		return false
	}
	if skipped := tok.Decode(whole, true); !sameText(t, g.Skip, skipped, dec) {
		t.Errorf("text %d %.80q: decoded without special tokens %.80q, want %.80s", g.I, text, skipped, g.Skip)
		return false
	}
	return true
}

func short(ids []uint32) []uint32 { return ids[:min(len(ids), 40)] }

func TestTheSharedGoldensAreMatchedByteForByte(t *testing.T) {
	dir := sharedDir(t)
	corpus := readLines[corpusLine](t, filepath.Join(dir, "corpus.jsonl.gz"))
	texts := make([]string, len(corpus))
	for _, line := range corpus {
		texts[line.I] = line.Text
	}
	mini, _ := filepath.Glob(filepath.Join(dir, "mini", "*.tokenizer.json.gz"))
	full, _ := filepath.Glob(filepath.Join(dir, "full", "*", "tokenizer.json.gz"))
	for _, file := range append(mini, full...) {
		name, goldens := strings.TrimSuffix(filepath.Base(file), ".tokenizer.json.gz"), "goldens_mini"
		if name == "tokenizer.json.gz" {
			name, goldens = filepath.Base(filepath.Dir(file)), "goldens_full"
		}
		t.Run(goldens+"/"+name, func(t *testing.T) {
			t.Parallel()
			tok := loadGzip(t, file)
			good, all := 0, readLines[goldenLine](t, filepath.Join(dir, goldens, name+".jsonl.gz"))
			for _, g := range all {
				if checkGolden(t, tok, texts, g) {
					good++
				}
				if g.I-good > 20 {
					t.Fatal("too many differences")
				}
			}
			t.Logf("%d of %d texts identical", good, len(all))
		})
	}
}
