package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/rs/zerolog"

	"leeway/routing"
)

// decisionLog writes a line for every decision once its request has ended. It has a goroutine of its own and a bounded
// queue: a slow disk costs lines, which are counted, and never holds a request up. The file is renamed to PATH.1, in place
// of the one before, when it has grown to its limit. The zero value writes nothing.
type decisionLog struct {
	router *routing.Router
	log    zerolog.Logger
	queue  chan routing.Receipt
	path   string
	limit  int64 // bytes

	file    *os.File // run's own, like all below
	out     *bufio.Writer
	size    int64
	failing bool // the last line was lost, which has been said
}

// newDecisionLog opens the file, so that a path that cannot be written is known at the start.
func newDecisionLog(c Config, router *routing.Router, log zerolog.Logger) (*decisionLog, error) {
	if c.DecisionLog == "" {
		return &decisionLog{}, nil
	}
	d := &decisionLog{router: router, log: log, queue: make(chan routing.Receipt, 1024), path: c.DecisionLog, limit: c.DecisionLogBytes}
	if err := d.open(); err != nil {
		return nil, fmt.Errorf("decision_log: %w", err)
	}
	return d, nil
}

func (d *decisionLog) open() error {
	file, err := os.OpenFile(d.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	d.file, d.size, d.out = file, info.Size(), bufio.NewWriterSize(file, 64<<10)
	return nil
}

// add queues a decision whose request has ended.
func (d *decisionLog) add(lease *routing.Lease) {
	if d.queue == nil {
		return
	}
	select {
	case d.queue <- lease.Receipt():
	default:
		decisionsDropped.Inc()
	}
}

// run writes until ctx ends, and then what is still queued.
func (d *decisionLog) run(ctx context.Context) {
	if d.queue == nil {
		return
	}
	defer func() { d.out.Flush(); d.file.Close() }()
	for {
		select {
		case receipt := <-d.queue:
			d.write(receipt)
		case <-ctx.Done():
			for len(d.queue) > 0 {
				d.write(<-d.queue)
			}
			return
		}
	}
}

func (d *decisionLog) write(receipt routing.Receipt) {
	line, err := d.router.AppendRecord(nil, receipt)
	if err == nil && d.size >= d.limit {
		err = d.rotate()
	}
	if err == nil {
		_, err = d.out.Write(line)
		d.size += int64(len(line))
	}
	if err == nil && len(d.queue) == 0 {
		err = d.out.Flush()
	}
	if err != nil {
		d.out.Reset(d.file) // or it would remember a full disk for ever
		decisionsDropped.Inc()
		if !d.failing {
			d.log.Error().Err(err).Msg("decisions are not logged")
		}
	}
	d.failing = err != nil
}

// rotate begins a new file. Somebody else may have moved the full one away.
func (d *decisionLog) rotate() error {
	if err := d.out.Flush(); err != nil {
		return err
	}
	if err := os.Rename(d.path, d.path+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	full := d.file
	if err := d.open(); err != nil {
		return err
	}
	return full.Close()
}

// end releases a lease with what came of its request.
func (g *Gateway) end(lease *routing.Lease, o routing.Outcome) {
	lease.Finish(time.Now(), o)
	g.journal.add(lease)
	lease.Release()
}
