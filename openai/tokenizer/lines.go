package tokenizer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Options are those of the commands leeway tokenize and leeway detokenize.
type Options struct {
	TokenizerPath     string `flag:"tokenizer-path" help:"a model's directory, or the tokenizer.json in it"`
	AddSpecialTokens  bool   `flag:"add-special-tokens" help:"tokenize: put the special tokens around every text"`
	SkipSpecialTokens bool   `flag:"skip-special-tokens" help:"detokenize: leave special tokens out"`
}

// maxLine bounds a line of input.
const maxLine = 64 << 20

// EncodeLines reads a JSON string a line and writes a JSON array of ids a line.
func EncodeLines(r io.Reader, w io.Writer, o Options) error {
	t, err := o.open()
	if err != nil {
		return err
	}
	var ids []uint32
	return eachLine(r, w, func(dst, line []byte) ([]byte, error) {
		var text *string
		if err := json.Unmarshal(line, &text); err != nil || text == nil {
			return dst, fmt.Errorf("want a JSON string, quotes and all, got %#.60q", line)
		}
		ids = t.AppendEncode(ids[:0], *text, o.AddSpecialTokens)
		return appendIDs(dst, ids), nil
	})
}

// DecodeLines reads a JSON array of ids a line and writes a JSON string a line. An id that the tokenizer does not have
// is an error: Decode leaves it out, as the library does, but here somebody has given the wrong directory.
func DecodeLines(r io.Reader, w io.Writer, o Options) error {
	t, err := o.open()
	if err != nil {
		return err
	}
	return eachLine(r, w, func(dst, line []byte) ([]byte, error) {
		var list []*uint32
		err := json.Unmarshal(line, &list)
		if err != nil || list == nil || slices.Contains(list, nil) {
			return dst, fmt.Errorf("want a JSON array of token ids, got %#.60q", line)
		}
		ids := make([]uint32, len(list))
		for i, id := range list {
			if _, ok := t.Token(*id); !ok {
				return dst, fmt.Errorf("the tokenizer has no token %d", *id)
			}
			ids[i] = *id
		}
		return appendJSONString(dst, t.Decode(ids, o.SkipSpecialTokens)), nil
	})
}

func (o Options) open() (*Tokenizer, error) {
	dir := o.TokenizerPath
	if dir == "" {
		return nil, errors.New("tokenizer-path: name the directory of a model")
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("tokenizer-path: %w", err)
	}
	if !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	t, err := Load(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("tokenizer-path %s: %w", o.TokenizerPath, err)
	}
	return t, nil
}

// eachLine answers every line of r with one in w, at once where more is not waiting already.
func eachLine(r io.Reader, w io.Writer, answer func(dst, line []byte) ([]byte, error)) error {
	in, out := bufio.NewReaderSize(r, 64<<10), bufio.NewWriterSize(w, 64<<10)
	defer out.Flush()
	var line, dst []byte
	for n := 1; ; n++ {
		var err error
		line, err = readLine(in, line[:0])
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if len(line) == 0 && err != nil {
			return out.Flush()
		}
		dst, err = answer(dst[:0], bytes.TrimSpace(line))
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if _, err := out.Write(append(dst, '\n')); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// readLine appends the next line and its end to dst.
func readLine(in *bufio.Reader, dst []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		dst = append(dst, part...)
		if len(dst) > maxLine {
			return dst, fmt.Errorf("longer than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return dst, err
		}
	}
}

func appendIDs(dst []byte, ids []uint32) []byte {
	dst = append(dst, '[')
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(id), 10)
	}
	return append(dst, ']')
}

// appendJSONString appends text, which is valid UTF-8, as a JSON string.
func appendJSONString(dst []byte, text string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r < ' ' || r == '\u2028' || r == '\u2029':
			dst = append(dst, '\\', 'u', digits[r>>12], digits[r>>8&15], digits[r>>4&15], digits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
