package routing

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"leeway/routing/prefix"
)

func policyRouter(t *testing.T, n int, policy string) *Router {
	return newRouter(t, n, func(c *Config) { c.Policy = policy })
}

func chosen(t *testing.T, r *Router, at time.Time, q Request) string {
	t.Helper()
	l := pick(t, r, at, q)
	defer l.Release()
	return l.Target().ID
}

func TestRoundRobinTakesTurns(t *testing.T) {
	r := policyRouter(t, 3, "round_robin")
	for i := range 9 {
		if got := chosen(t, r, start, Request{}); got != name(i%3) {
			t.Fatalf("request %d went to %s", i, got)
		}
	}
}

func TestPassthroughTakesTheFirst(t *testing.T) {
	r := policyRouter(t, 3, "passthrough")
	for range 5 {
		if got := chosen(t, r, start, Request{}); got != "w0" {
			t.Fatal(got)
		}
	}
}

func TestPowerOfTwoAvoidsTheBusiest(t *testing.T) {
	r := policyRouter(t, 4, "power_of_two")
	most := 0
	got := spread(t, r, start, 400, 10)
	for _, n := range got {
		most = max(most, n)
	}
	if len(got) != 4 || most > 110 {
		t.Errorf("%v", got)
	}
}

func TestConsistentHashingMovesOnlyTheShareOfWhoLeft(t *testing.T) {
	r := policyRouter(t, 4, "consistent_hashing")
	before := map[string]string{}
	for i := range 200 {
		key := fmt.Sprint("user ", i)
		before[key] = chosen(t, r, start, Request{Key: key})
	}
	r.Publish(fleetOf(3)) // w3 leaves
	for key, was := range before {
		if now := chosen(t, r, start, Request{Key: key}); was != "w3" && now != was {
			t.Fatalf("%s moved from %s to %s", key, was, now)
		}
	}
}

func TestPrefixHashKeepsBeginningsTogetherUntilCrowded(t *testing.T) {
	r := policyRouter(t, 4, "prefix_hash")
	first := chosen(t, r, start, Request{Tokens: prompt(300)})
	for n := 256; n < 300; n++ {
		if got := chosen(t, r, start, Request{Tokens: prompt(n)}); got != first {
			t.Fatalf("the same beginning went to %s and %s", first, got)
		}
	}
	got := spread(t, r, start, 100, 300)
	if got[first] == 100 || got[first] < 10 {
		t.Errorf("crowding: %v", got)
	}
}

// case C8
func TestCacheAwareTakesTheOwnerUntilCrowdedAndTheIdleOneOnAMiss(t *testing.T) {
	r := newRouter(t, 3, func(c *Config) { c.Policy, c.BalanceAbs = "cache_aware", 5 })
	r.Feed("w1").Apply(start, stored(1, 0, prompt(1600), 16))
	for _, w := range []string{"w0", "w2"} { // these have the larger indexes, of other prompts
		r.Feed(w).Apply(start, stored(1, 0, prompt(160), 16))
		r.Feed(w).Apply(start, stored(2, 1<<20, prompt(9600)[1600:], 16))
	}
	got := map[string]int{}
	for range 12 {
		got[pick(t, r, start, Request{Tokens: prompt(1600), PlainText: true}).Target().ID]++
	}
	if got["w1"] < 5 || got["w1"] == 12 {
		t.Errorf("a crowded owner: %v", got)
	}
	other := make([]uint32, 100)
	if miss := chosen(t, r, start, Request{Tokens: other, PlainText: true}); miss == "w1" {
		t.Error("a miss went to the busiest")
	}
	if l := pick(t, r, start, Request{Tokens: prompt(1600), PlainText: true}); find(l.Receipt(), "w1").Certificate != prefix.Certified {
		t.Error("the receipt does not show the claim")
	}
}

func TestManualKeepsAKeyWhereItIs(t *testing.T) {
	for _, mode := range assignNames {
		r := newRouter(t, 4, func(c *Config) { c.Policy, c.AssignmentMode, c.MaxIdleSecs = "manual", mode, 60 })
		homes, now := map[string]string{}, start
		for i := range 40 {
			key := fmt.Sprint(i)
			homes[key] = pick(t, r, now, Request{Key: key}).Target().ID
		}
		for key, home := range homes {
			if got := chosen(t, r, now.Add(time.Minute/2), Request{Key: key}); got != home {
				t.Errorf("%s: key %s moved from %s to %s", mode, key, home, got)
			}
		}
		count := map[string]int{}
		for _, home := range homes {
			count[home]++
		}
		if mode != "random" && mode != "" && (count["w0"] != 10 || count["w3"] != 10) {
			t.Errorf("%s: %v", mode, count)
		}
	}
}

func TestAKeyThatIsUsedStaysAndOneThatIsNotIsFree(t *testing.T) {
	r := newRouter(t, 4, func(c *Config) { c.Policy, c.AssignmentMode, c.MaxIdleSecs = "manual", "min_load", 60 })
	used, idle := pick(t, r, start, Request{Key: "used"}), pick(t, r, start, Request{Key: "idle"})
	now := start
	for range 3 {
		now = now.Add(time.Minute - 1)
		if got := chosen(t, r, now, Request{Key: "used"}); got != used.Target().ID {
			t.Fatalf("a key in use moved to %s", got)
		}
	}
	l := pick(t, r, now, Request{Key: "idle"})
	if receipt := l.Receipt(); l.Target() == idle.Target() || receipt.Pinned || receipt.MovedFrom != "" {
		t.Errorf("a key that was idle for long is still bound: %+v", receipt)
	}
}

func TestManualNeverKeepsMoreKeysThanItMay(t *testing.T) {
	p := newManual(random{}, "random", time.Hour)
	for i := range 2 * maxKeys {
		p.pin(strconv.Itoa(i), "w0", start)
	}
	if len(p.keys) > maxKeys || p.groups["w0"] != len(p.keys) {
		t.Errorf("%d keys, %d in the group", len(p.keys), p.groups["w0"])
	}
}

func TestManualIsBounded(t *testing.T) {
	p := newManual(random{}, "random", time.Second)
	add := func(n int, at time.Time) {
		for i := range n {
			p.keys[fmt.Sprint(at, i)] = assignment{"w0", at}
			p.groups["w0"]++
		}
	}
	add(maxKeys-5, start)
	later := start.Add(time.Hour)
	add(5, later)
	if p.makeRoom(later); len(p.keys) != 5 || p.groups["w0"] != 5 {
		t.Errorf("the idle were to go: %d keys are left, %d in the group", len(p.keys), p.groups["w0"])
	}
	add(maxKeys-5, later.Add(1))
	if p.makeRoom(later); len(p.keys) != maxKeys/8*7 || p.groups["w0"] != maxKeys/8*7 {
		t.Errorf("none is idle, an eighth was to go: %d keys are left, %d in the group", len(p.keys), p.groups["w0"])
	}
}

func TestBucketSeparatesShortFromLong(t *testing.T) {
	r := policyRouter(t, 2, "bucket")
	short, long := map[string]int{}, map[string]int{}
	for i := range 400 {
		s, l := chosen(t, r, start, Request{Tokens: prompt(10 + i%5)}), chosen(t, r, start, Request{Tokens: prompt(5000 + i%5)})
		if i > 100 {
			short[s]++
			long[l]++
		}
	}
	if short["w0"] != 299 || long["w1"] < 100 {
		t.Errorf("short %v, long %v", short, long)
	}
}

func TestConfigNamesTheKeyThatIsWrong(t *testing.T) {
	c := DefaultConfig()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	c.Policy, c.DefaultThroughput, c.AssignmentMode = "best", 0, "first"
	err := c.Validate()
	for _, key := range []string{"policy: ", "least_load_default_throughput: ", "assignment_mode: "} {
		if err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%q is not named: %v", key, err)
		}
	}
	if _, err := New(c); err == nil {
		t.Error("a router was made of it")
	}
}
