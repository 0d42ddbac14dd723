package proxy

import (
	"net/http"

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
