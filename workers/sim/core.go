package sim

import (
	"context"
	"sync"
	"time"

	"leeway/workers/enginepb/commonpb"
)

// core runs one rank's engine in real time. Whoever submits or aborts does so under mu; only the goroutine of run
// lets time pass.
type core struct {
	rank  int
	speed float64
	start time.Time
	wake  chan struct{}
	// publish is called with mu held, so that batches leave in the order in which they came about.
	publish func(rank int, events []*commonpb.KvCacheEvent)
	compose func(*choice)
	teller  teller

	mu      sync.Mutex
	engine  *Engine
	out     Output
	choices map[*Job]*choice
	cleared bool // the next batch begins with the news that the cache was emptied
}

// now is the engine's time: that of the process, as much faster as the options say.
func (c *core) now() time.Duration {
	return time.Duration(float64(time.Since(c.start)) * c.speed)
}

// run advances the engine until ctx ends.
func (c *core) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(c.advance())
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-timer.C:
		}
	}
}

// advance brings the engine to the present and says when it will be of interest again. It goes a step at a time: what
// a job will say is decided when it is admitted, before its first token, however late the clock is looked at.
func (c *core) advance() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for {
		at := now
		if next, busy := c.engine.Next(); busy && next < now {
			at = next
		}
		c.step(at)
		next, busy := c.engine.Next()
		if !busy {
			return time.Hour
		}
		if next > now {
			return time.Duration(float64(next-now) / c.speed)
		}
	}
}

// step advances the engine to one point of time and passes on what came of it. Events are told before progress,
// because a job that ends leaves the books and its tokens go with it.
func (c *core) step(at time.Duration) {
	c.out.Reset()
	c.engine.Advance(at, &c.out)
	for _, j := range c.out.Admitted {
		c.compose(c.choices[j])
	}
	if events := c.teller.tell(c.out.Changes, c.choices); len(events) > 0 {
		c.announce(events)
	}
	for _, p := range c.out.Progress {
		c.deliver(p)
	}
}

// announce publishes a batch, behind the news of a flush if there is any.
func (c *core) announce(events []*commonpb.KvCacheEvent) {
	if c.cleared {
		c.cleared = false
		events = append([]*commonpb.KvCacheEvent{c.teller.cleared()}, events...)
	}
	c.publish(c.rank, events)
}

// deliver tells a choice how far it is and wakes its call.
func (c *core) deliver(p Progress) {
	ch := c.choices[p.Job]
	if ch == nil {
		return
	}
	ch.ready += p.Tokens
	ch.done = p.Done
	if p.Cut {
		ch.answer.cut(ch.ready)
	}
	if p.Done {
		delete(c.choices, p.Job)
	}
	ch.call.poke()
}

// poke makes the core look at its engine before its timer ends.
func (c *core) poke() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// submit queues a choice; the error says that it can never fit.
func (c *core) submit(ch *choice) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.engine.Submit(c.now(), &ch.Job); err != nil {
		return err
	}
	c.choices[&ch.Job] = ch
	c.poke()
	return nil
}

// withdraw stops a choice that has not ended.
func (c *core) withdraw(ch *choice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.choices[&ch.Job] == nil {
		return
	}
	c.engine.Abort(c.now(), &ch.Job)
	delete(c.choices, &ch.Job)
	c.poke()
}

// progress tells how far a choice is.
func (c *core) progress(ch *choice) (ready int, done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return ch.ready, ch.done
}

// sample takes the rank's load now.
func (c *core) sample() Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.engine.Sample(c.now())
}

// queued counts the requests at the rank, the measure by which an unpinned one chooses.
func (c *core) queued() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.engine.running) + len(c.engine.waiting)
}

// flush empties the cache. As with the real engines the news of it waits for the next batch, but where the dialect
// has no word for it, every block is taken back at once.
func (c *core) flush() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out.Reset()
	if !c.engine.Flush(&c.out) {
		return false
	}
	if c.teller.clears {
		c.cleared = true
	} else if events := c.teller.tell(c.out.Changes, c.choices); len(events) > 0 {
		c.announce(events)
	}
	return true
}
