package openai

import "strconv"

// Head is what every chunk of one answer, or the whole answer, says first.
type Head struct {
	ID          string
	Object      string // "" is the usual one for what is written
	Model       string
	Fingerprint string // left out when empty
	Created     int64
}

// appendJSON writes all up to the opening bracket of the choices.
func (h Head) appendJSON(dst []byte, object string) []byte {
	if h.Object != "" {
		object = h.Object
	}
	dst = append(dst, `{"id":`...)
	dst = AppendString(dst, h.ID)
	dst = append(dst, `,"object":`...)
	dst = AppendString(dst, object)
	dst = append(dst, `,"created":`...)
	dst = strconv.AppendInt(dst, h.Created, 10)
	dst = append(dst, `,"model":`...)
	dst = AppendString(dst, h.Model)
	if h.Fingerprint != "" {
		dst = append(dst, `,"system_fingerprint":`...)
		dst = AppendString(dst, h.Fingerprint)
	}
	return append(dst, `,"choices":[`...)
}

// Chunks writes the chunks of one streamed chat answer. It is read-only after NewChunks, and no method allocates when
// the destination has room.
type Chunks struct {
	head []byte
}

// NewChunks renders the head once.
func NewChunks(h Head) *Chunks {
	return &Chunks{head: h.appendJSON(nil, "chat.completion.chunk")}
}

// Chunk is one event about one choice. Everything in it may be left zero.
type Chunk struct {
	Index       int
	Delta       Delta
	Logprobs    []TokenLogprob
	Finish      string // "" is null
	MatchedStop MatchedStop
	Usage       *Usage // nil unless the client asked for continuous usage
}

// Delta is what one chunk adds to a message; an empty one is written as {}.
type Delta struct {
	Role       bool // the first frame: names the role, with empty content
	ForcedCall bool // with Role: nothing but a call may follow, and content is null
	Reasoning  string
	Content    string
	Call       CallDelta
}

// CallDelta begins a tool call (ID and Name set), or adds to the arguments of one.
type CallDelta struct {
	Index     int
	ID        string
	Name      string
	Arguments string
	Silent    bool // that it has no arguments is told
}

// MatchedStop is the stop that ended a choice: a string of the client's, or a token.
type MatchedStop struct {
	Set   bool
	Text  string // "" for a token
	Token uint32
}

// AppendChunk appends one chunk as a line of JSON.
func (c *Chunks) AppendChunk(dst []byte, k Chunk) []byte {
	dst = c.open(dst, k.Index)
	dst = k.Delta.appendJSON(dst)
	dst = append(dst, `,"logprobs":`...)
	dst = AppendLogprobs(dst, k.Logprobs)
	dst = append(dst, `,"finish_reason":`...)
	dst = appendStringOrNull(dst, k.Finish)
	dst = k.MatchedStop.appendMember(dst)
	dst = append(dst, "}]"...)
	return c.close(dst, k.Usage)
}

// AppendContent is AppendChunk for the chunk that most are: some text and nothing else.
func (c *Chunks) AppendContent(dst []byte, index int, text []byte) []byte {
	dst = c.open(dst, index)
	dst = append(dst, `{"content":"`...)
	dst = AppendEscaped(dst, text)
	dst = append(dst, `"},"logprobs":null,"finish_reason":null}]`...)
	return c.close(dst, nil)
}

// AppendUsage appends the chunk that has no choice and tells the cost of all.
func (c *Chunks) AppendUsage(dst []byte, u Usage) []byte {
	dst = append(dst, c.head...)
	dst = append(dst, ']')
	return c.close(dst, &u)
}

// open writes all up to the delta of one choice.
func (c *Chunks) open(dst []byte, index int) []byte {
	dst = append(dst, c.head...)
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(index), 10)
	return append(dst, `,"delta":`...)
}

// close ends the chunk behind its choices.
func (c *Chunks) close(dst []byte, u *Usage) []byte {
	if u != nil {
		dst = append(dst, `,"usage":`...)
		dst = u.AppendJSON(dst)
	}
	return append(dst, '}')
}

// appendJSON writes the parts that are set.
func (d *Delta) appendJSON(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, '{')
	switch {
	case d.Role && d.ForcedCall:
		dst = append(dst, `"role":"assistant","content":null,`...)
	case d.Role:
		dst = append(dst, `"role":"assistant","content":"","refusal":null,`...)
	}
	if d.Reasoning != "" {
		dst = append(dst, `"reasoning_content":`...)
		dst = append(AppendString(dst, d.Reasoning), ',')
	}
	if d.Content != "" {
		dst = append(dst, `"content":`...)
		dst = append(AppendString(dst, d.Content), ',')
	}
	if d.Call.Name != "" || d.Call.Arguments != "" || d.Call.Silent {
		dst = append(dst, `"tool_calls":[`...)
		dst = append(d.Call.appendJSON(dst), "],"...)
	}
	if last := len(dst) - 1; last > start {
		dst = dst[:last]
	}
	return append(dst, '}')
}

// appendJSON writes the parts that are set.
func (c *CallDelta) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(c.Index), 10)
	if c.ID != "" {
		dst = append(dst, `,"id":`...)
		dst = AppendString(dst, c.ID)
		dst = append(dst, `,"type":"function"`...)
	}
	dst = append(dst, `,"function":{`...)
	if c.Name != "" {
		dst = append(dst, `"name":`...)
		dst = AppendString(dst, c.Name)
		if c.Arguments != "" {
			dst = append(dst, ',')
		}
	}
	if c.Arguments != "" || c.Silent {
		dst = append(dst, `"arguments":`...)
		dst = AppendString(dst, c.Arguments)
	}
	return append(dst, "}}"...)
}

// appendMember writes the member if there is a match.
func (m MatchedStop) appendMember(dst []byte) []byte {
	if !m.Set {
		return dst
	}
	dst = append(dst, `,"matched_stop":`...)
	if m.Text != "" {
		return AppendString(dst, m.Text)
	}
	return strconv.AppendUint(dst, uint64(m.Token), 10)
}
