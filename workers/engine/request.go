package engine

// Request is one prompt for a worker. The gateway owns ID: it is unique, whatever the client sent.
type Request struct {
	ID       string
	Tokens   []uint32
	Sampling Sampling
	Stream   bool
	// Logprobs asks for the log probability of each token and of that many alternatives.
	Logprobs *int
	// PromptLogprobs asks for the log probabilities of the prompt as well.
	PromptLogprobs bool
	// Rank pins the request to a data-parallel rank; nil leaves it to the worker. Rank 0 is a rank.
	Rank *int32
	// Reasoning says that the answer begins inside a thought, so that a grammar waits for its end.
	Reasoning bool
	// Metadata travels beside the request, such as x-request-id and traceparent. Keys are in lower case.
	Metadata map[string]string
}

// Sampling holds what the client asked for, after the model's defaults have filled in what it left out.
// A nil field is left out: the dialect sends what its engine takes for "not set".
type Sampling struct {
	Temperature       *float64
	TopP              *float64
	TopK              *int // -1: all tokens
	MinP              *float64
	FrequencyPenalty  *float64
	PresencePenalty   *float64
	RepetitionPenalty *float64
	MaxTokens         *int
	MinTokens         int
	Stop              []string
	StopTokenIDs      []uint32
	N                 int // 0 is 1
	Seed              *int64
	LogitBias         map[uint32]float64
	IgnoreEOS         bool
	NoStopTrim        bool
	Constraint        Constraint
}

// Constraint limits what the model may write; the zero value does not.
type Constraint struct {
	Kind ConstraintKind
	Text string
}

// ConstraintKind says how a constraint's text is meant.
type ConstraintKind uint8

// The constraints that every dialect knows.
const (
	Unconstrained ConstraintKind = iota
	Regex
	JSONSchema
	EBNF
	StructuralTag
)

// Delta is a part of an answer. Whatever the dialect, Tokens of all deltas of an index put together are the
// answer's ids, each once, and counters are running totals of the index as far as the worker reports them.
type Delta struct {
	Index  int
	Tokens []uint32
	// Logprobs has an entry for each of Tokens, or is empty.
	Logprobs []Logprob
	// PromptLogprobs comes once, with the first delta, when it was asked for; the first entry's value is NaN.
	PromptLogprobs  []Logprob
	PromptTokens    int // 0: not reported
	CachedTokens    int
	ReasoningTokens int
	SpecAccepted    int
	SpecDraft       int
	// Done says that this index has ended, for FinishReason: "stop", "length", "abort", "error" or what else the engine says.
	Done         bool
	FinishReason string
	// MatchedStop is the stop string that ended the index, MatchedToken the stop token.
	MatchedStop  string
	MatchedToken *uint32
}

// Logprob is a token's log probability and those of its alternatives.
type Logprob struct {
	Token uint32
	Value float64
	Top   []TopLogprob
}

// TopLogprob is one alternative.
type TopLogprob struct {
	Token uint32
	Value float64
}
