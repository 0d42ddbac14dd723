package proxy

import (
	"net/http"
	"strconv"

	"leeway/openai"
)

// reply is how an answer's parts reach the client: as events, or gathered in one body.
type reply interface {
	// begun reports whether the client has anything yet.
	begun() bool
	// header sets a header, if the headers are still here.
	header(name, value string)
	send(parts []part, a *answer) error
	// finish sends the final parts of all choices and ends the response.
	finish(last []part, a *answer) error
}

// frames puts parts on the wire as events. The format is chat's or completions'.
type frames struct {
	events     *events
	format     format
	usage      bool // one more event at the end tells the cost
	continuous bool // every event does
	buf        []byte
}

// format writes one part as a line of JSON, or nothing if it has no form there.
type format interface {
	appendPart(dst []byte, p *part, usage *openai.Usage) []byte
	AppendUsage(dst []byte, u openai.Usage) []byte
}

func (f *frames) begun() bool { return f.events.started() }

func (f *frames) header(name, value string) { f.events.header(name, value) }

func (f *frames) send(parts []part, a *answer) error {
	f.buf = f.buf[:0]
	f.appendAll(parts, a)
	if len(f.buf) == 0 {
		return nil
	}
	return f.events.write(f.buf)
}

func (f *frames) appendAll(parts []part, a *answer) {
	var each *openai.Usage
	if f.continuous {
		now := a.usage()
		each = &now
	}
	for i := range parts {
		start := len(f.buf)
		f.buf = append(f.buf, "data: "...)
		body := len(f.buf)
		f.buf = f.format.appendPart(f.buf, &parts[i], each)
		if len(f.buf) == body {
			f.buf = f.buf[:start]
			continue
		}
		f.buf = append(f.buf, "\n\n"...)
	}
}

func (f *frames) finish(last []part, a *answer) error {
	f.buf = f.buf[:0]
	f.appendAll(last, a)
	if f.usage {
		f.buf = append(f.buf, "data: "...)
		f.buf = f.format.AppendUsage(f.buf, a.usage())
		f.buf = append(f.buf, "\n\n"...)
	}
	return f.events.finish(f.buf)
}

// gathered is one choice as it comes together.
type gathered struct {
	content   []byte
	reasoning []byte
	calls     []openai.ToolCall
	logprobs  []openai.TokenLogprob
	finish    string
	matched   openai.MatchedStop
}

// whole gathers the parts and sends one body.
type whole struct {
	x       *exchange
	choices []gathered
	body    func(choices []gathered, usage openai.Usage) []byte
}

func (o *whole) begun() bool { return false }

func (o *whole) header(name, value string) { o.x.Header().Set(name, value) }

func (o *whole) send(parts []part, _ *answer) error {
	for i := range parts {
		p := &parts[i]
		for len(o.choices) <= p.index {
			o.choices = append(o.choices, gathered{})
		}
		o.choices[p.index].add(p)
	}
	return nil
}

func (o *whole) finish(last []part, a *answer) error {
	o.send(last, a)
	return writeJSON(o.x, http.StatusOK, o.body(o.choices, a.usage()))
}

func (c *gathered) add(p *part) {
	c.content = append(c.content, p.text...)
	c.reasoning = append(c.reasoning, p.reasoning...)
	c.logprobs = append(c.logprobs, p.logprobs...)
	switch p.kind {
	case partCall:
		for len(c.calls) <= p.call.Index {
			c.calls = append(c.calls, openai.ToolCall{})
		}
		call := &c.calls[p.call.Index]
		call.ID += p.call.ID
		call.Name += p.call.Name
		call.Arguments += p.call.Arguments
	case partFinish:
		c.finish, c.matched = p.finish, p.matched
	}
}

// writeJSON sends a whole body. That the client did not take it is for those to know who count answers.
func writeJSON(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return cutOff(err)
}
