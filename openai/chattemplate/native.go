package chattemplate

import (
	"io/fs"

	"leeway/openai"
)

// nativeRenderer writes the prompts of a model family that is published without a Jinja template.
type nativeRenderer interface {
	render(req *openai.ChatRequest) (string, error)
	thinking(req *openai.ChatRequest) Thinking
}

// nativeFor chooses a renderer by the architecture in config.json; it is nil when there is none for it.
func nativeFor(files fs.FS) (nativeRenderer, error) {
	return nil, nil
}
