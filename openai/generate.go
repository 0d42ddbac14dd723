package openai

import (
	"encoding/json"
	"math"
	"strconv"
)

// GenerateRequest is the body of POST /generate, SGLang's own way to ask: text or ids in, text and ids out.
type GenerateRequest struct {
	Model  string // "" when left out
	Prompt Prompts
	Field  string // that the prompt stood in
	N      int
	Stream bool

	Sampling
	JSONSchema       string
	Logprobs         bool
	LogprobStart     int // −1: only the answer's tokens
	TopLogprobs      int
	ReturnText       bool // text_in_logprobs
	RID              string
	LoraPath         string
	HiddenStates     bool
	RequireReasoning bool
	Ignored          []string

	text, ids, prompt Prompts
}

var generateFields = map[string]func(*scanner, *GenerateRequest){
	"model":                   func(s *scanner, r *GenerateRequest) { r.Model = s.text() },
	"text":                    func(s *scanner, r *GenerateRequest) { r.text = s.prompts(anyPrompts) },
	"prompt":                  func(s *scanner, r *GenerateRequest) { r.prompt = s.prompts(anyPrompts) },
	"input_ids":               func(s *scanner, r *GenerateRequest) { r.ids = s.prompts(idPrompts) },
	"sampling_params":         func(s *scanner, r *GenerateRequest) { s.samplingParams(r) },
	"stream":                  func(s *scanner, r *GenerateRequest) { r.Stream = s.flag(false) },
	"return_logprob":          func(s *scanner, r *GenerateRequest) { r.Logprobs = s.flag(false) },
	"logprob_start_len":       func(s *scanner, r *GenerateRequest) { r.LogprobStart = or(s.count(-1, math.MaxInt32), -1) },
	"top_logprobs_num":        func(s *scanner, r *GenerateRequest) { r.TopLogprobs = s.topLogprobs() },
	"return_text_in_logprobs": func(s *scanner, r *GenerateRequest) { r.ReturnText = s.flag(false) },
	"rid":                     func(s *scanner, r *GenerateRequest) { r.RID = s.text() },
	"lora_path":               func(s *scanner, r *GenerateRequest) { r.LoraPath = s.text() },
	"return_hidden_states":    func(s *scanner, r *GenerateRequest) { r.HiddenStates = s.flag(false) },
	"require_reasoning":       func(s *scanner, r *GenerateRequest) { r.RequireReasoning = s.flag(false) },
}

// generateSampling holds the names that differ from the OpenAI ones.
var generateSampling = map[string]func(*scanner, *GenerateRequest){
	"max_new_tokens": func(s *scanner, r *GenerateRequest) { r.MaxTokens, r.MaxTokensField = s.bound(1) },
	"min_new_tokens": func(s *scanner, r *GenerateRequest) { r.MinTokens, r.minTokensField = s.bound(0) },
	"n":              func(s *scanner, r *GenerateRequest) { r.N = s.choices(maxTextChoices) },
	"stop":           func(s *scanner, r *GenerateRequest) { r.Stop = s.stops(maxNativeStops) },
	"json_schema":    func(s *scanner, r *GenerateRequest) { r.JSONSchema = s.text() },
}

// maxNativeStops bounds the stop strings of a generate request, where no API sets a bound.
const maxNativeStops = 64

// or is *n, or what its absence means.
func or(n *int, absent int) int {
	if n == nil {
		return absent
	}
	return *n
}

// samplingParams reads the nested object that holds most fields.
func (s *scanner) samplingParams(r *GenerateRequest) {
	if s.null() {
		return
	}
	s.fields(func(key []byte) {
		if field, ok := generateSampling[string(key)]; ok {
			field(s, r)
		} else if field, ok := samplingFields[string(key)]; ok {
			field(s, &r.Sampling)
		} else {
			s.ignore(&r.Ignored, s.value() != nil)
		}
	})
}

// DecodeGenerate reads and checks the body of a generate request. Its error is an *Error with status 400.
func DecodeGenerate(body []byte) (*GenerateRequest, error) {
	r := &GenerateRequest{N: 1, LogprobStart: -1}
	r.SkipSpecialTokens = true
	return decode(body, r, generateFields, nil, &r.Ignored, r.settle)
}

// settle picks the prompt out of its three spellings, text before ids, and checks that fields agree.
func (r *GenerateRequest) settle(s *scanner) {
	for _, given := range []struct {
		field string
		Prompts
	}{{"text", r.text}, {"input_ids", r.ids}, {"prompt", r.prompt}} {
		switch {
		case given.List == nil:
		case r.Field == "":
			r.Prompt, r.Field = given.Prompts, given.field
		default:
			noteIgnored(&r.Ignored, given.field)
		}
	}
	switch {
	case r.Prompt.List == nil:
		s.missing("text")
	case r.JSONSchema != "" && (r.Regex != "" || r.EBNF != ""):
		s.failAt("sampling_params.json_schema", CodeInvalidValue, "only one of json_schema, regex and ebnf can shape an answer.")
	case r.JSONSchema != "" && !json.Valid([]byte(r.JSONSchema)):
		s.failAt("sampling_params.json_schema", CodeInvalidValue, "it is not valid JSON.")
	}
	r.Sampling.settle(s)
}

// Generated is one answer of /generate. In a stream it has the text so far, and the ids and log probabilities since the
// event before.
type Generated struct {
	Text        string
	OutputIDs   []uint32
	ID          string
	Finish      string // "" while the answer goes on
	MatchedStop MatchedStop
	Prompt      int
	Completion  int
	Cached      int
	Reasoning   int
	Version     string
	Seconds     float64
	Logprobs    []IDLogprob // nil unless asked for

	Streamed bool // shows Index, by which a stream's events are told apart
	Index    int
}

// IDLogprob is one generated token for /generate. Text is shown only when the client asked for it.
type IDLogprob struct {
	Logprob float32
	ID      uint32
	Text    string
	Shown   bool
}

// AppendJSON appends the answer; several make an array, which is the caller's.
func (g Generated) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"text":`...)
	dst = AppendString(dst, g.Text)
	dst = append(dst, `,"output_ids":`...)
	dst = appendIDs(dst, g.OutputIDs)
	dst = append(dst, `,"meta_info":{"id":`...)
	dst = AppendString(dst, g.ID)
	dst = append(dst, `,"finish_reason":`...)
	dst = g.appendFinish(dst)
	dst = append(dst, `,"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(g.Prompt), 10)
	dst = append(dst, `,"weight_version":`...)
	dst = AppendString(dst, g.Version)
	if g.Logprobs != nil {
		dst = append(dst, `,"output_token_logprobs":`...)
		dst = appendOneOrAll(dst, g.Logprobs, true, appendIDLogprob)
	}
	dst = append(dst, `,"completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(g.Completion), 10)
	dst = append(dst, `,"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(g.Cached), 10)
	dst = append(dst, `,"reasoning_tokens":`...)
	dst = strconv.AppendInt(dst, int64(g.Reasoning), 10)
	if g.Finish != "" {
		dst = append(dst, `,"e2e_latency":`...)
		dst = strconv.AppendFloat(dst, g.Seconds, 'f', -1, 64)
	}
	dst = append(g.MatchedStop.appendMember(dst), '}')
	if g.Streamed {
		dst = append(dst, `,"index":`...)
		dst = strconv.AppendInt(dst, int64(g.Index), 10)
	}
	return append(dst, '}')
}

// appendFinish writes SGLang's object for a finish reason, in a stream the word alone, and null while there is none.
func (g *Generated) appendFinish(dst []byte) []byte {
	switch {
	case g.Finish == "":
		return append(dst, "null"...)
	case g.Streamed:
		return AppendString(dst, g.Finish)
	}
	dst = append(dst, `{"type":`...)
	dst = AppendString(dst, g.Finish)
	if g.Finish == "length" {
		dst = append(dst, `,"length":`...)
		dst = strconv.AppendInt(dst, int64(g.Completion), 10)
	}
	return append(dst, '}')
}

// appendIDLogprob writes a token as [logprob, id], with its text behind them where it is shown.
func appendIDLogprob(dst []byte, p IDLogprob) []byte {
	dst = appendLogprob(append(dst, '['), p.Logprob)
	dst = append(dst, ',')
	dst = strconv.AppendUint(dst, uint64(p.ID), 10)
	if p.Shown {
		dst = AppendString(append(dst, ','), p.Text)
	}
	return append(dst, ']')
}
