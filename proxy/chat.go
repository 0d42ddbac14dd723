package proxy

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"leeway/openai"
)

// chat answers POST /v1/chat/completions: the journey, one step a line.
func (g *Gateway) chat(x *exchange, r *http.Request) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	req, err := openai.DecodeChat(body)
	if err != nil {
		return err
	}
	return g.counted(routed{g.models.label(req.Model), "chat", req.Stream}, func(c routed) error {
		p, err := g.chatPrompt(req)
		if err != nil {
			return err
		}
		observeStage("ChatPreparation", x.start)
		out, err := g.chatReply(x, r, req, p)
		if err != nil {
			return err
		}
		return g.walk(x, r, []*prompt{p}, out, c)
	})
}

// routingKey is what sticky policies go by where a header says it; otherwise that is the prompt's cache key, or the user.
func (g *Gateway) routingKey(h http.Header) string {
	for _, name := range g.config.RoutingKeyHeaders {
		if key := h.Get(name); key != "" {
			return key
		}
	}
	return ""
}

// walk is the part of the journey that every endpoint shares: tokens → worker → deltas → parts → client. Several
// prompts are answered one after the other, in one response.
func (g *Gateway) walk(x *exchange, r *http.Request, prompts []*prompt, out reply, c routed) error {
	var a *answer
	for i, p := range prompts {
		if n := p.request.Logprobs; n != nil {
			p.plan.alternatives = *n
		}
		var err error
		if a, err = newAnswer(&p.plan, len(p.tokens), a); err != nil {
			return err
		}
		p.request.Metadata = metadata(x.id, r.Header)
		p.key = cmp.Or(g.routingKey(r.Header), p.key)
		if err := g.relay(x, r.Context(), p, a, out, c, i == len(prompts)-1); err != nil {
			return err
		}
	}
	return nil
}

// relay answers one prompt; the last one ends the response.
func (g *Gateway) relay(x *exchange, ctx context.Context, p *prompt, a *answer, out reply, c routed, last bool) (err error) {
	gen, err := g.generate(ctx, x.id, p, out)
	if err != nil {
		return err
	}
	defer func() { g.close(gen, a, err) }()
	defer observeStage("ChatResponseProcessing", time.Now())
	x.worker = gen.lease.Target().ID
	for {
		if err := out.send(a.add(&gen.delta), a); err != nil {
			return err
		}
		if a.done() {
			break
		}
		if err := gen.next(); err != nil {
			return err
		}
	}
	if a.stopped() {
		localStops.Inc()
		gen.stream.Stop()
	}
	if last {
		if err := out.finish(a.last(), a); err != nil {
			return err
		}
	}
	gen.stream.Settle()
	c.countAnswer(a.cost(), gen.ttft, time.Since(gen.sent))
	return nil
}

// chatReply is the response in the form that the client asked for.
func (g *Gateway) chatReply(x *exchange, r *http.Request, req *openai.ChatRequest, p *prompt) (reply, error) {
	head := openai.Head{ID: x.answerID("chatcmpl-", req.RID), Model: p.model.name, Fingerprint: p.model.version, Created: x.start.Unix()}
	if !req.Stream {
		return &whole{x: x, body: func(choices []gathered, usage openai.Usage) []byte {
			return chatBody(head, choices, usage)
		}}, nil
	}
	e, err := x.begin(r, g.config)
	if err != nil {
		return nil, err
	}
	return &frames{
		events: e, usage: req.IncludeUsage, continuous: req.ContinuousUsage,
		format: &chatFormat{openai.NewChunks(head), req.ToolChoice.Forced()},
	}, nil
}

// chatFormat writes parts as chunks of a chat.
type chatFormat struct {
	*openai.Chunks
	forced bool // the answer can only be a tool call
}

func (f *chatFormat) appendPart(dst []byte, p *part, usage *openai.Usage) []byte {
	if p.kind == partContent && p.logprobs == nil && usage == nil {
		return f.AppendContent(dst, p.index, p.text)
	}
	k := openai.Chunk{Index: p.index, Logprobs: p.logprobs, Usage: usage}
	switch p.kind {
	case partRole:
		k.Delta.Role, k.Delta.ForcedCall = true, f.forced
	case partContent:
		k.Delta.Content = string(p.text)
	case partReasoning:
		k.Delta.Reasoning = p.reasoning
	case partCall:
		k.Delta.Call = p.call
	case partFinish:
		k.Finish, k.MatchedStop = p.finish, p.matched
	}
	return f.AppendChunk(dst, k)
}

func chatBody(head openai.Head, choices []gathered, usage openai.Usage) []byte {
	a := openai.ChatAnswer{Head: head, Usage: usage}
	for i := range choices {
		c := &choices[i]
		a.Choices = append(a.Choices, openai.ChatChoice{
			Index: i, Content: string(c.content), Reasoning: string(c.reasoning), ToolCalls: c.calls, Logprobs: c.logprobs,
			Finish: c.finish, MatchedStop: c.matched,
		})
	}
	return a.AppendJSON(nil)
}
