// Package openai is the client's language: the bodies of the OpenAI API, decoded with errors that name the field and
// the way out, and the answers, written by appending.
//
// It holds data only: no I/O, no HTTP, no log. Three rules run through it:
//
//   - null is the same as a field left out, an unknown field is accepted, and of a repeated key the last one counts.
//   - Whatever the client wrote that a chat template may show (messages, tools) is kept byte for byte, with its key
//     order, as Raw.
//   - An encoder only appends to the slice it is given, and what it appends is one line of valid JSON for any input.
package openai
