package routing

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"leeway/routing/prefix"
)

// A scenario is a fleet, a config and what happens to them; steps say what a route must choose, and why.
type scenario struct {
	Name   string `json:"name"`
	Config struct {
		Score             string  `json:"score"`
		Mode              string  `json:"mode"`
		KVPressureWeight  float64 `json:"kv_pressure_weight"`
		DefaultThroughput float64 `json:"default_throughput"`
		MeanPrefillTokens int     `json:"mean_prefill_tokens"`
		PrefillThroughput float64 `json:"prefill_throughput"`
		MeanDecodeTokens  int     `json:"mean_remaining_decode_tokens"`
		BlockSize         int     `json:"block_size"`
		EstimateQueue     bool    `json:"estimate_queue"`
		MaxWaiting        int     `json:"max_waiting_requests"`
	} `json:"config"`
	Workers int    `json:"workers"`
	Steps   []step `json:"steps"`
}

type step struct {
	Op     string `json:"op"`
	Worker int    `json:"worker"`
	Sample struct {
		RankCount int `json:"rank_count"`
		Ranks     []struct {
			Running       int      `json:"running"`
			Waiting       int      `json:"waiting"`
			Uncached      int      `json:"waiting_uncached"`
			Usage         float64  `json:"usage"`
			ActiveUsage   *float64 `json:"active_usage"`
			GenThroughput float64  `json:"gen_throughput"`
		} `json:"ranks"`
	} `json:"sample"`
	PromptTokens int            `json:"prompt_tokens"`
	Cached       map[string]int `json:"cached"`
	Certified    []int          `json:"certified"`
	Eligible     bool           `json:"eligible"`
	Want         want           `json:"want"`
}

type want struct {
	Base      int      `json:"base"`
	Preferred int      `json:"preferred"`
	Chosen    int      `json:"chosen"`
	Result    string   `json:"result"`
	Reasons   []string `json:"reasons"`
}

// TestVectors runs scenarios whose answers an independent program worked out: the part that is kept here, the whole
// collection where it is at hand, and every file named in LEEWAY_VECTORS.
func TestVectors(t *testing.T) {
	files, _ := filepath.Glob("testdata/vectors_*.json")
	shared := os.Getenv("LEEWAY_SHARED")
	if shared == "" {
		shared = "../../shared"
	}
	if more, _ := filepath.Glob(filepath.Join(shared, "vectors", "*.json")); len(more) > 0 {
		files = append(files, more...)
	} else {
		t.Logf("SKIPPED the whole collection: no vectors in %s/vectors; only testdata was run", shared)
	}
	if named := os.Getenv("LEEWAY_VECTORS"); named != "" {
		files = append(files, strings.Split(named, ":")...)
	}
	if len(files) == 0 {
		t.Fatal("no vectors at all")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { runVectors(t, file) })
	}
}

func runVectors(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var scenarios []scenario
	if err := json.Unmarshal(text, &scenarios); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	routes, failed := 0, 0
	step := 1
	if raced && strings.Contains(file, "shared") { // sixty times the time, for one goroutine
		step = 40
	}
	for i := 0; i < len(scenarios); i += step {
		s := newStage(t, &scenarios[i])
		for j := range scenarios[i].Steps {
			if problem := s.play(t, &scenarios[i].Steps[j]); problem != "" {
				failed++
				t.Errorf("%s step %d: %s", scenarios[i].Name, j, problem)
				break
			}
		}
		routes += s.routes
		if failed > 10 {
			t.Fatal("and more")
		}
	}
	t.Logf("%d scenarios, %d choices", len(scenarios), routes)
}

// stage is a scenario being played.
type stage struct {
	scenario *scenario
	router   *Router
	now      time.Time
	polled   map[int]time.Time
	leases   map[string][]*Lease
	sequence uint64
	hash     int64
	routes   int
}

func newStage(t *testing.T, sc *scenario) *stage {
	r := newRouter(t, sc.Workers, func(c *Config) {
		if sc.Config.Score != "" {
			c.LoadScore = sc.Config.Score
		}
		c.CacheMode = sc.Config.Mode
		c.KVPressureWeight = sc.Config.KVPressureWeight
		c.DefaultThroughput = sc.Config.DefaultThroughput
		c.MeanPrefillTokens = sc.Config.MeanPrefillTokens
		c.PrefillThroughput = sc.Config.PrefillThroughput
		c.MeanDecodeTokens = sc.Config.MeanDecodeTokens
		c.EstimateQueue, c.MaxWaiting = sc.Config.EstimateQueue, sc.Config.MaxWaiting
	})
	s := &stage{scenario: sc, router: r, now: start, polled: map[int]time.Time{}, leases: map[string][]*Lease{}}
	s.sequence++
	other := s.blocks(prompt(sc.Config.BlockSize)) // of something else, which tells the size
	for i := range sc.Workers {
		r.Feed(name(i)).Apply(s.now, s.batch(other))
	}
	return s
}

func (s *stage) play(t *testing.T, p *step) string {
	s.now = s.now.Add(time.Microsecond)
	switch p.Op {
	case "poll":
		s.polled[p.Worker] = s.now
	case "load":
		taken, ok := s.polled[p.Worker]
		if !ok {
			taken = s.now
		}
		delete(s.polled, p.Worker)
		s.router.Observe(name(p.Worker), p.load(taken))
	case "load_failed":
		delete(s.polled, p.Worker)
		s.router.Forget(name(p.Worker))
	case "finish":
		if held := s.leases[name(p.Worker)]; len(held) > 0 {
			held[0].Release()
			s.leases[name(p.Worker)] = held[1:]
		}
	case "route":
		s.routes++
		return s.route(t, p)
	default:
		t.Fatalf("unknown step %q", p.Op)
	}
	return ""
}

func (p *step) load(taken time.Time) Load {
	load := Load{TakenAt: taken, RankCount: p.Sample.RankCount}
	for _, r := range p.Sample.Ranks {
		rank := RankLoad{Running: r.Running, Waiting: r.Waiting, WaitingUncached: r.Uncached, Usage: r.Usage, GenThroughput: r.GenThroughput}
		if r.ActiveUsage != nil {
			rank.ActiveUsage, rank.HasActiveUsage = *r.ActiveUsage, true
		}
		load.Ranks = append(load.Ranks, rank)
	}
	return load
}

// route makes the workers hold what the step says, by events, and compares the choice.
func (s *stage) route(t *testing.T, p *step) string {
	tokens := make([]uint32, p.PromptTokens)
	for i := range tokens {
		tokens[i] = uint32(s.routes<<20 + i)
	}
	s.sequence++
	longest := 0
	for _, n := range p.Cached {
		longest = max(longest, min(n, len(tokens)))
	}
	blocks := s.blocks(tokens[:longest])
	for i := range s.scenario.Workers {
		feed := s.router.Feed(name(i))
		feed.Apply(s.now, s.batch(blocks[:min(p.Cached[strconv.Itoa(i)]/s.scenario.Config.BlockSize, len(blocks))]))
		if !slices.Contains(p.Certified, i) {
			feed.Disconnected()
		}
	}
	lease := pick(t, s.router, s.now, Request{Tokens: tokens, Chat: true, Streaming: p.Eligible, PlainText: true})
	s.leases[lease.Target().ID] = append(s.leases[lease.Target().ID], lease)
	r := lease.Receipt()
	got := map[string]string{
		"base": r.Base, "preferred": r.Preferred, "chosen": r.Chosen, "result": r.Result.String(),
		"reasons": strings.Join(slices.Sorted(slices.Values(r.Reasons.Names())), " "),
	}
	wanted := map[string]string{
		"base": name(p.Want.Base), "preferred": name(p.Want.Preferred), "chosen": name(p.Want.Chosen),
		"result": p.Want.Result, "reasons": strings.Join(slices.Sorted(slices.Values(p.Want.Reasons)), " "),
	}
	if r.Slack < 0 {
		return "negative slack"
	}
	if !maps.Equal(got, wanted) {
		text, _ := json.Marshal(r)
		return "got " + describe(got) + "\n  want " + describe(wanted) + "\n  " + string(text)
	}
	return ""
}

func describe(m map[string]string) string {
	text, _ := json.Marshal(m)
	return string(text)
}

// blocks cuts a prompt into whole blocks.
func (s *stage) blocks(tokens []uint32) (blocks []prefix.Block) {
	size := s.scenario.Config.BlockSize
	for i := 0; i+size <= len(tokens); i += size {
		s.hash++
		blocks = append(blocks, prefix.Block{Hash: s.hash, Tokens: tokens[i : i+size], Size: size})
	}
	return blocks
}

func (s *stage) batch(blocks []prefix.Block) *prefix.Batch {
	e := prefix.Event{Kind: prefix.Stored, Place: prefix.Place{Group: -1}, Blocks: blocks}
	return &prefix.Batch{Sequence: s.sequence, Events: []prefix.Event{e}}
}
