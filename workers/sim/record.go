package sim

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"leeway/workers/engine"
)

// Act is what a Record is about.
type Act string

// What a worker records.
const (
	Requested Act = "request"
	Aborted   Act = "abort"  // the Abort call
	Canceled  Act = "cancel" // the caller went away: a reset stream or a lost connection
	Finished  Act = "finish" // the answer ended as the worker meant it to
	Failed    Act = "fail"   // the worker ended it with an error
)

// Record is one thing that happened, in the order of At.
type Record struct {
	At      time.Time           `json:"at"`
	Act     Act                 `json:"act"`
	ID      string              `json:"id"`
	Request *engine.Request     `json:"request,omitempty"` // of a Requested
	Header  map[string][]string `json:"header,omitempty"`  // its gRPC metadata
	Rank    int                 `json:"rank"`
	Cached  int                 `json:"cached,omitempty"` // of a Finished
	Tokens  int                 `json:"tokens,omitempty"` // of the answer, as far as they were sent
	Detail  string              `json:"detail,omitempty"`
}

// recordsKept bounds what is held in memory; a journal gets all.
const recordsKept = 16384

// journal keeps the latest records, and writes all of them where it was told to.
type journal struct {
	mu      sync.Mutex
	records []Record
	out     io.WriteCloser // nil: nowhere
	err     error
}

// add stamps a record and keeps it. A journal that cannot be written to says so when it is closed.
func (j *journal) add(r Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r.At = time.Now()
	if len(j.records) >= recordsKept {
		j.records = append(j.records[:0], j.records[recordsKept/2:]...)
	}
	j.records = append(j.records, r)
	if j.out != nil && j.err == nil {
		line, err := json.Marshal(r)
		if err == nil {
			_, err = j.out.Write(append(line, '\n'))
		}
		j.err = err
	}
}

func (j *journal) of(act Act) []Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found []Record
	for _, r := range j.records {
		if r.Act == act {
			found = append(found, r)
		}
	}
	return found
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.out == nil {
		return nil
	}
	err := j.out.Close()
	j.out = nil
	if j.err != nil {
		return j.err
	}
	return err
}

// Requests returns the generate requests that came, oldest first.
func (w *Worker) Requests() []Record { return w.journal.of(Requested) }

// Aborts returns the Abort calls that came, one for each id named.
func (w *Worker) Aborts() []Record { return w.journal.of(Aborted) }

// Cancels returns the requests whose caller went away before their end.
func (w *Worker) Cancels() []Record { return w.journal.of(Canceled) }

// Finishes returns the answers that ended as meant; an aborted one ends so, with the detail "abort".
func (w *Worker) Finishes() []Record { return w.journal.of(Finished) }
