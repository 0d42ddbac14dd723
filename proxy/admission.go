package proxy

import (
	"context"
	"errors"
	"sync"
	"time"
)

// admission lets at most limit requests in at once, and rate a second in the long run, and keeps up to queue more waiting,
// first come, first served. The zero value lets everything in.
type admission struct {
	limit   int // 0: no bound
	rate    int // requests a second, of which a second's worth may come at once; 0: no bound
	queue   int
	timeout time.Duration

	mu      sync.Mutex // guards what follows
	inside  int
	spent   float64         // of the second's worth that may come at once
	counted time.Time       // when spent was so
	waiting []chan struct{} // closed, in order, when a permit is handed over
	alarm   *time.Timer     // tries again when the rate allows for the next; nil: not set
}

var (
	errQueueFull    = errors.New("admission: the queue is full")
	errQueueTimeout = errors.New("admission: waited too long for a permit")
)

// enter takes a permit and returns what gives it back, or an error when there was none to be had in time. beforeWait
// is called once if the request has to queue, before it does.
func (a *admission) enter(ctx context.Context, beforeWait func()) (leave func(), err error) {
	turn, err := a.claim()
	if err != nil {
		return nil, err
	}
	if turn != nil {
		beforeWait()
		if err := a.wait(ctx, turn); err != nil {
			return nil, err
		}
	}
	return sync.OnceFunc(a.leave), nil
}

// claim takes a free permit (nil) or a place in the queue.
func (a *admission) claim() (chan struct{}, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) == 0 && a.hasRoom() && a.due() == 0 {
		a.admitOne()
		return nil, nil
	}
	if len(a.waiting) >= a.queue {
		return nil, errQueueFull
	}
	turn := make(chan struct{})
	a.waiting = append(a.waiting, turn)
	a.handOver()
	return turn, nil
}

func (a *admission) hasRoom() bool { return a.limit == 0 || a.inside < a.limit }

// due is how long the rate makes the next request wait.
func (a *admission) due() time.Duration {
	if a.rate == 0 {
		return 0
	}
	now := time.Now()
	a.spent = max(0, a.spent-now.Sub(a.counted).Seconds()*float64(a.rate))
	a.counted = now
	if over := a.spent + 1 - float64(a.rate); over > 1e-6 {
		return time.Duration(over/float64(a.rate)*float64(time.Second)) + time.Microsecond
	}
	return 0
}

func (a *admission) admitOne() {
	a.inside++
	if a.rate > 0 {
		a.spent++
	}
}

// handOver lets in those who wait, as far as they may.
func (a *admission) handOver() {
	for len(a.waiting) > 0 && a.hasRoom() {
		if wait := a.due(); wait > 0 {
			if a.alarm == nil {
				a.alarm = time.AfterFunc(wait, a.ring)
			}
			return
		}
		a.admitOne()
		close(a.waiting[0])
		a.waiting = a.waiting[1:]
	}
}

func (a *admission) ring() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.alarm = nil
	a.handOver()
}

func (a *admission) wait(ctx context.Context, turn chan struct{}) error {
	timer := time.NewTimer(a.timeout)
	defer timer.Stop()
	select {
	case <-turn:
		return nil
	case <-timer.C:
		a.giveUp(turn)
		return errQueueTimeout
	case <-ctx.Done():
		a.giveUp(turn)
		return context.Cause(ctx)
	}
}

// giveUp leaves the queue; a permit that was handed over meanwhile goes on to the next.
func (a *admission) giveUp(turn chan struct{}) {
	a.mu.Lock()
	for i, t := range a.waiting {
		if t == turn {
			a.waiting = append(a.waiting[:i], a.waiting[i+1:]...)
			a.mu.Unlock()
			return
		}
	}
	a.mu.Unlock()
	a.leave()
}

func (a *admission) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inside--
	a.handOver()
}

// counts returns the requests inside and those waiting.
func (a *admission) counts() (inside, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inside, len(a.waiting)
}
