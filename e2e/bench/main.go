// Command bench measures what a gateway costs: CPU per streamed token and CPU per request, leeway's and the published
// gateway's in turn in front of the same simulated fleet, and prints the ratio.
//
//	go run ./e2e/bench --smg PATH_TO_SMG [--rounds 3] [--seconds 10] [--streams 100,500]
//
// The path is that of the program which `pip install smg==1.13.0` brings. CPU is user and system time of the gateway's
// process alone, read from /proc, so it runs on Linux only. The load comes from this process and the fleet from a
// third, on the same cores: compare columns, not machines.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"leeway/e2e/ports"
)

type options struct {
	smg, leeway, tokenizer string
	rounds                 int
	ports                  *ports.Finder
	span                   time.Duration
	streams                []int
	requests               int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	opts, err := parseFlags()
	if err == nil {
		err = bench(ctx, opts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parseFlags() (options, error) {
	o := options{ports: new(ports.Finder)}
	var streams string
	flag.StringVar(&o.smg, "smg", "", "the published gateway's program; without it only leeway is measured")
	flag.StringVar(&o.leeway, "leeway", "", "a built leeway; without it one is built")
	flag.StringVar(&o.tokenizer, "tokenizer", "workers/sim/demo", "tokenizer folder, with config.json")
	flag.IntVar(&o.rounds, "rounds", 3, "measure each this often and take the median")
	flag.DurationVar(&o.span, "span", 10*time.Second, "length of a streaming measure")
	flag.StringVar(&streams, "streams", "100,500", "how many streams at once, comma-separated")
	flag.IntVar(&o.requests, "requests", 400, "requests of a CPU-per-request measure")
	flag.Parse()
	for text := range strings.SplitSeq(streams, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return o, fmt.Errorf("--streams: %q is no number of streams", text)
		}
		o.streams = append(o.streams, n)
	}
	return o, nil
}

// measure is one kind of load and what it yields: microseconds of gateway CPU for one unit.
type measure struct {
	name string
	run  func(ctx context.Context, gateway *gateway) (float64, error)
}

func bench(ctx context.Context, o options) error {
	fleet, err := startFleet(ctx, &o)
	if err != nil {
		return err
	}
	defer fleet.stop()
	measures := []measure{}
	for _, n := range o.streams {
		measures = append(measures, measure{fmt.Sprintf("%d streams of 50 tokens/s, µs per token", n), func(ctx context.Context, g *gateway) (float64, error) {
			return perToken(ctx, g, n, o.span)
		}})
	}
	measures = append(measures, measure{"prompts of 1,000 words, µs per request", func(ctx context.Context, g *gateway) (float64, error) {
		return perRequest(ctx, g, o.requests)
	}})
	results := map[string][]float64{}
	for round := range o.rounds {
		for _, kind := range o.kinds() {
			if err := measureOne(ctx, o, fleet, kind, measures, results); err != nil {
				return fmt.Errorf("round %d, %s: %w", round+1, kind, err)
			}
		}
	}
	report(o, measures, results)
	return nil
}

func (o options) kinds() []string {
	if o.smg == "" {
		return []string{"leeway"}
	}
	return []string{"smg", "leeway"}
}

func measureOne(ctx context.Context, o options, fleet *fleet, kind string, measures []measure, results map[string][]float64) error {
	gateway, err := startGateway(ctx, o, kind, fleet.urls)
	if err != nil {
		return err
	}
	defer gateway.stop()
	if _, err := perRequest(ctx, gateway, 20); err != nil { // warm up
		return err
	}
	for _, m := range measures {
		value, err := m.run(ctx, gateway)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		fmt.Fprintf(os.Stderr, "%-8s %-48s %8.1f\n", kind, m.name, value)
		results[kind+m.name] = append(results[kind+m.name], value)
	}
	return nil
}

func report(o options, measures []measure, results map[string][]float64) {
	fmt.Printf("%-50s %10s %10s %8s\n", fmt.Sprintf("median of %d rounds", o.rounds), "leeway", "smg", "ratio")
	for _, m := range measures {
		ours, theirs := median(results["leeway"+m.name]), median(results["smg"+m.name])
		line := fmt.Sprintf("%-50s %10.1f", m.name, ours)
		if theirs > 0 {
			line += fmt.Sprintf(" %10.1f %8.2f", theirs, ours/theirs)
		}
		fmt.Println(line)
	}
}

func median[T cmp.Ordered](values []T) T {
	var zero T
	if len(values) == 0 {
		return zero
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
