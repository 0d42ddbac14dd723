package proxy

import (
	"slices"

	"leeway/openai"
	"leeway/openai/reasoning"
	"leeway/openai/tokenizer"
	"leeway/openai/toolcall"
	"leeway/workers/engine"
)

// part is one thing that an answer says; what a chunk carries, or a piece of the whole.
type part struct {
	kind      partKind
	index     int
	text      []byte // content; holds until the next add
	reasoning string
	call      openai.CallDelta
	logprobs  []openai.TokenLogprob
	finish    string
	matched   openai.MatchedStop
}

type partKind uint8

const (
	partRole partKind = iota
	partContent
	partReasoning
	partCall
	partFinish
)

// choice is the state of one of a request's answers: ids on their way to text, and text on its way to parts.
type choice struct {
	plan  *plan
	index int

	decoder   tokenizer.Decoder
	stops     stops
	reasoning *reasoning.Parser // nil: text is content
	tools     *toolcall.Parser  // nil: content stays content

	raw, text []byte // of the delta at hand: decoded, and past the stops
	logprobs  logprobQueue

	ids        []uint32           // with keepIDs
	idLogprobs []openai.IDLogprob // with keepIDs, where logprobs were asked for

	begun      bool
	ended      bool   // nothing more is taken
	done       bool   // the worker has said its last word
	hidden     bool   // a stop token has come: only the worker's last word is awaited
	called     bool   // some tool call has
	kept       []byte // of a thought that is to come in one piece
	completion int
	thought    int // tokens of reasoning as counted here
	uncounted  int // tokens since text last came out
	reported   int // tokens of reasoning as the worker counts
	accepted   int
	drafted    int
	finish     string
	matched    openai.MatchedStop
}

// add takes a delta and appends what it says. After a stop string it takes no more.
func (c *choice) add(parts []part, d *engine.Delta) []part {
	if !c.begun {
		c.begun = true
		parts = append(parts, part{kind: partRole, index: c.index})
	}
	first := len(parts)
	c.done = c.done || d.Done
	c.text = c.text[:0]
	if c.hidden && len(d.Tokens) > 0 && !d.Done { // the worker does not stop at this token by itself
		c.ended, c.finish = true, "stop"
		c.release()
	}
	for i, id := range d.Tokens {
		if c.ended || c.hidden {
			break
		}
		if c.plan.keepIDs {
			c.keep(id, d, i)
		}
		before := c.logprobs.decoded
		c.token(id)
		if i < len(d.Logprobs) && !(c.hidden && !c.plan.noStopTrim) {
			l := d.Logprobs[i]
			l.Top = l.Top[:min(len(l.Top), c.plan.alternatives)]
			c.logprobs.add(c.plan.tokens, &l, before)
		}
		if c.reasoning != nil {
			parts = c.say(parts)
		}
	}
	c.reported = max(c.reported, d.ReasoningTokens)
	c.accepted, c.drafted = max(c.accepted, d.SpecAccepted), max(c.drafted, d.SpecDraft)
	if d.Done && !c.ended {
		c.conclude(d)
	}
	parts = c.say(parts)
	if c.ended {
		parts = c.flush(parts)
	}
	if ready := c.logprobs.ready(); len(ready) > 0 && len(parts) > first {
		parts[len(parts)-1].logprobs = ready
		c.logprobs.drop(len(ready))
	}
	return parts
}

// keep notes an id for a client that reads ids.
func (c *choice) keep(id uint32, d *engine.Delta, i int) {
	c.ids = append(c.ids, id)
	if i < len(d.Logprobs) {
		c.idLogprobs = append(c.idLogprobs, openai.IDLogprob{Logprob: float32(d.Logprobs[i].Value), ID: id})
	}
}

// token counts an id and appends its text as far as the stops let go of it.
func (c *choice) token(id uint32) {
	c.completion++
	c.uncounted++
	if slices.Contains(c.plan.stopTokens, id) {
		c.hidden = true
		if !c.plan.noStopTrim {
			return
		}
	}
	c.raw = c.decoder.Append(c.raw[:0], id)
	c.pass(c.raw)
}

// pass puts text through the stops. A stop string ends the choice.
func (c *choice) pass(text []byte) {
	c.logprobs.decode(text)
	before := len(c.text)
	out, match, found := c.stops.add(c.text, text)
	c.text = out
	c.logprobs.released += len(out) - before
	if !found {
		return
	}
	c.ended, c.finish, c.matched = true, "stop", openai.MatchedStop{Set: true, Text: match}
	if c.plan.noStopTrim {
		c.text = append(c.text, match...)
		c.logprobs.released += len(match)
	}
}

// say turns the text at hand into parts.
func (c *choice) say(parts []part) []part {
	if len(c.text) == 0 {
		return parts
	}
	if c.reasoning == nil && c.tools == nil {
		return append(parts, part{kind: partContent, index: c.index, text: c.text})
	}
	text := string(c.text)
	c.text = c.text[:0]
	switch {
	case c.reasoning == nil:
		return c.speak(parts, text)
	case c.plan.thoughtsSaid:
		return c.retell(parts, c.reasoning.Pieces(text, false))
	}
	thought, content := c.reasoning.Add(text)
	return c.think(parts, thought, content)
}

// count counts the tokens since text last came out as a thought's, if nothing else has.
func (c *choice) count(thought, content bool) {
	if thought && !content {
		c.thought += c.uncounted
	}
	if thought || content {
		c.uncounted = 0
	}
}

// retell turns thoughts into content, markers and all, around the tool parser: no call is one in a thought.
func (c *choice) retell(parts []part, pieces []reasoning.Piece) []part {
	thought, content := false, false
	for _, p := range pieces {
		thought, content = thought || p.Kind == reasoning.Thought, content || p.Kind == reasoning.Content
		if p.Kind == reasoning.Content {
			parts = c.speak(parts, p.Text)
		} else {
			parts = append(parts, part{kind: partContent, index: c.index, text: []byte(p.Text)})
		}
	}
	c.count(thought, content)
	return parts
}

func (c *choice) think(parts []part, thought, content string) []part {
	c.count(thought != "", content != "")
	if c.plan.thoughtsLast {
		thought = c.keepThought(thought, content)
	}
	if thought != "" {
		parts = append(parts, part{kind: partReasoning, index: c.index, reasoning: thought})
	}
	return c.speak(parts, content)
}

// keepThought adds to a thought and returns all of it once it has ended.
func (c *choice) keepThought(thought, content string) string {
	c.kept = append(c.kept, thought...)
	if content == "" && !c.ended {
		return ""
	}
	thought = string(c.kept)
	c.kept = c.kept[:0]
	return thought
}

// speak puts content through the tool parser.
func (c *choice) speak(parts []part, content string) []part {
	switch {
	case content == "":
		return parts
	case c.tools == nil:
		return append(parts, part{kind: partContent, index: c.index, text: []byte(content)})
	}
	return c.act(parts, c.tools.Add(content))
}

func (c *choice) act(parts []part, events []toolcall.Event) []part {
	for _, e := range events {
		if e.Text != "" {
			parts = append(parts, part{kind: partContent, index: c.index, text: []byte(e.Text)})
			continue
		}
		if e.Call.Index > 0 && c.plan.calls.single {
			continue
		}
		c.called = true
		parts = append(parts, part{kind: partCall, index: c.index, call: e.Call})
	}
	return parts
}

// conclude takes the worker's last word on the choice; what was held back is text after all.
func (c *choice) conclude(d *engine.Delta) {
	c.ended = true
	if c.finish = d.FinishReason; c.finish == "" {
		c.finish = "stop"
	}
	if d.MatchedStop != "" {
		c.matched = openai.MatchedStop{Set: true, Text: d.MatchedStop}
	} else if d.MatchedToken != nil {
		c.matched = openai.MatchedStop{Set: true, Token: *d.MatchedToken}
	}
	c.release()
}

// release lets go of what decoder and stops hold: nothing follows it.
func (c *choice) release() {
	c.raw = c.decoder.End(c.raw[:0])
	c.pass(c.raw)
	before := len(c.text)
	c.text = c.stops.flush(c.text)
	c.logprobs.released += len(c.text) - before
}

// flush ends the parsers: what they still held comes out.
func (c *choice) flush(parts []part) []part {
	switch {
	case c.reasoning == nil:
	case c.plan.thoughtsSaid:
		parts = c.retell(parts, c.reasoning.Pieces("", true))
	default:
		thought, content := c.reasoning.Flush()
		parts = c.think(parts, thought, content)
	}
	if c.tools != nil {
		parts = c.act(parts, c.tools.Flush())
	}
	return parts
}

// last is the choice's final part. A call that a stop string cut short is not called one.
func (c *choice) last() part {
	finish := c.finish
	if finish == "stop" && c.called && (c.matched.Text == "" || !c.tools.Unfinished()) {
		finish = "tool_calls"
	}
	return part{kind: partFinish, index: c.index, finish: finish, matched: c.matched, logprobs: c.logprobs.last(c.matched.Text != "")}
}
