package sim

import "io"

// Reply is a fixed answer: a prompt whose text contains Match is answered with exactly Text. An empty Match is in
// every prompt.
type Reply struct {
	Match string `json:"match"`
	Text  string `json:"text"`
}

// ParseReplies reads JSON lines, one reply each; the first that matches a prompt answers it.
func ParseReplies(r io.Reader) ([]Reply, error) {
	return parseLines(r, "replies", func(Reply) error { return nil })
}
