package proxy

import (
	"encoding/json"
	"net/http"
	"time"

	"leeway/openai"
	"leeway/workers/engine"
)

// generateNative answers POST /generate, SGLang's own way to ask: the journey of a completion with ids in the answer.
func (g *Gateway) generateNative(x *exchange, r *http.Request) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	req, err := openai.DecodeGenerate(body)
	if err != nil {
		return err
	}
	name := req.Model
	if all := g.models.list(); name == "" && len(all) == 1 {
		name = all[0].name
	}
	return g.counted(routed{g.models.label(name), "generate", req.Stream}, func(c routed) error {
		prompts, err := g.nativePrompts(name, req)
		if err != nil {
			return err
		}
		out := &native{x: x, req: req, id: x.answerID("gnt-", req.RID), version: prompts[0].model.version}
		if req.Stream {
			if out.events, err = x.begin(r, g.config); err != nil {
				return err
			}
		}
		return g.walk(x, r, prompts, out, c)
	})
}

func (g *Gateway) nativePrompts(name string, req *openai.GenerateRequest) ([]*prompt, error) {
	m, err := g.models.find(name)
	if err != nil {
		return nil, err
	}
	var prompts []*prompt
	for i, in := range req.Prompt.List {
		p := &prompt{model: m, text: in.Text, tokens: in.Tokens, route: "generate", field: req.Prompt.Field(req.Field, i), given: in.Tokens != nil, stream: req.Stream,
			plain: req.LoraPath == "", ignored: req.Ignored}
		p.ignoring("lora_path", req.LoraPath != "")
		p.ignoring("return_hidden_states", req.HiddenStates)
		p.ignoring("logprob_start_len", req.LogprobStart >= 0)
		p.ignoring("top_logprobs_num", req.TopLogprobs > 0)
		if p.tokens == nil {
			p.tokens = m.language.encode(p.text)
		}
		p.request.Sampling, p.limit, p.seeds = m.sampling(&req.Sampling, req.N), req.MaxTokensField, req.Seeds()
		if req.JSONSchema != "" {
			p.request.Sampling.Constraint = engine.Constraint{Kind: engine.JSONSchema, Text: req.JSONSchema}
		}
		if req.Logprobs {
			p.request.Logprobs = &req.TopLogprobs
		}
		p.request.Reasoning = req.RequireReasoning
		p.plan = m.plan(&req.Sampling, req.N)
		p.plan.keepIDs = true
		if err := p.check(); err != nil {
			return nil, err
		}
		prompts = append(prompts, p)
	}
	return prompts, nil
}

// native is the reply to /generate: a list, or events, each with the text so far and what ids are new.
type native struct {
	x       *exchange
	req     *openai.GenerateRequest
	id      string
	version string
	events  *events // nil: one body
	texts   [][]byte
	told    []int // ids of each choice that went out
	buf     []byte
}

func (o *native) begun() bool { return o.events != nil && o.events.started() }

func (o *native) header(name, value string) {
	if o.events != nil {
		o.events.header(name, value)
		return
	}
	o.x.Header().Set(name, value)
}

func (o *native) send(parts []part, a *answer) error {
	said := -1
	for i := range parts {
		p := &parts[i]
		for len(o.texts) <= p.index {
			o.texts, o.told = append(o.texts, nil), append(o.told, 0)
		}
		if p.kind == partContent {
			o.texts[p.index] = append(o.texts[p.index], p.text...)
			said = p.index
		}
	}
	if said < 0 || o.events == nil {
		return nil
	}
	o.buf = o.appendEvent(o.buf[:0], a, said, "", openai.MatchedStop{})
	return o.events.write(o.buf)
}

func (o *native) appendEvent(dst []byte, a *answer, index int, finish string, matched openai.MatchedStop) []byte {
	dst = append(dst, "data: "...)
	dst = o.generated(a, index, finish, matched).AppendJSON(dst)
	return append(dst, "\n\n"...)
}

// generated is one choice of the response as it stands.
func (o *native) generated(a *answer, index int, finish string, matched openai.MatchedStop) openai.Generated {
	for index < a.first {
		a = a.earlier
	}
	c, cost := &a.choices[index-a.first], a.cost()
	from := o.told[index] // nothing, where the answer is whole
	o.told[index] = len(c.ids)
	out := openai.Generated{
		Text: string(o.texts[index]), OutputIDs: c.ids[from:], ID: o.id, Finish: finish, MatchedStop: matched, Prompt: cost.PromptTokens,
		Completion: c.completion, Cached: cost.CachedTokens, Version: o.version, Seconds: time.Since(o.x.start).Seconds(), Streamed: o.events != nil, Index: index,
	}
	if c.idLogprobs != nil {
		out.Logprobs = c.idLogprobs[min(from, len(c.idLogprobs)):]
	}
	for i := range out.Logprobs {
		if out.Logprobs[i].Shown = o.req.ReturnText; o.req.ReturnText {
			out.Logprobs[i].Text = c.plan.tokens.Decode([]uint32{out.Logprobs[i].ID}, false)
		}
	}
	return out
}

func (o *native) finish(last []part, a *answer) error {
	if o.events != nil {
		o.buf = o.buf[:0]
		for i := range last {
			o.buf = o.appendEvent(o.buf, a, last[i].index, last[i].finish, last[i].matched)
		}
		return o.events.finish(o.buf)
	}
	var all []json.RawMessage
	for i := range last {
		all = append(all, o.generated(a, last[i].index, last[i].finish, last[i].matched).AppendJSON(nil))
	}
	return sendJSON(o.x, http.StatusOK, all)
}
