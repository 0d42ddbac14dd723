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
		p, err := g.completionPrompt(req)
		if err != nil {
			return err
		}
		x.announceIgnored(req.Ignored)
		out, err := g.completionReply(x, r, req, p)
		if err != nil {
			return err
		}
		return g.walk(x, r, p, out, c)
	})
}

// completionPrompt takes the one prompt as text or ids. The text is encoded as it stands.
func (g *Gateway) completionPrompt(req *openai.CompletionRequest) (*prompt, error) {
	m, err := g.models.find(req.Model)
	if err != nil {
		return nil, err
	}
	if len(req.Prompt.List) != 1 {
		return nil, openai.Invalid("prompt", openai.CodeUnsupported, "Several prompts in one request cannot be served; send one request for each.")
	}
	p := &prompt{model: m, text: req.Prompt.List[0].Text, tokens: req.Prompt.List[0].Tokens, stream: req.Stream,
		key: req.User, plain: req.LoraPath == "" && req.CacheSalt == ""}
	if p.tokens == nil {
		p.tokens = m.language.tokens.Encode(p.text, false)
	}
	p.request.Sampling = m.sampling(&req.Sampling, req.N)
	p.request.Logprobs = req.Logprobs
	p.plan = m.plan(&req.Sampling, req.N)
	if err := p.check(); err != nil {
		return nil, err
	}
	if req.Echo && p.text == "" {
		p.text = m.language.tokens.Decode(p.tokens, req.SkipSpecialTokens)
	}
	return p, nil
}

func (g *Gateway) completionReply(x *exchange, r *http.Request, req *openai.CompletionRequest, p *prompt) (reply, error) {
	head := openai.Head{ID: x.answerID("cmpl-", req.RID), Model: p.model.name, Fingerprint: p.model.version, Created: x.start.Unix()}
	echo := ""
	if req.Echo {
		echo = p.text
	}
	if !req.Stream {
		if head.Fingerprint == "" {
			head.Fingerprint = "default"
		}
		return &whole{x: x, workerHeader: g.config.WorkerHeader, body: func(choices []gathered, usage openai.Usage) []byte {
			return completionBody(head, echo, choices, usage)
		}}, nil
	}
	e, err := x.begin(r, g.config)
	if err != nil {
		return nil, err
	}
	return &frames{
		events: e, workerHeader: g.config.WorkerHeader, usage: req.IncludeUsage, continuous: req.ContinuousUsage,
		format: &textFormat{openai.NewTextChunks(head), echo, make([]int, req.N)},
	}, nil
}

// textFormat writes parts as chunks of a completion. It has no role; what it echoes comes first.
type textFormat struct {
	*openai.TextChunks
	echo    string
	offsets []int // characters of each choice so far
}

func (f *textFormat) appendPart(dst []byte, p *part, usage *openai.Usage) []byte {
	c := openai.TextChoice{Index: p.index, Text: string(p.text), Logprobs: p.logprobs, Offset: f.offsets[p.index], Finish: p.finish, MatchedStop: p.matched}
	if p.kind == partRole {
		if c.Text = f.echo; c.Text == "" {
			return dst
		}
	}
	f.offsets[p.index] += utf8.RuneCountInString(c.Text)
	return f.AppendChunk(dst, c, usage)
}

func completionBody(head openai.Head, echo string, choices []gathered, usage openai.Usage) []byte {
	a := openai.Completion{Head: head, Usage: usage}
	for i := range choices {
		c := &choices[i]
		a.Choices = append(a.Choices, openai.TextChoice{
			Index: i, Text: echo + string(c.content), Logprobs: c.logprobs, Offset: utf8.RuneCountInString(echo),
			Finish: c.finish, MatchedStop: c.matched,
		})
	}
	return a.AppendJSON(nil)
}
