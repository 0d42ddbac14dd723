package chattemplate

import (
	"slices"
	"strings"

	"leeway/openai"
)

// endMark stands behind the text to go on with while the template is rendered: the text alone might be found elsewhere,
// in the tokens that end a turn, say. It ends with a space so that it shows whether the template trims what it prints.
const endMark = "END_OF_WHAT_IS_TO_BE_CONTINUED "

// continues tells whether the model is to go on with the last message.
func (c *conversation) continues() bool {
	return c.req.ContinueFinalMessage && len(c.messages) > 0
}

// renderContinued renders the conversation and cuts it behind the last message's text, as transformers does. A template
// that does not print the text as it is gets the conversation without that message, and the text after it.
func (c *conversation) renderContinued(special Special, o RenderOptions) (string, error) {
	before, last := c.messages[:len(c.messages)-1], c.messages[len(c.messages)-1].(*Dict)
	final, marked := markEnd(last)
	vars, err := c.vars(append(slices.Clip(before), marked), false, special)
	if err != nil {
		return "", err
	}
	out, err := c.tpl.Template.Render(vars, o)
	if err != nil {
		return "", err
	}
	if prompt, ok := cutAtMark(out, final); ok {
		return prompt, nil
	}
	if len(before) == 0 {
		return "", openai.Invalid("continue_final_message", openai.CodeInvalidValue, "continue_final_message needs a message before the one to go on with.")
	}
	if vars, err = c.vars(before, true, special); err != nil {
		return "", err
	}
	out, err = c.tpl.Template.Render(vars, o)
	return out + final, err
}

// cutAtMark returns what stands before the mark; ok is false when text or mark are not there. Where the template trimmed
// the mark it would have trimmed the text before it.
func cutAtMark(out, text string) (prompt string, ok bool) {
	trimmed := strings.TrimRightFunc(endMark, isSpace)
	at := strings.LastIndex(out, trimmed)
	if at < 0 || !strings.Contains(out, strings.TrimFunc(text, isSpace)) {
		return "", false
	}
	if strings.HasPrefix(out[at:], endMark) {
		return out[:at], true
	}
	return strings.TrimRightFunc(out[:at], isSpace), true
}

// markEnd returns a message's text, or that of its last part with one, and the message with the mark behind it.
func markEnd(message *Dict) (final string, marked *Dict) {
	marked = message.clone()
	content, _ := message.Get("content")
	if s, ok := text(content); ok {
		marked.Set("content", Str(s+endMark))
		return s, marked
	}
	parts, ok := content.(*List)
	if !ok {
		return "", marked
	}
	items := slices.Clone(parts.items)
	for i, part := range slices.Backward(items) {
		d, ok := part.(*Dict)
		if !ok {
			continue
		}
		if t, ok := d.Get("text"); ok {
			final, _ = text(t)
			d = d.clone()
			d.Set("text", Str(final+endMark))
			items[i] = d
			break
		}
	}
	marked.Set("content", newList(items))
	return final, marked
}
