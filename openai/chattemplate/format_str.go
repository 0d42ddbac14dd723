package chattemplate

import "strings"

// formatter is one run of str.format, with the sandbox's own field look-up.
type formatter struct {
	r        *render
	pos      []Value
	named    Value // of keyword arguments, or format_map's mapping
	escape   bool  // Markup escapes what it inserts
	auto     int   // next automatic field number
	manual   bool  // fields are numbered by hand
	usedAuto bool
}

func strFormat(r *render, self Value, a args) (Value, error) {
	named := NewDict(len(a.kw))
	for _, kw := range a.kw {
		named.Set(kw.name, kw.value)
	}
	return runFormat(r, self, a.pos, named)
}

func strFormatMap(r *render, self Value, a args) (Value, error) {
	if len(a.kw) > 0 {
		return nil, typeError("format_map() takes no keyword arguments")
	}
	if len(a.pos) != 1 {
		return nil, typeError("format_map() takes exactly one argument (%s given)", reprInt(len(a.pos)))
	}
	return runFormat(r, self, nil, a.pos[0])
}

func runFormat(r *render, self Value, pos []Value, named Value) (Value, error) {
	s, _ := text(self)
	if err := r.spendWork(len(s)); err != nil {
		return nil, err
	}
	_, markup := self.(Markup)
	f := &formatter{r: r, pos: pos, named: named, escape: markup}
	out, err := f.run(s, 2)
	return sameText(self, out), err
}

// run expands the fields of s; a field's specification may hold fields in turn, depth levels of them.
func (f *formatter) run(s string, depth int) (string, error) {
	if depth < 0 {
		return "", valueError("Max string recursion exceeded")
	}
	var b []byte
	for s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			b = append(b, s...)
			break
		}
		b = append(b, s[:i]...)
		c := s[i]
		s = s[i+1:]
		if strings.HasPrefix(s, string(rune(c))) {
			b = append(b, c)
			s = s[1:]
			continue
		}
		if c == '}' {
			return "", valueError("Single '}' encountered in format string")
		}
		end := fieldEnd(s)
		if end < 0 {
			if s == "" {
				return "", valueError("Single '{' encountered in format string")
			}
			return "", valueError("expected '}' before end of string")
		}
		out, err := f.field(s[:end], depth)
		if err != nil {
			return "", err
		}
		b = append(b, out...)
		s = s[end+1:]
		if err := f.r.spendText(len(out)); err != nil {
			return "", err
		}
		if err := f.r.bound(len(b)); err != nil {
			return "", err
		}
	}
	return string(b), nil
}

// fieldEnd is where the brace closes that opened before s.
func fieldEnd(s string) int {
	depth := 1
	brackets := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '[' && depth == 1:
			brackets = true
		case c == ']':
			brackets = false
		case c == '{' && !brackets:
			depth++
		case c == '}' && !brackets:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// field expands name!conversion:spec.
func (f *formatter) field(s string, depth int) (string, error) {
	name, spec, conversion := s, "", ""
	if i := specStart(s); i >= 0 {
		name = s[:i]
		if s[i] == '!' {
			rest := s[i+1:]
			conversion, spec, _ = strings.Cut(rest, ":")
			if runeLen(conversion) != 1 {
				return "", valueError("expected ':' after conversion specifier")
			}
		} else {
			spec = s[i+1:]
		}
	}
	v, err := f.lookup(name)
	if err != nil {
		return "", err
	}
	v, err = f.convert(v, conversion)
	if err != nil {
		return "", err
	}
	if spec, err = f.run(spec, depth-1); err != nil {
		return "", err
	}
	if !f.escape {
		return formatValue(f.r, v, spec)
	}
	if m, ok := v.(Markup); ok {
		if spec != "" {
			return "", valueError("Unsupported format specification for Markup.")
		}
		return string(m), nil
	}
	out, err := formatValue(f.r, v, spec)
	return escapeHTML(out), err
}

func specStart(s string) int {
	brackets := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '[':
			brackets = true
		case c == ']':
			brackets = false
		case (c == '!' || c == ':') && !brackets:
			return i
		}
	}
	return -1
}

func (f *formatter) convert(v Value, conversion string) (Value, error) {
	var s string
	var err error
	switch conversion {
	case "":
		return v, nil
	case "s":
		s, err = str(f.r, v)
	case "r":
		s, err = repr(f.r, v)
	case "a":
		s, err = repr(f.r, v)
		s = asciiOnly(s)
	default:
		return nil, valueError("Unknown conversion specifier %s", conversion)
	}
	return Str(s), err
}

// lookup finds a field such as 0.name[key].
func (f *formatter) lookup(name string) (Value, error) {
	end := strings.IndexAny(name, ".[")
	first, rest := name, ""
	if end >= 0 {
		first, rest = name[:end], name[end:]
	}
	v, err := f.first(first, rest == "")
	for err == nil && rest != "" {
		if rest[0] == '.' {
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return nil, valueError("Empty attribute in format string")
			}
			v, err = getattr(f.r, v, rest[:end])
			rest = rest[end:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return nil, valueError("Missing ']' in format string")
		}
		if end == 1 {
			return nil, valueError("Empty attribute in format string")
		}
		v, err = getitem(f.r, v, fieldKey(rest[1:end]))
		rest = rest[end+1:]
		if rest != "" && rest[0] != '.' && rest[0] != '[' {
			return nil, valueError("Only '.' or '[' may follow ']' in format field specifier")
		}
	}
	return v, err
}

func fieldKey(s string) Value {
	if strings.Trim(s, "0123456789") == "" {
		if n, err := parseInt(s, 10); err == nil {
			return n
		}
	}
	return Str(s)
}

// first finds the value that a field starts from. Only whole names count as numbering, as in Python's string.Formatter.
func (f *formatter) first(name string, whole bool) (Value, error) {
	key := fieldKey(name)
	if name == "" && whole {
		if f.manual {
			return nil, valueError("cannot switch from manual field specification to automatic field numbering")
		}
		key = Int(f.auto)
		f.auto++
		f.usedAuto = true
	} else if _, numbered := key.(Int); numbered && whole {
		if f.usedAuto {
			return nil, valueError("cannot switch from manual field specification to automatic field numbering")
		}
		f.manual = true
	}
	if n, ok := key.(Int); ok {
		if int(n) >= len(f.pos) {
			return nil, raise("IndexError", "Replacement index "+reprInt(int(n))+" out of range for positional args tuple")
		}
		return f.pos[n], nil
	}
	v, found, err := item(f.r, f.named, key)
	if err == nil && !found {
		shown, _ := text(key)
		err = raise("KeyError", reprString(shown))
	}
	return v, err
}
