package tokenizer

import "unsafe"

// view reads a buffer as a string without copying it. The string is for the calls made while the buffer stands still; it
// must not be kept.
func view(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
