package tokenizer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// benchTexts returns chunks of 8 KB by kind: from the large corpus if it is there, else from ours.
func benchTexts(b *testing.B) map[string][]string {
	kinds := map[string]*strings.Builder{"prose": {}, "code": {}, "cjk": {}, "corpus": {}}
	add := func(kind, text string) { kinds[kind].WriteString(text + "\n") }
	file := filepath.Join(sharedRoot(), "tokens", "corpus.jsonl.gz")
	if _, err := os.Stat(file); err == nil {
		type line struct{ Cat, Text string }
		for _, l := range readLines[line](b, file) {
			if kind, _, _ := strings.Cut(l.Cat, "_"); kinds[kind] != nil {
				add(kind, l.Text)
			}
			add("corpus", l.Text[:min(len(l.Text), 2000)])
		}
	} else {
		b.Logf("no large corpus in %s: measuring on our own", file)
		r, texts := rand.New(rand.NewPCG(1, 2)), readCorpus(b, "testdata/corpus.jsonl.gz")
		for range 2000 {
			add("corpus", texts[r.IntN(len(texts))])
		}
		for kind, pattern := range map[string]string{"prose": "../../*.md", "code": "*.go"} {
			files, _ := filepath.Glob(pattern)
			for _, name := range files {
				data, _ := os.ReadFile(name)
				add(kind, string(data))
			}
		}
	}
	out := map[string][]string{}
	for kind, all := range kinds {
		for text := all.String(); len(text) > 1000 && len(out[kind]) < 64; {
			cut := min(len(text), 8<<10)
			out[kind] = append(out[kind], strings.ToValidUTF8(text[:cut], ""))
			text = text[cut:]
		}
	}
	return out
}

func sharedRoot() string {
	if dir := os.Getenv("LEEWAY_SHARED"); dir != "" {
		return dir
	}
	return "../../../shared"
}

// benchFiles returns the tokenizers to measure: the full-size ones if they are there, and small ones.
func benchFiles() map[string]string {
	out := map[string]string{}
	for _, name := range []string{"mistral_v01_spm", "mistralvocab__gemma3cfg", "qwen3"} {
		out["mini_"+name] = filepath.Join("testdata/mini", name+".tokenizer.json.gz")
	}
	full, _ := filepath.Glob(filepath.Join(sharedRoot(), "tokens/full/*/tokenizer.json.gz"))
	for _, file := range full {
		out[filepath.Base(filepath.Dir(file))] = file
	}
	return out
}

func totalSize(texts []string) (n int) {
	for _, text := range texts {
		n += len(text)
	}
	return n
}

func BenchmarkEncode(b *testing.B) {
	texts := benchTexts(b)
	for name, file := range benchFiles() {
		tok := loadGzip(b, file)
		for _, kind := range slices.Sorted(maps.Keys(texts)) {
			b.Run(fmt.Sprintf("%s/%s", name, kind), func(b *testing.B) {
				var ids []uint32
				b.SetBytes(int64(totalSize(texts[kind])))
				b.ReportAllocs()
				for b.Loop() {
					for _, text := range texts[kind] {
						ids = tok.AppendEncode(ids[:0], text, false)
					}
				}
			})
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	texts := benchTexts(b)
	for name, file := range benchFiles() {
		tok := loadGzip(b, file)
		b.Run(name, func(b *testing.B) {
			var all [][]uint32
			for _, text := range texts["corpus"] {
				all = append(all, tok.Encode(text, false))
			}
			b.SetBytes(int64(totalSize(texts["corpus"])))
			for b.Loop() {
				for _, ids := range all {
					tok.Decode(ids, false)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for name, file := range benchFiles() {
		b.Run(name, func(b *testing.B) {
			fsys := oneFile(readGzip(b, file))
			for b.Loop() {
				if _, err := Load(fsys); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// librarySpeed is what testdata/oracle/bench.py measures, in bytes a second.
type librarySpeed struct{ Encode, Batch, Decode float64 }

// BenchmarkAgainstLibrary measures Hugging Face's Rust code and ours in turns, each on one core, and reports both and the
// ratio: to its ordinary encode, and to encode_batch_fast, which does without offsets. Run it with -benchtime 1x: it keeps its own time.
func BenchmarkAgainstLibrary(b *testing.B) {
	name := python(b)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	texts := benchTexts(b)
	for model, file := range benchFiles() {
		tok := loadGzip(b, file)
		for _, kind := range slices.Sorted(maps.Keys(texts)) {
			b.Run(fmt.Sprintf("%s/%s", model, kind), func(b *testing.B) {
				for b.Loop() {
					duel(b, name, file, tok, texts[kind])
				}
			})
		}
	}
}

func duel(b *testing.B, python, file string, tok *Tokenizer, texts []string) {
	plain := filepath.Join(b.TempDir(), "tokenizer.json")
	if err := os.WriteFile(plain, readGzip(b, file), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(python, "testdata/oracle/bench.py", plain, "0.3")
	cmd.Stderr = os.Stderr
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	answers := bufio.NewReader(out)
	line, _ := json.Marshal(texts)
	var encode, decode, theirs, fast, theirDecode float64
	for range 3 {
		in.Write(append(line, '\n'))
		answer, err := answers.ReadBytes('\n')
		if err != nil {
			b.Fatal(err)
		}
		var speed librarySpeed
		if err := json.Unmarshal(answer, &speed); err != nil {
			b.Fatal(err)
		}
		theirs, fast = max(theirs, speed.Encode), max(fast, speed.Batch)
		theirDecode = max(theirDecode, speed.Decode)
		e, d := ourSpeed(tok, texts)
		encode, decode = max(encode, e), max(decode, d)
	}
	in.Close()
	cmd.Wait()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(theirs/1e6, "hf-enc-MB/s")
	b.ReportMetric(encode/1e6, "enc-MB/s")
	b.ReportMetric(encode/theirs, "enc-ratio")
	b.ReportMetric(fast/1e6, "hf-fast-MB/s")
	b.ReportMetric(encode/fast, "fast-ratio")
	b.ReportMetric(theirDecode/1e6, "hf-dec-MB/s")
	b.ReportMetric(decode/1e6, "dec-MB/s")
	b.ReportMetric(decode/theirDecode, "dec-ratio")
}

// cpuTime returns the processor time of this process: the machine may have other work.
func cpuTime() time.Duration {
	var use syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &use)
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// ourSpeed returns bytes a second of encoding and decoding by processor time, best of some passes; every result is a new one, as theirs.
func ourSpeed(tok *Tokenizer, texts []string) (encode, decode float64) {
	size := float64(totalSize(texts))
	ids := make([][]uint32, len(texts))
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		start := cpuTime()
		for i, text := range texts {
			ids[i] = tok.Encode(text, false)
		}
		encode = max(encode, size/(cpuTime()-start).Seconds())
		start = cpuTime()
		for i := range texts {
			tok.Decode(ids[i], false)
		}
		decode = max(decode, size/(cpuTime()-start).Seconds())
	}
	return encode, decode
}
