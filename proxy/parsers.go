package proxy

import (
	"errors"
	"fmt"
	"slices"

	"leeway/openai"
	"leeway/openai/reasoning"
	"leeway/openai/toolcall"
	"leeway/workers/engine"
)

// callPlan says how tool calls are found in an answer.
type callPlan struct {
	format   string // the model's own way to write them
	bare     bool   // the choice shapes the answer, which is nothing but JSON
	choice   openai.ToolChoice
	declared []openai.Tool
	single   bool     // only the first call counts
	taken    []string // the ids of the conversation's calls
}

func (c *callPlan) parser() (*toolcall.Parser, error) {
	var p *toolcall.Parser
	var err error
	if c.bare {
		p = toolcall.NewForced(c.format, c.choice, c.declared)
	} else if p, err = toolcall.New(c.format, c.declared); err != nil {
		return nil, err
	}
	p.Taken(c.taken)
	return p, nil
}

// planTools decides whether the answer is searched for calls, and constrains it where it has to be one, before all
// else that may shape it, which then counts as ignored. Markers of calls are often special tokens, so that none may be
// skipped.
func (l *library) planTools(p *prompt, req *openai.ChatRequest, inThought bool) error {
	tools := req.Callable()
	if len(tools) == 0 {
		return nil
	}
	plan := &callPlan{format: l.config.toolCallParser(), choice: req.ToolChoice, declared: req.Tools,
		single: !req.ParallelToolCalls || req.ToolChoice.Mode == openai.ToolNamed}
	for _, m := range req.Messages {
		for _, call := range m.ToolCalls {
			plan.taken = append(plan.taken, call.ID)
		}
	}
	c, err := toolcall.Constrain(plan.format, plan.choice, tools, p.model.forcedStart(inThought), plan.single)
	if err != nil {
		return openai.Invalid(req.ToolsField, openai.CodeInvalidTools, fmt.Sprintf("Invalid '%s': %v.", req.ToolsField, err))
	}
	if c.StructuralTag != "" || c.Schema != "" {
		_, field := shape(&req.Sampling)
		p.ignoring(field, field != "")
	}
	if plan.format == "" {
		plan.format = toolcall.ForModel(p.model.name)
	}
	switch {
	case c.StructuralTag != "":
		p.request.Sampling.Constraint = engine.Constraint{Kind: engine.StructuralTag, Text: c.StructuralTag}
	case c.Schema != "":
		p.request.Sampling.Constraint = engine.Constraint{Kind: engine.JSONSchema, Text: c.Schema}
		plan.bare = true
		if p.model.start == "first_token" { // leaves no room for the thought
			p.plan.startsInside = false
		}
	}
	if plan.bare || plan.format != "" {
		p.plan.calls = plan
	}
	if plan.format != "" {
		p.plan.skipSpecial = false
	}
	return nil
}

// forcedStart says what may stand before a forced call.
func (m *model) forcedStart(inThought bool) toolcall.Start {
	switch {
	case m.start == "after_reasoning":
		return toolcall.BehindThought
	case m.start == "first_token" && inThought:
		return toolcall.InThought
	}
	return toolcall.AnyStart
}

// planThoughts decides whether reasoning is told from content, and whether the answer begins in a thought.
func (l *library) planThoughts(p *prompt, req *openai.ChatRequest) (inside bool) {
	name := l.config.reasoningParser()
	if name == "" && slices.Contains(reasoning.Names(), p.model.thoughts) {
		name = p.model.thoughts
	}
	if name == "" {
		name = reasoning.ForModel(p.model.name)
	}
	if name == "" {
		return false
	}
	thinks := p.model.language.templates.Thinking(req).On
	inside = startsInside(name, p.text, thinks)
	p.request.Reasoning = (thinks || inside) && !req.ContinueFinalMessage // what goes on is an answer
	p.plan.thoughts, p.plan.startsInside = name, inside
	p.plan.thoughtsLast, p.plan.thoughtsSaid = !req.StreamReasoning, !req.SeparateReasoning
	return inside
}

// thoughtsParser is the parser of thoughts, which knows what the plan says of them and of calls.
func (p *plan) thoughtsParser() (*reasoning.Parser, error) {
	newParser := reasoning.New
	if p.calls == nil {
		newParser = reasoning.NewLast
	}
	parser, err := newParser(p.thoughts, p.startsInside)
	if err != nil {
		return nil, err
	}
	if p.calls != nil {
		calls, err := p.calls.parser()
		if err != nil {
			return nil, err
		}
		parser.Heed(toolcall.Follow(calls))
	}
	return parser, nil
}

// settleThoughts decides, once calls are planned, whether an answer whose thoughts are content is read for them: where
// their markers may be lost in decoding, and where a call that takes all the answer must not begin in a thought.
func (p *plan) settleThoughts(hides func(string) bool) {
	bare := p.calls != nil && p.calls.bare
	switch {
	case p.thoughts == "":
	case reasoning.Hidden(p.thoughts, hides):
		p.skipSpecial = false
	case p.thoughtsSaid && !bare:
		p.thoughts = ""
	}
}

// hides reports whether a text is one special token, which decoding may skip.
func (l *language) hides(text string) bool {
	id, ok := l.tokens.ID(text)
	return ok && l.tokens.IsSpecial(id)
}

// startsInside looks at what the prompt ends with: an opened thought, a closed one, or nothing that tells; then a model
// that is to think begins as its family does.
func startsInside(name, prompt string, thinks bool) bool {
	if open, told := reasoning.Opened(name, prompt); told {
		return open
	}
	return thinks && reasoning.StartsInside(name)
}

// toolCallParser is the configured parser of calls, which the parser of thoughts may name alone.
func (c ModelConfig) toolCallParser() string {
	if c.ToolCallParser == "" && reasoning.Paired(c.ReasoningParser) {
		return c.ReasoningParser
	}
	return c.ToolCallParser
}

// reasoningParser is the configured parser of thoughts, which the parser of calls may name alone.
func (c ModelConfig) reasoningParser() string {
	if c.ReasoningParser == "" && toolcall.Paired(c.ToolCallParser) {
		return c.ToolCallParser
	}
	return c.ReasoningParser
}

// checkParsers refuses names of parsers that do not exist.
func (c ModelConfig) checkParsers() error {
	var errs []error
	if c.ReasoningParser != "" {
		_, err := reasoning.New(c.ReasoningParser, false)
		errs = append(errs, err)
	}
	if c.ToolCallParser != "" {
		_, err := toolcall.New(c.ToolCallParser, nil)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
