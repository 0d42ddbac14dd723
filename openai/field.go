package openai

import (
	"encoding/json"
	"slices"
)

// maxIgnored bounds how many ignored fields are named.
const maxIgnored = 16

// ignore notes the member being read as one that changes nothing, if it was set.
func (s *scanner) ignore(names *[]string, set bool) {
	if set && s.err == nil {
		noteIgnored(names, s.param())
	}
}

// noteIgnored adds a field, each once, and no more of its name than an error would repeat.
func noteIgnored(names *[]string, field string) {
	if field = clip(field); len(*names) < maxIgnored && !slices.Contains(*names, field) {
		*names = append(*names, field)
	}
}

// How many answers one request may ask for.
const (
	maxChoices     = 10
	maxTextChoices = 128 // of /v1/completions
)

// maxTopLogprobs is how many candidates for a token may be shown.
const maxTopLogprobs = 20

// choices reads how many answers are wanted.
func (s *scanner) choices(most int64) int {
	if n := s.count(1, most); n != nil {
		return *n
	}
	return 1
}

// topLogprobs reads how many candidates to show for each token.
func (s *scanner) topLogprobs() int {
	if n := s.count(0, maxTopLogprobs); n != nil {
		return *n
	}
	return 0
}

// streamOptions reports whether the field is set at all. Continuous usage is one of usage.
func (s *scanner) streamOptions(usage, continuous *bool, ignored *[]string) bool {
	*usage, *continuous = false, false
	if s.null() {
		return false
	}
	s.fields(func(key []byte) {
		switch string(key) {
		case "include_usage":
			*usage = s.flag(false)
		case "continuous_usage_stats":
			*continuous = s.flag(false)
		default:
			s.ignore(ignored, s.value() != nil)
		}
	})
	*continuous = *continuous && *usage
	return true
}

// stringMap reads an optional object whose values are strings, and reports whether it is set.
func (s *scanner) stringMap() bool {
	if s.null() {
		return false
	}
	s.fields(func([]byte) {
		if s.peek() != '"' {
			s.mismatch("a string")
		}
		s.text()
	})
	return true
}

// thinking reads a provider's switch for thoughts and keeps it for the template.
func (s *scanner) thinking() (t Thinking) {
	if s.null() {
		return t
	}
	s.peek()
	start := s.pos
	s.fields(func(key []byte) {
		switch string(key) {
		case "type":
			t.Type = s.oneOf("enabled", "disabled", "adaptive")
		case "effort":
			t.Effort = s.text()
		default:
			s.skip()
		}
	})
	if s.err == nil {
		t.Raw = s.data[start:s.pos:s.pos]
	}
	return t
}

// documents keeps what the template may show as sources.
func (s *scanner) documents() json.RawMessage {
	if c := s.peek(); c != '[' && c != 'n' {
		s.mismatch("an array of objects")
		return nil
	}
	return s.value()
}

// modalities refuses what is not text.
func (s *scanner) modalities() {
	s.each("strings", func(int) {
		if m := s.requiredText(); m != "text" {
			s.fail(CodeUnsupportedMedia, "%q cannot be served; this gateway answers in 'text' only.", clip(m))
		}
	})
}

// noAudio refuses a field that asks for spoken output.
func (s *scanner) noAudio(asked bool) {
	if !asked {
		return
	}
	s.fail(CodeUnsupportedAudio, "this gateway answers in text only; leave the field out.")
	s.skip()
}
