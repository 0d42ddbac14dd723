package chattemplate

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"leeway/openai"
)

func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

func chat(t testing.TB, body string) *openai.ChatRequest {
	t.Helper()
	req, err := openai.DecodeChat([]byte(`{"model":"m",` + body + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

const hello = `"messages":[{"role":"user","content":"Hi"}]`

const weather = `"tools":[{"type":"function","function":{"name":"w","parameters":{"z":1.0,"a":{}}}}]`

func TestTheFirstSourceThatExistsGivesTheTemplate(t *testing.T) {
	all := []string{"zz.jinja", "other", "chat_template.json", `{"chat_template":"legacy"}`, "tokenizer_config.json", `{"chat_template":"config"}`, "chat_template.jinja", "jinja"}
	for n, want := range map[int]string{2: "other", 4: "legacy", 6: "config", 8: "jinja"} {
		set, err := Load(files(all[:n]...), "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := set.Render(chat(t, hello), Special{}, goldenNow); err != nil || got != want {
			t.Errorf("of %d files: got %q, %v; want %q", n/2, got, err, want)
		}
	}
	set, err := Load(files(all...), "given {{ bos_token }}{{ eos_token is defined }}")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := set.Render(chat(t, hello), Special{BOS: "<s>"}, goldenNow); err != nil || got != "given <s>False" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestNamedTemplatesAreChosenByTheRequest(t *testing.T) {
	for name, fsys := range map[string]fstest.MapFS{
		"list":   files("tokenizer_config.json", `{"chat_template":[{"name":"default","template":"plain"},{"name":"tool_use","template":"tools"}]}`),
		"object": files("chat_template.json", `{"chat_template":{"default":"plain","tool_use":"tools"}}`),
		"files":  files("chat_template.jinja", "plain", "additional_chat_templates/tool_use.jinja", "tools"),
	} {
		set, err := Load(fsys, "")
		if err != nil {
			t.Fatal(err)
		}
		for body, want := range map[string]string{hello: "plain", hello + "," + weather: "tools", hello + "," + weather + `,"tool_choice":"none"`: "plain"} {
			if got, err := set.Render(chat(t, body), Special{}, goldenNow); err != nil || got != want {
				t.Errorf("%s, %s: got %q, %v; want %q", name, body, got, err, want)
			}
		}
	}
	set, err := Load(files("tokenizer_config.json", `{"chat_template":[{"name":"rag","template":"x"}]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Render(chat(t, hello), Special{}, goldenNow); err == nil || !strings.Contains(err.Error(), "rag") {
		t.Errorf("got %v", err)
	}
}

func TestAModelWithoutATemplateLoadsAndRefusesChats(t *testing.T) {
	set, err := Load(files("tokenizer_config.json", `{"chat_template":null}`, "config.json", `{"architectures":["GPT2LMHeadModel"]}`), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Render(chat(t, hello), Special{}, goldenNow); !errors.Is(err, ErrNoTemplate) {
		t.Errorf("got %v", err)
	}
}

func TestABadTemplateStopsTheLoadByItsFile(t *testing.T) {
	for _, fsys := range []fstest.MapFS{
		files("chat_template.jinja", "{% if %}"), files("tokenizer_config.json", `{"chat_template":"{{ x|nofilter }}"}`),
		files("tokenizer_config.json", `{"chat_template":5}`), files("tokenizer_config.json", `{`),
	} {
		if _, err := Load(fsys, ""); err == nil {
			t.Errorf("%v: no error", fsys)
		}
	}
}

const show = `{% for m in messages %}{{ m|tojson }}
{% endfor %}{{ tools|tojson }}{{ documents|tojson }}{{ add_generation_prompt }}`

func TestMessagesTakeTheFormOfTheTemplate(t *testing.T) {
	parts := show + `{% for m in messages %}{% for p in m.content %}{{ p }}{% endfor %}{% endfor %}{# #}`
	either := `{% if messages[0].content is string %}s{% else %}{% for p in messages[0].content %}{{ p.text }}|{% endfor %}{% endif %}`
	roles := `{% for m in messages %}{% set c = m.content %}{% if m.role == "calls" %}{% for x in c %}{{ x.name }}{% endfor %}{% else %}[{{ m.content + "]" }}{% endif %}{% endfor %}`
	printed := `{% for m in messages %}{% for t in m.tool_calls or m.content %}{% endfor %}[{{ m.content }}]{% endfor %}`
	two := `"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]`
	for _, c := range []struct{ template, body, want string }{
		{show, two, `{"role": "user", "content": "a\nb"}`},
		{parts, hello, `{"role": "user", "content": [{"type": "text", "text": "Hi"}]}`},
		{either, hello, `s`},
		{either, two, `a|b|`},
		{roles, hello, `[Hi]`},
		{roles, two, "[a\nb]"},
		{printed, hello, `[Hi]`},
		{show, `"messages":[{"role":"developer","content":"d"}]`, `{"role": "system", "content": "d"}`},
		{show + `{% if messages[0].role == "developer" %}{% endif %}`, `"messages":[{"role":"developer","content":"d"}]`, `{"role": "developer", "content": "d"}`},
		{show, `"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"z\": 1.0, \"a\": 2}"}}]}]`,
			`{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": {"z": 1.0, "a": 2}}}]}`},
		{show, `"messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":""}}],"name":null}]`,
			`{"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": {}}}], "content": ""}`},
		{show, hello + "," + weather, `[{"type": "function", "function": {"name": "w", "parameters": {"z": 1.0, "a": {}}}}]nullTrue`},
		{show, hello + `,"documents":[{"title":"T"}]`, `null[{"title": "T"}]True`},
	} {
		set, err := Parse(c.template)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := set.Render(chat(t, c.body), Special{}, goldenNow); err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s\n got %q, %v\nwant %q", c.body, got, err, c.want)
		}
	}
}

func TestBadToolArgumentsNameTheMessage(t *testing.T) {
	set, err := Parse(show)
	if err != nil {
		t.Fatal(err)
	}
	_, err = set.Render(chat(t, `"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{"}}]}]`), Special{}, goldenNow)
	var failure *openai.Error
	if !errors.As(err, &failure) || failure.Status != 400 || !strings.Contains(failure.Message, "messages[1].tool_calls[0].function.arguments") {
		t.Errorf("got %v", err)
	}
}

func TestKwargsWinOverWhatTheRequestImplies(t *testing.T) {
	set, err := Parse(`{{ enable_thinking }}|{{ reasoning_effort }}|{{ add_generation_prompt }}|{{ x }}`)
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		"":                                "||True|",
		`,"reasoning_effort":"high"`:      "|high|True|",
		`,"reasoning_effort":"none"`:      "False|none|True|",
		`,"thinking":{"type":"disabled"}`: "False||True|",
		`,"thinking":{"type":"enabled"}`:  "True||True|",
		`,"reasoning_effort":"none","chat_template_kwargs":{"enable_thinking":true,"x":1.0,"add_generation_prompt":false}`: "True|none|False|1.0",
	} {
		if got, err := set.Render(chat(t, hello+body), Special{}, goldenNow); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", body, got, err, want)
		}
	}
}

func TestKwargsDoNotReplaceWhatTheRequestSaysInFieldsOfItsOwn(t *testing.T) {
	set, err := Parse(`{{ messages[0].content }}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, own := range []string{"messages", "tools"} {
		_, err := set.Render(chat(t, hello+`,"chat_template_kwargs":{"`+own+`":[]}`), Special{}, goldenNow)
		if e, ok := errors.AsType[*openai.Error](err); !ok || e.Param != "chat_template_kwargs."+own {
			t.Errorf("%s: %v", own, err)
		}
	}
}

func TestThinkingFollowsTheTemplatesOwnDefault(t *testing.T) {
	onByDefault := `{% if enable_thinking is defined and enable_thinking is false %}<think></think>{% endif %}`
	offByDefault := `{% if thinking is not defined %}{% set thinking = false %}{% endif %}{% if thinking %}<think>{% else %}</think>{% endif %}`
	for _, c := range []struct {
		template, body string
		want           Thinking
	}{
		{onByDefault, "", Thinking{true, true}}, {offByDefault, "", Thinking{true, false}}, {"x", "", Thinking{false, true}},
		{onByDefault, `,"reasoning_effort":"minimal"`, Thinking{true, false}},
		{"x", `,"reasoning_effort":"none"`, Thinking{false, true}}, {"x", `,"thinking":{"type":"disabled"}`, Thinking{false, true}},
		{"{{ reasoning_effort }}", `,"reasoning_effort":"none"`, Thinking{false, false}},
		{offByDefault, `,"chat_template_kwargs":{"thinking":true}`, Thinking{true, true}},
		{offByDefault, `,"thinking":{"type":"enabled"}`, Thinking{true, true}},
	} {
		set, err := Parse(c.template)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Thinking(chat(t, hello+c.body)); got != c.want {
			t.Errorf("%s %s: got %+v, want %+v", c.template, c.body, got, c.want)
		}
	}
}

func TestTheFinalMessageIsContinued(t *testing.T) {
	const turns = `{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}`
	for _, c := range []struct{ template, final, want string }{
		{turns, "Once upon", "<user>Hi</><assistant>Once upon"},
		{turns, "Once upon ", "<user>Hi</><assistant>Once upon "},
		{strings.Replace(turns, "m.content", "m.content|trim", 1), "Once upon ", "<user>Hi</><assistant>Once upon"},
		{strings.Replace(turns, "m.content", "m.content|upper", 1), "Once ", "<user>HI</><assistant>Once "},
		{turns, "", "<user>Hi</><assistant>"},
		{turns, "/", "<user>Hi</><assistant>/"}, // not that of the turn's end
		{turns, "Hi", "<user>Hi</><assistant>Hi"},
	} {
		set, err := Parse(c.template)
		if err != nil {
			t.Fatal(err)
		}
		body := `"continue_final_message":true,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"` + c.final + `"}]`
		if got, err := set.Render(chat(t, body), Special{}, goldenNow); err != nil || got != c.want {
			t.Errorf("%q: got %q, %v; want %q", c.final, got, err, c.want)
		}
	}
}
