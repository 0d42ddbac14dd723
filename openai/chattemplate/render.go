package chattemplate

import (
	"cmp"
	"time"
)

// render is the state of one run of a template.
type render struct {
	limits     Limits
	lib        *library
	steps      int
	depth      int
	out        []byte  // text written so far; captures are its tails
	context    []Value // the template's free names, resolved once
	vars       *Dict   // names set at the top level, kept only for blocks
	blocks     map[string]*blockFunc
	autoescape bool
	now        time.Time
}

// frame holds the variables of one running function: the template itself, a macro, a recursive loop or a block.
type frame struct {
	slots []Value
	up    *frame // of the function around
	r     *render
}

func (r *render) spend(n int) error {
	r.steps += n
	if r.steps > r.limits.Steps && r.limits.Steps > 0 {
		return limitError("steps")
	}
	return nil
}

// bound bounds a string of n bytes.
func (r *render) bound(n int) error {
	if n > r.limits.Output && r.limits.Output > 0 {
		return limitError("output size")
	}
	return nil
}

// spendCopy charges for copying a string of n bytes, and bounds it.
func (r *render) spendCopy(n int) error {
	if err := r.bound(n); err != nil {
		return err
	}
	return r.spend(1 + n/copyStep)
}

// spendText charges for searching a string of n bytes, and bounds it.
func (r *render) spendText(n int) error {
	if err := r.bound(n); err != nil {
		return err
	}
	return r.spend(1 + n/textStep)
}

// spendWork charges for rewriting a string of n bytes, and bounds it.
func (r *render) spendWork(n int) error {
	if err := r.bound(n); err != nil {
		return err
	}
	return r.spend(1 + n/workStep)
}

// spendScan charges for comparing or hashing n bytes; for few it is free.
func (r *render) spendScan(n int) error { return r.spend(n / scanStep) }

// spendHeld charges for a list or dict that is made to hold a value, and for a long text in it.
func (r *render) spendHeld(v Value) error {
	s, _ := text(v)
	return r.spend(1 + len(s)/textStep)
}

// walk charges for one value of a structure that is walked depth deep.
func (r *render) walk(depth int) error {
	if depth > maxTree {
		return raise("RecursionError", "maximum recursion depth exceeded")
	}
	return r.spend(1)
}

// enter counts a nested call; leave undoes it.
func (r *render) enter() error {
	if r.depth++; r.depth > r.limits.Depth {
		r.depth--
		return raise("RecursionError", "maximum recursion depth exceeded")
	}
	return r.spend(1)
}

func (r *render) leave() { r.depth-- }

func (r *render) write(s string) error {
	r.out = append(r.out, s...)
	if len(r.out) > r.limits.Output {
		return limitError("output size")
	}
	return nil
}

// capture runs body and returns what it wrote.
func (r *render) capture(f *frame, body execFunc) (string, error) {
	mark := len(r.out)
	err := body(f)
	text := string(r.out[mark:])
	r.out = r.out[:mark]
	return text, cmp.Or(err, r.spend(len(text)/copyStep))
}
