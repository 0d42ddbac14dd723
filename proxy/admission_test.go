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
