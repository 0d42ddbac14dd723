package workers

import (
	"strings"
	"testing"
	"time"
)

// A row of letters is what happens: f and s a request that fails or passes, u one that does not reach the worker, n one
// that says nothing, w the rest that an open breaker takes, c a check that passes, r a new process.
func TestABreakerOpensAfterFailuresInARowAndClosesAfterTrials(t *testing.T) {
	for _, c := range []struct {
		row  string
		want Breaker
		why  string
	}{
		{"", Closed, "nothing has happened"},
		{"ff", Closed, "two failures are not three"},
		{"fff", Open, "three in a row"},
		{"ffsff", Closed, "a whole answer ends the row"},
		{"ffnf", Open, "what says nothing of the worker does not"},
		{"fffw", HalfOpen, "it has rested"},
		{"fffws", HalfOpen, "one answer is not two"},
		{"fffwss", Closed, "two are"},
		{"fffwnnnnn", HalfOpen, "clients who leave prove nothing"},
		{"fffwsf", Open, "one failure is enough"},
		{"fffwfw", HalfOpen, "and so on"},
		{"fffwssff", Closed, "the row begins anew"},
		{"uuu", Open, "no connection, three times"},
		{"uuuc", Closed, "and then there is one"},
		{"fuuc", Closed, "one failure is not three"},
		{"fuucff", Closed, "and is forgotten with them"},
		{"fffc", Open, "a check says nothing of what reached the worker"},
		{"fffr", Closed, "another process"},
		{"ffrff", Closed, "another process has not failed before"},
	} {
		now := time.Unix(0, 0)
		b := breaker{failures: 3, successes: 2, rest: time.Minute, state: Closed}
		for _, event := range c.row {
			switch event {
			case 'w':
				now = now.Add(time.Minute)
				b.tick(now)
			case 'r':
				b.reset()
			case 'c':
				b.contact()
			default:
				ticket, ok := b.admit(false)
				if !ok {
					t.Fatalf("%s: a request was refused", c.row)
				}
				b.end(now, ticket, map[rune]outcome{'f': failure, 's': success, 'u': unreached, 'n': neutral}[event])
			}
		}
		if b.state != c.want || b.trials != 0 {
			t.Errorf("%q: %s with %d trials, want %s: %s", c.row, b.state, b.trials, c.want, c.why)
		}
	}
}

func TestAnOpenBreakerLetsNothingThroughAndAHalfOpenOneAFew(t *testing.T) {
	now := time.Unix(0, 0)
	b := breaker{failures: 1, successes: 2, rest: time.Minute, state: Closed}
	early, _ := b.admit(false)
	second, _ := b.admit(false)
	b.end(now, early, failure)
	if _, ok := b.admit(true); ok {
		t.Error("open, and a request got through")
	}
	b.tick(now.Add(59 * time.Second))
	if b.state != Open {
		t.Error("half open before its time")
	}
	b.tick(now.Add(time.Minute))
	b.end(now, second, failure) // it was sent before the breaker opened
	if b.state != HalfOpen || b.trials != 0 {
		t.Errorf("an old request made it %s with %d trials", b.state, b.trials)
	}
	let := strings.Builder{}
	for _, last := range []bool{false, false, false, true} {
		if _, ok := b.admit(last); ok {
			let.WriteByte('y')
		} else {
			let.WriteByte('n')
		}
	}
	if let.String() != "yyny" {
		t.Errorf("let through: %s, want two, and one more where there is nobody else", &let)
	}
}

func TestABreakerThatIsOffStaysClosed(t *testing.T) {
	b := breaker{failures: 1, successes: 1, off: true, state: Closed}
	for range 100 {
		ticket, _ := b.admit(false)
		b.end(time.Time{}, ticket, failure)
	}
	if b.state != Closed {
		t.Error(b.state)
	}
}
