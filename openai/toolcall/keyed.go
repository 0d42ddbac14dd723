package toolcall

import "strings"

// The formats here write a call's name, and behind it every argument's key and value in tags of their own. They differ in
// the tags' names.

var (
	// <tool_call>f
	// <arg_key>a</arg_key>
	// <arg_value>1</arg_value>
	// </tool_call>
	//
	// GLM 4.7 leaves out the newlines.
	glmFormat = keyed("", "tool_call", func(name string) string { return name })

	// <iquest_tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></iquest_tool_call>
	iquestFormat = keyed("", "iquest_tool_call", func(name string) string { return name })

	// <ifm|tool_calls><ifm|tool_call>f<ifm|arg_key>a</ifm|arg_key><ifm|arg_value>1</ifm|arg_value></ifm|tool_call></ifm|tool_calls>
	//
	// Told so, the model puts <ifm|arg_type>integer</ifm|arg_type> between key and value, or a JSON object in place of
	// name and tags.
	horizonFormat = orObject(keyed("tool_calls", "tool_call", func(name string) string { return "ifm|" + name }))

	// <tool_calls:6124c78e>
	// <tool_call:6124c78e>f
	// <arg_key:6124c78e>a</arg_key:6124c78e>
	// <arg_value:6124c78e>1</arg_value:6124c78e>
	// </tool_call:6124c78e>
	// </tool_calls:6124c78e>
	//
	// The suffix is a checkpoint's own, and may be missing.
	hunyuanFormat = &format{open: []string{"<tool_calls"}, head: hunyuanHead}
)

// keyed is the format with these tags around all calls, if any, and around each; word makes a tag's name.
func keyed(group, call string, word func(name string) string) *format {
	open := func(name string) string { return "<" + word(name) + ">" }
	end := func(name string) string { return "</" + word(name) + ">" }
	t := &tags{
		open: open(call), name: []string{"\n", open("arg_key"), end(call)}, noParam: true,
		param: open("arg_key"), key: end("arg_key"), value: open("arg_value"), end: end("arg_value"), close: []string{end(call)},
	}
	f := &format{open: []string{open(call)}, closes: []string{end(call)}, more: true}
	if group != "" {
		t.groups = []string{open(group)}
		f.open, f.closes = append(f.open, open(group)), append(f.closes, end(group))
	}
	f.head = tagHead(t)
	return f
}

// hunyuanHead learns the suffix from the tag around the calls. From there on the format is the one with that suffix.
func hunyuanHead(p *Parser, c *cursor, more bool) (start, bool) {
	at := c.pos
	c.lit("<tool_calls")
	suffix, ok := c.until(">")
	if !ok || suffix != "" && (suffix[0] != ':' || strings.ContainsAny(suffix, "<> \n\t\r")) {
		return start{}, false
	}
	c.pos = at
	f := keyed("tool_calls", "tool_call", func(name string) string { return name + suffix })
	s, ok := f.head(p, c, more)
	if ok && !c.short {
		p.format = f
	}
	return s, ok
}

// orObject is a format whose calls may also be JSON objects between the same markers.
func orObject(f *format) *format {
	both := *f
	both.head = func(p *Parser, c *cursor, more bool) (start, bool) {
		at := c.pos
		c.space()
		for range f.open {
			c.any(f.open...)
			c.space()
		}
		if c.pos > at && c.ahead("{") {
			return object(c, false, false)
		}
		c.pos = at
		return f.head(p, c, more)
	}
	return &both
}
