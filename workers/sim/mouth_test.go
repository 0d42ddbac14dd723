package sim

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"leeway/workers/engine"
	"leeway/workers/enginepb/commonpb"
	"leeway/workers/enginepb/sglangpb"
	"leeway/workers/enginepb/tokenspeedpb"
	"leeway/workers/enginepb/vllmpb"
)

var dialects = []engine.Dialect{engine.SGLang, engine.VLLM, engine.TokenSpeed}

// mouth speaks a worker's dialect in the plainest way.
type mouth struct {
	dialect engine.Dialect
	conn    *grpc.ClientConn
	common  commonCalls
}

// commonCalls are those whose messages all dialects share.
type commonCalls interface {
	GetTokenizer(context.Context, *commonpb.GetTokenizerRequest, ...grpc.CallOption) (grpc.ServerStreamingClient[commonpb.GetTokenizerChunk], error)
	SubscribeKvEvents(context.Context, *commonpb.SubscribeKvEventsRequest, ...grpc.CallOption) (grpc.ServerStreamingClient[commonpb.KvEventBatch], error)
	FlushCache(context.Context, *commonpb.FlushCacheRequest, ...grpc.CallOption) (*commonpb.FlushCacheResponse, error)
}

// ask is a request.
type ask struct {
	id        string
	tokens    []uint32
	stream    bool
	n         int
	max       int // 0: none
	min       int
	stop      []string
	stopIDs   []uint32
	ignoreEOS bool
	logprobs  int // -1: none
	rank      *int32
}

// said is a chunk or a complete.
type said struct {
	chunk                              bool
	tokens                             []uint32
	prompt, completion, cached, index_ uint32
	finish, stopString                 string
	stopToken                          uint32
	logprobs                           []float32
	tops                               int
}

func speak(t *testing.T, w *Worker) *mouth {
	t.Helper()
	conn, err := grpc.NewClient(w.Addr(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	m := &mouth{dialect: w.o.dialect(), conn: conn}
	switch m.dialect {
	case engine.VLLM:
		m.common = vllmpb.NewVllmEngineClient(conn)
	case engine.TokenSpeed:
		m.common = tokenspeedpb.NewTokenSpeedSchedulerClient(conn)
	default:
		m.common = sglangpb.NewSglangSchedulerClient(conn)
	}
	return m
}

// start starts a fast worker and speaks to it.
func start(t *testing.T, o Options) (*Worker, *mouth) {
	t.Helper()
	if o.Speed == 0 {
		o.Speed = 20
	}
	w, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, speak(t, w)
}

// brief is a context that no test outlives.
func brief(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// generate asks and listens to the end. each, if set, hears every part as it comes.
func (m *mouth) generate(ctx context.Context, a ask, each func(said)) ([]said, error) {
	recv, err := m.open(ctx, a)
	if err != nil {
		return nil, err
	}
	var all []said
	for {
		s, err := recv()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, s)
		if each != nil {
			each(s)
		}
	}
}

func (m *mouth) open(ctx context.Context, a ask) (func() (said, error), error) {
	switch m.dialect {
	case engine.VLLM:
		stream, err := vllmpb.NewVllmEngineClient(m.conn).Generate(ctx, a.vllm())
		return func() (said, error) {
			r, err := stream.Recv()
			return vllmSaid(r), err
		}, err
	case engine.TokenSpeed:
		stream, err := tokenspeedpb.NewTokenSpeedSchedulerClient(m.conn).Generate(ctx, a.tokenspeed())
		return func() (said, error) {
			r, err := stream.Recv()
			return tokenspeedSaid(r), err
		}, err
	}
	stream, err := sglangpb.NewSglangSchedulerClient(m.conn).Generate(ctx, a.sglang())
	return func() (said, error) {
		r, err := stream.Recv()
		return sglangSaid(r), err
	}, err
}

func optional(n int) *uint32 {
	if n == 0 {
		return nil
	}
	return new(uint32(n))
}

func (a ask) sglang() *sglangpb.GenerateRequest {
	return &sglangpb.GenerateRequest{
		RequestId: a.id, Tokenized: &sglangpb.TokenizedInput{InputIds: a.tokens}, Stream: a.stream,
		ReturnLogprob: a.logprobs > 0, TopLogprobsNum: int32(a.logprobs), LogprobStartLen: -1, DataParallelRank: a.rank,
		SamplingParams: &sglangpb.SamplingParams{
			N: uint32(a.n), MaxNewTokens: optional(a.max), MinNewTokens: uint32(a.min), Stop: a.stop, StopTokenIds: a.stopIDs, IgnoreEos: a.ignoreEOS,
		},
	}
}

func (a ask) vllm() *vllmpb.GenerateRequest {
	r := &vllmpb.GenerateRequest{
		RequestId: a.id, Input: &vllmpb.GenerateRequest_Tokenized{Tokenized: &vllmpb.TokenizedInput{InputIds: a.tokens}}, Stream: a.stream,
		DataParallelRank: a.rank,
		SamplingParams: &vllmpb.SamplingParams{
			N: uint32(a.n), MaxTokens: optional(a.max), MinTokens: uint32(a.min), Stop: a.stop, StopTokenIds: a.stopIDs, IgnoreEos: a.ignoreEOS,
		},
	}
	if a.logprobs > 0 {
		r.SamplingParams.Logprobs = new(int32(a.logprobs))
	}
	return r
}

func (a ask) tokenspeed() *tokenspeedpb.GenerateRequest {
	return &tokenspeedpb.GenerateRequest{
		RequestId: a.id, Tokenized: &tokenspeedpb.TokenizedInput{InputIds: a.tokens}, Stream: a.stream,
		ReturnLogprob: a.logprobs > 0, TopLogprobsNum: int32(a.logprobs), DataParallelRank: a.rank,
		SamplingParams: &tokenspeedpb.SamplingParams{
			N: uint32(a.n), MaxNewTokens: optional(a.max), MinNewTokens: uint32(a.min), Stop: a.stop, StopTokenIds: a.stopIDs, IgnoreEos: a.ignoreEOS,
		},
	}
}

func sglangSaid(r *sglangpb.GenerateResponse) said {
	if c := r.GetChunk(); c != nil {
		lp := c.GetOutputLogprobs()
		return said{chunk: true, tokens: c.TokenIds, prompt: c.PromptTokens, completion: c.CompletionTokens, cached: c.CachedTokens,
			index_: c.Index, logprobs: lp.GetTokenLogprobs(), tops: len(lp.GetTopLogprobs())}
	}
	c := r.GetComplete()
	return said{tokens: c.GetOutputIds(), prompt: c.GetPromptTokens(), completion: c.GetCompletionTokens(), cached: c.GetCachedTokens(),
		index_: c.GetIndex(), finish: c.GetFinishReason(), stopToken: c.GetMatchedTokenId(), stopString: c.GetMatchedStopStr()}
}

func vllmSaid(r *vllmpb.GenerateResponse) said {
	if c := r.GetChunk(); c != nil {
		lp := c.GetOutputLogprobs()
		return said{chunk: true, tokens: c.TokenIds, prompt: c.PromptTokens, completion: c.CompletionTokens, cached: c.CachedTokens,
			index_: c.Index, logprobs: lp.GetTokenLogprobs(), tops: len(lp.GetTopLogprobs())}
	}
	c := r.GetComplete()
	return said{tokens: c.GetOutputIds(), prompt: c.GetPromptTokens(), completion: c.GetCompletionTokens(), cached: c.GetCachedTokens(),
		index_: c.GetIndex(), finish: c.GetFinishReason(), stopToken: c.GetMatchedTokenId(), stopString: c.GetMatchedStopStr()}
}

func tokenspeedSaid(r *tokenspeedpb.GenerateResponse) said {
	if c := r.GetChunk(); c != nil {
		lp := c.GetOutputLogprobs()
		return said{chunk: true, tokens: c.TokenIds, prompt: c.PromptTokens, completion: c.CompletionTokens, cached: c.CachedTokens,
			index_: c.Index, logprobs: lp.GetTokenLogprobs(), tops: len(lp.GetTopLogprobs())}
	}
	c := r.GetComplete()
	return said{tokens: c.GetOutputIds(), prompt: c.GetPromptTokens(), completion: c.GetCompletionTokens(), cached: c.GetCachedTokens(),
		index_: c.GetIndex(), finish: c.GetFinishReason(), stopToken: c.GetMatchedTokenId(), stopString: c.GetMatchedStopStr()}
}

func (m *mouth) abort(ctx context.Context, id string) error {
	var err error
	switch m.dialect {
	case engine.VLLM:
		_, err = vllmpb.NewVllmEngineClient(m.conn).Abort(ctx, &vllmpb.AbortRequest{RequestIds: []string{id}})
	case engine.TokenSpeed:
		_, err = tokenspeedpb.NewTokenSpeedSchedulerClient(m.conn).Abort(ctx, &tokenspeedpb.AbortRequest{RequestId: id})
	default:
		_, err = sglangpb.NewSglangSchedulerClient(m.conn).Abort(ctx, &sglangpb.AbortRequest{RequestId: id})
	}
	return err
}

func (m *mouth) healthy(ctx context.Context) (bool, error) {
	switch m.dialect {
	case engine.VLLM:
		r, err := vllmpb.NewVllmEngineClient(m.conn).HealthCheck(ctx, &vllmpb.HealthCheckRequest{})
		return r.GetHealthy(), err
	case engine.TokenSpeed:
		r, err := tokenspeedpb.NewTokenSpeedSchedulerClient(m.conn).HealthCheck(ctx, &tokenspeedpb.HealthCheckRequest{})
		return r.GetHealthy(), err
	}
	r, err := sglangpb.NewSglangSchedulerClient(m.conn).HealthCheck(ctx, &sglangpb.HealthCheckRequest{})
	return r.GetHealthy(), err
}

// tokensOf puts the chunks of one index together.
func tokensOf(all []said, index uint32) []uint32 {
	var ids []uint32
	for _, s := range all {
		if s.chunk && s.index_ == index {
			ids = append(ids, s.tokens...)
		}
	}
	return ids
}

// eventually waits for something that another goroutine brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited 5 s for %s", what)
		}
	}
}

// words is a prompt of n tokens or a little more.
func words(w *Worker, n int, first string) []uint32 {
	return w.voice.encode(first + strings.Repeat(" and so on", n/3+1))[:n]
}
