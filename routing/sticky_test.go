package routing

import (
	"fmt"
	"testing"
	"time"
)

func TestStickySessionsKeepAKeyOnOneWorkerUnderAnyPolicy(t *testing.T) {
	for _, policy := range policyNames {
		r := newRouter(t, 4, func(c *Config) { c.Policy, c.StickySessions = policy, true })
		for k := range 8 {
			key := fmt.Sprint("key", k)
			home := pick(t, r, start, Request{Tokens: prompt(10 + k), Key: key}).Target().ID
			for i := range 5 {
				l := pick(t, r, start.Add(time.Second), Request{Tokens: prompt(1000 * i), Key: key})
				if receipt := l.Receipt(); l.Target().ID != home || !receipt.Pinned && policy != "manual" {
					t.Errorf("%s: %s moved from %s to %s, pinned %t", policy, key, home, l.Target().ID, receipt.Pinned)
				}
			}
		}
	}
}

func TestAStickyKeyLivesWhereThePreferenceSentItsFirstRequest(t *testing.T) {
	r := newRouter(t, 2, func(c *Config) { c.CacheMode, c.StickySessions = "enforce", true })
	r.Observe("w0", waiting(start, 1, 200))
	r.Observe("w1", idle(start))
	r.Feed("w0").Apply(start, stored(1, 0, prompt(3200), 16))
	ask := Request{Tokens: prompt(3201), Key: "k", Chat: true, Streaming: true, PlainText: true}
	first := pick(t, r, start, ask).Receipt()
	if first.Chosen != "w0" || first.Base != "w1" || first.Pinned {
		t.Fatalf("the owner was to win: %+v", first)
	}
	r.Observe("w0", waiting(start.Add(time.Second), 9, 90000))
	again := pick(t, r, start.Add(time.Second), ask).Receipt()
	if again.Chosen != "w0" || !again.Pinned || again.Result != Ineligible {
		t.Errorf("the key was to stay, untouched by the preference: %+v", again)
	}
	replayed, err := Replay(again, r.Settings())
	if err != nil || replayed.Chosen != "w0" || !replayed.Pinned {
		t.Errorf("replayed: %v, %+v", err, replayed)
	}
}

func TestRequestsWithoutAKeyGoAsThePolicySays(t *testing.T) {
	r := newRouter(t, 3, func(c *Config) { c.Policy, c.StickySessions = "round_robin", true })
	for i := range 6 {
		if got := pick(t, r, start, Request{}).Target().ID; got != name(i%3) {
			t.Errorf("request %d went to %s", i, got)
		}
	}
}

// case E12
func TestAKeyWhoseWorkerIsGoneMovesOnceAndSaysSo(t *testing.T) {
	r := newRouter(t, 3, func(c *Config) { c.Policy, c.StickySessions = "round_robin", true })
	first := pick(t, r, start, Request{Key: "k"}).Receipt()
	fleet := fleetOf(3)
	fleet[0].Healthy = false
	r.Publish(fleet)
	moved := pick(t, r, start, Request{Key: "k"}).Receipt()
	if first.Chosen != "w0" || moved.Chosen == "w0" || moved.MovedFrom != "w0" || moved.Pinned {
		t.Errorf("first %s, then %+v", first.Chosen, moved)
	}
	r.Publish(fleetOf(3))
	if stays := pick(t, r, start, Request{Key: "k"}).Receipt(); stays.Chosen != moved.Chosen || !stays.Pinned || stays.MovedFrom != "" {
		t.Errorf("the key was to stay on %s: %+v", moved.Chosen, stays)
	}
}
