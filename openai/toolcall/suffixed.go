package toolcall

import "strings"

// Hunyuan 4 ends the name of every tag with a suffix of its checkpoint's own, such as :6124c78e. The first tag tells it.

var hunyuanFormat = &format{open: []string{"<tool_calls"}, head: hunyuanHead}

// hunyuanHead learns the suffix from the tag around the calls. From there on the format is the one with that suffix.
func hunyuanHead(p *Parser, c *cursor, more bool) (start, bool) {
	at := c.pos
	c.lit("<tool_calls")
	suffix, ok := c.until(">")
	if !ok || suffix != "" && (suffix[0] != ':' || strings.ContainsAny(suffix, "<> \n\t\r")) {
		return start{}, false
	}
	c.pos = at
	f := hunyuan(suffix)
	s, ok := f.head(p, c, more)
	if ok && !c.short {
		p.format = f
	}
	return s, ok
}

// hunyuan is the format with a suffix.
func hunyuan(suffix string) *format {
	tag := func(name string) string { return "<" + name + suffix + ">" }
	calls, call := tag("tool_calls"), tag("tool_call")
	return &format{
		open: []string{calls, call}, closes: []string{tag("/tool_call"), tag("/tool_calls")}, more: true,
		head: tagHead(&tags{
			groups: []string{calls}, open: call, name: []string{"\n", tag("arg_key"), tag("/tool_call")}, noParam: true,
			param: tag("arg_key"), key: tag("/arg_key"), value: tag("arg_value"), end: tag("/arg_value"), close: []string{tag("/tool_call")},
		}),
	}
}
