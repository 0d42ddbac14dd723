package workers

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"google.golang.org/grpc"

	"leeway/routing"
	"leeway/workers/engine"
	"leeway/workers/wire"
)

// State is where a worker is in its life.
type State string

// The states, named as SMG names them.
const (
	Pending  State = "pending"   // has never answered
	Ready    State = "ready"     // may be chosen
	NotReady State = "not_ready" // has answered once, and does not now
	Draining State = "draining"  // removed; its last answers are still running
)

// Status is what is known of a worker.
type Status struct {
	ID      string
	Spec    Spec
	State   State
	Dialect engine.Dialect // "" until it is known
	Model   string         // "" until it is known
	Info    engine.Info
	Active  int    // requests running on it for this gateway
	Problem string // why it is not ready
	Contact time.Time
}

// worker is one member of the pool. run owns its life; the fields below mu are shared.
type worker struct {
	pool    *Pool
	id      string
	spec    Spec
	epoch   uint64
	log     zerolog.Logger
	conn    *grpc.ClientConn // run's own
	alarm   chan struct{}    // asks for a probe now
	retired chan struct{}    // closed when the worker is removed
	aborts  sync.WaitGroup
	gauges  *gauges
	started bool // guarded by pool.mu

	mu      sync.Mutex
	state   State
	dialect engine.Dialect
	client  engine.Client // nil until the dialect is known
	info    engine.Info
	booted  time.Time // when the process started, as far as it says
	problem string
	contact time.Time
	pushed  map[int32]pushedLoad
	active  int
	drained chan struct{} // closed when draining and nothing is active
	closed  bool          // no more aborts may begin
}

func newWorker(p *Pool, spec Spec, epoch uint64) *worker {
	return &worker{
		pool:    p,
		id:      rand.Text(),
		spec:    spec,
		epoch:   epoch,
		log:     p.log.With().Str("worker", spec.URL).Logger(),
		alarm:   make(chan struct{}, 1),
		retired: make(chan struct{}),
		drained: make(chan struct{}),
		gauges:  newGauges(spec.URL),
		state:   Pending,
		pushed:  map[int32]pushedLoad{},
	}
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
			w.report(err)
		}
		if !sleep(ctx, min(wait, longest)) {
			return false
		}
		wait = min(2*wait, longest)
		w.conn.ResetConnectBackoff()
	}
}

// introduce asks the worker which dialect it speaks, whether it is well and what it serves.
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
	w.mu.Lock()
	w.dialect, w.client = dialect, client
	w.mu.Unlock()
	w.learn(info, sent)
	return nil
}

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

// learn takes in what the worker says of itself and reports whether its process is another one than before. Where
// no start time is given, an age is: asked for at a moment, it tells the start to within the time of the call.
func (w *worker) learn(info engine.Info, asked time.Time) (restarted bool) {
	const slack = 2 * time.Second
	booted := info.StartTime
	if booted.IsZero() && info.Uptime > 0 {
		booted = asked.Add(-info.Uptime)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !booted.IsZero() && !w.booted.IsZero() {
		restarted = booted.Sub(w.booted).Abs() > slack+time.Since(asked)
	}
	if w.booted.IsZero() || restarted {
		w.booted = booted
	}
	w.info, w.contact = info, time.Now()
	return restarted
}

func (w *worker) becomeReady() {
	w.pool.publish(func() { w.enter(Ready, "") })
	s := w.status()
	w.gauges.healthy(true)
	w.log.Info().Str("dialect", string(s.Dialect)).Str("model", s.Model).Int("ranks", s.Info.Ranks).Msg("worker ready")
}

// lose takes the worker out of selection.
func (w *worker) lose(err error) {
	w.pool.publish(func() { w.enter(NotReady, err.Error()) })
	w.gauges.healthy(false)
	w.log.Warn().Err(err).Msg("worker lost")
}

// enter changes the state; a worker that was removed stays so.
func (w *worker) enter(s State, problem string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s != Ready {
		clear(w.pushed)
	}
	if w.state != Draining {
		w.state, w.problem = s, problem
	}
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

func (w *worker) status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Status{
		ID: w.id, Spec: w.spec, State: w.state, Dialect: w.dialect, Model: w.model(w.info), Info: w.info,
		Active: w.active, Problem: w.problem, Contact: w.contact,
	}
}

// model is the name that clients call the worker's model by.
func (w *worker) model(info engine.Info) string {
	for _, name := range []string{w.spec.Model, info.Model, info.ModelPath} {
		if name != "" {
			return name
		}
	}
	return ""
}

// targets is how the router sees the worker: nothing while its model is unknown, one target, or one for each rank.
func (w *worker) targets() []routing.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	model := w.model(w.info)
	if model == "" {
		return nil
	}
	t := routing.Target{
		ID: w.spec.URL, Worker: w.spec.URL, Model: model, Epoch: w.epoch, Rank: -1, Ranks: max(w.info.Ranks, 1),
		Healthy: w.state == Ready, GRPC: true, Split: w.split(),
	}
	if !w.pool.cfg.DPAware || t.Ranks == 1 {
		return []routing.Target{t}
	}
	ranks := make([]routing.Target, t.Ranks)
	for i := range ranks {
		ranks[i] = t
		ranks[i].ID, ranks[i].Rank = rankID(t.ID, int32(i)), int32(i)
	}
	return ranks
}

func rankID(url string, rank int32) string { return fmt.Sprintf("%s@%d", url, rank) }

// split says whether the worker only prefills or only decodes.
func (w *worker) split() bool {
	for _, role := range []string{w.spec.Role, w.info.Role} {
		switch role {
		case "prefill", "decode", "kv_producer", "kv_consumer":
			return true
		}
	}
	return false
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
	w.aborts.Wait()
	if err := w.conn.Close(); err != nil {
		w.log.Debug().Err(err).Msg("closing the connection")
	}
	w.gauges.remove()
}
