package proxy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"leeway/openai/chattemplate"
)

// RenderOptions are the flags of `leeway render`.
type RenderOptions struct {
	ChatTemplate  string `flag:"chat-template" help:"file with a Jinja chat template"`
	TokenizerPath string `flag:"tokenizer-path" help:"folder of a model's files: lines are then chat requests, answered with prompt and ids"`
	Now           string `flag:"now" help:"what strftime_now takes for now, as 2006-01-02 15:04:05 or RFC 3339 (default: the time)"`
}

// Render shows what a chat template makes of each line of r, as a request's prompt is made here.
func Render(r io.Reader, w io.Writer, o RenderOptions) error {
	now, err := o.now()
	if err != nil {
		return err
	}
	if o.TokenizerPath != "" {
		l := &library{config: ModelConfig{ChatTemplate: o.ChatTemplate}}
		language, err := l.learn(os.DirFS(o.TokenizerPath))
		if err != nil {
			return fmt.Errorf("tokenizer-path %q: %w", o.TokenizerPath, err)
		}
		encode := func(text string) []uint32 { return language.tokens.Encode(text, false) }
		return chattemplate.RenderLines(r, w, chattemplate.LineOptions{Templates: language.templates, Special: language.special, Now: now, Encode: encode})
	}
	if o.ChatTemplate == "" {
		return errors.New("chat-template: name the file of a template, or a model's folder with --tokenizer-path")
	}
	source, err := os.ReadFile(o.ChatTemplate)
	if err != nil {
		return fmt.Errorf("chat-template: %w", err)
	}
	set, err := chattemplate.Parse(string(source))
	if err != nil {
		return fmt.Errorf("chat-template %s: %w", o.ChatTemplate, err)
	}
	return chattemplate.RenderLines(r, w, chattemplate.LineOptions{Templates: set, Now: now})
}

func (o RenderOptions) now() (time.Time, error) {
	if o.Now == "" {
		return time.Now(), nil
	}
	for _, layout := range []string{time.DateTime, time.RFC3339, "2006-01-02T15:04:05", time.DateOnly} {
		if now, err := time.ParseInLocation(layout, o.Now, time.Local); err == nil {
			return now, nil
		}
	}
	return time.Time{}, fmt.Errorf("now: %q is no time; write it as 2006-01-02 15:04:05", o.Now)
}
