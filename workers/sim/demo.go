package sim

import (
	"embed"
	"fmt"
	"io/fs"
)

// demoFiles is the demonstration's tokenizer and chat template: read-only.
//
//go:embed demo
var demoFiles embed.FS

// DemoTokenizer is the directory of the embedded tokenizer, which serves the model "demo".
func DemoTokenizer() (fs.FS, error) {
	dir, err := fs.Sub(demoFiles, "demo")
	if err != nil {
		return nil, fmt.Errorf("embedded tokenizer: %w", err)
	}
	return dir, nil
}
