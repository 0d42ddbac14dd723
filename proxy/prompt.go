package proxy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"leeway/openai"
	"leeway/workers/engine"
)

// prompt is a request in the worker's words: tokens and sampling on the way there, and the plan for the way back.
type prompt struct {
	model   *model
	text    string
	tokens  []uint32
	request engine.Request // without id and what depends on the worker
	plan    plan
	key     string   // what sticky policies go by
	plain   bool     // no adapter, no salt: the tokens say it all
	ignored []string // fields that have no effect here
	seeds   []string // what the client calls its seed
	route   string   // the endpoint's name in the metrics
	field   string   // what the client calls its prompt
	limit   string   // and the most tokens that the answer may have
	given   bool     // the tokens are the client's own
	stream  bool
}

// misfit is the error of messages that the chat template does not take. Where the fault is in one field, it is named.
func misfit(err error) failure {
	f := fail(http.StatusBadRequest, "process_messages_failed", "The chat template cannot be applied to these messages: "+firstLine(err.Error()), kindValidation)
	if field, ok := errors.AsType[*openai.Error](err); ok {
		f.Param = field.Param
	}
	return f
}

// chatPrompt renders and encodes a conversation. The template writes the special tokens; none is added.
func (g *Gateway) chatPrompt(req *openai.ChatRequest) (*prompt, error) {
	m, err := g.models.find(req.Model)
	if err != nil {
		return nil, err
	}
	text, err := m.language.templates.Render(req, m.language.special, time.Now())
	if err != nil {
		return nil, misfit(err)
	}
	p := &prompt{model: m, text: text, tokens: m.language.encode(text), route: "chat", field: "messages", stream: req.Stream,
		key: cmp.Or(req.PromptCacheKey, req.User), plain: req.LoraPath == "" && req.CacheSalt == "", ignored: req.Ignored}
	p.ignoring("lora_path", req.LoraPath != "")
	p.ignoring("cache_salt", req.CacheSalt != "")
	p.ignoring("return_hidden_states", req.ReturnHiddenStates)
	p.request.Sampling, p.limit, p.seeds = m.sampling(&req.Sampling, req.N), req.MaxTokensField, req.Seeds()
	if req.Logprobs {
		p.request.Logprobs = &req.TopLogprobs
	}
	p.plan = m.plan(&req.Sampling, req.N)
	inThought := g.models.planThoughts(p, req)
	if err := g.models.planTools(p, req, inThought); err != nil {
		return nil, err
	}
	p.plan.settleThoughts(m.language.hides)
	return p, p.check()
}

// ignoring notes a field that the client sent and that nothing here can honour.
func (p *prompt) ignoring(field string, sent bool) {
	if sent {
		p.ignored = append(p.ignored, field)
	}
}

// check refuses what would fail, or worse, on a worker: some engines die of a prompt that is empty or too long.
func (p *prompt) check() error {
	m := p.model
	if len(p.tokens) == 0 {
		return openai.Invalid(p.field, openai.CodeInvalidValue, "The prompt is empty: it has no tokens.")
	}
	if err := p.checkIDs(); err != nil {
		return err
	}
	if m.context == 0 {
		return nil
	}
	if len(p.tokens) >= m.context {
		return openai.Invalid(p.field, "context_length_exceeded",
			fmt.Sprintf("The prompt has %d tokens, but prompt and answer together may have %d.", len(p.tokens), m.context))
	}
	if most := p.request.Sampling.MaxTokens; most != nil && len(p.tokens)+*most > m.context {
		return openai.Invalid(p.limit, "context_length_exceeded",
			fmt.Sprintf("The prompt has %d tokens and the answer may have up to %d, but both together may have %d.", len(p.tokens), *most, m.context))
	}
	return nil
}

// checkIDs refuses token ids that the model does not have, wherever an engine would look them up.
func (p *prompt) checkIDs() error {
	limit := p.model.vocab
	if limit == 0 {
		limit = p.model.language.size
	}
	missing := func(id uint32) bool { return int64(id) >= int64(limit) }
	refuse := func(field string, id uint32) error {
		return openai.Invalid(field, openai.CodeInvalidValue, fmt.Sprintf("Token id %d does not exist: the model has %d tokens.", id, limit))
	}
	s := &p.request.Sampling
	if i := slices.IndexFunc(p.tokens, missing); i >= 0 {
		field := p.field
		if p.given {
			field = fmt.Sprintf("%s[%d]", field, i)
		}
		return refuse(field, p.tokens[i])
	}
	if i := slices.IndexFunc(s.StopTokenIDs, missing); i >= 0 {
		return refuse(fmt.Sprintf("%s[%d]", p.sampler("stop_token_ids"), i), s.StopTokenIDs[i])
	}
	if len(s.LogitBias) == 0 {
		return nil
	}
	if top := slices.Max(slices.Collect(maps.Keys(s.LogitBias))); missing(top) {
		return refuse(fmt.Sprintf("%s.%d", p.sampler("logit_bias"), top), top)
	}
	return nil
}

// sampler is what the client calls a field of sampling.
func (p *prompt) sampler(field string) string {
	if p.route == "generate" {
		return "sampling_params." + field
	}
	return field
}

// sampling is what a worker says a model should be sampled with where the client does not say.
type sampling struct {
	Temperature       *float64 `json:"temperature"`
	TopP              *float64 `json:"top_p"`
	TopK              *int     `json:"top_k"`
	MinP              *float64 `json:"min_p"`
	RepetitionPenalty *float64 `json:"repetition_penalty"`
}

// parseSampling reads a worker's defaults; what cannot be read is no default.
func parseSampling(text string) (s sampling) {
	if json.Unmarshal([]byte(text), &s) != nil {
		return sampling{}
	}
	return s
}

// sampling puts the client's fields and the model's defaults for those left out into the worker's words.
func (m *model) sampling(s *openai.Sampling, n int) engine.Sampling {
	constraint, _ := shape(s)
	out := engine.Sampling{
		Temperature: either(s.Temperature, m.defaults.Temperature), TopP: either(s.TopP, m.defaults.TopP),
		TopK: either(s.TopK, m.defaults.TopK), MinP: either(s.MinP, m.defaults.MinP),
		RepetitionPenalty: either(s.RepetitionPenalty, m.defaults.RepetitionPenalty),
		FrequencyPenalty:  s.FrequencyPenalty, PresencePenalty: s.PresencePenalty,
		MaxTokens: s.MaxTokens, Stop: s.Stop, StopTokenIDs: s.StopTokenIDs, N: n, Seed: s.Seed, LogitBias: s.LogitBias,
		IgnoreEOS: s.IgnoreEOS, NoStopTrim: s.NoStopTrim, Constraint: constraint,
	}
	if s.MinTokens != nil {
		out.MinTokens = *s.MinTokens
	}
	if s.SamplingSeed != nil {
		seed := int64(*s.SamplingSeed & math.MaxInt64) // any number is as good a seed
		out.Seed = &seed
	}
	return out
}

func either[T any](first, second *T) *T {
	if first != nil {
		return first
	}
	return second
}

// shape is the constraint that the client's own words put on an answer, and the field that they stand in.
func shape(s *openai.Sampling) (c engine.Constraint, field string) {
	switch {
	case s.Regex != "":
		return engine.Constraint{Kind: engine.Regex, Text: s.Regex}, "regex"
	case s.EBNF != "":
		return engine.Constraint{Kind: engine.EBNF, Text: s.EBNF}, "ebnf"
	case s.ResponseFormat.Type == "json_object":
		return engine.Constraint{Kind: engine.JSONSchema, Text: `{"type":"object"}`}, "response_format"
	case s.ResponseFormat.Type == "json_schema":
		return engine.Constraint{Kind: engine.JSONSchema, Text: string(s.ResponseFormat.Schema)}, "response_format"
	}
	return c, ""
}

// plan is how an answer of this model is read: it ends at the model's own end tokens and the client's stops.
func (m *model) plan(s *openai.Sampling, n int) plan {
	p := plan{tokens: m.language.tokens, n: n, stops: s.Stop, noStopTrim: s.NoStopTrim, skipSpecial: s.SkipSpecialTokens}
	p.stopTokens = slices.Clone(s.StopTokenIDs)
	if !s.IgnoreEOS {
		p.stopTokens = append(p.stopTokens, m.language.end...)
	}
	return p
}
