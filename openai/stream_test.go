package openai

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// message is what a client reads from a whole answer, and what it adds up from chunks.
type message struct {
	Content   *string
	Reasoning *string    `json:"reasoning_content"`
	ToolCalls []wireCall `json:"tool_calls"`
}

type wireCall struct {
	Index    int
	ID       string
	Type     string
	Function struct{ Name, Arguments string }
}

// wire is the part of a chunk and of a whole answer that both have.
type wire struct {
	Object  string
	Choices []struct {
		Index        int
		Delta        *message
		Message      *message
		FinishReason *string `json:"finish_reason"`
	}
	Usage json.RawMessage
}

// choice is an answer to be sent either way.
func randomChoice(index int) ChatChoice {
	c := ChatChoice{Index: index, Finish: "stop", MatchedStop: MatchedStop{Set: index == 1, Token: 7}}
	c.Reasoning = randomText(index * 5)
	c.Content = randomText(20)
	for i := range index {
		c.ToolCalls = append(c.ToolCalls, ToolCall{ID: "call_" + randomText(1), Name: "f", Arguments: randomText(8 * (i + 1))})
	}
	if index == 2 {
		c.Logprobs = []TokenLogprob{{"a", -1, []TopLogprob{{"b", -2}}, 0}, {"\xf0", -0.25, nil, 1}}
	}
	return c
}

func randomText(n int) string {
	letters := []rune("ab\"\\\n\r\u2028<>你🙂\x00{}")
	var b strings.Builder
	for range n {
		b.WriteRune(letters[rand.IntN(len(letters))])
	}
	return b.String()
}

// deltas cuts an answer into chunks, a character at a time.
func deltas(c ChatChoice) (chunks []Chunk) {
	add := func(d Delta) { chunks = append(chunks, Chunk{Index: c.Index, Delta: d}) }
	add(Delta{Role: true})
	for _, r := range c.Reasoning {
		add(Delta{Reasoning: string(r)})
	}
	for _, r := range c.Content {
		add(Delta{Content: string(r)})
	}
	for i, call := range c.ToolCalls {
		add(Delta{Call: CallDelta{Index: i, ID: call.ID, Name: call.Name}})
		for _, r := range call.Arguments {
			add(Delta{Call: CallDelta{Index: i, Arguments: string(r)}})
		}
	}
	for i := range c.Logprobs {
		chunks = append(chunks, Chunk{Index: c.Index, Logprobs: c.Logprobs[i : i+1]})
	}
	return append(chunks, Chunk{Index: c.Index, Finish: c.Finish, MatchedStop: c.MatchedStop})
}

func (m *message) add(d message) {
	if d.Content != nil {
		*m.Content += *d.Content
	}
	if d.Reasoning != nil {
		*m.Reasoning += *d.Reasoning
	}
	for _, c := range d.ToolCalls {
		if c.ID != "" {
			m.ToolCalls = append(m.ToolCalls, wireCall{ID: c.ID, Type: c.Type})
		}
		m.ToolCalls[c.Index].Function.Name += c.Function.Name
		m.ToolCalls[c.Index].Function.Arguments += c.Function.Arguments
	}
}

// case A22: choices come interleaved, and each adds up to what the whole answer says of it.
func TestChunksAddUpToTheWholeAnswer(t *testing.T) {
	for range 20 {
		answer := ChatAnswer{Head: head}
		var queues [][]Chunk
		for i := range 3 {
			c := randomChoice(i)
			answer.Choices = append(answer.Choices, c)
			queues = append(queues, deltas(c))
		}
		var whole wire
		if err := json.Unmarshal(answer.AppendJSON(nil), &whole); err != nil {
			t.Fatal(err)
		}
		sums, finishes := interleave(t, queues)
		for i, c := range whole.Choices {
			want := *c.Message
			for _, p := range []**string{&want.Content, &want.Reasoning} {
				if *p == nil {
					*p = new(string)
				}
			}
			if !reflect.DeepEqual(sums[i], want) || finishes[i] != *c.FinishReason {
				t.Fatalf("choice %d:\n got %+v %s\nwant %+v", i, sums[i], finishes[i], want)
			}
		}
	}
}

// interleave encodes chunks in random order and reads them as a client does.
func interleave(t *testing.T, queues [][]Chunk) (sums [3]message, finishes [3]string) {
	t.Helper()
	enc := NewChunks(head)
	for i := range sums {
		sums[i] = message{Content: new(string), Reasoning: new(string)}
	}
	for left := 3; left > 0; {
		q := rand.IntN(3)
		if len(queues[q]) == 0 {
			continue
		}
		line := enc.AppendChunk(nil, queues[q][0])
		if queues[q] = queues[q][1:]; len(queues[q]) == 0 {
			left--
		}
		var w wire
		if err := json.Unmarshal(line, &w); err != nil || strings.ContainsAny(string(line), "\n\r\u2028") {
			t.Fatalf("%s: %v", line, err)
		}
		c := w.Choices[0]
		if c.Index != q || w.Object != "chat.completion.chunk" || w.Usage != nil {
			t.Fatalf("chunk %s", line)
		}
		sums[q].add(*c.Delta)
		if c.FinishReason != nil {
			finishes[q] += *c.FinishReason
		}
	}
	return sums, finishes
}
