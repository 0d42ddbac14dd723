package openai

import "strconv"

// CompletionRequest is the body of POST /v1/completions, checked and with its defaults filled in.
type CompletionRequest struct {
	Model  string
	Prompt Prompts
	N      int // 1 when left out; best_of may only repeat it
	Echo   bool

	Stream          bool
	IncludeUsage    bool
	ContinuousUsage bool

	Sampling
	Logprobs *int // how many candidates per token; nil: no logprobs

	RID       string
	LoraPath  string
	CacheSalt string
	User      string
	Ignored   []string // as in ChatRequest

	streamOptions bool
	bestOf        *int
}

var completionFields = map[string]func(*scanner, *CompletionRequest){
	"model":   func(s *scanner, r *CompletionRequest) { r.Model = s.text() },
	"prompt":  func(s *scanner, r *CompletionRequest) { r.Prompt = s.prompts(anyPrompts) },
	"n":       func(s *scanner, r *CompletionRequest) { r.N = s.choices(maxTextChoices) },
	"best_of": func(s *scanner, r *CompletionRequest) { r.bestOf = s.count(1, maxTextChoices) },
	"echo":    func(s *scanner, r *CompletionRequest) { r.Echo = s.flag(false) },
	"suffix":  func(s *scanner, r *CompletionRequest) { s.noSuffix() },
	"stream":  func(s *scanner, r *CompletionRequest) { r.Stream = s.flag(false) },
	"stream_options": func(s *scanner, r *CompletionRequest) {
		r.streamOptions = s.streamOptions(&r.IncludeUsage, &r.ContinuousUsage, &r.Ignored)
	},
	"logprobs":   func(s *scanner, r *CompletionRequest) { r.Logprobs = s.count(0, maxTopLogprobs) },
	"rid":        func(s *scanner, r *CompletionRequest) { r.RID = s.text() },
	"lora_path":  func(s *scanner, r *CompletionRequest) { r.LoraPath = s.text() },
	"cache_salt": func(s *scanner, r *CompletionRequest) { r.CacheSalt = s.text() },
	"user":       func(s *scanner, r *CompletionRequest) { r.User = s.text() },
}

// DecodeCompletion reads and checks the body of a completion request. Its error is an *Error with status 400.
func DecodeCompletion(body []byte) (*CompletionRequest, error) {
	r := &CompletionRequest{N: 1}
	r.SkipSpecialTokens = true
	return decode(body, r, completionFields, &r.Sampling, &r.Ignored, r.settle)
}

// noSuffix refuses a text to lead up to.
func (s *scanner) noSuffix() {
	if s.text() != "" {
		s.fail(CodeUnsupported, "text after the completion cannot be taken into account; leave it out.")
	}
}

// settle checks that fields agree.
func (r *CompletionRequest) settle(s *scanner) {
	switch {
	case r.Model == "":
		s.missing("model")
	case r.Prompt.List == nil:
		s.missing("prompt")
	case r.streamOptions && !r.Stream:
		s.failAt("stream_options", CodeStreamOptions, "it is allowed only together with 'stream': true.")
	case r.bestOf != nil && *r.bestOf != r.N:
		s.failAt("best_of", CodeInvalidValue, "it must equal n, which is %d; every choice is returned.", r.N)
	case r.Echo && r.Logprobs != nil:
		s.failAt("echo", CodeInvalidValue, "logprobs of the prompt cannot be returned; leave out echo or logprobs.")
	}
	r.Sampling.settle(s)
}

// TextChoice is one finished or partial completion.
type TextChoice struct {
	Index       int
	Text        string
	Logprobs    []TokenLogprob // nil unless asked for
	Offset      int            // the characters of the choice before the answer: what is echoed
	Finish      string         // "" is null
	MatchedStop MatchedStop
}

func (c *TextChoice) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"text":`...)
	dst = AppendString(dst, c.Text)
	dst = append(dst, `,"index":`...)
	dst = strconv.AppendInt(dst, int64(c.Index), 10)
	dst = append(dst, `,"logprobs":`...)
	dst = appendTextLogprobs(dst, c.Logprobs, c.Offset)
	dst = append(dst, `,"finish_reason":`...)
	dst = appendStringOrNull(dst, c.Finish)
	dst = c.MatchedStop.appendMember(dst)
	return append(dst, '}')
}

// Completion is a whole text_completion.
type Completion struct {
	Head    Head
	Choices []TextChoice
	Usage   Usage
}

// AppendJSON appends the completion's body.
func (c Completion) AppendJSON(dst []byte) []byte {
	dst = c.Head.appendJSON(dst, "text_completion")
	for i := range c.Choices {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = c.Choices[i].appendJSON(dst)
	}
	dst = append(dst, `],"usage":`...)
	return append(c.Usage.AppendJSON(dst), '}')
}

// TextChunks writes the chunks of one streamed completion, as Chunks does for chat.
type TextChunks struct {
	chunks Chunks
}

// NewTextChunks renders the head once.
func NewTextChunks(h Head) *TextChunks {
	return &TextChunks{Chunks{head: h.appendJSON(nil, "text_completion")}}
}

// AppendChunk appends one chunk; usage is nil unless the client asked for continuous usage.
func (c *TextChunks) AppendChunk(dst []byte, choice TextChoice, usage *Usage) []byte {
	dst = append(dst, c.chunks.head...)
	dst = choice.appendJSON(dst)
	dst = append(dst, ']')
	return c.chunks.close(dst, usage)
}

// AppendUsage appends the chunk that has no choice and tells the cost of all.
func (c *TextChunks) AppendUsage(dst []byte, u Usage) []byte { return c.chunks.AppendUsage(dst, u) }
