package proxy

import (
	"net/http"
	"unicode/utf8"

	"leeway/openai"
)

// complete answers POST /v1/completions: the journey of a chat with other ends.
func (g *Gateway) complete(x *exchange, r *http.Request) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	req, err := openai.DecodeCompletion(body)
	if err != nil {
		return err
	}
	return g.counted(routed{g.models.label(req.Model), "completions", req.Stream}, func(c routed) error {
		prompts, err := g.completionPrompts(req)
		if err != nil {
			return err
		}
		out, err := g.completionReply(x, r, req, prompts)
		if err != nil {
			return err
		}
		return g.walk(x, r, prompts, out, c)
	})
}

// completionPrompts takes the prompts as text or ids. Text is encoded as it stands.
func (g *Gateway) completionPrompts(req *openai.CompletionRequest) ([]*prompt, error) {
	m, err := g.models.find(req.Model)
	if err != nil {
		return nil, err
	}
	var prompts []*prompt
	for i, in := range req.Prompt.List {
		p := &prompt{model: m, text: in.Text, tokens: in.Tokens, route: "completions", field: req.Prompt.Field("prompt", i), given: in.Tokens != nil, stream: req.Stream,
			key: req.User, plain: req.LoraPath == "" && req.CacheSalt == "", ignored: req.Ignored}
		p.ignoring("lora_path", req.LoraPath != "")
		p.ignoring("cache_salt", req.CacheSalt != "")
		if p.tokens == nil {
			p.tokens = m.language.encode(p.text)
		}
		p.request.Sampling, p.limit, p.seeds = m.sampling(&req.Sampling, req.N), req.MaxTokensField, req.Seeds()
		p.request.Logprobs = req.Logprobs
		p.plan = m.plan(&req.Sampling, req.N)
		if err := p.check(); err != nil {
			return nil, err
		}
		if req.Echo && p.text == "" {
			p.text = m.language.tokens.Decode(p.tokens, req.SkipSpecialTokens)
		}
		prompts = append(prompts, p)
	}
	return prompts, nil
}

func (g *Gateway) completionReply(x *exchange, r *http.Request, req *openai.CompletionRequest, prompts []*prompt) (reply, error) {
	m := prompts[0].model
	head := openai.Head{ID: x.answerID("cmpl-", req.RID), Model: m.name, Fingerprint: m.version, Created: x.start.Unix()}
	echo := make([]string, len(prompts)*req.N)
	for i := range echo {
		if req.Echo {
			echo[i] = prompts[i/req.N].text
		}
	}
	if !req.Stream {
		return &whole{x: x, body: func(choices []gathered, usage openai.Usage) []byte {
			return completionBody(head, echo, choices, usage)
		}}, nil
	}
	e, err := x.begin(r, g.config)
	if err != nil {
		return nil, err
	}
	return &frames{
		events: e, usage: req.IncludeUsage, continuous: req.ContinuousUsage,
		format: &textFormat{openai.NewTextChunks(head), echo},
	}, nil
}

// textFormat writes parts as chunks of a completion. It has no role; what it echoes comes first.
type textFormat struct {
	*openai.TextChunks
	echo []string // of each choice
}

func (f *textFormat) appendPart(dst []byte, p *part, usage *openai.Usage) []byte {
	c := openai.TextChoice{Index: p.index, Text: string(p.text), Logprobs: p.logprobs, Offset: utf8.RuneCountInString(f.echo[p.index]), Finish: p.finish, MatchedStop: p.matched}
	if p.kind == partRole {
		if c.Text = f.echo[p.index]; c.Text == "" {
			return dst
		}
	}
	return f.AppendChunk(dst, c, usage)
}

func completionBody(head openai.Head, echo []string, choices []gathered, usage openai.Usage) []byte {
	a := openai.Completion{Head: head, Usage: usage}
	for i := range choices {
		c := &choices[i]
		a.Choices = append(a.Choices, openai.TextChoice{
			Index: i, Text: echo[i] + string(c.content), Logprobs: c.logprobs, Offset: utf8.RuneCountInString(echo[i]),
			Finish: c.finish, MatchedStop: c.matched,
		})
	}
	return a.AppendJSON(nil)
}
