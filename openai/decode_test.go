package openai

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func chat(t *testing.T, fields string) *ChatRequest {
	t.Helper()
	r, err := DecodeChat([]byte(`{"model":"m","messages":[{"role":"user","content":"hi"}]` + fields + `}`))
	if err != nil {
		t.Fatalf("%s: %v", fields, err)
	}
	return r
}

func TestRawKeepsWhatTheClientWrote(t *testing.T) {
	message := `{"content": [{"text":"a\u00e9","type":"text"} , {"type":"text","text":"b"}],"zz":1e0, "role":"user"}`
	tool := `{"function":{"parameters":{"b":1,"a":2},"name":"f"},"type":"function"}`
	r, err := DecodeChat([]byte(`{"messages":[` + message + `],"tools":[` + tool + `],"model":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.Messages[0].Raw); got != message {
		t.Errorf("message is %s", got)
	}
	if got := string(r.Tools[0].Raw); got != tool || string(r.Tools[0].Parameters) != `{"b":1,"a":2}` {
		t.Errorf("tool is %s", got)
	}
	if got := r.Messages[0].Content.String(); got != "aé\nb" {
		t.Errorf("content is %q", got)
	}
}

func TestTheLastOfARepeatedKeyCounts(t *testing.T) {
	r := chat(t, `,"n":3,"n":2,"stop":["a"],"stop":null,"stream":true,"stream_options":{"include_usage":true},"stream_options":null,"mod\u0065l":"last"`)
	if r.N != 2 || r.Stop != nil || r.IncludeUsage || r.Model != "last" {
		t.Errorf("got %+v", r)
	}
}

func TestTheNewerLengthLimitWins(t *testing.T) {
	for fields, want := range map[string]int{
		`,"max_tokens":5`: 5,
		`,"max_completion_tokens":7,"max_tokens":5`:    7,
		`,"max_tokens":5,"max_completion_tokens":7`:    7,
		`,"max_completion_tokens":null,"max_tokens":5`: 5,
	} {
		if got := chat(t, fields).MaxTokens; got == nil || *got != want {
			t.Errorf("%s: %v", fields, got)
		}
	}
}

func TestFunctionsBecomeTools(t *testing.T) {
	r := chat(t, `,"functions":[{"name":"f"}],"function_call":{"name":"f"}`)
	if len(r.Tools) != 1 || r.Tools[0].Name != "f" || string(r.Tools[0].Raw) != `{"type":"function","function":{"name":"f"}}` {
		t.Errorf("tools are %+v", r.Tools)
	}
	if r.ToolChoice.Mode != ToolNamed || r.ToolChoice.Name != "f" {
		t.Errorf("choice is %+v", r.ToolChoice)
	}
	r, err := DecodeChat([]byte(`{"model":"m","messages":[{"role":"assistant","function_call":{"name":"f","arguments":"{}"}},
		{"role":"assistant","content":"x","reasoning":"why"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var raw struct{ Tool_calls []any }
	if err := json.Unmarshal(r.Messages[0].Raw, &raw); err != nil || len(raw.Tool_calls) != 1 || len(r.Messages[0].ToolCalls) != 1 {
		t.Errorf("message is %s", r.Messages[0].Raw)
	}
	if got := string(r.Messages[1].Raw); r.Messages[1].ReasoningContent != "why" || !strings.HasSuffix(got, `,"reasoning_content":"why"}`) {
		t.Errorf("message is %s", got)
	}
}

func TestToolChoiceIsSettled(t *testing.T) {
	tools := `,"tools":[{"type":"function","function":{"name":"f","parameters":null}},{"type":"function","function":{"name":"g"}}]`
	for fields, want := range map[string]ToolChoice{
		``:                              {Mode: ToolNone},
		`,"tool_choice":"auto"`:         {Mode: ToolNone},
		`,"tools":[]`:                   {Mode: ToolNone},
		tools:                           {Mode: ToolAuto},
		tools + `,"tool_choice":null`:   {Mode: ToolAuto},
		tools + `,"tool_choice":"none"`: {Mode: ToolNone},
		tools + `,"tool_choice":{"type":"function","function":{"name":"g"}}`:                                                                        {Mode: ToolNamed, Name: "g"},
		tools + `,"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}`:                                    {Mode: ToolAuto, Allowed: []string{"f"}},
		tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"f"}}]}}`: {Mode: ToolRequired, Allowed: []string{"f"}},
	} {
		got := chat(t, fields).ToolChoice
		if got.Raw = nil; !reflect.DeepEqual(got, want) && !(got.Mode == ToolNone && want.Mode == ToolNone) {
			t.Errorf("%s: %+v", fields, got)
		}
	}
	r := chat(t, tools+`,"tool_choice":{"type":"function","function":{"name":"g"}}`)
	if got := r.Callable(); len(got) != 1 || got[0].Name != "g" || string(r.Tools[0].Parameters) != "{}" { // case A13
		t.Errorf("callable are %+v", got)
	}
}

func TestIgnoredFieldsAreNamed(t *testing.T) {
	long := strings.Repeat("é", 40)
	tools := `,"tools":[{"type":"function","function":{"name":"f"}}]`
	for fields, want := range map[string][]string{
		`,"service_tier":"auto","metadata":null,"zeta":[1],"temperature":0,"store":false`: {"service_tier", "zeta", "store"},
		`,"a b":1,"é":2,"":3,"x\n":4`: {"a b", "é", "", "x\n"},
		`,"` + long + `":1`:           {long[:64] + "…"},
		`,"zeta":1,"zeta":2`:          {"zeta"},
		`,"stream":true,"stream_options":{"include_usage":true,"more":1,"less":null}`: {"stream_options.more"},
		`,"functions":[{"name":"f"}]`:                          nil,
		`,"functions":[{"name":"g"}]` + tools:                  {"functions"},
		`,"function_call":"auto","tool_choice":"auto"` + tools: {"function_call"},
		`,"function_call":{"name":"f"}` + tools:                nil,
	} {
		if got := chat(t, fields).Ignored; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: ignored are %q", fields, got)
		}
	}
	r, err := DecodeGenerate([]byte(`{"text":"a","sampling_params":{"zeta":1}}`))
	if err != nil || !reflect.DeepEqual(r.Ignored, []string{"sampling_params.zeta"}) {
		t.Errorf("ignored are %q, %v", r.Ignored, err)
	}
	c, err := DecodeCompletion([]byte(`{"model":"m","prompt":"a","stream":true,"stream_options":{"é":1}}`))
	if err != nil || !reflect.DeepEqual(c.Ignored, []string{"stream_options.é"}) {
		t.Errorf("ignored are %q, %v", c.Ignored, err)
	}
}

// case F7
func TestDeepNestingIsRefused(t *testing.T) {
	for _, open := range []string{"[", `{"a":`} {
		for _, field := range []string{"x", "messages", "metadata"} {
			body := `{"model":"m","` + field + `":` + strings.Repeat(open, 10000)
			_, err := DecodeChat([]byte(body))
			var e *Error
			if !errors.As(err, &e) || e.Status != 400 {
				t.Errorf("%s: %v", body[:40], err)
			}
		}
	}
}

func TestStringsAreDecodedAsEncodingJSONDoes(t *testing.T) {
	for _, text := range []string{`"\ud83d\ude42"`, `"\ud83d"`, `"\ud83dx\ude42"`, `"\ud83d\n"`, `"\/\b\f\n\r\t\"\\"`, `"\u0000é"`} {
		var want string
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		s := &scanner{data: []byte(text)}
		if got := s.text(); got != want || s.err != nil {
			t.Errorf("%s is %q, want %q, %v", text, got, want, s.err)
		}
	}
}

// FuzzDecodeChat holds that no body panics, that what is accepted is JSON, and that what is JSON is never called none.
func FuzzDecodeChat(f *testing.F) {
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"\ud83d\ude42"}]}],"n":1,"stop":["a"],"logit_bias":{"1":2}}`))
	f.Add([]byte(`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}],"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"auto"}`))
	f.Add([]byte(`{"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}},"top_p":1e-1,"a":[[[]]],"b":{"c":-0.5E+3}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := DecodeChat(body)
		if err == nil {
			if !json.Valid(body) || r.Messages == nil {
				t.Fatalf("accepted %q", body)
			}
			for _, m := range r.Messages {
				if !json.Valid(m.Raw) {
					t.Fatalf("message %q", m.Raw)
				}
			}
			return
		}
		e := err.(*Error)
		if !json.Valid(e.AppendJSON(nil)) || e.Code == "" {
			t.Fatalf("error %+v", e)
		}
		syntax := e.Code == CodeInvalidJSON && !strings.Contains(e.Message, "nests deeper") && !strings.Contains(e.Message, "UTF-8")
		if syntax && json.Valid(body) {
			t.Fatalf("%q is valid JSON, but %v", body, err)
		}
	})
}

func BenchmarkDecodeChat64K(b *testing.B) {
	var body strings.Builder
	body.WriteString(`{"model":"m","stream":true,"messages":[`)
	for i := 0; body.Len() < 64<<10; i++ {
		if i > 0 {
			body.WriteByte(',')
		}
		body.WriteString(`{"role":"user","content":"` + strings.Repeat(`Where will this \"request\" go,\nand why? `, 20) + `"}`)
	}
	body.WriteString(`]}`)
	data := []byte(body.String())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := DecodeChat(data); err != nil {
			b.Fatal(err)
		}
	}
}
