// Command dropin holds leeway against the published gateway: the same simulated worker with scripted replies, the same
// requests, whole and streamed, good and bad. Statuses, headers, bodies, frames and the order of events are compared
// field by field, with ids, times and ports masked. Every difference must stand in differences.jsonl with its reason.
//
//	go run ./e2e/dropin --smg PATH_TO_SMG [--leeway PATH] [--dialect sglang,vllm,tokenspeed] [--only PATTERN] [--show]
//
// requests.jsonl holds the requests, by the parsers and flags that the gateways are started with; a chat or completion
// that does not say whether it streams is sent both ways, and then leeway's two answers must agree as well. Those whose name
// begins with "parser" are about the gateway alone, and sent in the first dialect only.
//
// replies.jsonl holds what the model says. After a change of differences.jsonl, --table writes README's table.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

type options struct {
	smg, leeway, tokenizer, only, readme string
	show, table                          bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	var dialects string
	flag.StringVar(&o.smg, "smg", "", "the published gateway's program (pip install smg==1.13.0)")
	flag.StringVar(&o.leeway, "leeway", "./leeway", "the built leeway")
	flag.StringVar(&dialects, "dialect", "sglang,vllm,tokenspeed", "the worker's dialects, one after the other")
	flag.StringVar(&o.tokenizer, "tokenizer", "workers/sim/demo", "tokenizer folder, with config.json")
	flag.StringVar(&o.only, "only", "*", "compare only requests whose name matches")
	flag.StringVar(&o.readme, "readme", "README.md", "where --table writes")
	flag.BoolVar(&o.show, "show", false, "print every difference, known ones too")
	flag.BoolVar(&o.table, "table", false, "write the table of differences, and compare nothing")
	flag.Parse()
	if err := run(ctx, o, strings.Split(dialects, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "dropin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, dialects []string) error {
	if o.table {
		return writeTable(o.readme)
	}
	for i, dialect := range dialects {
		if err := compareAll(ctx, o, dialect, i == 0); err != nil {
			return fmt.Errorf("%s: %w", dialect, err)
		}
	}
	return nil
}

func compareAll(ctx context.Context, o options, dialect string, all bool) error {
	groups, err := readRequests(func(name string) bool { return match(o.only, name) && (all || !strings.HasPrefix(name, "parser ")) })
	if err != nil {
		return err
	}
	known, err := readLines[known]("differences.jsonl")
	if err != nil {
		return err
	}
	fleet, err := startFleet(ctx, o, dialect, groups)
	if err != nil {
		return err
	}
	defer fleet.stop()
	t := &tally{known: inDialect(known, dialect), show: o.show}
	for _, group := range groups {
		if err := compareGroup(ctx, fleet, group, t); err != nil {
			return fmt.Errorf("flags %q: %w", group.flags, err)
		}
	}
	return t.report(dialect, all && o.only == "*")
}

func compareGroup(ctx context.Context, f *fleet, g group, t *tally) error {
	pair, err := f.pair(g)
	if err != nil {
		return err
	}
	defer pair.stop()
	var whole answer
	for _, r := range g.requests {
		ours, theirs, err := pair.send(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		t.add(r.Name, differences(ours, theirs))
		if strings.HasSuffix(r.Name, "/whole") {
			whole = ours
		} else if strings.HasSuffix(r.Name, "/stream") && whole.status == ours.status {
			t.agree(r.Name, says(whole), says(ours))
		}
	}
	return nil
}
