package chattemplate

import (
	"fmt"
	"strings"
)

// Error is a template's failure: a syntax error found by Compile or an exception raised by Render.
// Type is the name of the Python exception that jinja2 raises in the same place.
type Error struct {
	Type    string
	Message string
	Line    int // of the template source; 0 when not known
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s: %s (template line %d)", e.Type, e.Message, e.Line)
	}
	return e.Type + ": " + e.Message
}

// signal is how break and continue leave nested statements; it never leaves a render.
type signal string

func (s signal) Error() string { return string(s) + " outside a loop" }

const (
	errBreak    = signal("break")
	errContinue = signal("continue")
)

// raise makes the exception of a kind; every %s of format stands for one of args.
func raise(kind, format string, args ...string) error {
	if len(args) == 0 {
		return &Error{Type: kind, Message: format}
	}
	parts := strings.Split(format, "%s")
	var b strings.Builder
	for i, part := range parts {
		b.WriteString(strings.ReplaceAll(part, "%%", "%"))
		if i < len(args) && i+1 < len(parts) {
			b.WriteString(args[i])
		}
	}
	return &Error{Type: kind, Message: b.String()}
}

// clipped is err with a message of bounded length, which may quote a value of any size.
func clipped(err error) error {
	e, ok := err.(*Error)
	if !ok || len(e.Message) <= maxMessage {
		return err
	}
	short := *e
	short.Message = strings.ToValidUTF8(e.Message[:maxMessage], "") + "…"
	return &short
}

func typeError(format string, args ...string) error  { return raise("TypeError", format, args...) }
func valueError(format string, args ...string) error { return raise("ValueError", format, args...) }
func argumentError(format string, args ...string) error {
	return raise("FilterArgumentError", format, args...)
}

func limitError(what string) error {
	return raise("LimitError", "the template exceeds the limit of "+what)
}

func isType(err error, kind string) bool {
	e, ok := err.(*Error)
	return ok && e.Type == kind
}
