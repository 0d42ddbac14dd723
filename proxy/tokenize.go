package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"unicode/utf8"

	"leeway/openai"
	"leeway/routing"
)

// tokenize answers POST /v1/tokenize: the ids that a model's tokenizer gives to texts.
func (g *Gateway) tokenize(x *exchange, r *http.Request) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	req, err := openai.DecodeTokenize(body)
	if err != nil {
		return err
	}
	spoken, err := g.models.speaker(req.Model)
	if err != nil {
		return err
	}
	out := openai.Tokenized{Batch: req.Prompt.Batch}
	for _, p := range req.Prompt.List {
		out.Tokens = append(out.Tokens, spoken.tokens.Encode(p.Text, req.AddSpecialTokens))
		out.CharCounts = append(out.CharCounts, utf8.RuneCountInString(p.Text))
	}
	writeJSON(x, http.StatusOK, out.AppendJSON(nil))
	return nil
}

// detokenize answers POST /v1/detokenize: the text of ids.
func (g *Gateway) detokenize(x *exchange, r *http.Request) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	req, err := openai.DecodeDetokenize(body)
	if err != nil {
		return err
	}
	spoken, err := g.models.speaker(req.Model)
	if err != nil {
		return err
	}
	out := openai.Detokenized{Batch: req.Tokens.Batch}
	for i, p := range req.Tokens.List {
		for j, id := range p.Tokens {
			if _, ok := spoken.tokens.Token(id); !ok {
				return openai.Invalid(fmt.Sprintf("%s[%d]", req.Tokens.Field("tokens", i), j), openai.CodeInvalidValue, fmt.Sprintf("Token id %d does not exist in this model.", id))
			}
		}
		out.Texts = append(out.Texts, spoken.tokens.Decode(p.Tokens, req.SkipSpecialTokens))
	}
	writeJSON(x, http.StatusOK, out.AppendJSON(nil))
	return nil
}

// speaker returns the tokenizer of a model; without a name, that of the only model there is.
func (l *library) speaker(name string) (*language, error) {
	if name == "" {
		if all := l.list(); len(all) == 1 {
			name = all[0].name
		}
	}
	m, err := l.find(name)
	switch {
	case err == nil:
		return m.language, nil
	case errors.Is(err, routing.ErrNoTarget):
		return nil, fail(http.StatusBadRequest, "tokenizer_not_found", "There is no tokenizer for this model.", kindValidation)
	}
	return nil, err
}
