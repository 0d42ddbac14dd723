package sim

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"leeway/workers/enginepb/sglangpb"
	"leeway/workers/enginepb/tokenspeedpb"
	"leeway/workers/enginepb/vllmpb"
)

// busy starts a worker with one running and one waiting request, that have found a third's prefix in the cache.
func busy(t *testing.T, o Options) *mouth {
	t.Helper()
	o.MaxRunning, o.Speed = 1, 20
	w, m := start(t, o)
	m.say(t, "warm", words(w, 64, "x"), 1)
	for _, id := range []string{"a", "b"} {
		go m.generate(t.Context(), ask{id: id, tokens: words(w, 80, "x"), stream: true, ignoreEOS: true, max: 20_000}, nil)
		eventually(t, "request "+id, func() bool { s := w.Load(0); return s.Running+s.Waiting == map[string]int{"a": 1, "b": 2}[id] })
	}
	eventually(t, "some throughput", func() bool { return w.Load(0).Throughput > 0 })
	return m
}

func TestSGLangReportsEverythingButRustOnlyCounts(t *testing.T) {
	for _, s := range []Servicer{Python, Rust, Bridge} {
		client := sglangpb.NewSglangSchedulerClient(busy(t, Options{Servicer: string(s)}).conn)
		got, err := client.GetLoads(brief(t), &sglangpb.GetLoadsRequest{Include: []string{"core", "queues"}})
		if err != nil {
			t.Fatal(err)
		}
		l := got.Loads[0]
		if l.NumRunningReqs != 1 || l.NumWaitingReqs != 1 || l.NumTotalReqs != 2 || l.TokenUsage <= 0 || got.Aggregate.TotalReqs != 2 {
			t.Errorf("%s: %v", s, got)
		}
		if full := l.GenThroughput > 0 && l.NumWaitingUncachedTokens > 0; full == (s == Rust) {
			t.Errorf("%s: %v", s, l)
		}
		_, err = client.GetLoads(brief(t), &sglangpb.GetLoadsRequest{Include: []string{"coré"}})
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: a section that is not there: %v", s, err)
		}
	}
}

func TestVLLMEstimatesAndTheOlderOneKnowsLess(t *testing.T) {
	for _, s := range []Servicer{Python, Rust, Bridge} {
		client := vllmpb.NewVllmEngineClient(busy(t, Options{Dialect: "vllm", Servicer: string(s), Ranks: 1}).conn)
		got, err := client.GetLoads(brief(t), &vllmpb.GetLoadsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		l := got.Loads[0]
		if l.NumRunningReqs != 1 || l.NumWaitingReqs != 1 || l.TokenUsage <= 0 {
			t.Errorf("%s: %v", s, l)
		}
		older := s == Bridge
		if l.NumUsedTokens > 0 == older || l.GenThroughput > 0 == older || l.NumWaitingUncachedTokens > 0 == older {
			t.Errorf("%s: %v", s, l)
		}
	}
}

func TestOlderVLLMListsOneRankWhateverThereIs(t *testing.T) {
	_, m := start(t, Options{Dialect: "vllm", Servicer: string(Bridge), Ranks: 2})
	if r := m.loads(t); r.ranks != 1 || len(r.waiting) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestTokenSpeedCountsCachedTokensAsUsed(t *testing.T) {
	for _, s := range []Servicer{Python, Rust, Bridge} {
		client := tokenspeedpb.NewTokenSpeedSchedulerClient(busy(t, Options{Dialect: "tokenspeed", Servicer: string(s)}).conn)
		got, err := client.GetLoads(brief(t), &tokenspeedpb.GetLoadsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		l := got.Loads[0]
		if l.NumRunningReqs != 1 || l.NumWaitingReqs != 1 || l.NumWaitingUncachedTokens != 0 || l.GenThroughput != 0 {
			t.Errorf("%s: %v", s, l)
		}
		if (l.ActiveTokenUsage == nil) != (s == Bridge) || l.GetActiveTokenUsage() > l.TokenUsage {
			t.Errorf("%s: %v", s, l)
		}
	}
}

func TestOneRankCanBeAskedFor(t *testing.T) {
	_, m := start(t, Options{Dialect: "tokenspeed", Ranks: 3})
	got, err := tokenspeedpb.NewTokenSpeedSchedulerClient(m.conn).GetLoads(brief(t), &tokenspeedpb.GetLoadsRequest{DpRank: new(int32(2))})
	if err != nil || len(got.Loads) != 1 || got.Loads[0].DpRank != 2 {
		t.Errorf("%v, %v", err, got)
	}
	_, m = start(t, Options{Ranks: 3})
	sg, err := sglangpb.NewSglangSchedulerClient(m.conn).GetLoads(brief(t), &sglangpb.GetLoadsRequest{DpRank: new(int32(1))})
	if err != nil || len(sg.Loads) != 1 || sg.Loads[0].DpRank != 1 {
		t.Errorf("%v, %v", err, sg)
	}
}
