//go:build race

package tokenizer

const raced = true
