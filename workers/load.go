package workers

import (
	"context"
	"errors"
	"time"

	"leeway/routing"
	"leeway/workers/engine"
)

const (
	loadDeadline = 3 * time.Second
	// pushDelay is how long a pushed record has been under way, on average, when its age says nothing of that.
	pushDelay = 20 * time.Millisecond
)

// errNoLoads is an answer without content. It is a failed poll: an idle worker lists its ranks with zeros.
var errNoLoads = errors.New("the worker listed no loads")

// pushedLoad is the last record that a rank pushed.
type pushedLoad struct {
	engine.RankLoad
	taken time.Time
}

// pollLoads asks for the worker's load at every interval in which it has not pushed it. Each worker has a loop of its
// own, so that a slow one delays no other.
func (w *worker) pollLoads(ctx context.Context) {
	interval := seconds(w.pool.cfg.LoadInterval)
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		mode := w.pollMode(time.Now(), interval)
		w.gauges.polled(mode)
		if mode != "skipped_fresh_push" {
			w.pollLoad(ctx)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// pollMode says, in SMG's words, whether a poll is due: while every rank pushes, and all are fresh, none is.
func (w *worker) pollMode(now time.Time, interval time.Duration) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pushed) == 0 {
		return "poll"
	}
	if len(w.pushed) < w.info.Ranks {
		return "fallback"
	}
	for _, record := range w.pushed {
		if now.Sub(record.taken) >= interval {
			return "fallback"
		}
	}
	return "skipped_fresh_push"
}

// pollLoad asks once. A failure takes back the sample in use, because the worker may be anything by now, and a stale
// zero would win every comparison.
func (w *worker) pollLoad(ctx context.Context) {
	poll, cancel := context.WithTimeout(ctx, loadDeadline)
	defer cancel()
	load, err := w.currentClient().Loads(poll)
	if ctx.Err() != nil {
		return
	}
	if err == nil && len(load.Ranks) == 0 {
		err = errNoLoads
	}
	w.gauges.pollEnded(err)
	if err != nil {
		w.log.Debug().Err(err).Msg("load poll failed")
		for _, t := range w.targets() {
			w.pool.router.Forget(t.ID)
		}
		w.doubt(err)
		return
	}
	w.heard()
	w.reported(load.Ranks...)
	for _, t := range w.targets() {
		w.pool.router.Observe(t.ID, polledLoad(load, t.Rank))
	}
}

// polledLoad is the part of a poll's answer that concerns a target: all ranks, or the one that it stands for.
func polledLoad(load engine.Load, rank int32) routing.Load {
	l := routing.Load{TakenAt: load.TakenAt, RankCount: load.RankCount}
	if rank >= 0 {
		l.RankCount = 1
	}
	for _, r := range load.Ranks {
		if rank < 0 || r.Rank == rank {
			l.Ranks = append(l.Ranks, rankLoad(r))
		}
	}
	return l
}

// rankLoad drops the difference between unknown and zero where the score has none.
func rankLoad(r engine.RankLoad) routing.RankLoad {
	l := routing.RankLoad{Running: r.Running, Waiting: r.Waiting, Usage: r.Usage, GenThroughput: r.GenThroughput}
	if r.WaitingUncached != nil {
		l.WaitingUncached = *r.WaitingUncached
	}
	if r.ActiveUsage != nil {
		l.ActiveUsage, l.HasActiveUsage = *r.ActiveUsage, true
	}
	return l
}

// takePush hands a pushed record to the router. A target of several ranks gets a sample once each of them has spoken;
// it is as old as the oldest part. A worker of one rank may call it by the number that it has among other workers.
func (w *worker) takePush(load *engine.PushedLoad, received time.Time) {
	record := load.RankLoad
	w.mu.Lock()
	w.contact = received
	ranks := int32(max(w.info.Ranks, 1))
	if ranks == 1 {
		record.Rank = 0
	}
	known := record.Rank >= 0 && record.Rank < ranks
	if known {
		w.pushed[record.Rank] = pushedLoad{RankLoad: record, taken: received.Add(-load.Age - pushDelay)}
	}
	w.mu.Unlock()
	if !known {
		return
	}
	w.reported(record)
	for _, t := range w.targets() {
		if sample, complete := w.pushedLoad(t); complete && (t.Rank < 0 || t.Rank == record.Rank) {
			w.pool.router.Observe(t.ID, sample)
		}
	}
}

// pushedLoad puts together what a target's ranks have pushed.
func (w *worker) pushedLoad(t routing.Target) (sample routing.Load, complete bool) {
	ranks := []int32{t.Rank}
	if t.Rank < 0 {
		ranks = make([]int32, t.Ranks)
		for i := range ranks {
			ranks[i] = int32(i)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	sample = routing.Load{RankCount: len(ranks), Pushed: true}
	for _, rank := range ranks {
		record, ok := w.pushed[rank]
		if !ok {
			return routing.Load{}, false
		}
		if sample.TakenAt.IsZero() || record.taken.Before(sample.TakenAt) {
			sample.TakenAt = record.taken
		}
		sample.Ranks = append(sample.Ranks, rankLoad(record.RankLoad))
	}
	return sample, true
}
