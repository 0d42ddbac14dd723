package tokenizer

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type corpusLine struct {
	I    int
	Text string
}

// goldenLine says what the library gives for a text of the corpus: ids or their hash, the special tokens around them, the
// decoded text or its hash where it is not the text, and the same without special tokens.
type goldenLine struct {
	I, N      int
	IDs       []uint32
	H         string
	SP, SF    []uint32
	Dec, Skip json.RawMessage
}

func hashIDs(ids []uint32) string {
	h := sha256.New()
	for _, id := range ids {
		h.Write(binary.LittleEndian.AppendUint32(nil, id))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// sameHash compares with the first 8 bytes of a hash, or all of it.
func sameHash(t *testing.T, whole, want string) bool {
	if len(want) < 16 {
		t.Fatalf("hash %q is too short", want)
	}
	return strings.HasPrefix(whole, want)
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
	return sameHash(t, hex.EncodeToString(sum[:]), hashed.H)
}

func checkGolden(t *testing.T, tok *Tokenizer, text string, g goldenLine) bool {
	ids := tok.Encode(text, false)
	ok := len(ids) == g.N
	if g.H != "" {
		ok = ok && sameHash(t, hashIDs(ids), g.H)
	} else {
		ok = ok && slices.Equal(ids, g.IDs)
	}
	if !ok {
		t.Errorf("text %d %.80q: ids %v, want %v", g.I, text, short(ids), short(g.IDs))
		return false
	}
	whole := tok.Encode(text, true)
	if want := slices.Concat(g.SP, ids, g.SF); !slices.Equal(whole, want) {
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

// checkGoldens compares a tokenizer with its goldens on a corpus.
func checkGoldens(t *testing.T, tokenizer, goldens string, texts []string) {
	tok := loadGzip(t, tokenizer)
	good, all := 0, readLines[goldenLine](t, goldens)
	if raced { // the race detector costs fifteen times the time and looks for something else
		all = slices.DeleteFunc(all, func(g goldenLine) bool { return g.I%16 != 0 })
	}
	for i, g := range all {
		if checkGolden(t, tok, texts[g.I], g) {
			good++
		}
		if i+1-good > 10 {
			t.Fatal("too many differences")
		}
	}
	t.Logf("%d of %d texts identical", good, len(all))
}

func readCorpus(t testing.TB, name string) []string {
	corpus := readLines[corpusLine](t, name)
	texts := make([]string, len(corpus))
	for _, line := range corpus {
		texts[line.I] = line.Text
	}
	return texts
}

// goldenDir is where our own goldens lie; a larger set made by testdata/oracle/goldens.py may be put elsewhere.
func goldenDir() string {
	if dir := os.Getenv("LEEWAY_GOLDENS"); dir != "" {
		return dir
	}
	return "testdata"
}

func TestEveryFamilyMatchesTheLibrary(t *testing.T) {
	dir := goldenDir()
	texts := readCorpus(t, filepath.Join(dir, "corpus.jsonl.gz"))
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.tokenizer.json.gz"))
	if len(files) < 40 {
		t.Fatalf("only %d tokenizers in %s", len(files), dir)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".tokenizer.json.gz")
		t.Run(name, func(t *testing.T) {
			checkGoldens(t, file, filepath.Join(dir, "goldens", name+".jsonl.gz"), texts)
		})
	}
}
