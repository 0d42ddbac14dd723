package chattemplate

import (
	"slices"

	"leeway/openai"
)

// Thinking is what a request and its template say about thoughts before the answer.
type Thinking struct {
	Switchable bool // the template can turn it on and off
	On         bool // the model is to think
}

// Thinking tells whether the model will think. Whether the prompt itself opens the thought shows at the prompt's end.
func (s *Set) Thinking(req *openai.ChatRequest) Thinking {
	tpl, err := s.choose(req)
	if err != nil {
		return Thinking{On: true}
	}
	if tpl == nil {
		return s.native.thinking(req)
	}
	t := Thinking{Switchable: len(tpl.thinkingNames) > 0, On: tpl.thinksAlone}
	c := &conversation{req: req, tpl: tpl, kwargs: kwargsOf(req)}
	for _, name := range tpl.thinkingNames {
		if v, ok := c.kwargs.Get(name); ok {
			t.On = truth(v)
			return t
		}
	}
	if on, said := c.wantsThinking(); said && (t.Switchable || slices.Contains(tpl.names, "reasoning_effort")) {
		t.On = on // a wish that the template has no word for does not reach the model
	}
	return t
}

// kwargsOf is the request's chat_template_kwargs, empty when they are not an object.
func kwargsOf(req *openai.ChatRequest) *Dict {
	if v, err := ParseJSON(req.ChatTemplateKwargs); err == nil {
		if d, ok := v.(*Dict); ok {
			return d
		}
	}
	return NewDict(0)
}

// wantsThinking is what the request's own fields say, beside chat_template_kwargs; said is false when they say nothing.
// Of the efforts only none and minimal mean no thought, unless the template knows efforts itself.
func (c *conversation) wantsThinking() (on, said bool) { return wantsThinking(c.req) }

func wantsThinking(req *openai.ChatRequest) (on, said bool) {
	switch req.Thinking.Type {
	case "enabled":
		return true, true
	case "disabled":
		return false, true
	}
	switch req.ReasoningEffort {
	case "none", "minimal":
		return false, true
	}
	return false, false
}
