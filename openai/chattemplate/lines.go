package chattemplate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"leeway/openai"
)

// maxLine bounds one line of input.
const maxLine = 256 << 20

// LineOptions say what RenderLines makes of a line.
type LineOptions struct {
	Templates *Set
	Now       time.Time
	Special   Special
	// Encode, when it is given, makes a line a chat request, whose prompt is then encoded as well. Without it a line is an
	// object of the template's variables.
	Encode func(text string) []uint32
}

// RenderLines renders one JSON object a line: {"text": …} or {"error": …} a line comes out, in order and as soon as it
// is there; {"text": …, "ids": […]} with Encode. A line that is no JSON object ends it with an error that names the line.
func RenderLines(r io.Reader, w io.Writer, o LineOptions) error {
	in := bufio.NewReaderSize(r, 1<<16)
	out := bufio.NewWriterSize(w, 1<<16)
	for number := 1; ; number++ {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return errors.Join(fmt.Errorf("line %d: %w", number, err), out.Flush())
		}
		if len(bytes.TrimSpace(line)) > 0 {
			answer, err := o.answer(line)
			if err != nil {
				return errors.Join(fmt.Errorf("line %d: %w", number, err), out.Flush())
			}
			if _, err := out.Write(answer); err != nil {
				return err
			}
		}
		if err != nil {
			return out.Flush()
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// answer renders one line; its error means that the line itself is at fault.
func (o LineOptions) answer(line []byte) ([]byte, error) {
	vars, err := ParseJSON(line)
	if err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	d, ok := vars.(*Dict)
	if !ok {
		return nil, fmt.Errorf("not a JSON object but a %s", vars.typeName())
	}
	prompt, err := o.prompt(line, d)
	if err != nil {
		return append(appendJSONString([]byte(`{"error": `), err.Error(), false), '}', '\n'), nil
	}
	b := appendJSONString([]byte(`{"text": `), prompt, false)
	if o.Encode != nil {
		b = append(b, `, "ids": [`...)
		for i, id := range o.Encode(prompt) {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = strconv.AppendUint(b, uint64(id), 10)
		}
		b = append(b, ']')
	}
	return append(b, '}', '\n'), nil
}

func (o LineOptions) prompt(line []byte, vars *Dict) (string, error) {
	if o.Encode != nil {
		req, err := openai.DecodeChat(line)
		if err != nil {
			return "", err
		}
		return o.Templates.Render(req, o.Special, o.Now)
	}
	tpl := o.Templates.templates[defaultName]
	if tpl == nil {
		return "", ErrNoTemplate
	}
	return tpl.Template.Render(vars, RenderOptions{Now: o.Now, Limits: o.Templates.limits})
}
