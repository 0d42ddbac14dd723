package toolcall

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"leeway/openai"
)

// transcript is one line of testdata/transcripts.jsonl: what a model wrote, and what it comes to.
type transcript struct {
	Format, Text, Content string
	Calls                 []openai.ToolCall
}

func transcripts(t testing.TB) (list []transcript) {
	data, err := os.ReadFile("testdata/transcripts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var x transcript
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		list = append(list, x)
	}
	return list
}

// declared is the tools of testdata/tools.json, read as a request's are.
func declared(t testing.TB) []openai.Tool {
	data, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := openai.DecodeChat([]byte(`{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":` + string(data) + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return r.Tools
}

// parse runs a parser over the pieces of a text and adds its events up; ids are checked and left out.
func parse(t testing.TB, format string, tools []openai.Tool, pieces ...string) Answer {
	t.Helper()
	p, err := New(format, tools)
	if err != nil {
		t.Fatal(err)
	}
	var a Answer
	for _, piece := range pieces {
		a.Collect(p.Add(piece))
	}
	a.Collect(p.Flush())
	seen := make(map[string]bool)
	for i := range a.Calls {
		id := a.Calls[i].ID
		if seen[id] {
			t.Errorf("%s: id %q twice", format, id)
		}
		seen[id] = true
		if format == "kimik2" && !strings.HasPrefix(id, "functions."+a.Calls[i].Name+":") ||
			format != "kimik2" && format != "kimi_k3" && format != "mistral" && (len(id) != len("call_")+24 || !strings.HasPrefix(id, "call_")) {
			t.Errorf("%s: id %q", format, id)
		}
		a.Calls[i].ID = ""
	}
	return a
}

func bytewise(text string) (pieces []string) {
	for i := range len(text) {
		pieces = append(pieces, text[i:i+1])
	}
	return pieces
}

// case A8, case A9, case A10, case A12
func TestTranscripts(t *testing.T) {
	tools := declared(t)
	for _, x := range transcripts(t) {
		want := Answer{Content: x.Content, Calls: x.Calls}
		if len(want.Calls) == 0 {
			want.Calls = nil
		}
		if got := parse(t, x.Format, tools, x.Text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s\n got %+v\nwant %+v", x.Format, x.Text, got, want)
		}
	}
}

func TestTheStreamEqualsTheWholeForEverySplit(t *testing.T) {
	tools := declared(t)
	for _, x := range transcripts(t) {
		whole := parse(t, x.Format, tools, x.Text)
		check := func(pieces ...string) {
			if got := parse(t, x.Format, tools, pieces...); !reflect.DeepEqual(got, whole) {
				t.Fatalf("%s: %q\n got %+v\nwant %+v", x.Format, pieces, got, whole)
			}
		}
		for i := range len(x.Text) {
			check(x.Text[:i], x.Text[i:])
		}
		check(bytewise(x.Text)...)
		for range 50 {
			check(randomly(x.Text)...)
		}
	}
}

func randomly(text string) (pieces []string) {
	for text != "" {
		n := min(len(text), 1+rand.IntN(9))
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

func TestEventsHoldWholeCharacters(t *testing.T) {
	tools := declared(t)
	for _, x := range transcripts(t) {
		p, _ := New(x.Format, tools)
		for _, piece := range append(bytewise(x.Text), "") {
			for _, e := range p.Add(piece) {
				if s := e.Text + e.Call.Arguments; s != strings.ToValidUTF8(s, "") {
					t.Errorf("%s: %q is torn", x.Format, s)
				}
				if (e.Text != "") == (e.Call.Name != "" || e.Call.Arguments != "") || (e.Call.Name == "") != (e.Call.ID == "") {
					t.Errorf("%s: event %+v", x.Format, e)
				}
			}
		}
	}
}

// Arguments reach the client while the model writes them: a byte at a time, most transcripts' calls come in pieces.
func TestArgumentsComeAsTheyAreWritten(t *testing.T) {
	tools := declared(t)
	long := strings.Repeat("word ", 40)
	for format, text := range map[string]string{
		"json":       `{"name":"search","arguments":{"q":"` + long,
		"qwen":       `<tool_call>{"name":"search","arguments":{"q":"` + long,
		"qwen_xml":   "<tool_call>\n<function=search>\n<parameter=q>\n" + long,
		"llama":      `<|python_tag|>{"name":"search","parameters":{"q":"` + long,
		"pythonic":   `[search(q="` + long,
		"mistral":    `[TOOL_CALLS]search[ARGS]{"q":"` + long,
		"deepseek":   deepseekCall + "function" + deepseekSep + "search\n```json\n{\"q\":\"" + long,
		"kimik2":     kimiCall + "functions.search:0" + kimiArgs + `{"q":"` + long,
		"glm45_moe":  "<tool_call>search\n<arg_key>q</arg_key>\n<arg_value>" + long,
		"minimax_m3": m3Mark + "<tool_call>" + m3Mark + `<invoke name="search">` + m3Mark + "<q>" + long,
		"minimax_m2": "<minimax:tool_call>\n<invoke name=\"search\">\n<parameter name=\"q\">" + long,
		"seed_oss":   "<seed:tool_call>\n<function=search>\n<parameter=q>" + long,
		"dots3":      "<dots_function_call>\n<invoke name=\"search\">\n<parameter name=\"q\">" + long,
		"k2_horizon": "<ifm|tool_calls><ifm|tool_call>search<ifm|arg_key>q</ifm|arg_key><ifm|arg_value>" + long,
		"minicpm5":   `<function name="search"><param name="q"><![CDATA[` + long,
		"lfm2.5":     `<|tool_call_start|>[search(q="` + long,
		"olmo3":      `<function_calls>search(q="` + long,
		"hy4":        "<tool_calls:x><tool_call:x>search<arg_key:x>q</arg_key:x><arg_value:x>" + long,
		"xlam":       `[{"name":"search","arguments":{"q":"` + long,
		"harmony":    `<|channel|>commentary to=functions.search<|message|>{"q":"` + long,
	} {
		p, _ := New(format, tools)
		deltas := 0
		for _, piece := range bytewise(text) {
			for _, e := range p.Add(piece) {
				if e.Call.Arguments != "" {
					deltas++
				}
			}
		}
		if deltas < 100 {
			t.Errorf("%s: %d deltas", format, deltas)
		}
	}
}

func TestEveryFormatHasATranscript(t *testing.T) {
	seen := make(map[string]bool)
	for _, x := range transcripts(t) {
		seen[x.Format] = true
	}
	for _, name := range Names() {
		if !seen[name] {
			t.Errorf("%s has none", name)
		}
	}
}

func TestNoIDThatIsTakenIsGivenAgain(t *testing.T) {
	for format, x := range map[string][2]string{
		"kimi_k3": {`<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|close|>call<|sep|><|open|>call tool="f" index="2"<|sep|><|close|>call<|sep|>`, "f_2 f_3"},
		"kimik2":  {kimiCall + "functions.f:0" + kimiArgs + "{}" + kimiEnd + kimiCall + "functions.f:3" + kimiArgs + "{}" + kimiEnd, "functions.f:1 functions.f:3"},
	} {
		p, _ := New(format, nil)
		p.Taken([]string{"f_0", "f_1", "functions.f:0", ""})
		var a Answer
		a.Collect(p.Add(x[0]))
		a.Collect(p.Flush())
		if len(a.Calls) != 2 || a.Calls[0].ID+" "+a.Calls[1].ID != x[1] {
			t.Errorf("%s: %+v", format, a.Calls)
		}
	}
}
