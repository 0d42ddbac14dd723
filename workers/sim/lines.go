package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line of a faults or replies file.
const maxLine = 16 << 20

// parseLines reads JSON lines, one value each. Blank lines and lines that begin with # are skipped; an unknown field,
// or anything behind a value, is an error that names the line.
func parseLines[T any](r io.Reader, what string, check func(T) error) ([]T, error) {
	var values []T
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		var v T
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		err := dec.Decode(&v)
		if err == nil && dec.InputOffset() < int64(len(line)) {
			err = errors.New("there is something behind the object")
		}
		if err == nil {
			err = check(v)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", what, n, err)
		}
		values = append(values, v)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return values, nil
}
