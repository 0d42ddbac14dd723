package workers

import (
	"testing"
	"time"

	"leeway/routing/prefix"
	"leeway/workers/engine"
)

func TestAnotherProcessIsKnownByItsStart(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for _, c := range []struct {
		name         string
		before, then engine.Info
		between      time.Duration // from the first time it was asked to the second
		restarted    bool
	}{
		{"the same start", engine.Info{StartTime: ago(time.Hour)}, engine.Info{StartTime: ago(time.Hour)}, time.Minute, false},
		{"a clock that was set by a second", engine.Info{StartTime: ago(time.Hour), Uptime: time.Hour},
			engine.Info{StartTime: ago(time.Hour - time.Second), Uptime: time.Hour}, 0, false},
		{"a start within milliseconds", engine.Info{StartTime: ago(time.Hour)}, engine.Info{StartTime: ago(time.Hour - time.Millisecond)}, 0, false},
		{"another start", engine.Info{StartTime: ago(time.Hour), Uptime: time.Hour}, engine.Info{StartTime: ago(time.Minute), Uptime: time.Minute}, 0, true},
		{"a young process that started anew", engine.Info{StartTime: ago(time.Second), Uptime: 500 * time.Millisecond},
			engine.Info{StartTime: ago(400 * time.Millisecond), Uptime: 400 * time.Millisecond}, 500 * time.Millisecond, true},
		{"a worker whose clock is ahead", engine.Info{StartTime: ago(-time.Hour), Uptime: time.Minute},
			engine.Info{StartTime: ago(-time.Hour), Uptime: 2 * time.Minute}, time.Minute, false},
		{"an age that goes on", engine.Info{Uptime: time.Hour}, engine.Info{Uptime: time.Hour + time.Minute}, time.Minute, false},
		{"an age in whole seconds", engine.Info{Uptime: 10 * time.Second}, engine.Info{Uptime: 11 * time.Second}, 1900 * time.Millisecond, false},
		{"an age that falls", engine.Info{Uptime: time.Hour}, engine.Info{Uptime: time.Second}, time.Minute, true},
		{"a young age that falls", engine.Info{Uptime: 900 * time.Millisecond}, engine.Info{Uptime: 300 * time.Millisecond}, 100 * time.Millisecond, true},
		{"nothing said", engine.Info{}, engine.Info{}, time.Minute, false},
		{"another that says its start", engine.Info{}, engine.Info{StartTime: ago(time.Second)}, time.Minute, true},
		{"another that says its age", engine.Info{}, engine.Info{Uptime: time.Second}, time.Minute, true},
		{"an age in whole seconds that was none", engine.Info{}, engine.Info{Uptime: time.Second}, 900 * time.Millisecond, false},
		{"other ranks", engine.Info{Ranks: 2}, engine.Info{Ranks: 1}, time.Minute, true},
	} {
		w := &worker{}
		w.learn(c.before, now.Add(-c.between))
		if got, _ := w.learn(c.then, now); got != c.restarted {
			t.Errorf("%s: restarted %t", c.name, got)
		}
	}
}

func TestTwoProcessesAreComparedOnlyWhereBothSaySinceWhenTheyRun(t *testing.T) {
	now := time.Now()
	since, age, nothing := engine.Info{StartTime: now.Add(-time.Hour)}, engine.Info{Uptime: time.Hour}, engine.Info{}
	for _, c := range []struct {
		before, then engine.Info
		same         bool
	}{
		{since, age, true}, {age, since, true}, {age, age, true}, {nothing, age, false}, {age, nothing, false}, {since, nothing, false}, {nothing, nothing, false},
	} {
		w := &worker{}
		w.learn(c.before, now)
		if restarted, same := w.learn(c.then, now); restarted || same != c.same {
			t.Errorf("%+v, then %+v: restarted %t, the same %t", c.before, c.then, restarted, same)
		}
	}
}

func TestAnAgeThatTookLongToAskForProvesNothing(t *testing.T) {
	now := time.Now()
	w := &worker{}
	w.learn(engine.Info{Uptime: time.Second}, now.Add(-4*time.Second)) // answered now: it started four seconds ago, or one
	if restarted, same := w.learn(engine.Info{Uptime: 2 * time.Second}, now); restarted || same {
		t.Errorf("restarted %t, the same %t", restarted, same)
	}
}

func TestAQuickAnswerSaysWhatASlowOneCouldNot(t *testing.T) {
	now := time.Now()
	w := &worker{}
	w.learn(engine.Info{Uptime: time.Hour}, now.Add(-4*time.Second))
	w.learn(engine.Info{Uptime: time.Hour + 4*time.Second}, now)
	if restarted, same := w.learn(engine.Info{Uptime: time.Hour + 4*time.Second}, now); restarted || !same {
		t.Errorf("restarted %t, the same %t", restarted, same)
	}
}

func TestAModelsNameThatIsLeftOutIsNotLost(t *testing.T) {
	w := &worker{}
	w.learn(engine.Info{Model: "m"}, time.Now())
	w.learn(engine.Info{}, time.Now())
	if w.info.Model != "m" {
		t.Errorf("model %q", w.info.Model)
	}
}

// What does not say since when it runs may be another process each time that it comes back.
func TestAWorkerThatReturnsWithoutProofHasLostItsView(t *testing.T) {
	for proved, info := range map[bool]engine.Info{true: {Uptime: time.Hour}, false: {}} {
		pool, router := startPool(t, quick("grpc://127.0.0.1:1"))
		w := pool.members[0]
		w.learn(info, time.Now())
		feed := router.Feed(w.spec.URL)
		feed.Apply(time.Now(), &prefix.Batch{Sequence: 1})
		w.enter(NotReady, "")
		w.reacquaint(info, time.Now())
		if _, based := feed.Cursor(0); based != proved {
			t.Errorf("proved %t: the view is kept: %t", proved, based)
		}
	}
}
