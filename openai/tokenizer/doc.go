// Package tokenizer turns text into a model's token ids and back, with the same result as Hugging Face's tokenizers, id
// for id and byte for byte.
//
// The way of a text: added tokens are cut out of it; what lies between is normalized, cut into words by the
// pre-tokenizer, and each word is turned into ids by the model. The way back: every id has a text, which the decoder has
// worked out beforehand as far as one token allows; what depends on neighbours (bytes of a character, the first token,
// the ends of the text) is done as the ids come, one by one, so that decoding a stream and decoding a whole are one thing.
//
// Where the speed comes from: the patterns that cut words are matched by runs of character classes, never by a general
// engine if that can be helped; short words are remembered with their ids, a cache line each; a pair of tokens finds its
// merge with one probe; and long words are merged by a heap, in n log n.
//
// Where versions of the library differ, 0.22 counts: an added token that is looked for in normalized text decodes to what
// it says, and is left out as special; from 0.23 on it decodes to its normalized form. Truncation and padding that a tokenizer.json may ask for are not applied: engines do not apply them either.
package tokenizer

//go:generate python3 testdata/oracle/tables.py unicode_tables.go
//go:generate gofmt -w unicode_tables.go
