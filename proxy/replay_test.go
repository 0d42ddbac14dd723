package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"leeway/routing"
	"leeway/routing/prefix"
)

// decided is a log of decisions in shadow: an owner of the prompts that is a little busier than the other worker.
func decided(t *testing.T) *bytes.Buffer {
	c := routing.DefaultConfig()
	c.CacheMode = "shadow"
	router, err := routing.New(c)
	if err != nil {
		t.Fatal(err)
	}
	fleet := []routing.Target{{ID: "owner"}, {ID: "other"}}
	for i := range fleet {
		fleet[i].Model, fleet[i].Rank, fleet[i].Ranks, fleet[i].Healthy, fleet[i].GRPC = "m", -1, 1, true, true
	}
	router.Publish(fleet)
	now := time.Unix(1e9, 0)
	tokens := make([]uint32, 3201)
	stored := prefix.Event{Kind: prefix.Stored, Place: prefix.Place{Group: -1}}
	for i := range 200 {
		stored.Blocks = append(stored.Blocks, prefix.Block{Hash: int64(i), Tokens: tokens[16*i : 16*i+16], Size: 16})
	}
	router.Feed("owner").Apply(now, &prefix.Batch{Sequence: 1, Events: []prefix.Event{stored}})
	for i, id := range []string{"owner", "other"} {
		router.Observe(id, routing.Load{TakenAt: now, RankCount: 1, Ranks: []routing.RankLoad{{WaitingUncached: 100 * (1 - i), GenThroughput: 1000}}})
	}
	var log bytes.Buffer
	for i := range 3 {
		lease, err := router.Pick(now, routing.Request{ID: fmt.Sprint(i), Model: "m", Tokens: tokens, Chat: true, Streaming: true, PlainText: true})
		if err != nil {
			t.Fatal(err)
		}
		line, err := router.AppendRecord(nil, lease.Receipt())
		if err != nil {
			t.Fatal(err)
		}
		log.Write(line)
		lease.Release()
		router.Observe("owner", routing.Load{TakenAt: now.Add(1), RankCount: 1, Ranks: []routing.RankLoad{{WaitingUncached: 100, GenThroughput: 1000}}})
		router.Observe("other", routing.Load{TakenAt: now.Add(1), RankCount: 1, Ranks: []routing.RankLoad{{GenThroughput: 1000}}})
		now = now.Add(2)
	}
	return &log
}

func TestALogIsDecidedAgainUnderOtherSettings(t *testing.T) {
	for _, c := range []struct {
		change func(*ReplayOptions)
		chosen string
		says   string
	}{
		{func(*ReplayOptions) {}, "other", "3 decisions, 0 of them other than recorded"},
		{func(o *ReplayOptions) { o.Mode = "enforce" }, "owner", "3 decisions, 3 of them other than recorded; 1.200 s"},
		{func(o *ReplayOptions) { o.Mode, o.PrefillThroughput = "enforce", 80_000 }, "other", "3 decisions, 0 of them"},
		{func(o *ReplayOptions) { o.Mode = "off" }, "other", "3 decisions, 0 of them"},
	} {
		o := DefaultReplay()
		c.change(&o)
		var out, report bytes.Buffer
		if err := Replay(decided(t), &out, &report, o); err != nil || !strings.HasPrefix(report.String(), c.says) {
			t.Errorf("%+v: %v, %q", o, err, report.String())
		}
		for line := range strings.Lines(out.String()) {
			var r replayed
			if err := json.Unmarshal([]byte(line), &r); err != nil || r.Chosen != c.chosen || r.Was != "other" {
				t.Errorf("%+v: %v, %s", o, err, line)
			}
		}
	}
}

func TestAReplayOfWhatWasDecidedWithoutClaimsSaysSo(t *testing.T) {
	log := strings.ReplaceAll(decided(t).String(), `"mode":"shadow"`, `"mode":"off"`)
	for mode, want := range map[string]bool{"off": false, "enforce": true} {
		o := DefaultReplay()
		o.Mode = mode
		var report bytes.Buffer
		err := Replay(strings.NewReader(log), new(bytes.Buffer), &report, o)
		if err != nil || strings.Contains(report.String(), "3 were made with the mode off") != want {
			t.Errorf("%s: %v, %q", mode, err, report.String())
		}
	}
}

func TestAReplayOfAnotherPolicysChoicesSaysSo(t *testing.T) {
	log := strings.ReplaceAll(decided(t).String(), `"policy":"least_load"`, `"policy":"random"`)
	var report bytes.Buffer
	if err := Replay(strings.NewReader(log), new(bytes.Buffer), &report, DefaultReplay()); err != nil || !strings.Contains(report.String(), "3 were made by another policy") {
		t.Errorf("%v, %q", err, report.String())
	}
}

func TestAReplayNamesTheLineAndTheSettingThatIsWrong(t *testing.T) {
	log := decided(t).String()
	for want, c := range map[string]struct {
		log    string
		change func(*ReplayOptions)
	}{
		"line 2: decision log":         {strings.Replace(log, "\n", "\n{\n", 1), func(*ReplayOptions) {}},
		"least_load_cache_mode":        {log, func(o *ReplayOptions) { o.Mode = "often" }},
		"least_load_score":             {log, func(o *ReplayOptions) { o.Score = "v3" }},
		"least_load_cache_prefill_thr": {log, func(o *ReplayOptions) { o.PrefillThroughput = 0 }},
	} {
		o := DefaultReplay()
		c.change(&o)
		if err := Replay(strings.NewReader(c.log), new(bytes.Buffer), new(bytes.Buffer), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
