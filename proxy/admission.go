package proxy

import (
	"context"
	"errors"
	"sync"
	"time"
)

// admission lets at most limit requests in at once and keeps up to queue more waiting, first come, first served.
// The zero value lets everything in.
type admission struct {
	limit   int // 0: no bound
	queue   int
	timeout time.Duration

	mu      sync.Mutex // guards what follows
	inside  int
	waiting []chan struct{} // closed, in order, when a permit is handed over
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
	if a.limit == 0 || a.inside < a.limit {
		a.inside++
		return nil, nil
	}
	if len(a.waiting) >= a.queue {
		return nil, errQueueFull
	}
	turn := make(chan struct{})
	a.waiting = append(a.waiting, turn)
	return turn, nil
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
	if len(a.waiting) == 0 {
		a.inside--
		return
	}
	close(a.waiting[0])
	a.waiting = a.waiting[1:]
}

// counts returns the requests inside and those waiting.
func (a *admission) counts() (inside, waiting int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inside, len(a.waiting)
}
