package openai

import (
	"encoding/json"
	"math"
	"strconv"
)

// Sampling is how the client wants tokens drawn and when to stop. A nil pointer is a field that the client left out, for
// which the worker's or the engine's default stands.
type Sampling struct {
	Temperature       *float64 // 0 draws the likeliest
	TopP              *float64 // greater than 0
	TopK              *int     // −1: no limit
	MinP              *float64
	FrequencyPenalty  *float64
	PresencePenalty   *float64
	RepetitionPenalty *float64
	MaxTokens         *int   // max_completion_tokens, else max_tokens
	MaxTokensField    string // where MaxTokens stood
	MinTokens         *int   // no more than MaxTokens
	Seed              *int64
	SamplingSeed      *uint64 // goes before Seed where an engine knows both
	Stop              []string
	StopTokenIDs      []uint32
	LogitBias         map[uint32]float64 // −100 to 100, by token
	IgnoreEOS         bool               // go on behind an end token
	NoStopTrim        bool               // the stop that matched is part of the answer
	SkipSpecialTokens bool               // true unless the client says false

	Regex, EBNF    string
	ResponseFormat ResponseFormat

	maxTokens      *int // the older name, which counts only when the newer is absent
	maxTokensField string
	minTokensField string
}

// Seeds names the fields that set a seed.
func (p *Sampling) Seeds() (fields []string) {
	if p.Seed != nil {
		fields = append(fields, "seed")
	}
	if p.SamplingSeed != nil {
		fields = append(fields, "sampling_seed")
	}
	return fields
}

// ResponseFormat is the shape that the answer must have. Type is "", "text", "json_object" or "json_schema".
type ResponseFormat struct {
	Type   string
	Name   string
	Schema json.RawMessage // an object; set for json_schema only
	Strict bool
	Raw    json.RawMessage // the object as it came
}

// Structured reports whether the format restricts what may be generated.
func (f ResponseFormat) Structured() bool { return f.Type == "json_object" || f.Type == "json_schema" }

// samplingFields are the fields that chat, completions and generate have in common.
var samplingFields = map[string]func(*scanner, *Sampling){
	"temperature":           func(s *scanner, p *Sampling) { p.Temperature = s.float(0, 2) },
	"top_p":                 func(s *scanner, p *Sampling) { p.TopP = s.topP() },
	"top_k":                 func(s *scanner, p *Sampling) { p.TopK = s.topK() },
	"min_p":                 func(s *scanner, p *Sampling) { p.MinP = s.float(0, 1) },
	"frequency_penalty":     func(s *scanner, p *Sampling) { p.FrequencyPenalty = s.float(-2, 2) },
	"presence_penalty":      func(s *scanner, p *Sampling) { p.PresencePenalty = s.float(-2, 2) },
	"repetition_penalty":    func(s *scanner, p *Sampling) { p.RepetitionPenalty = s.float(0, 2) },
	"max_completion_tokens": func(s *scanner, p *Sampling) { p.MaxTokens, p.MaxTokensField = s.bound(1) },
	"max_tokens":            func(s *scanner, p *Sampling) { p.maxTokens, p.maxTokensField = s.bound(1) },
	"min_tokens":            func(s *scanner, p *Sampling) { p.MinTokens, p.minTokensField = s.bound(0) },
	"seed":                  func(s *scanner, p *Sampling) { p.Seed = s.integer(math.MinInt64, math.MaxInt64) },
	"sampling_seed":         func(s *scanner, p *Sampling) { p.SamplingSeed = s.unsigned() },
	"stop":                  func(s *scanner, p *Sampling) { p.Stop = s.stops(maxStops) },
	"stop_token_ids":        func(s *scanner, p *Sampling) { p.StopTokenIDs = s.tokenIDs() },
	"logit_bias":            func(s *scanner, p *Sampling) { p.LogitBias = s.logitBias() },
	"ignore_eos":            func(s *scanner, p *Sampling) { p.IgnoreEOS = s.flag(false) },
	"no_stop_trim":          func(s *scanner, p *Sampling) { p.NoStopTrim = s.flag(false) },
	"skip_special_tokens":   func(s *scanner, p *Sampling) { p.SkipSpecialTokens = s.flag(true) },
	"regex":                 func(s *scanner, p *Sampling) { p.Regex = s.text() },
	"ebnf":                  func(s *scanner, p *Sampling) { p.EBNF = s.text() },
	"response_format":       func(s *scanner, p *Sampling) { p.ResponseFormat = s.responseFormat() },
}

// bound reads how many tokens an answer may or must have, and where that stands if it does.
func (s *scanner) bound(low int64) (n *int, field string) {
	if n = s.count(low, math.MaxInt32); n != nil {
		field = s.param()
	}
	return n, field
}

// maxStops is how many stop strings one request may bring.
const maxStops = 4

// topP reads a probability mass: none of it cannot be drawn from.
func (s *scanner) topP() *float64 {
	p := s.float(0, 1)
	if p != nil && *p == 0 {
		s.fail(CodeDecimalBelow, "it must be greater than 0; leave it out for no limit.")
	}
	return p
}

// topK reads a number of candidates, or −1 for all.
func (s *scanner) topK() *int {
	k := s.count(math.MinInt32, math.MaxInt32)
	if k != nil && (*k == 0 || *k < -1) {
		s.fail(CodeInvalidValue, "%d leaves no candidate; use -1 for no limit, or 1 and above.", *k)
	}
	return k
}

// unsigned reads an optional integer of up to 64 bits.
func (s *scanner) unsigned() *uint64 {
	if n := s.peek(); n < '0' || n > '9' {
		s.integer(0, math.MaxInt64)
		return nil
	}
	start := s.pos
	n, err := strconv.ParseUint(string(s.number()), 10, 64)
	if err != nil {
		s.pos = start
		s.integer(0, math.MaxInt64)
		return nil
	}
	return &n
}

// stops reads one string or a list of strings.
func (s *scanner) stops(most int) []string {
	if s.null() {
		return nil
	}
	if s.peek() == '"' {
		return []string{s.stop()}
	}
	if s.peek() != '[' {
		s.mismatch("a string or an array of strings")
		return nil
	}
	var stops []string
	s.elements(func(int) { stops = append(stops, s.stop()) })
	if len(stops) > most {
		s.fail(CodeArrayAbove, "it has %d elements; at most %d are allowed.", len(stops), most)
	}
	return stops
}

// stop reads one stop string.
func (s *scanner) stop() string {
	if s.peek() != '"' {
		s.mismatch("a string")
		return ""
	}
	t := s.text()
	if t == "" {
		s.fail(CodeInvalidValue, "an empty string would stop everything; leave it out.")
	}
	return t
}

// logitBias reads an object whose keys are token ids.
func (s *scanner) logitBias() map[uint32]float64 {
	if s.null() {
		return nil
	}
	bias := make(map[uint32]float64)
	s.fields(func(key []byte) {
		id, err := strconv.ParseUint(string(key), 10, 31)
		if err != nil {
			s.fail(CodeBiasKey, "the key %q is no token id; use a non-negative integer.", clip(string(key)))
			return
		}
		if f := s.float(-100, 100); f != nil {
			bias[uint32(id)] = *f
		}
	})
	return bias
}

// responseFormat reads the shape of the answer; a schema must be there exactly when the type calls for one.
func (s *scanner) responseFormat() (f ResponseFormat) {
	if s.null() {
		return f
	}
	s.peek()
	start := s.pos
	var inner bool
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			f.Type = s.oneOf("text", "json_object", "json_schema")
		case "json_schema":
			if inner = !s.null(); inner {
				s.jsonSchema(&f)
			}
		default:
			s.skip()
		}
	})
	if s.err != nil {
		return f
	}
	f.Raw = s.data[start:s.pos:s.pos]
	switch at := s.param(); {
	case f.Type == "":
		s.missing("type")
	case f.Type == "json_schema" && !inner:
		s.missing("json_schema")
	case f.Type == "json_schema" && f.Name == "":
		s.missing("json_schema.name")
	case f.Type == "json_schema" && f.Schema == nil:
		s.missing("json_schema.schema")
	case f.Type != "json_schema" && inner:
		s.failAt(at+".json_schema", CodeInvalidValue, "a schema needs type 'json_schema', not %q.", f.Type)
	}
	return f
}

// jsonSchema reads the named schema of a response format.
func (s *scanner) jsonSchema(f *ResponseFormat) {
	s.fields(func(key []byte) {
		switch string(key) {
		case "name":
			if f.Name = s.text(); f.Name == "" {
				s.fail(CodeSchemaName, "the schema needs a name.")
			}
		case "schema":
			if c := s.peek(); c != '{' && c != 'n' {
				s.fail(CodeSchemaNoObject, "the schema must be a JSON object.")
			}
			f.Schema = s.object()
		case "strict":
			f.Strict = s.flag(false)
		default:
			s.skip()
		}
	})
}

// missing fails because of a member that the object just read should have had.
func (s *scanner) missing(name string) {
	param := name
	if at := s.param(); at != "" {
		param = at + "." + name
	}
	if s.err == nil {
		s.err = Invalid(param, CodeMissing, "Missing required parameter: '"+param+"'.")
	}
}

// settle fills what depends on several fields and checks that they agree.
func (p *Sampling) settle(s *scanner) {
	if p.MaxTokens == nil {
		p.MaxTokens, p.MaxTokensField = p.maxTokens, p.maxTokensField
	}
	if p.MinTokens != nil && p.MaxTokens != nil && *p.MinTokens > *p.MaxTokens {
		s.failAt(p.minTokensField, CodeMinTokens, "%d is above the most that the answer may have, which is %d ('%s').", *p.MinTokens, *p.MaxTokens, p.MaxTokensField)
	}
	structured := p.ResponseFormat.Structured()
	const way = "only one of response_format, regex and ebnf can shape an answer; leave the others out."
	switch {
	case p.Regex != "" && structured:
		s.failAt("regex", CodeConstraintJSON, way)
	case p.EBNF != "" && (structured || p.Regex != ""):
		s.failAt("ebnf", CodeConstraints, way)
	}
}
