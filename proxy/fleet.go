package proxy

import (
	"context"
	"math"
	"net/http"
	"sync"
	"time"

	"leeway/workers"
	"leeway/workers/engine"
)

// everywhere does something on each worker at once and returns the errors in their order.
func everywhere(all []workers.Status, do func(i int, s workers.Status) error) []error {
	errs := make([]error, len(all))
	var running sync.WaitGroup
	for i, s := range all {
		running.Go(func() { errs[i] = do(i, s) })
	}
	running.Wait()
	return errs
}

type flushFailure struct {
	Worker string `json:"worker"`
	Error  string `json:"error"`
}

type flushed struct {
	Status     string         `json:"status"`
	Message    string         `json:"message"`
	Flushed    int            `json:"workers_flushed"`
	HTTP       int            `json:"total_http_workers"`
	GRPC       int            `json:"total_grpc_workers"`
	ZMQ        int            `json:"total_zmq_workers_skipped"`
	Total      int            `json:"total_workers"`
	Successful []string       `json:"successful,omitempty"`
	Failed     []flushFailure `json:"failed,omitempty"`
}

// flushTimeout is how long an engine may take to empty its cache.
const flushTimeout = 30 * time.Second

// flushCache answers POST /flush_cache: every worker's cache is emptied, and what is believed of it.
func (g *Gateway) flushCache(x *exchange, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), flushTimeout+15*time.Second)
	defer cancel()
	all := g.pool.Workers()
	body := flushed{Status: "success", Message: "every cache is empty", GRPC: len(all), Total: len(all)}
	errs := everywhere(all, func(_ int, s workers.Status) error { return g.pool.Flush(ctx, s.Spec.URL, flushTimeout) })
	for i, err := range errs {
		if err == nil {
			body.Flushed++
			body.Successful = append(body.Successful, all[i].Spec.URL)
			continue
		}
		g.log.Warn().Err(err).Str("worker", all[i].Spec.URL).Msg("cache not flushed")
		body.Failed = append(body.Failed, flushFailure{all[i].Spec.URL, asFailure(err).Message})
	}
	if len(body.Failed) == 0 {
		body.Successful = nil
		return sendJSON(x, http.StatusOK, body)
	}
	body.Status, body.Message = "partial_success", "some caches could not be flushed"
	return sendJSON(x, http.StatusPartialContent, body)
}

// rankLoad is one rank of one worker, in the words of the engines. A nil pointer is a value that was not reported.
type rankLoad struct {
	Worker          string   `json:"worker"`
	WorkerType      string   `json:"worker_type"`
	Model           string   `json:"model,omitempty"`
	Rank            int32    `json:"dp_rank"`
	Running         int      `json:"num_running_reqs"`
	Waiting         int      `json:"num_waiting_reqs"`
	WaitingUncached *int     `json:"num_waiting_uncached_tokens,omitempty"`
	Total           int      `json:"num_total_reqs"`
	Used            int      `json:"num_used_tokens"`
	Max             int      `json:"max_total_num_tokens"`
	Usage           float64  `json:"token_usage"`
	ActiveUsage     *float64 `json:"active_token_usage,omitempty"`
	Throughput      float64  `json:"gen_throughput"`
	HitRate         float64  `json:"cache_hit_rate"`
	Utilization     float64  `json:"utilization"` // running requests, of as many as may run
	MaxRunning      int      `json:"max_running_requests"`
}

// loadSum is what all ranks together bear.
type loadSum struct {
	Running     int     `json:"total_running_reqs"`
	Waiting     int     `json:"total_waiting_reqs"`
	Total       int     `json:"total_reqs"`
	Usage       float64 `json:"avg_token_usage"`
	Throughput  float64 `json:"avg_throughput"`
	Utilization float64 `json:"avg_utilization"`
}

func sumOf(loads []rankLoad) (s loadSum) {
	n := float64(max(len(loads), 1))
	for _, l := range loads {
		s.Running += l.Running
		s.Waiting += l.Waiting
		s.Total += l.Total
		s.Usage += l.Usage / n
		s.Throughput += l.Throughput / n
		s.Utilization += l.Utilization / n
	}
	return s
}

type loadsBody struct {
	Timestamp time.Time  `json:"timestamp"`
	Version   string     `json:"version"`
	RankCount int        `json:"dp_rank_count"`
	Loads     []rankLoad `json:"loads"`
	Aggregate *loadSum   `json:"aggregate,omitempty"` // of nothing is nothing
}

// loadCache keeps what the workers last said of their loads, so that a public route cannot make work for them.
type loadCache struct {
	mu   sync.Mutex
	body loadsBody
}

// loads answers GET /loads and /get_loads, perhaps of one ?model= only.
func (g *Gateway) loads(x *exchange, r *http.Request) error {
	body := g.currentLoads(r.Context())
	if model := r.URL.Query().Get("model"); model != "" {
		all := body.Loads
		body.Loads = []rankLoad{}
		for _, l := range all {
			if l.Model == model {
				body.Loads = append(body.Loads, l)
			}
		}
	}
	body.RankCount = len(body.Loads)
	if body.RankCount > 0 {
		sum := sumOf(body.Loads)
		body.Aggregate = &sum
	}
	return sendJSON(x, http.StatusOK, body)
}

// number is what JSON can say of a worker's value; what is no number is shown as 0.
func number(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// currentLoads polls the workers unless it has done so within the last second. Those that do not answer are left out.
func (g *Gateway) currentLoads(ctx context.Context) loadsBody {
	c := &g.lastLoads
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.body.Timestamp) < time.Second {
		return c.body
	}
	all := g.pool.Workers()
	found := make([]engine.Load, len(all))
	everywhere(all, func(i int, s workers.Status) (err error) {
		found[i], err = g.pool.Loads(context.WithoutCancel(ctx), s.Spec.URL)
		return err
	})
	c.body = loadsBody{Timestamp: time.Now().UTC(), Version: "smg-leeway", Loads: []rankLoad{}}
	for i, load := range found {
		for _, l := range load.Ranks {
			if l.ActiveUsage != nil {
				active := number(*l.ActiveUsage)
				l.ActiveUsage = &active
			}
			c.body.Loads = append(c.body.Loads, rankLoad{
				Worker: all[i].Spec.URL, WorkerType: "regular", Model: all[i].Model, Rank: l.Rank, Running: l.Running, Waiting: l.Waiting,
				WaitingUncached: l.WaitingUncached, Used: l.UsedTokens, Max: l.MaxTokens, Usage: number(l.Usage), ActiveUsage: l.ActiveUsage,
				Throughput: number(l.GenThroughput), HitRate: number(l.CacheHitRate), Total: l.Running + l.Waiting, MaxRunning: l.MaxRunning,
				Utilization: float64(l.Running) / float64(max(l.MaxRunning, 1)),
			})
		}
	}
	return c.body
}
