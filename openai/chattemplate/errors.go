package chattemplate

import "fmt"

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

func raise(kind, format string, args ...string) error {
	if len(args) == 0 {
		return &Error{Type: kind, Message: format}
	}
	vals := make([]interface{}, len(args))
	for i, a := range args {
		vals[i] = a
	}
	return &Error{Type: kind, Message: fmt.Sprintf(format, vals...)}
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
