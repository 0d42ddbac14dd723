package tokenizer

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

func TestLinesAreEncodedAndDecodedInOrder(t *testing.T) {
	texts := []string{"Hello, world!", "", "<|im_start|>user\nhi<|im_end|>", "tabs\tand \"quotes\" \\ \u2028 é 日本 😀\x01"}
	var in bytes.Buffer
	for _, text := range texts {
		line, _ := json.Marshal(text)
		in.Write(append(line, '\n'))
	}
	var ids, out bytes.Buffer
	o := Options{TokenizerPath: demoDir}
	if err := EncodeLines(&in, &ids, o); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(ids.String(), "\n"); n != len(texts) {
		t.Fatalf("%d lines of ids", n)
	}
	if err := DecodeLines(&ids, &out, Options{TokenizerPath: demoDir + "/tokenizer.json"}); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&out)
	for i, want := range texts {
		var got string
		if err := d.Decode(&got); err != nil || got != want {
			t.Errorf("line %d: %q, %v; want %q", i+1, got, err, want)
		}
	}
}

func TestBadLinesAreNamed(t *testing.T) {
	o := Options{TokenizerPath: demoDir}
	for _, test := range []struct {
		name  string
		run   func(io.Reader, io.Writer, Options) error
		in    string
		o     Options
		error string
	}{
		{"a number is no text", EncodeLines, "\"a\"\n12\n", o, "line 2: want a JSON string, quotes and all, got `12`"},
		{"a text needs its quotes", EncodeLines, "Hello\n", o, "line 1: want a JSON string, quotes and all, got `Hello`"},
		{"null is no text", EncodeLines, "null\n", o, "line 1: want a JSON string"},
		{"an empty line is no text", EncodeLines, "\"a\"\n\n\"b\"\n", o, "line 2: want a JSON string"},
		{"two texts on a line", EncodeLines, "\"a\" \"b\"\n", o, "line 1: want a JSON string"},
		{"a text is no list of ids", DecodeLines, "[1]\n\"a\"\n", o, `line 2: want a JSON array of token ids`},
		{"an id is not negative", DecodeLines, "[-1]\n", o, "line 1: want a JSON array of token ids"},
		{"null is no id", DecodeLines, "[1]\n[1,null,2]\n", o, "line 2: want a JSON array of token ids, got `[1,null,2]`"},
		{"null is no list of ids", DecodeLines, "null\n", o, "line 1: want a JSON array of token ids"},
		{"no such file", DecodeLines, "", Options{TokenizerPath: demoDir + "/nosuch.json"}, "tokenizer-path: stat " + demoDir + "/nosuch.json: no such file"},
		{"an id has a token", DecodeLines, "[1]\n[1,4000000000]\n", o, "line 2: the tokenizer has no token 4000000000"},
		{"no directory", EncodeLines, "", Options{}, "tokenizer-path: name the directory"},
		{"a directory without a tokenizer", DecodeLines, "", Options{TokenizerPath: "testdata"}, "tokenizer-path testdata: no tokenizer.json"},
	} {
		var out bytes.Buffer
		err := test.run(strings.NewReader(test.in), &out, test.o)
		if err == nil || !strings.Contains(err.Error(), test.error) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.error)
		}
	}
}

func TestALineIsAnsweredBeforeTheNextComes(t *testing.T) {
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- EncodeLines(in, out, Options{TokenizerPath: demoDir}) }()
	room := make([]byte, 1000)
	for range 3 {
		if _, err := io.WriteString(feed, "\"hello\"\n"); err != nil {
			t.Fatal(err)
		}
		if n, err := answers.Read(room); err != nil || !bytes.HasSuffix(room[:n], []byte("]\n")) {
			t.Fatalf("%q, %v", room[:n], err)
		}
	}
	feed.Close()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
