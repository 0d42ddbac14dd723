// Package chattemplate turns the messages of a chat into the prompt text that a model was trained on.
//
// Its core is a Jinja engine with the semantics that Hugging Face transformers gives to chat templates: jinja2's
// immutable sandbox with trim_blocks, lstrip_blocks, loop controls, the generation tag, tojson, raise_exception and
// strftime_now. Equality is meant byte for byte, errors included, because the prompt's tokens name the KV cache blocks
// that an engine already holds: values therefore are Python's (ordered dicts, int apart from float, str measured in code
// points, repr and json.dumps as Python prints them), and a template is compiled once, to closures over numbered slots.
//
// Templates and messages come from outside. Every render runs under Limits, and whatever they contain ends in text or
// in an error, never in a panic.
package chattemplate
