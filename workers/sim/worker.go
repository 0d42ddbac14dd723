package sim

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Worker is one simulated worker behind an address. It outlives its process: Restart is a new one at the same port.
type Worker struct {
	o       Options
	voice   *voice
	bundle  []byte // zip archive of the tokenizer; nil: the worker has none
	journal journal
	faults  faults
	port    int
	tasks   sync.WaitGroup // restarts that a fault asked for

	mu     sync.Mutex
	life   *life // nil: down
	closed bool
	seq    []uint64 // next sequence number of each rank, kept for a restart that goes on counting
}

// New checks the options and loads what they name. The worker is down until Start.
func New(o Options) (*Worker, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	w := &Worker{o: o.withDefaults(), port: o.Port}
	if err := w.load(); err != nil {
		return nil, err
	}
	return w, nil
}

// Start makes a worker and lets it listen.
func Start(o Options) (*Worker, error) {
	w, err := New(o)
	if err != nil {
		return nil, err
	}
	if err := w.Start(); err != nil {
		return nil, errors.Join(err, w.journal.close())
	}
	return w, nil
}

// Start lets a worker that is down listen, with an empty cache. Its KV sequence starts anew.
func (w *Worker) Start() error { return w.start(false) }

// start begins a new life, if there is none.
func (w *Worker) start(keepSequence bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return errors.New("the simulated worker is closed")
	}
	if w.life != nil {
		return errors.New("the simulated worker runs already")
	}
	l, err := w.listen()
	if err != nil {
		return err
	}
	if w.port == 0 {
		w.port = l.Addr().(*net.TCPAddr).Port
	}
	if !keepSequence || w.seq == nil {
		w.seq = make([]uint64, w.o.Ranks)
		for i := range w.seq {
			w.seq[i] = uint64(w.o.FirstSequence)
		}
	}
	w.life = newLife(w, l, w.seq)
	w.life.run()
	return nil
}

// listen takes the port. After a restart the old socket may need a moment to be gone.
func (w *Worker) listen() (net.Listener, error) {
	addr := net.JoinHostPort(w.o.Host, strconv.Itoa(w.port))
	var err error
	for range 50 {
		var l net.Listener
		if l, err = net.Listen("tcp", addr); err == nil {
			return l, nil
		}
		if w.port == w.o.Port || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d on %s is in use: choose another, or 0 for any", w.port, w.o.Host)
	}
	return nil, fmt.Errorf("listen on %s: %w", addr, err)
}

// URL is where the worker is reached.
func (w *Worker) URL() string { return "grpc://" + w.Addr() }

// Addr is the worker's host and port.
func (w *Worker) Addr() string { return net.JoinHostPort(w.o.Host, strconv.Itoa(w.port)) }

// Kill ends the worker's process as kill -9 would: every connection breaks. Start or Restart brings it back.
func (w *Worker) Kill() {
	w.mu.Lock()
	l := w.life
	w.life = nil
	w.mu.Unlock()
	if l != nil {
		l.kill()
	}
}

// Restart replaces the worker's process by a new one on the same port: with an empty cache, and a KV sequence that
// starts anew or, with keepSequence, goes on.
func (w *Worker) Restart(keepSequence bool) error {
	w.Kill()
	return w.start(keepSequence)
}

// restartSoon restarts from within a call, which cannot wait for its own end.
func (w *Worker) restartSoon(keepSequence bool) {
	w.tasks.Go(func() {
		if err := w.Restart(keepSequence); err != nil {
			w.journal.add(Record{Act: Failed, Detail: "restart: " + err.Error()})
		}
	})
}

// Close ends the worker for good and waits for everything it started.
func (w *Worker) Close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.Kill()
	w.tasks.Wait()
	return w.journal.close()
}

// KillCore kills the engine and leaves the process: what runs ends with INTERNAL, the worker is no longer healthy,
// and KV streams stay open and silent. Restart heals it.
func (w *Worker) KillCore() {
	if l := w.alive(); l != nil {
		l.killCore()
	}
}

// Load is the true load of a rank; zero while the worker is down.
func (w *Worker) Load(rank int) Sample {
	if l := w.alive(); l != nil && rank < len(l.cores) {
		return l.cores[rank].sample()
	}
	return Sample{}
}

// Subscriptions returns how many KV-event streams the process that runs now has begun to serve.
func (w *Worker) Subscriptions() int {
	l := w.alive()
	if l == nil {
		return 0
	}
	l.events.mu.Lock()
	defer l.events.mu.Unlock()
	return l.events.joined
}

// alive is the process that runs now; nil while the worker is down.
func (w *Worker) alive() *life {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.life
}

// SetFaults replaces what the worker does wrong; with none it behaves. Counts of matches start anew.
func (w *Worker) SetFaults(list ...Fault) error {
	for i, f := range list {
		if err := f.validate(); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
	}
	w.faults.set(list)
	return nil
}

// load reads the files that the options name.
func (w *Worker) load() (err error) {
	if w.o.Faults != "" {
		if err := w.loadFaults(); err != nil {
			return err
		}
	}
	if w.voice, w.bundle, err = loadVoice(w.o); err != nil {
		return err
	}
	if w.o.Journal != "" {
		if w.journal.out, err = os.Create(w.o.Journal); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	return nil
}

func (w *Worker) loadFaults() error {
	f, err := os.Open(w.o.Faults)
	if err != nil {
		return fmt.Errorf("faults: %w", err)
	}
	defer f.Close()
	list, err := ParseFaults(f)
	if err != nil {
		return fmt.Errorf("%s: %w", w.o.Faults, err)
	}
	return w.SetFaults(list...)
}
