package proxy

import (
	"cmp"
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
		prompts, err := embeddingPrompts(m, req, cmp.Or(g.routingKey(r.Header), req.User))
		if err != nil {
			return err
		}
		out, err := g.embedAll(x, r.Context(), prompts)
		if err != nil {
			return err
		}
		out.Model, out.Base64 = m.name, req.Base64
		writeJSON(x, http.StatusOK, out.AppendJSON(nil))
		return nil
	})
}

// embeddingPrompts takes the inputs as text or ids. The key is what sticky policies go by.
func embeddingPrompts(m *model, req *openai.EmbeddingRequest, key string) ([]*prompt, error) {
	var prompts []*prompt
	for i, in := range req.Input.List {
		p := &prompt{model: m, text: in.Text, tokens: in.Tokens, route: "embeddings", field: req.Input.Field("input", i),
			given: in.Tokens != nil, key: key} // an answer does not say what was cached
		if p.tokens == nil {
			p.tokens = m.language.tokens.Encode(p.text, true)
		}
		if err := p.check(); err != nil {
			return nil, err
		}
		prompts = append(prompts, p)
	}
	return prompts, nil
}

// embedAll embeds all prompts. The worker that is named is that of the last.
func (g *Gateway) embedAll(x *exchange, ctx context.Context, prompts []*prompt) (out openai.Embeddings, err error) {
	all, workers := make([]engine.Embedding, len(prompts)), make([]string, len(prompts))
	err = x.together(ctx, len(prompts), func(ctx context.Context, i int) (err error) {
		all[i], workers[i], err = g.embedOne(ctx, x.id, prompts[i])
		return err
	})
	if err != nil {
		return out, err
	}
	for i, e := range all {
		out.Vectors = append(out.Vectors, e.Values)
		out.PromptTokens += cmp.Or(e.PromptTokens, len(prompts[i].tokens))
	}
	x.worker = workers[len(workers)-1]
	if g.config.WorkerHeader != "" {
		x.Header().Set(g.config.WorkerHeader, x.worker)
	}
	return out, nil
}

// embedOne has a worker embed one prompt, and another if that one fails.
func (g *Gateway) embedOne(ctx context.Context, id string, p *prompt) (e engine.Embedding, worker string, err error) {
	var t trial
	for {
		lease, err := g.pick(id, p, t.tried)
		if err != nil {
			return e, "", err
		}
		worker = lease.Target().ID
		if t.spoilt(lease) {
			lease.Release()
			return e, "", t.err
		}
		if e, err = g.pool.Embed(ctx, worker, p.tokens, slices.Contains(t.tried, worker)); err == nil {
			g.end(lease, routing.Outcome{PromptTokens: e.PromptTokens})
			return e, worker, nil
		}
		if errors.Is(err, engine.ErrUnsupported) {
			err = errNoEmbeddings
		}
		g.end(lease, routing.Outcome{Error: asFailure(err).Code})
		if err == errNoEmbeddings && !slices.Contains(t.tried, worker) {
			t.tried = append(t.tried, worker) // others of the model may make them
			continue
		}
		if err := g.next(ctx, p, &t, lease, err); err != nil {
			return e, "", inField(err, p.field)
		}
	}
}

// inField names the field where a worker refused the request: an embedding has no other.
func inField(err error, field string) error {
	f := asFailure(err)
	if f.Code != "invalid_request_parameters" {
		return err
	}
	f.Param = field
	return f
}
