package openai

import (
	"encoding/json"
	"fmt"
	"strings"
)

// ChatRequest is the body of POST /v1/chat/completions, checked and with its defaults filled in.
type ChatRequest struct {
	Model    string
	Messages []Message
	N        int // 1 when left out

	Stream          bool
	IncludeUsage    bool // stream_options.include_usage
	ContinuousUsage bool // stream_options.continuous_usage_stats

	Sampling
	Logprobs    bool
	TopLogprobs int

	Tools             []Tool
	ToolsField        string // that the tools stood in
	ToolChoice        ToolChoice
	ParallelToolCalls bool // false keeps only the first call

	ChatTemplateKwargs   json.RawMessage // an object, or nil
	Documents            json.RawMessage // an array, or nil
	ReasoningEffort      string
	Thinking             Thinking
	SeparateReasoning    bool // true unless the client says false
	StreamReasoning      bool // true unless the client says false
	ContinueFinalMessage bool

	RID                string // the client's own name for the request
	LoraPath           string
	CacheSalt          string
	ReturnHiddenStates bool
	User               string
	PromptCacheKey     string

	// Ignored names what the client sent and nothing here acts on, in the body's order, so that it can be told.
	Ignored []string

	streamOptions  bool       // the field is set
	functions      []Tool     // the older name of Tools
	functionChoice ToolChoice // the older name of ToolChoice
}

// Message is one turn of the conversation. Raw is the object as the client wrote it.
type Message struct {
	Role             string
	Content          Content
	Name             string
	ToolCallID       string
	ToolCalls        []ToolCall
	ReasoningContent string
	Raw              json.RawMessage
}

// Content is what a message says. Parts is nil when it came as one string. Set tells "" from null or nothing.
type Content struct {
	Text  string
	Parts []Part
	Set   bool
}

// Part is one piece of a content that came as a list; only text can be served.
type Part struct {
	Type string
	Text string
}

// String joins the text of all parts by newlines.
func (c Content) String() string {
	if c.Parts == nil {
		return c.Text
	}
	texts := make([]string, len(c.Parts))
	for i, p := range c.Parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, "\n")
}

// Thinking is the switch that some providers send in place of reasoning_effort. Type is "", "enabled", "disabled" or
// "adaptive".
type Thinking struct {
	Type   string
	Effort string
	Raw    json.RawMessage
}

var chatFields = map[string]func(*scanner, *ChatRequest){
	"model":    func(s *scanner, r *ChatRequest) { r.Model = s.text() },
	"messages": func(s *scanner, r *ChatRequest) { r.Messages = s.messages() },
	"n":        func(s *scanner, r *ChatRequest) { r.N = s.choices(maxChoices) },
	"stream":   func(s *scanner, r *ChatRequest) { r.Stream = s.flag(false) },
	"stream_options": func(s *scanner, r *ChatRequest) {
		r.streamOptions = s.streamOptions(&r.IncludeUsage, &r.ContinuousUsage, &r.Ignored)
	},
	"logprobs":               func(s *scanner, r *ChatRequest) { r.Logprobs = s.flag(false) },
	"top_logprobs":           func(s *scanner, r *ChatRequest) { r.TopLogprobs = s.topLogprobs() },
	"tools":                  func(s *scanner, r *ChatRequest) { r.Tools = s.tools() },
	"functions":              func(s *scanner, r *ChatRequest) { s.functions(r) },
	"tool_choice":            func(s *scanner, r *ChatRequest) { r.ToolChoice = s.toolChoice() },
	"function_call":          func(s *scanner, r *ChatRequest) { s.functionCall(r) },
	"parallel_tool_calls":    func(s *scanner, r *ChatRequest) { r.ParallelToolCalls = s.flag(true) },
	"chat_template_kwargs":   func(s *scanner, r *ChatRequest) { r.ChatTemplateKwargs = s.object() },
	"documents":              func(s *scanner, r *ChatRequest) { r.Documents = s.documents() },
	"reasoning_effort":       func(s *scanner, r *ChatRequest) { r.ReasoningEffort = s.text() },
	"thinking":               func(s *scanner, r *ChatRequest) { r.Thinking = s.thinking() },
	"separate_reasoning":     func(s *scanner, r *ChatRequest) { r.SeparateReasoning = s.flag(true) },
	"stream_reasoning":       func(s *scanner, r *ChatRequest) { r.StreamReasoning = s.flag(true) },
	"continue_final_message": func(s *scanner, r *ChatRequest) { r.ContinueFinalMessage = s.flag(false) },
	"rid":                    func(s *scanner, r *ChatRequest) { r.RID = s.text() },
	"lora_path":              func(s *scanner, r *ChatRequest) { r.LoraPath = s.text() },
	"cache_salt":             func(s *scanner, r *ChatRequest) { r.CacheSalt = s.text() },
	"return_hidden_states":   func(s *scanner, r *ChatRequest) { r.ReturnHiddenStates = s.flag(false) },
	"user":                   func(s *scanner, r *ChatRequest) { r.User = s.text() },
	"prompt_cache_key":       func(s *scanner, r *ChatRequest) { r.PromptCacheKey = s.text() },
	"verbosity":              func(s *scanner, r *ChatRequest) { s.ignore(&r.Ignored, s.oneOf("low", "medium", "high") != "") },
	"metadata":               func(s *scanner, r *ChatRequest) { s.ignore(&r.Ignored, s.stringMap()) },
	"session_params":         func(s *scanner, r *ChatRequest) { s.ignore(&r.Ignored, s.object() != nil) },
	"service_tier":           func(s *scanner, r *ChatRequest) { s.ignore(&r.Ignored, s.text() != "") },
	"safety_identifier":      func(s *scanner, r *ChatRequest) { s.ignore(&r.Ignored, s.text() != "") },
	"modalities":             func(s *scanner, r *ChatRequest) { s.modalities() },
	"audio":                  func(s *scanner, r *ChatRequest) { s.noAudio(!s.null()) },
	"return_audio":           func(s *scanner, r *ChatRequest) { s.noAudio(s.flag(false)) },
}

// DecodeChat reads and checks the body of a chat request. Its error is an *Error with status 400. The request keeps parts
// of body as they are: nobody may write to it afterwards.
func DecodeChat(body []byte) (*ChatRequest, error) {
	r := &ChatRequest{N: 1, ParallelToolCalls: true, SeparateReasoning: true, StreamReasoning: true}
	r.SkipSpecialTokens = true
	return decode(body, r, chatFields, &r.Sampling, &r.Ignored, r.settle)
}

// settle fills what depends on several fields and checks that they agree.
func (r *ChatRequest) settle(s *scanner) {
	switch {
	case s.err != nil:
		return
	case r.Model == "":
		s.missing("model")
	case r.Messages == nil:
		s.missing("messages")
	case r.streamOptions && !r.Stream:
		s.failAt("stream_options", CodeStreamOptions, "it is allowed only together with 'stream': true.")
	case r.TopLogprobs > 0 && !r.Logprobs:
		s.failAt("top_logprobs", CodeTopLogprobs, "it needs 'logprobs': true.")
	case r.ContinueFinalMessage && r.Messages[len(r.Messages)-1].Role != "assistant":
		s.failAt("continue_final_message", CodeInvalidValue, "the last message must have the role 'assistant'.")
	}
	if i := r.rootMessage(); i >= 0 {
		s.failAt(fmt.Sprintf("messages[%d].role", i), CodeInvalidRole, "only MiniMax models know 'root'; use 'system'.")
	}
	r.Sampling.settle(s)
	r.settleTools(s)
}

// rootMessage is the index of a message in a role that only one family of models knows, −1 if all is well.
func (r *ChatRequest) rootMessage() int {
	if strings.Contains(strings.ToLower(r.Model), "minimax") {
		return -1
	}
	for i := range r.Messages {
		if r.Messages[i].Role == "root" {
			return i
		}
	}
	return -1
}
