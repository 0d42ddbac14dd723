package chattemplate

import (
	"slices"
	"strings"
)

// pprintWidth is the line width of Python's pprint.
const pprintWidth = 80

func pprintFilter(r *render, v Value, a args) (Value, error) {
	if err := noArgs("pprint", a); err != nil {
		return nil, err
	}
	p := &printer{r: r}
	if err := p.print(v, 0, 0, 0); err != nil {
		return nil, err
	}
	return Str(p.b.String()), nil
}

// printer breaks what does not fit a line into one item a line, dicts sorted by key.
type printer struct {
	r *render
	b strings.Builder
}

// print writes v at a column; allowance is what must still fit behind it on the last line.
func (p *printer) print(v Value, indent, allowance, depth int) error {
	s, err := p.flat(v, depth)
	if err != nil {
		return err
	}
	if runeLen(s) <= pprintWidth-indent-allowance {
		p.b.WriteString(s)
		return nil
	}
	switch v := v.(type) {
	case Str:
		return p.str(string(v), indent, allowance, depth)
	case *List:
		return p.items(v.items, "[", "]", indent, allowance, depth)
	case Tuple:
		end := ")"
		if len(v) == 1 {
			end = ",)"
		}
		return p.items(v, "(", end, indent, allowance, depth)
	case *Dict:
		return p.dict(v, indent, allowance, depth)
	}
	p.b.WriteString(s)
	return nil
}

// flat is repr with the keys of dicts sorted.
func (p *printer) flat(v Value, depth int) (string, error) {
	if err := p.r.walk(depth); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case *List:
		return p.flatItems(v.items, "[", "]", depth)
	case Tuple:
		if len(v) == 1 {
			return p.flatItems(v, "(", ",)", depth)
		}
		return p.flatItems(v, "(", ")", depth)
	case *Dict:
		var parts []string
		for _, i := range p.order(v) {
			key, err := p.flat(v.keys[i], depth+1)
			if err != nil {
				return "", err
			}
			value, err := p.flat(v.values[i], depth+1)
			if err != nil {
				return "", err
			}
			parts = append(parts, key+": "+value)
		}
		s := "{" + strings.Join(parts, ", ") + "}"
		return s, p.r.spendText(len(s))
	}
	return repr(p.r, v)
}

func (p *printer) flatItems(items []Value, open, end string, depth int) (string, error) {
	parts := make([]string, len(items))
	for i, item := range items {
		var err error
		if parts[i], err = p.flat(item, depth+1); err != nil {
			return "", err
		}
	}
	s := open + strings.Join(parts, ", ") + end
	return s, p.r.spendText(len(s))
}

// order sorts keys by value, and keys that cannot be compared by type.
func (p *printer) order(d *Dict) []int {
	p.r.steps += d.Len() // the next charge tells
	order := make([]int, d.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		c, err := order3(p.r, d.keys[i], d.keys[j])
		if err != nil {
			return strings.Compare(d.keys[i].typeName(), d.keys[j].typeName())
		}
		return c
	})
	return order
}

func (p *printer) items(items []Value, open, end string, indent, allowance, depth int) error {
	p.b.WriteString(open)
	for i, item := range items {
		after := 1
		if i > 0 {
			p.b.WriteString(",\n" + strings.Repeat(" ", indent+1))
		}
		if i == len(items)-1 {
			after = allowance + len(end)
		}
		if err := p.print(item, indent+1, after, depth+1); err != nil {
			return err
		}
	}
	p.b.WriteString(end)
	return nil
}

func (p *printer) dict(d *Dict, indent, allowance, depth int) error {
	p.b.WriteString("{")
	order := p.order(d)
	for n, i := range order {
		after := 1
		if n > 0 {
			p.b.WriteString(",\n" + strings.Repeat(" ", indent+1))
		}
		if n == len(order)-1 {
			after = allowance + 1
		}
		key, err := p.flat(d.keys[i], depth+1)
		if err != nil {
			return err
		}
		p.b.WriteString(key + ": ")
		if err := p.print(d.values[i], indent+runeLen(key)+3, after, depth+1); err != nil {
			return err
		}
	}
	p.b.WriteString("}")
	return nil
}

// str cuts a long string at white space into literals, one a line.
func (p *printer) str(s string, indent, allowance, depth int) error {
	if depth == 0 {
		indent++
		allowance++
	}
	if err := p.r.spend(1 + 4*len(s)); err != nil {
		return err
	}
	var chunks []string
	lines := splitLines(s, true)
	for i, line := range lines {
		last := i == len(lines)-1
		width := pprintWidth - indent
		if last {
			width -= allowance
		}
		if shown := reprString(line); runeLen(shown) <= width {
			chunks = append(chunks, shown)
			continue
		}
		chunks = append(chunks, wrapLiteral(line, indent, allowance, last)...)
	}
	if len(chunks) == 1 {
		p.b.WriteString(chunks[0])
		return nil
	}
	text := strings.Join(chunks, "\n"+strings.Repeat(" ", indent))
	if depth == 0 {
		text = "(" + text + ")"
	}
	p.b.WriteString(text)
	return nil
}

// wrapLiteral cuts a line of a string into literals that fit.
func wrapLiteral(line string, indent, allowance int, last bool) []string {
	var chunks []string
	parts := wordsWithSpace(line)
	current := ""
	for i, part := range parts {
		width := pprintWidth - indent
		if last && i == len(parts)-1 {
			width -= allowance
		}
		if runeLen(reprString(current+part)) > width {
			if current != "" {
				chunks = append(chunks, reprString(current))
			}
			current = part
		} else {
			current += part
		}
	}
	if current != "" {
		chunks = append(chunks, reprString(current))
	}
	return chunks
}

// wordsWithSpace cuts s into words with the white space behind each.
func wordsWithSpace(s string) []string {
	var parts []string
	start, inSpace := 0, false
	for i, c := range s {
		if inSpace && !isSpace(c) {
			parts = append(parts, s[start:i])
			start = i
		}
		inSpace = isSpace(c)
	}
	if start < len(s) {
		parts = append(parts, s[start:])
	}
	return parts
}
