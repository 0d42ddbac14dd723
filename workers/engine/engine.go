// Package engine holds the neutral words in which leeway speaks of an inference engine. Each dialect
// (sglang, vllm, tokenspeed) translates between these and its own protobuf messages; everything behind them
// speaks only these. Counts are tokens, durations seconds unless a type says otherwise; a pointer that is nil
// is a value that nobody reported, which is not zero.
package engine

import (
	"context"
	"errors"
	"time"
)

// Dialect names the protocol that a worker speaks.
type Dialect string

// The dialects that leeway speaks, in the order in which an unnamed worker is probed.
const (
	SGLang     Dialect = "sglang"
	VLLM       Dialect = "vllm"
	TokenSpeed Dialect = "tokenspeed"
)

// Client is a connection to one worker. Its methods may be called at once from many goroutines.
type Client interface {
	Generator
	Describer
	Observer
	Close() error
}

// Generator runs requests on a worker.
type Generator interface {
	// Generate sends the request and returns once it is on its way; the answer, and most failures, come from the
	// stream. Cancelling ctx resets the stream, but a worker is only sure to stop at an Abort.
	Generate(ctx context.Context, req *Request) (Stream, error)
	// Abort asks the worker to stop a request. Unknown ids are no error.
	Abort(ctx context.Context, id string) error
	// Embed returns the embedding of a prompt; ErrUnsupported where the dialect has none.
	Embed(ctx context.Context, id string, tokens []uint32) (Embedding, error)
}

// Describer says what a worker is.
type Describer interface {
	Health(ctx context.Context) error
	// Serving fails where the server says that it is not to be routed to, which an engine that is well may: while it
	// warms up, or is about to end.
	Serving(ctx context.Context) error
	Info(ctx context.Context) (Info, error)
	// Tokenizer returns the zip archive of the worker's tokenizer files, complete and verified.
	Tokenizer(ctx context.Context) ([]byte, error)
}

// Observer says what a worker is doing and holds.
type Observer interface {
	Loads(ctx context.Context) (Load, error)
	// Events subscribes to KV-cache events after the cursor start; 0 means from now, or from a snapshot where the
	// worker keeps one. It returns once the worker has accepted, or ctx ends. ErrUnsupported: this worker has none.
	// ErrOutOfRange: it cannot resume there. Either may come with the first Recv instead, as may any error that the
	// worker answers with.
	Events(ctx context.Context, start uint64) (EventStream, error)
	Flush(ctx context.Context, timeout time.Duration) error
}

// Stream is the answer to one request. One goroutine reads it.
type Stream interface {
	// Recv fills d with the next part of the answer. io.EOF ends a stream, whether or not every choice finished;
	// any other error is an *Error. d's slices are the stream's own and hold until the next Recv.
	Recv(d *Delta) error
}

// EventStream delivers KV batches and pushed load records in the order in which they were sent.
type EventStream interface {
	Recv() (*Batch, error)
}

// What can go wrong in ways that a caller acts on. Dialects return them wrapped in an *Error.
var (
	ErrUnsupported = errors.New("the worker does not support this call")
	ErrOutOfRange  = errors.New("the worker cannot resume from this cursor")
	ErrDataLoss    = errors.New("the worker lost part of its event stream")
)

// Embedding is the answer to Embed.
type Embedding struct {
	Values       []float32
	PromptTokens int
}

// Info describes the worker's model and process.
type Info struct {
	Model             string // the served name: what clients call it
	ModelPath         string
	TokenizerPath     string
	ModelType         string
	Architectures     []string
	ContextLength     int // tokens of prompt and answer together; 0: not reported
	MaxPromptTokens   int // 0: not reported
	VocabSize         int // 0: not reported
	EOS               []uint32
	WeightVersion     string
	DefaultSampling   string // JSON object, "" when the worker has no defaults
	Version           string
	BlockSize         int // tokens in a KV block; 0: not reported
	Ranks             int // data-parallel ranks behind the address; at least 1
	MaxRunning        int
	IsGeneration      bool
	SupportsVision    bool
	ReasoningParser   string
	ConstrainedStart  string        // "after_reasoning", "first_token" or ""
	StartTime         time.Time     // zero: not reported
	Uptime            time.Duration // 0: not reported
	MaxTotalTokens    int
	KVConnector, Role string
}
