package main

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed *.jsonl
var data embed.FS

// tools is what "$tools" stands for in requests.jsonl.
const tools = `[
	{"type": "function", "function": {"name": "weather", "description": "w", "parameters": {"type": "object", "properties": {
		"city": {"type": "string"}, "days": {"type": "integer"}, "metric": {"type": "boolean"}, "at": {"type": "object"}
	}, "required": ["city"]}}},
	{"type": "function", "function": {"name": "clock", "parameters": {"type": "object", "properties": {}}}}
]`

// request is one line of requests.jsonl.
type request struct {
	Name    string            `json:"name"`
	Parsers string            `json:"parsers"` // "tool parser/reasoning parser"; "" for neither
	Flags   []string          `json:"flags"`   // further flags, of both gateways
	Method  string            `json:"method"`  // POST
	Path    string            `json:"path"`    // /v1/chat/completions
	Headers map[string]string `json:"headers"` // "" takes one away
	Body    json.RawMessage   `json:"body"`    // an object, or a string to be sent as it is
}

// group is the requests to one pair of gateways.
type group struct {
	flags    []string
	requests []request
}

// known is one line of differences.jsonl: a difference that stands, and why.
type known struct {
	Area   string `json:"area"`
	Reason string `json:"reason"`
	// Where has pairs of a request's name and a place in its answer, both as patterns.
	Where [][2]string `json:"where"`
	// General ones show in answers of every kind; an answer with no others counts as alike.
	General bool `json:"general,omitempty"`
	// Dialect is the only one that shows it; "" for all.
	Dialect string `json:"dialect,omitempty"`
}

func inDialect(all []known, dialect string) []known {
	return slices.DeleteFunc(all, func(k known) bool { return k.Dialect != "" && k.Dialect != dialect })
}

func readRequests(wanted func(name string) bool) (groups []group, err error) {
	requests, err := readLines[request]("requests.jsonl")
	if err != nil {
		return nil, err
	}
	for _, r := range requests {
		r.Body = bytes.Replace(r.Body, []byte(`"$tools"`), []byte(tools), 1)
		r.Body = bytes.Replace(r.Body, []byte("$long"), bytes.Repeat([]byte("word "), 33_000), 1)
		flags := r.gatewayFlags()
		i := slices.IndexFunc(groups, func(g group) bool { return slices.Equal(g.flags, flags) })
		for _, r := range r.variants() {
			if !wanted(r.Name) {
				continue
			}
			if i < 0 {
				i = len(groups)
				groups = append(groups, group{flags: flags})
			}
			groups[i].requests = append(groups[i].requests, r)
		}
	}
	return groups, nil
}

func (r request) gatewayFlags() (flags []string) {
	tool, thought, _ := strings.Cut(r.Parsers, "/")
	if tool != "" {
		flags = append(flags, "--tool-call-parser", tool)
	}
	if thought != "" {
		flags = append(flags, "--reasoning-parser", thought)
	}
	return append(flags, r.Flags...)
}

// variants sends what may stream both ways, whole first.
func (r request) variants() []request {
	if r.Method == "" {
		r.Method = "POST"
	}
	if r.Path == "" {
		r.Path = "/v1/chat/completions"
	}
	streams := r.Path == "/v1/chat/completions" || r.Path == "/v1/completions"
	if !streams || len(r.Body) == 0 || r.Body[0] != '{' || strings.Contains(string(r.Body), `"stream"`) {
		return []request{r}
	}
	whole, streamed := r, r
	whole.Name += "/whole"
	streamed.Name += "/stream"
	streamed.Body = json.RawMessage(`{"stream":true,` + string(r.Body[1:]))
	return []request{whole, streamed}
}

func readLines[T any](name string) (all []T, err error) {
	file, err := data.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		all = append(all, one)
	}
	return all, lines.Err()
}

// match is path.Match with a star that also crosses slashes.
func match(pattern, name string) bool {
	ok, _ := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
	return ok
}
