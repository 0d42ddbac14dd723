package chattemplate

import (
	"strings"

	"leeway/openai"
)

// continues tells whether the model is to go on with the last message.
func (c *conversation) continues() bool {
	return c.req.ContinueFinalMessage && len(c.messages) > 0
}

// renderContinued renders the conversation and cuts it behind the last message's text, as transformers does. A template
// that does not print the text where it can be found gets the conversation without that message, and the text after it.
func (c *conversation) renderContinued(special Special, o RenderOptions) (string, error) {
	last := c.messages[len(c.messages)-1].(*Dict)
	final := lastText(last)
	vars, err := c.vars(c.messages, false, special)
	if err != nil {
		return "", err
	}
	out, err := c.tpl.Template.Render(vars, o)
	if err != nil {
		return "", err
	}
	trimmed := strings.TrimFunc(final, isSpace)
	at := strings.LastIndex(out, trimmed)
	if trimmed != "" && at >= 0 {
		whole := strings.TrimLeftFunc(final, isSpace)
		if strings.HasPrefix(out[at:], whole) {
			return out[:at+len(whole)], nil
		}
		return out[:at+len(trimmed)], nil
	}
	if vars, err = c.vars(c.messages[:len(c.messages)-1], true, special); err != nil {
		return "", err
	}
	if len(c.messages) == 1 {
		return "", openai.Invalid("continue_final_message", openai.CodeInvalidValue, "continue_final_message needs a message before the one to go on with.")
	}
	out, err = c.tpl.Template.Render(vars, o)
	return out + final, err
}

// lastText is a message's content, or the text of its last part.
func lastText(message *Dict) string {
	content, _ := message.Get("content")
	if s, ok := text(content); ok {
		return s
	}
	if parts, ok := content.(*List); ok {
		for i := len(parts.items) - 1; i >= 0; i-- {
			if d, ok := parts.items[i].(*Dict); ok {
				if t, ok := d.Get("text"); ok {
					s, _ := text(t)
					return s
				}
			}
		}
	}
	return ""
}
