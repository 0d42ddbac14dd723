package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Reply is a fixed answer: a prompt whose text contains Match is answered with exactly Text. An empty Match is in
// every prompt.
type Reply struct {
	Match string `json:"match"`
	Text  string `json:"text"`
}

// replyLine bounds a line of a replies file.
const replyLine = 16 << 20

// ParseReplies reads JSON lines, one reply each; the first that matches a prompt answers it. Blank lines and lines
// that begin with # are skipped.
func ParseReplies(r io.Reader) ([]Reply, error) {
	var replies []Reply
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, replyLine)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		var reply Reply
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&reply); err != nil {
			return nil, fmt.Errorf("replies: line %d: %w", n, err)
		}
		replies = append(replies, reply)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("replies: %w", err)
	}
	return replies, nil
}
