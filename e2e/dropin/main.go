// Command dropin holds leeway against the published gateway: the same simulated worker with scripted replies, the same
// requests, whole and streamed, good and bad. Statuses, headers, bodies and event sequences are compared field by
// field, with ids and times masked. Every difference must stand in differences.jsonl with its reason.
//
//	go run ./e2e/dropin --smg PATH_TO_SMG [--leeway PATH] [--dialect sglang] [--only PATTERN] [--show]
//
// requests.jsonl holds the requests, by the parsers that the gateways are started with; a chat or completion that does
// not say whether it streams is sent both ways. replies.jsonl holds what the model says.
package main

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
)

//go:embed *.jsonl
var data embed.FS

type options struct {
	smg, leeway, dialect, tokenizer, only string
	show                                  bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.smg, "smg", "", "the published gateway's program (pip install smg==1.13.0)")
	flag.StringVar(&o.leeway, "leeway", "./leeway", "the built leeway")
	flag.StringVar(&o.dialect, "dialect", "sglang", "the worker's dialect")
	flag.StringVar(&o.tokenizer, "tokenizer", "workers/sim/demo", "tokenizer folder, with config.json")
	flag.StringVar(&o.only, "only", "*", "compare only requests whose name matches")
	flag.BoolVar(&o.show, "show", false, "print every difference, known ones too")
	flag.Parse()
	if err := compareAll(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "dropin:", err)
		os.Exit(1)
	}
}

// request is one line of requests.jsonl.
type request struct {
	Name    string            `json:"name"`
	Parsers string            `json:"parsers"` // "tool parser/reasoning parser"; "" for neither
	Method  string            `json:"method"`  // POST
	Path    string            `json:"path"`    // /v1/chat/completions
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"` // an object, or a string to be sent as it is
}

// known is one line of differences.jsonl: patterns of path.Match, and why the difference stands.
type known struct {
	Case   string `json:"case"`
	At     string `json:"at"`
	Reason string `json:"reason"`
	// Dialect is the only one that shows it; "" for all.
	Dialect string `json:"dialect,omitempty"`
	used    int
}

func compareAll(ctx context.Context, o options) error {
	requests, err := readLines[request]("requests.jsonl")
	if err != nil {
		return err
	}
	allowed, err := readLines[known]("differences.jsonl")
	if err != nil {
		return err
	}
	groups := map[string][]request{}
	for _, r := range requests {
		for _, r := range r.variants() {
			if match(o.only, r.Name) {
				groups[r.Parsers] = append(groups[r.Parsers], r)
			}
		}
	}
	allowed = slices.DeleteFunc(allowed, func(k known) bool { return k.Dialect != "" && k.Dialect != o.dialect })
	t := &tally{allowed: allowed, show: o.show}
	for _, parsers := range slices.Sorted(maps.Keys(groups)) {
		if err := compareGroup(ctx, o, parsers, groups[parsers], t); err != nil {
			return fmt.Errorf("parsers %q: %w", parsers, err)
		}
	}
	return t.report()
}

func compareGroup(ctx context.Context, o options, parsers string, requests []request, t *tally) error {
	pair, err := startPair(ctx, o, parsers)
	if err != nil {
		return err
	}
	defer pair.stop()
	for _, r := range requests {
		theirs, err := pair.send(ctx, pair.smg, r)
		if err != nil {
			return fmt.Errorf("%s, smg: %w", r.Name, err)
		}
		ours, err := pair.send(ctx, pair.leeway, r)
		if err != nil {
			return fmt.Errorf("%s, leeway: %w", r.Name, err)
		}
		t.add(r.Name, differences(ours, theirs))
	}
	return nil
}

// variants sends what may stream both ways.
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

// tally counts what was compared.
type tally struct {
	allowed                 []known
	show                    bool
	compared, equal, unlike int
	unknown                 []string
}

func (t *tally) add(name string, found []difference) {
	t.compared++
	if len(found) == 0 {
		t.equal++
		return
	}
	t.unlike++
	for _, d := range found {
		line := fmt.Sprintf("%s: %s: leeway %.200s, smg %.200s", name, d.at, d.ours, d.theirs)
		i := slices.IndexFunc(t.allowed, func(k known) bool { return match(k.Case, name) && match(k.At, d.at) })
		if i >= 0 {
			t.allowed[i].used++
		} else {
			t.unknown = append(t.unknown, line)
		}
		if t.show || i < 0 {
			fmt.Println(line)
		}
	}
}

// match is path.Match with a star that also crosses slashes.
func match(pattern, name string) bool {
	ok, _ := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
	return ok
}

func (t *tally) report() error {
	for _, k := range t.allowed {
		if k.used == 0 && t.compared > 300 {
			fmt.Printf("no longer seen: %s at %s (%s)\n", k.Case, k.At, k.Reason)
		}
	}
	fmt.Printf("%d responses compared: %d equal, %d with differences, all known but %d\n", t.compared, t.equal, t.unlike, len(t.unknown))
	if len(t.unknown) > 0 {
		return fmt.Errorf("%d differences without a reason", len(t.unknown))
	}
	return nil
}
