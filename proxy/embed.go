package proxy

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"leeway/openai"
	"leeway/routing"
	"leeway/workers/engine"
)

// embed answers POST /v1/embeddings: one vector for each input, in order.
func (g *Gateway) embed(x *exchange, r *http.Request) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	req, err := openai.DecodeEmbedding(body)
	if err != nil {
		return err
	}
	return g.counted(routed{g.models.label(req.Model), "embeddings", false}, func(routed) error {
		m, err := g.models.find(req.Model)
		if err != nil {
			return err
		}
		if req.Dimensions != nil {
			return openai.Invalid("dimensions", openai.CodeUnsupported, "The length of an embedding cannot be chosen; leave it out.")
		}
		if err := g.tellIgnored(req.Ignored, x.Header().Set); err != nil {
			return err
		}
		out := openai.Embeddings{Model: m.name, Base64: req.Base64}
		for i, in := range req.Input.List {
			p := &prompt{model: m, text: in.Text, tokens: in.Tokens, route: "embeddings", field: req.Input.Field("input", i),
				given: in.Tokens != nil, key: req.User} // an answer does not say what was cached
			if p.tokens == nil {
				p.tokens = m.language.tokens.Encode(p.text, true)
			}
			if err := p.check(); err != nil {
				return err
			}
			if err := g.embedOne(r.Context(), x, p, &out); err != nil {
				return err
			}
		}
		writeJSON(x, http.StatusOK, out.AppendJSON(nil))
		return nil
	})
}

// embedOne has a worker embed one prompt, and another if that one fails.
func (g *Gateway) embedOne(ctx context.Context, x *exchange, p *prompt, out *openai.Embeddings) error {
	var t trial
	for {
		lease, err := g.pick(x.id, p, t.tried)
		if err != nil {
			return err
		}
		if t.spoilt(lease) {
			lease.Release()
			return t.err
		}
		e, err := g.pool.Embed(ctx, lease.Target().ID, p.tokens, slices.Contains(t.tried, lease.Target().ID))
		if err == nil {
			g.end(lease, routing.Outcome{PromptTokens: e.PromptTokens})
			x.worker = lease.Target().ID
			if g.config.WorkerHeader != "" {
				x.Header().Set(g.config.WorkerHeader, x.worker)
			}
			out.Vectors = append(out.Vectors, e.Values)
			if e.PromptTokens == 0 {
				e.PromptTokens = len(p.tokens)
			}
			out.PromptTokens += e.PromptTokens
			return nil
		}
		if errors.Is(err, engine.ErrUnsupported) {
			err = errNoEmbeddings
		}
		g.end(lease, routing.Outcome{Error: asFailure(err).Code})
		if worker := lease.Target().ID; err == errNoEmbeddings && !slices.Contains(t.tried, worker) {
			t.tried = append(t.tried, worker) // others of the model may make them
			continue
		}
		if err := g.next(ctx, p, &t, lease, err); err != nil {
			return err
		}
	}
}
