package proxy

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"leeway/openai"
)

// framesOf reads a stream strictly: every event is one data line and a blank one, or a comment, and the terminator comes
// once, last.
func framesOf(body string) ([]string, error) {
	rest, ended := strings.CutSuffix(body, doneFrame)
	if !ended || rest != "" && !strings.HasSuffix(rest, "\n\n") {
		return nil, errors.New("the stream does not end with [DONE]")
	}
	var all []string
	for rest != "" {
		var event string
		event, rest, _ = strings.Cut(rest, "\n\n")
		data, isData := strings.CutPrefix(event, "data: ")
		switch {
		case event == ": ping":
		case !isData || strings.ContainsAny(data, "\r\n") || data == "[DONE]":
			return nil, fmt.Errorf("event %q is not framed as it should be", event)
		default:
			all = append(all, data)
		}
	}
	return all, nil
}

// chunks reads a stream.
func chunks(t *testing.T, body string) []chunk {
	t.Helper()
	frames, err := framesOf(body)
	if err != nil {
		t.Fatalf("%v: %q", err, body[max(0, len(body)-400):])
	}
	var all []chunk
	for _, data := range frames {
		all = append(all, oneChunk(t, []byte(data)))
	}
	return all
}

// cases A1, A20: what a model says comes through the frames unharmed, and a stream that was cut anywhere has no end.
func FuzzFramesHoldAnyText(f *testing.F) {
	f.Add("// data: [DONE]\n\ndata: [DONE]\r\n\r\n", uint16(3))
	f.Add("\u2028\x00: ping\n\n", uint16(90))
	f.Fuzz(func(t *testing.T, text string, cut uint16) {
		c := openai.NewChunks(openai.Head{ID: text, Model: "m"})
		body := string(c.AppendContent([]byte("data: "), 0, []byte(text))) + "\n\n: ping\n\n" + doneFrame
		all := chunks(t, body)
		if want := strings.ToValidUTF8(text, "\uFFFD"); len(all) != 1 || strings.ToValidUTF8(text, "") == text && *all[0].Choices[0].Delta.Content != want {
			t.Errorf("%q came as %+v", text, all)
		}
		if at := int(cut) % len(body); at < len(body) {
			if frames, err := framesOf(body[:at]); err == nil {
				t.Errorf("cut at %d it has an end, behind %q", at, frames)
			}
		}
	})
}
