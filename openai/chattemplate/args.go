package chattemplate

import "strconv"

type kwarg struct {
	name  string
	value Value
}

// args are the evaluated arguments of a call.
type args struct {
	pos []Value
	kw  []kwarg
}

// bind assigns the arguments to at most six named parameters as Python does; a missing optional one stays nil.
func (a args) bind(dst *[6]Value, fn string, required int, names ...string) error {
	if len(a.pos) > len(names) {
		return typeError("%s() takes %s positional arguments but %s were given", fn, strconv.Itoa(len(names)), strconv.Itoa(len(a.pos)))
	}
	copy(dst[:], a.pos)
	for _, kw := range a.kw {
		i := indexOf(names, kw.name)
		switch {
		case i < 0:
			return typeError("%s() got an unexpected keyword argument '%s'", fn, kw.name)
		case dst[i] != nil:
			return typeError("%s() got multiple values for argument '%s'", fn, kw.name)
		}
		dst[i] = kw.value
	}
	for i := range required {
		if dst[i] == nil {
			return typeError("%s() missing 1 required positional argument: '%s'", fn, names[i])
		}
	}
	return nil
}

// positional checks the arguments of a function that takes no keywords.
func (a args) positional(fn string, least, most int) error {
	switch {
	case len(a.kw) > 0:
		return typeError("%s() takes no keyword arguments", fn)
	case len(a.pos) < least:
		return typeError("%s expected at least %s arguments, got %s", fn, strconv.Itoa(least), strconv.Itoa(len(a.pos)))
	case len(a.pos) > most:
		return typeError("%s expected at most %s arguments, got %s", fn, strconv.Itoa(most), strconv.Itoa(len(a.pos)))
	}
	return nil
}

func (a args) at(i int) Value {
	if i < len(a.pos) {
		return a.pos[i]
	}
	return nil
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}
