package proxy

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func nothing() {}

func TestAdmissionServesTheQueueInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &admission{limit: 1, queue: 3, timeout: time.Minute}
		leave, err := a.enter(t.Context(), nothing)
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan int, 3)
		for i := range 3 {
			go func() {
				next, err := a.enter(t.Context(), nothing)
				if err != nil {
					t.Error(err)
					return
				}
				order <- i
				next()
			}()
			synctest.Wait()
		}
		if _, err := a.enter(t.Context(), nothing); !errors.Is(err, errQueueFull) {
			t.Errorf("the fourth in a queue of three: %v", err)
		}
		leave()
		for want := range 3 {
			if got := <-order; got != want {
				t.Errorf("place %d went to request %d", want, got)
			}
		}
		synctest.Wait()
		if inside, waiting := a.counts(); inside != 0 || waiting != 0 {
			t.Errorf("at rest: %d inside, %d waiting", inside, waiting)
		}
	})
}

func TestAdmissionGivesUpAfterTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &admission{limit: 1, queue: 1, timeout: time.Minute}
		leave, _ := a.enter(t.Context(), nothing)
		start := time.Now()
		if _, err := a.enter(t.Context(), nothing); !errors.Is(err, errQueueTimeout) {
			t.Error(err)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("waited %v", took)
		}
		leave()
		leave() // a second time changes nothing
		if inside, waiting := a.counts(); inside != 0 || waiting != 0 {
			t.Errorf("at rest: %d inside, %d waiting", inside, waiting)
		}
	})
}

func TestAdmissionKeepsToItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &admission{limit: 100, rate: 10, queue: 100, timeout: time.Hour}
		start := time.Now()
		var mu sync.Mutex
		var when []time.Duration
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				leave, err := a.enter(t.Context(), nothing)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				when = append(when, time.Since(start).Round(10*time.Millisecond))
				mu.Unlock()
				leave()
			})
		}
		all.Wait()
		if when[9] != 0 || when[10] != 100*time.Millisecond || when[39] != 3*time.Second {
			t.Errorf("ten at once, then ten a second: %v", when)
		}
		if inside, waiting := a.counts(); inside != 0 || waiting != 0 {
			t.Errorf("at rest: %d inside, %d waiting", inside, waiting)
		}
		if _, err := (&admission{rate: 1, spent: 1, counted: time.Now()}).enter(t.Context(), nothing); !errors.Is(err, errQueueFull) {
			t.Errorf("above the rate and without a queue: %v", err)
		}
	})
}

// case B6
func TestAdmissionCountsAreZeroAtRestWhateverWasCancelled(t *testing.T) {
	a := &admission{limit: 4, queue: 50, timeout: time.Millisecond}
	var all sync.WaitGroup
	for i := range 500 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%3 == 0 {
				time.AfterFunc(time.Duration(rand.IntN(1500))*time.Microsecond, cancel)
			}
			if leave, err := a.enter(ctx, nothing); err == nil {
				time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
				leave()
			}
		})
	}
	all.Wait()
	if inside, waiting := a.counts(); inside != 0 || waiting != 0 {
		t.Errorf("at rest: %d inside, %d waiting", inside, waiting)
	}
}
