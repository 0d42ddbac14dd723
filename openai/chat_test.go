package openai

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestDecodeChatFillsDefaults(t *testing.T) {
	r, err := DecodeChat([]byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if r.N != 1 || !r.SkipSpecialTokens || !r.SeparateReasoning || !r.StreamReasoning || !r.ParallelToolCalls {
		t.Errorf("defaults not filled: %+v", r)
	}
	if r.Temperature != nil || r.MaxTokens != nil || r.ToolChoice.Mode != ToolNone {
		t.Errorf("something is set that the client left out: %+v", r)
	}
}

// case A14
func TestNullIsAbsent(t *testing.T) {
	var body strings.Builder
	body.WriteString(`{"model":"m","messages":[{"role":"user","content":"hi"}]`)
	for _, fields := range [][]string{keys(chatFields), keys(samplingFields)} {
		for _, name := range fields {
			if name != "model" && name != "messages" {
				fmt.Fprintf(&body, `,%q:null`, name)
			}
		}
	}
	got, err := DecodeChat([]byte(body.String() + "}"))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := DecodeChat([]byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func keys[V any](m map[string]V) (names []string) {
	for k := range m {
		names = append(names, k)
	}
	return names
}

// refusals is lines of: code, param, body; separated by tabs. A body starting with ',' follows a valid request's start.
func TestRefusalsNameTheField(t *testing.T) { // case A32
	data, err := os.ReadFile("testdata/refused.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		code, param, body := parts[0], parts[1], parts[2]
		if strings.HasPrefix(body, ",") {
			body = `{"model":"m","messages":[{"role":"user","content":"hi"}]` + body + "}"
		}
		_, err := DecodeChat([]byte(body))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: accepted", body)
			continue
		}
		if e.Code != code || e.Param != param || e.Status != 400 || e.Type != TypeInvalidRequest {
			t.Errorf("%s: got %+v", body, *e)
		}
		if param != "" && !strings.Contains(e.Message, param) {
			t.Errorf("%s: message does not name the field: %s", body, e.Message)
		}
	}
}

func TestTheRoleOfOneFamilyIsNotOfferedToOthers(t *testing.T) {
	_, err := DecodeChat([]byte(`{"model":"m","messages":[{"role":"king","content":"x"}]}`))
	if err == nil || strings.Contains(err.Error(), "root") || !strings.Contains(err.Error(), "'developer'") {
		t.Error(err)
	}
	if _, err := DecodeChat([]byte(`{"model":"MiniMax-M2","messages":[{"role":"root","content":"x"}]}`)); err != nil {
		t.Error(err)
	}
}
