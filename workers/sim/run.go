package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"leeway/workers/engine"
)

// Fleet is some workers that come and go together.
type Fleet struct{ Workers []*Worker }

// StartFleet starts o.Count workers on consecutive ports from o.Port on, or each on any port if that is 0. Either all
// of them listen or none.
func StartFleet(o Options) (*Fleet, error) {
	o = o.withDefaults()
	f := &Fleet{}
	for i := range o.Count {
		one := o
		one.Count = 1
		if o.Port > 0 {
			one.Port = o.Port + i
		}
		if o.Count > 1 {
			one.Journal = numbered(o.Journal, i)
		}
		w, err := Start(one)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.Workers = append(f.Workers, w)
	}
	return f, nil
}

// numbered gives each worker of a fleet a file of its own: run.jsonl becomes run.0.jsonl.
func numbered(path string, i int) string {
	if path == "" {
		return ""
	}
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(path, ext), i, ext)
}

// demoDialects are those of the demo fleet, read-only: all three, and one of them twice.
var demoDialects = []engine.Dialect{engine.SGLang, engine.VLLM, engine.TokenSpeed, engine.SGLang}

// Demo starts the fleet of the demonstration: four workers that serve the model "demo" with the embedded tokenizer.
func Demo() (*Fleet, error) {
	f := &Fleet{}
	for _, d := range demoDialects {
		w, err := Start(Options{Dialect: string(d)})
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.Workers = append(f.Workers, w)
	}
	return f, nil
}

// URLs are where the workers are reached.
func (f *Fleet) URLs() []string {
	urls := make([]string, len(f.Workers))
	for i, w := range f.Workers {
		urls[i] = w.URL()
	}
	return urls
}

// Close ends every worker and waits for all that they started.
func (f *Fleet) Close() error {
	var errs []error
	for _, w := range f.Workers {
		errs = append(errs, w.Close())
	}
	return errors.Join(errs...)
}

// Run is `leeway sim`: it starts the workers that the options describe, prints where each listens, one URL a line,
// and serves until ctx ends.
func Run(ctx context.Context, o Options, out io.Writer) error {
	f, err := StartFleet(o)
	if err != nil {
		return err
	}
	for _, url := range f.URLs() {
		if _, err := fmt.Fprintln(out, url); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	<-ctx.Done()
	return f.Close()
}
