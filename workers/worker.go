package workers

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"google.golang.org/grpc"

	"leeway/routing/prefix"
	"leeway/workers/engine"
	"leeway/workers/wire"
)

// worker is one member of the pool. run owns its life; the fields below mu are shared. Locks are taken in the order
// pool, worker, and nothing is asked of the worker under either.
type worker struct {
	pool    *Pool
	id      string // what REST calls it
	spec    Spec   // Model and Role may change, under mu
	epoch   uint64 // tells this membership from one before at the same address
	log     zerolog.Logger
	conn    *grpc.ClientConn // run's own
	alarm   chan struct{}    // asks for a probe now
	retired chan struct{}    // closed when the worker is removed
	ends    sync.WaitGroup   // of requests: aborts, and streams that end by themselves
	gauges  *gauges
	started bool        // guarded by pool.mu
	spoke   atomic.Bool // a token has come since the last sweep
	anew    atomic.Bool // another process may be there, which has not said yet that it serves

	flushing chan struct{} // holds an element while the cache is flushed

	mu      sync.Mutex
	state   State
	dialect engine.Dialect
	client  engine.Client // nil until the dialect is known
	info    engine.Info
	booted  time.Time     // when the process started, as far as it says
	within  time.Duration // how much later that may have been
	met     time.Time     // when it was first seen
	age     time.Duration // how old it was at least when last seen
	problem string        // why it is not ready
	lost    bool          // and that it did not answer is all that is known
	contact time.Time     // the last sign of life
	pushed  map[int32]pushedLoad
	breaker breaker
	pulse   pulse
	blamed  string    // the last failure that was held against it
	severed time.Time // when the connection last broke under a request
	last    bool      // it is chosen only because its model has no other
	active  int       // requests that are running on it
	streams map[*Stream]struct{}
	drained chan struct{} // closed when draining and nothing is active
	closed  bool          // none of ends may begin
}

// newWorker starts and dials nothing: run does.
func newWorker(p *Pool, spec Spec, epoch uint64) *worker {
	return &worker{
		pool:     p,
		id:       newID(),
		spec:     spec,
		epoch:    epoch,
		log:      p.log.With().Str("worker", spec.URL).Logger(),
		alarm:    make(chan struct{}, 1),
		flushing: make(chan struct{}, 1),
		retired:  make(chan struct{}),
		drained:  make(chan struct{}),
		gauges:   newGauges(spec.URL),
		state:    Pending,
		pushed:   map[int32]pushedLoad{},
		breaker:  newBreaker(&p.cfg),
		pulse:    pulse{patience: seconds(p.cfg.WedgeTime)},
		streams:  map[*Stream]struct{}{},
	}
}

// newID is a random UUID, as SMG calls workers.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// run is the worker's life. Its connection is closed only when no answer needs it any more.
func (w *worker) run(ctx context.Context) {
	conn, err := wire.Dial(w.spec.URL)
	if err != nil {
		w.report(err)
		return
	}
	w.conn = conn
	defer w.close(ctx)
	var retirement sync.WaitGroup
	defer retirement.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	retirement.Go(func() {
		select {
		case <-w.retired:
			cancel()
		case <-ctx.Done():
		}
	})
	for ctx.Err() == nil {
		if !w.join(ctx) {
			return
		}
		w.serve(ctx)
	}
}

// serve runs the session of a worker that has joined, until its health or ctx is lost.
func (w *worker) serve(ctx context.Context) {
	var session sync.WaitGroup
	defer session.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !w.pool.cfg.DisableLoads {
		session.Go(func() { w.pollLoads(ctx) })
	}
	session.Go(func() { w.followEvents(ctx) })
	w.watch(ctx)
}

// join tries until the worker has answered as often as is asked, and takes it into the fleet. False: ctx ended.
func (w *worker) join(ctx context.Context) bool {
	wait, longest := 100*time.Millisecond, min(seconds(w.pool.cfg.HealthInterval), 5*time.Second)
	for passed := 0; ; {
		err := w.introduce(ctx)
		if ctx.Err() != nil {
			return false
		}
		if err == nil {
			// A new worker is taken at its word; one that has failed must show that it lasts.
			if passed++; w.currentState() == Pending || passed >= w.pool.cfg.SuccessThreshold {
				w.becomeReady()
				return true
			}
		} else {
			passed = 0
			w.refused(err)
			w.report(err)
		}
		if !sleep(ctx, min(wait, longest)) {
			return false
		}
		wait = min(2*wait, longest)
		w.conn.ResetConnectBackoff()
	}
}

// maxRanks bounds what a worker may claim to be: each rank is a candidate of its own.
const maxRanks = 1024

// introduce asks the worker which dialect it speaks, whether it is well and takes requests, and what it serves.
func (w *worker) introduce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, seconds(w.pool.cfg.HealthTimeout))
	defer cancel()
	dialect, client, err := detect(ctx, w.conn, w.hint())
	if err != nil {
		return err
	}
	sent := time.Now()
	info, err := client.Info(ctx)
	if err != nil {
		return fmt.Errorf("asking for the model: %w", err)
	}
	if info.Ranks > maxRanks {
		return fmt.Errorf("the worker says that it has %d data-parallel ranks; behind one address at most %d are served", info.Ranks, maxRanks)
	}
	if err := client.Serving(ctx); err != nil {
		return err
	}
	w.mu.Lock()
	w.dialect, w.client = dialect, client
	w.mu.Unlock()
	w.reacquaint(info, sent)
	return nil
}

// reacquaint learns what a worker that is not ready says of itself. One that was ready before keeps what is known of
// its cache if its process is proved to be the same; silence proves nothing.
func (w *worker) reacquaint(info engine.Info, asked time.Time) {
	returns := w.currentState() == NotReady
	restarted, same := w.learn(info, asked)
	switch {
	case returns && restarted:
		w.gauges.resynced("publisher_restart")
		w.feed().Drop(prefix.Restart)
	case returns && !same:
		w.feed().Drop(prefix.Reconnect)
	}
}

// refused notes that a worker has answered that it is not well, and not only failed to answer.
func (w *worker) refused(err error) {
	if w.currentState() == NotReady && isUnwell(err) {
		w.feed().Drop(prefix.Unhealthy)
	}
}

// hint is the dialect to try first: what it spoke before, what was asked of it, what all are said to speak.
func (w *worker) hint() engine.Dialect {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, hint := range []engine.Dialect{w.dialect, w.spec.Dialect, engine.Dialect(w.pool.cfg.Backend)} {
		if hint != "" && hint != "none" {
			return hint
		}
	}
	return ""
}

// learn takes in what the worker says of itself and reports whether its process is another one than before, or the
// same. It is neither where the worker does not say since when it runs, now and before; but what started after the last
// answer of one that did not say so is another, and so is what has other ranks. Where no start time is given, an age is:
// asked for at a moment, it tells the start to within the time of the call, which may be too long to tell anything.
//
// Another process has started after the last one was seen alive, so its start is later by at least the age that that
// one had then: of a young process a small difference says enough.
func (w *worker) learn(info engine.Info, asked time.Time) (restarted, same bool) {
	const jitter, slack = 50 * time.Millisecond, 2 * time.Second // the more for clocks that are set, and ages in whole seconds
	booted, within := info.StartTime, time.Duration(0)
	if booted.IsZero() && info.Uptime > 0 {
		booted, within = asked.Add(-info.Uptime), time.Since(asked)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch known := !w.booted.IsZero(); {
	case !w.met.IsZero() && max(info.Ranks, 1) != max(w.info.Ranks, 1):
		restarted = true
	case booted.IsZero():
	case known:
		apart, usual := booted.Sub(w.booted).Abs(), min(slack, max(jitter, w.age/2))
		restarted, same = apart > usual+within+w.within, apart+within+w.within <= usual
	default:
		restarted = !w.met.IsZero() && booted.After(w.met.Add(jitter+within))
	}
	switch {
	case w.booted.IsZero() || restarted:
		w.booted, w.within, w.met = booted, within, asked
	case within < w.within && info.Uptime > 0 && booted.Add(within).Before(w.met): // the same, asked more quickly
		w.booted, w.within = booted, within
	}
	w.age = max(info.Uptime, asked.Sub(w.met))
	if info.Model == "" { // left out, and not lost
		info.Model = w.info.Model
	}
	w.info, w.contact = info, time.Now()
	return restarted, same
}

// becomeReady takes the worker into the fleet.
func (w *worker) becomeReady() {
	w.pool.publish(func() { w.enter(Ready, "") })
	w.feed().Well() // it has just said so
	s := w.status()
	w.gauges.healthy(true)
	w.gauges.stalled("unreachable", false)
	w.log.Info().Str("dialect", string(s.Dialect)).Str("model", s.Model).Int("ranks", s.Info.Ranks).Msg("worker ready")
}

// lose takes the worker out of selection.
func (w *worker) lose(err error) {
	w.pool.publish(func() {
		w.enter(NotReady, err.Error())
		w.mu.Lock()
		w.lost = !isUnwell(err)
		w.mu.Unlock()
	})
	w.gauges.healthy(false)
	w.gauges.stalled("unreachable", !isUnwell(err))
	w.log.Warn().Err(err).Msg("worker lost")
}

// enter changes the state; a worker that was removed stays so. One that comes back is judged anew: what failed before
// was the way to it, or another process.
func (w *worker) enter(s State, problem string) {
	w.rejudged(func(now time.Time) {
		if s == Ready && w.breaker.state != Closed {
			count("smg_worker_cb_health_readmissions_total", "worker", w.spec.URL)
			w.breaker.reset()
		}
		w.lost = false
		w.anew.Store(false)
		w.pulse.forget(now)
		if s != Ready {
			clear(w.pushed)
		}
		if w.state != Draining {
			w.state, w.problem = s, problem
		}
	})
}

// report notes why a worker has not joined; the log hears it when it changes.
func (w *worker) report(err error) {
	w.mu.Lock()
	known := w.problem == err.Error()
	w.problem = err.Error()
	w.mu.Unlock()
	if !known {
		w.log.Warn().Err(err).Msg("worker not reached; trying again")
	}
}

func (w *worker) currentState() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// retire begins the end: no new requests, and the goroutines of its life stop.
func (w *worker) retire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == Draining {
		return
	}
	w.state = Draining
	close(w.retired)
	if w.active == 0 {
		close(w.drained)
	}
}

// close lets a removed worker's answers finish, or ends them when the whole pool ends.
func (w *worker) close(pool context.Context) {
	if pool.Err() == nil {
		select {
		case <-w.drained:
		case <-pool.Done():
		}
	}
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.ends.Wait()
	if err := w.conn.Close(); err != nil {
		w.log.Debug().Err(err).Msg("closing the connection")
	}
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	w.pool.gone(w)
}
