package sim

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
	"leeway/workers/enginepb/sglangpb"
	"leeway/workers/enginepb/tokenspeedpb"
	"leeway/workers/enginepb/vllmpb"
)

// misbehave sets faults on a worker.
func misbehave(t *testing.T, w *Worker, list ...Fault) {
	t.Helper()
	if err := w.SetFaults(list...); err != nil {
		t.Fatal(err)
	}
}

func TestAnswersFailAsTheScriptSays(t *testing.T) {
	for _, tc := range []struct {
		name   string
		fault  Fault
		code   codes.Code
		chunks int
		finish string // of the complete; "": none came
	}{
		{"an error before the first token", Fault{Kind: FaultError, Code: "RESOURCE_EXHAUSTED"}, codes.ResourceExhausted, 0, ""},
		{"an error after three tokens", Fault{Kind: FaultError, Code: "INTERNAL", After: 3}, codes.Internal, 3, ""}, // case A2
		{"a reset connection", Fault{Kind: FaultReset, After: 2}, codes.Unavailable, 2, ""},
		{"an end without a complete", Fault{Kind: FaultEnd, After: 2}, codes.OK, 2, ""}, // case H8
		{"a finish that says error", Fault{Kind: FaultFinish, Reason: "error", After: 2}, codes.OK, 2, "error"},
		{"a finish that says abort, uncalled", Fault{Kind: FaultFinish, Reason: "abort"}, codes.OK, 8, "abort"}, // case H7
		{"four tokens in a chunk", Fault{Kind: FaultChunk, N: 4}, codes.OK, 2, "length"},                        // case A15
		{"a killed core", Fault{Kind: FaultKillCore, After: 1}, codes.Internal, 1, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, d := range dialects {
				w, m := start(t, Options{Dialect: string(d)})
				misbehave(t, w, tc.fault)
				all, err := m.generate(brief(t), ask{id: "a", tokens: words(w, 20, "x"), stream: true, max: 8}, nil)
				chunks, finish := 0, ""
				for _, s := range all {
					if s.chunk && len(s.tokens) > 0 {
						chunks++
					} else if !s.chunk {
						finish = s.finish
					}
				}
				if tc.fault.Kind == FaultReset { // what was under way when the connection broke may be lost
					tc.chunks = chunks
				}
				if status.Code(err) != tc.code || chunks != tc.chunks || finish != tc.finish {
					t.Errorf("%s: %v, %d chunks, finish %q", d, err, chunks, finish)
				}
			}
		})
	}
}

func TestFaultsOfAnswersCanBeAboutSomePromptsOnly(t *testing.T) {
	w, m := start(t, Options{})
	misbehave(t, w, Fault{Kind: FaultError, Contains: "poison", Code: "INTERNAL"})
	for text, want := range map[string]codes.Code{"some poison please": codes.Internal, "water": codes.OK} {
		_, err := m.generate(brief(t), ask{id: text, tokens: w.voice.encode(text), max: 1}, nil)
		if status.Code(err) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAStalledAnswerGoesOnAfterAWhile(t *testing.T) {
	w, m := start(t, Options{})
	misbehave(t, w, Fault{Kind: FaultStall, After: 2, For: Duration(200 * time.Millisecond)}, Fault{Kind: FaultNoUsage})
	began := time.Now()
	all, err := m.generate(brief(t), ask{id: "a", tokens: words(w, 20, "x"), stream: true, max: 4}, nil)
	if err != nil || time.Since(began) < 200*time.Millisecond || len(all) != 5 {
		t.Errorf("%v, %d parts after %v", err, len(all), time.Since(began))
	}
	if end := all[4]; end.prompt != 0 || end.completion != 0 || end.finish != "length" { // case A14
		t.Errorf("%+v", end)
	}
}

func TestADeafWorkerRunsOnAfterAnAbort(t *testing.T) { // case B4
	w, m := start(t, Options{})
	misbehave(t, w, Fault{Kind: FaultDeaf})
	first := true
	all, err := m.generate(brief(t), ask{id: "a", tokens: words(w, 20, "x"), stream: true, max: 30}, func(said) {
		if first {
			first = false
			if err := m.abort(brief(t), "a"); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || len(all) != 31 || len(w.Aborts()) != 1 {
		t.Errorf("%v, %d parts, %d aborts", err, len(all), len(w.Aborts()))
	}
}

func TestAnyCallCanFailBeLateOrBeMissing(t *testing.T) {
	w, m := start(t, Options{})
	misbehave(t, w,
		Fault{Kind: FaultUnimplemented, Method: "GetTokenizer"},
		Fault{Kind: FaultError, Method: "SubscribeKvEvents", Code: "FAILED_PRECONDITION"},
		Fault{Kind: FaultDelay, Method: "FlushCache", For: Duration(100 * time.Millisecond)},
		Fault{Kind: FaultUnhealthy, Times: 1},
	)
	tokenizer, err := m.common.GetTokenizer(brief(t), &commonpb.GetTokenizerRequest{})
	if err == nil {
		_, err = tokenizer.Recv()
	}
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("GetTokenizer: %v", err)
	}
	events, err := m.common.SubscribeKvEvents(brief(t), &commonpb.SubscribeKvEventsRequest{})
	if err == nil {
		_, err = events.Recv()
	}
	if status.Code(err) != codes.FailedPrecondition {
		t.Errorf("SubscribeKvEvents: %v", err)
	}
	began := time.Now()
	if _, err := m.common.FlushCache(brief(t), &commonpb.FlushCacheRequest{}); err != nil || time.Since(began) < 100*time.Millisecond {
		t.Errorf("FlushCache: %v after %v", err, time.Since(began))
	}
	for _, want := range []bool{false, true} {
		if got, err := m.healthy(brief(t)); got != want || err != nil {
			t.Errorf("healthy %v, %v", got, err)
		}
	}
}

// report is what GetLoads says, in any dialect.
type report struct {
	ranks   int32
	waiting []int32
	usage   []float64
}

func (m *mouth) loads(t *testing.T) report {
	t.Helper()
	var r report
	switch m.dialect {
	case engine.VLLM:
		got, err := vllmpb.NewVllmEngineClient(m.conn).GetLoads(brief(t), &vllmpb.GetLoadsRequest{Include: []string{"core"}})
		if err != nil {
			t.Fatal(err)
		}
		r.ranks = got.DpRankCount
		for _, l := range got.Loads {
			r.waiting, r.usage = append(r.waiting, l.NumWaitingReqs), append(r.usage, l.TokenUsage)
		}
	case engine.TokenSpeed:
		got, err := tokenspeedpb.NewTokenSpeedSchedulerClient(m.conn).GetLoads(brief(t), &tokenspeedpb.GetLoadsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		r.ranks = got.DpRankCount
		for _, l := range got.Loads {
			r.waiting, r.usage = append(r.waiting, l.NumWaitingReqs), append(r.usage, l.TokenUsage)
		}
	default:
		got, err := sglangpb.NewSglangSchedulerClient(m.conn).GetLoads(brief(t), &sglangpb.GetLoadsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		r.ranks = got.DpRankCount
		for _, l := range got.Loads {
			r.waiting, r.usage = append(r.waiting, l.NumWaitingReqs), append(r.usage, l.TokenUsage)
		}
	}
	return r
}

func TestLoadsCanLie(t *testing.T) {
	for _, d := range dialects {
		w, m := start(t, Options{Dialect: string(d), Ranks: 2})
		if r := m.loads(t); r.ranks != 2 || len(r.waiting) != 2 {
			t.Errorf("%s: %+v", d, r)
		}
		misbehave(t, w, Fault{Kind: FaultLoads, Set: Fields{"num_waiting_reqs": "-3", "token_usage": "NaN", "no_such_field": "1"}}, Fault{Kind: FaultRankCount, N: 5})
		if r := m.loads(t); r.ranks != 5 || r.waiting[0] != -3 || r.usage[1] == r.usage[1] {
			t.Errorf("%s: %+v", d, r)
		}
		misbehave(t, w, Fault{Kind: FaultNoLoads})
		if r := m.loads(t); r.ranks != 0 || len(r.waiting) != 0 {
			t.Errorf("%s: %+v", d, r)
		}
	}
}

func TestStaleLoadsStayAsTheyWere(t *testing.T) { // case C3
	w, m := start(t, Options{Dialect: "tokenspeed"})
	m.loads(t)
	misbehave(t, w, Fault{Kind: FaultStaleLoads})
	m.say(t, "a", words(w, 100, "x"), 1)
	if r := m.loads(t); r.usage[0] != 0 {
		t.Errorf("%+v", r)
	}
	misbehave(t, w)
	if r := m.loads(t); r.usage[0] == 0 {
		t.Errorf("after the fault: %+v", r)
	}
}

func TestKVBatchesGetLostDoubledAndOvertaken(t *testing.T) { // case D1
	for _, tc := range []struct {
		name  string
		fault Fault
		want  []uint64
	}{
		{"in order", Fault{Kind: FaultNoHeartbeat}, []uint64{0, 1, 2, 3}},
		{"the second lost", Fault{Kind: FaultKVDrop, Nth: 2}, []uint64{0, 2, 3, 4}},
		{"a gap before the second", Fault{Kind: FaultKVGap, Nth: 2, N: 3}, []uint64{0, 4, 5, 6}},
		{"the second twice", Fault{Kind: FaultKVDuplicate, Nth: 2}, []uint64{0, 1, 1, 2}},
		{"the second after the third", Fault{Kind: FaultKVReorder, Nth: 2}, []uint64{0, 2, 1, 3}},
	} {
		w, m := start(t, Options{})
		misbehave(t, w, tc.fault)
		l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
		for _, first := range []string{"one", "two", "three", "four", "five"} {
			m.say(t, first, words(w, 40, first), 1)
		}
		for i, want := range tc.want {
			if b := l.next(t); b.SequenceNumber != want {
				t.Errorf("%s: batch %d is number %d, want %d", tc.name, i, b.SequenceNumber, want)
			}
		}
	}
}

func TestKVStreamsEndGoSilentOrLieAboutTheirBlocks(t *testing.T) {
	w, m := start(t, Options{})
	misbehave(t, w, Fault{Kind: FaultKVEnd, After: 1, Code: "DATA_LOSS"}, Fault{Kind: FaultKVBlockSize, N: 64})
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
	m.say(t, "one", words(w, 40, "one"), 1)
	b := l.next(t)
	if size := b.Events[len(b.Events)-1].GetStored().Blocks[0].BlockSize; size != 64 { // case D4
		t.Errorf("block size %d", size)
	}
	m.say(t, "two", words(w, 40, "two"), 1)
	if code := l.end(t); code != codes.DataLoss {
		t.Errorf("the stream ended with %v", code)
	}
	misbehave(t, w, Fault{Kind: FaultKVSilent})
	l = m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
	m.say(t, "three", words(w, 40, "three"), 1)
	select {
	case b := <-l.batches: // case D12
		t.Errorf("a silent stream said %v", b)
	case <-time.After(200 * time.Millisecond):
	}
}

func TestASnapshotCanBeCutShort(t *testing.T) {
	w, m := start(t, Options{Servicer: string(Rust), History: 1})
	for _, first := range []string{"one", "two"} {
		m.say(t, first, words(w, 40, first), 1)
	}
	misbehave(t, w, Fault{Kind: FaultSnapshotCut})
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
	if code := l.end(t); code != codes.Unavailable {
		t.Errorf("ended with %v", code)
	}
}

func TestARestartEmptiesTheCacheAndTheSequenceStartsAnewOrGoesOn(t *testing.T) { // case D2
	for _, keep := range []bool{false, true} {
		w, m := start(t, Options{})
		m.say(t, "one", words(w, 40, "one"), 1)
		misbehave(t, w, Fault{Kind: FaultRestart, After: 1, Times: 1, KeepSeq: keep})
		if _, err := m.generate(brief(t), ask{id: "b", tokens: words(w, 40, "one"), stream: true, max: 9}, nil); status.Code(err) != codes.Unavailable {
			t.Errorf("a restart under a request: %v", err)
		}
		var l *listener
		eventually(t, "the new process", func() bool { ok, err := m.healthy(brief(t)); return ok && err == nil })
		l = m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
		all, err := m.generate(brief(t), ask{id: "c", tokens: words(w, 40, "one"), max: 1}, nil)
		if err != nil || all[0].cached != 0 {
			t.Errorf("%v, %+v", err, all)
		}
		if b := l.next(t); (b.SequenceNumber == 0) == keep {
			t.Errorf("keep %v: number %d", keep, b.SequenceNumber)
		}
	}
}

func TestAnAbortReachesARequestBeforeItsFirstToken(t *testing.T) {
	w, m := start(t, Options{Dialect: "vllm"})
	misbehave(t, w, Fault{Kind: FaultStall})
	done := make(chan []said, 1)
	go func() {
		all, err := m.generate(t.Context(), ask{id: "stuck", tokens: words(w, 20, "x"), stream: true}, nil)
		if err != nil {
			t.Error(err)
		}
		done <- all
	}()
	eventually(t, "the request", func() bool { return len(w.Requests()) == 1 })
	if err := m.abort(brief(t), "stuck"); err != nil {
		t.Fatal(err)
	}
	if all := <-done; len(all) != 2 || all[1].finish != "abort" {
		t.Errorf("%+v", all)
	}
	if got := w.Finishes(); len(got) != 1 || got[0].Detail != "abort" {
		t.Errorf("%+v", got)
	}
}

func TestADeadCoreIsSeenByEveryProbeAndItsKVStreamStaysOpen(t *testing.T) { // case H3
	for servicer, want := range map[Servicer]codes.Code{Python: codes.Internal, Rust: codes.Unavailable} {
		w, m := start(t, Options{Dialect: "vllm", Servicer: string(servicer)})
		l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
		m.say(t, "a", words(w, 40, "x"), 1)
		l.next(t)
		w.KillCore()
		if ok, err := m.healthy(brief(t)); ok || err != nil {
			t.Errorf("healthy %v, %v", ok, err)
		}
		r, err := healthpb.NewHealthClient(m.conn).Check(brief(t), &healthpb.HealthCheckRequest{})
		if err != nil || r.Status != healthpb.HealthCheckResponse_NOT_SERVING {
			t.Errorf("grpc health: %v, %v", r, err)
		}
		if _, err := m.generate(brief(t), ask{id: "b", tokens: words(w, 40, "x")}, nil); status.Code(err) != want {
			t.Errorf("%s: generate: %v, want %v", servicer, err, want)
		}
		if _, err := vllmpb.NewVllmEngineClient(m.conn).GetLoads(brief(t), &vllmpb.GetLoadsRequest{}); status.Code(err) != want {
			t.Errorf("%s: loads: %v, want %v", servicer, err, want)
		}
		select {
		case b, open := <-l.batches:
			if !open || !b.GetLoad().GetLoadOnly() {
				t.Errorf("%s: open %v, %v", servicer, open, b)
			}
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestKVEventsCanClaimAnyPlace(t *testing.T) {
	w, m := start(t, Options{Dialect: "vllm"})
	misbehave(t, w, Fault{Kind: FaultKVFields, Set: Fields{
		"tier": "2", "lora_name": "french", "parent_block_hash": "7", "group_idx": "3", "lora_id": "5", "cache_level": "1", "block_hash": "-1",
	}})
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
	m.say(t, "a", words(w, 40, "x"), 1)
	s := l.next(t).Events[1].GetStored()
	if s.GetTier() != commonpb.KvCacheTier_KV_CACHE_TIER_HOST || s.GetLoraName() != "french" || s.GetParentBlockHash() != 7 || s.GetGroupIdx() != 3 {
		t.Errorf("%v", s)
	}
	if b := s.Blocks[1]; b.GetLoraId() != 5 || b.GetCacheLevel() != 1 || b.BlockHash != -1 || len(b.TokenIds) != 16 {
		t.Errorf("%v", b)
	}
}

func TestASnapshotCanAdmitThatItIsNotAll(t *testing.T) {
	w, m := start(t, Options{Servicer: string(Rust), History: 1})
	for _, first := range []string{"one", "two"} {
		m.say(t, first, words(w, 40, first), 1)
	}
	misbehave(t, w, Fault{Kind: FaultUnknown, N: 12})
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
	if s := l.next(t).GetSnapshot(); s.GetUnknownBefore() != 12 {
		t.Errorf("%v", s)
	}
}

func TestLateKVEventsComeLate(t *testing.T) {
	w, m := start(t, Options{})
	misbehave(t, w, Fault{Kind: FaultKVDelay, For: Duration(300 * time.Millisecond)})
	l := m.listen(brief(t), t, &commonpb.SubscribeKvEventsRequest{})
	began := time.Now()
	m.say(t, "a", words(w, 40, "x"), 1)
	l.next(t)
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("after %v", took)
	}
}
