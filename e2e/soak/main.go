// Command soak runs the gateway in front of a fleet of simulated workers that restart, lose batches and streams, are
// flushed behind its back and storm it with events, and holds every claim that it acted on against the engines.
//
//	go run ./e2e/soak [--minutes 5] [--workers 64] [--rate 30] [--leeway PROGRAM]
//
// It prints a line every few seconds and a report, and fails if a claim was false that a certificate should have
// caught, if memory grows, or if anything is left in flight. It reads /proc, so it runs on Linux only.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

type options struct {
	leeway  string
	minutes float64
	workers int
	rate    int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.leeway, "leeway", "", "a built leeway; without it one is built")
	flag.Float64Var(&o.minutes, "minutes", 5, "how long")
	flag.IntVar(&o.workers, "workers", 64, "workers in the fleet")
	flag.IntVar(&o.rate, "rate", 30, "chats a second")
	flag.Parse()
	if err := soak(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// soak is the whole run.
func soak(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "leeway-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.leeway == "" {
		o.leeway = filepath.Join(dir, "leeway")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", o.leeway, ".").CombinedOutput(); err != nil {
			return fmt.Errorf("building leeway: %w\n%s", err, out)
		}
	}
	f, err := startFleet(o.workers)
	if err != nil {
		return err
	}
	defer f.close()
	log := filepath.Join(dir, "decisions.jsonl")
	g, err := startGateway(ctx, o.leeway, log, f.urls())
	if err != nil {
		return err
	}
	defer g.kill()
	memory := run(ctx, o, f, g)
	rest := g.sum("smg_worker_requests_active", "")
	counted := map[string]float64{}
	for _, found := range []string{"exact", "under", "over"} {
		counted[found] = g.sum("leeway_kv_claims_audited_total", `result="`+found+`"`)
	}
	violations := g.sum("leeway_bound_violations_total", "")
	losses := g.byLabel("leeway_kv_certificate_losses_total", "reason")
	worst, most := g.worst("leeway_kv_certificate_losses_total", `reason="gap"`)
	if err := g.end(); err != nil {
		return err
	}
	a, err := readLog(log, f)
	if err != nil {
		return err
	}
	f.print()
	fmt.Printf("gateway     claims audited: %.0f exact, %.0f under, %.0f over; certificates lost: %v, at most %.0f by gaps at one worker: %s\n",
		counted["exact"], counted["under"], counted["over"], losses, most, f.describe(worst))
	a.print()
	err = f.explains(losses["gap"])
	if err != nil {
		fmt.Printf("the log of %s\n%s", worst, strings.Join(g.about(worst), ""))
	}
	return errors.Join(a.verdict(rest, violations, memory), err)
}

// run loads the fleet and disturbs it until the time is up; it returns the gateway's memory over time, in bytes.
func run(ctx context.Context, o options, f *fleet, g *gateway) (memory []int64) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(o.minutes*float64(time.Minute)))
	defer cancel()
	var load chats
	load.start(ctx, g.url, o.rate)
	troubles := make(chan struct{})
	go func() { f.trouble(ctx, g); close(troubles) }()
	began := time.Now()
	every := time.NewTicker(5 * time.Second)
	defer every.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			<-troubles
			f.heal()
			load.wait()
			time.Sleep(3 * time.Second)
			return memory
		case <-every.C:
		}
		memory = append(memory, g.rss())
		if n%3 == 2 {
			fmt.Printf("%5.0f s  RSS %5.1f MiB  %7.0f blocks in %5.1f MiB  %2.0f certified  %6d chats, %d failed  audited %.0f, over %.0f\n",
				time.Since(began).Seconds(), float64(memory[n])/(1<<20), g.sum("leeway_kv_index_blocks", ""), g.sum("leeway_kv_index_bytes", "")/(1<<20),
				g.sum("leeway_kv_certificate", ""), load.sent.Load(), load.failed.Load(),
				g.sum("leeway_kv_claims_audited_total", ""), g.sum("leeway_kv_claims_audited_total", `"over"`))
		}
	}
}
