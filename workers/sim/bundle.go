package sim

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

// bundledFiles are what a worker's tokenizer archive may hold, beside *.tiktoken, *.jinja and *.model.
var bundledFiles = []string{
	"tokenizer.json", "tokenizer_config.json", "config.json", "generation_config.json", "special_tokens_map.json",
	"vocab.json", "merges.txt", "chat_template.json", "preprocessor_config.json", "processor_config.json",
	"video_preprocessor_config.json",
}

// bundleTokenizer packs the tokenizer files of a directory into a zip archive.
func bundleTokenizer(dir fs.FS) ([]byte, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	var buf bytes.Buffer
	archive := zip.NewWriter(&buf)
	for _, e := range entries {
		ext := path.Ext(e.Name())
		byExt := ext == ".tiktoken" || ext == ".jinja" || ext == ".model"
		if e.IsDir() || !byExt && !slices.Contains(bundledFiles, e.Name()) {
			continue
		}
		data, err := fs.ReadFile(dir, e.Name())
		if err != nil {
			return nil, fmt.Errorf("bundle: %w", err)
		}
		out, err := archive.Create(e.Name())
		if err == nil {
			_, err = out.Write(data)
		}
		if err != nil {
			return nil, fmt.Errorf("bundle: %s: %w", e.Name(), err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	return buf.Bytes(), nil
}
