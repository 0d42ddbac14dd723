package chattemplate

import (
	"strings"
	"testing"
)

func TestHostileTemplatesEndInAClearError(t *testing.T) {
	double := `{% set ns.x = [ns.x, ns.x] %}`
	for name, source := range map[string]string{
		"steps":                      `{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}`,
		"steps in lists":             `{% set ns = namespace(x=[1]) %}{% for a in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}`,
		"steps in a repeated list":   `{{ [1] * 99999999999 }}`,
		"output":                     `{% for a in range(99999) %}{{ "x" * 9999 }}{% endfor %}`,
		"a long string":              `{{ "x" * 99999999999 }}`,
		"a doubling string":          `{% set ns = namespace(x="x") %}{% for a in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}`,
		"a doubling block":           `{% set ns = namespace(x="x") %}{% for a in range(60) %}{% set x %}{{ ns.x }}{{ ns.x }}{% endset %}{% set ns.x = x %}{% endfor %}`,
		"padding":                    `{{ "x".center(99999999999) }}{{ "%99999999d" % 5 }}`,
		"format width":               `{{ "{:999999999}".format(1) }}`,
		"replace":                    `{{ ("x" * 99999).replace("x", "y" * 99999) }}`,
		"join":                       `{{ ("y" * 99999).join("x" * 99999) }}`,
		"indent":                     `{{ ("\n" * 99999)|indent(99999, blank=true) }}`,
		"a wrap":                     `{{ ("a " * 999999)|wordwrap(1, wrapstring="x" * 99999) }}`,
		"a length asked for often":   `{% set s = "é" * 999999 %}{% for i in range(99999) %}{% set x = s|length %}{% endfor %}`,
		"long strings compared":      `{% set s = "é" * 999999 %}{% set t = s ~ "a" %}{% set u = s ~ "b" %}{% for i in range(99999) %}{% set x = t == u %}{% endfor %}`,
		"a text made JSON often":     `{% set s = "é" * 999999 %}{% for i in range(99999) %}{% set x = s|tojson %}{% endfor %}`,
		"a text split often":         `{% set s = "a " * 99999 %}{% for i in range(99999) %}{% set x = s.split() %}{% endfor %}`,
		"a text in capitals often":   `{% set s = "é" * 99999 %}{% for i in range(99999) %}{% set x = s|upper %}{% endfor %}`,
		"a long number read often":   `{% set s = "1" * 4000 %}{% for i in range(99999) %}{% set x = s|int %}{% endfor %}`,
		"a long number shown often":  `{% for i in range(99999) %}{% set x = (10 ** 4299)|string %}{% endfor %}`,
		"endless recursion":          `{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}`,
		"a block in itself":          `{% block b %}{{ self.b() }}{% endblock %}`,
		"a recursive loop":           `{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}`,
		"a range":                    `{{ range(10000000) }}`,
		"a big power":                `{{ 9 ** (9 ** 9) }}`,
		"a power tower":              `{% set ns = namespace(x=9) %}{% for a in range(99) %}{% set ns.x = ns.x * ns.x %}{% endfor %}`,
		"a namespace in itself":      `{% set ns = namespace() %}{% set ns.a = [ns] %}{{ ns }}`,
		"a deep value":               `{% set ns = namespace(x=1) %}{% for a in range(5000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}`,
		"a shared value's text":      `{% set ns = namespace(x=1) %}{% for a in range(60) %}` + double + `{% endfor %}{{ ns.x }}`,
		"a shared value's JSON":      `{% set ns = namespace(x=1) %}{% for a in range(60) %}` + double + `{% endfor %}{{ ns.x|tojson }}`,
		"a shared value's equal":     `{% set ns = namespace(x=1) %}{% for a in range(60) %}` + double + `{% endfor %}{% set y = ns.x %}{% set ns.x = 1 %}{% for a in range(60) %}` + double + `{% endfor %}{{ y == ns.x }}`,
		"deep parentheses":           strings.Repeat("{{ (", 1) + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000) + ") }}",
		"a long sum":                 "{{ 1" + strings.Repeat("+1", 100000) + " }}",
		"nested statements":          strings.Repeat("{% if 1 %}", 5000) + strings.Repeat("{% endif %}", 5000),
		"many attributes":            "{{ a" + strings.Repeat(".a", 100000) + " }}",
		"a lot of source":            strings.Repeat("x", maxSource+1),
		"invalid UTF-8":              "\xff",
		"an endless cycle of blocks": `{% block a %}{{ self.b() }}{% endblock %}{% block b %}{{ self.a() }}{% endblock %}`,
	} {
		failure := ""
		tpl, err := Compile(source)
		if err == nil {
			_, err = tpl.Render(NewDict(0), RenderOptions{Limits: Limits{Steps: 1_000_000, Output: 4 << 20}})
		}
		if err != nil {
			failure = errorText(err)
		}
		if failure == "" || len(failure) > 300 {
			t.Errorf("%s: no clear error: %.300q", name, failure)
		}
	}
}

// Some published templates gather the prompt in a variable, message by message.
func TestALongConversationIsWithinTheLimits(t *testing.T) {
	tpl, err := Compile(`{% set ns = namespace(x="") %}{% for m in messages %}{% set ns.x = ns.x ~ "<" ~ m.role ~ ">" %}` +
		`{% set ns.x = ns.x ~ m.content|trim %}{% set ns.x = ns.x + tools|tojson|length|string %}{% endfor %}{{ ns.x }}`)
	if err != nil {
		t.Fatal(err)
	}
	message := `{"role":"user","content":"` + strings.Repeat("lorem ipsum ", 200) + `"}`
	vars, err := ParseJSON([]byte(`{"tools":[` + strings.Repeat(`{"a":"b"},`, 20) + `1],"messages":[` + strings.Repeat(message+",", 399) + message + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	out, err := tpl.Render(vars.(*Dict), RenderOptions{})
	if err != nil || len(out) < 900_000 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

func TestDeepJSONIsRefused(t *testing.T) {
	if _, err := ParseJSON([]byte(strings.Repeat("[", 100000))); err == nil {
		t.Error("no error")
	}
}

func FuzzTemplateSource(f *testing.F) {
	suite := readGolden(f, "testdata/expressions.json")
	for _, c := range get(f, suite, "cases").(*List).items {
		f.Add(string(get(f, c, "t").(Str)))
	}
	vars := get(f, suite, "ctx").(*Dict)
	f.Fuzz(func(t *testing.T, source string) {
		tpl, err := Compile(source)
		if err != nil {
			return
		}
		o := RenderOptions{Now: goldenNow, Limits: Limits{Steps: 100_000, Output: 1 << 20, Depth: 50}}
		first, err1 := tpl.Render(vars, o)
		second, err2 := tpl.Render(vars, o)
		if (err1 == nil) != (err2 == nil) || first != second && !strings.Contains(source, "random") {
			t.Errorf("two renders differ: %q, %v and %q, %v", first, err1, second, err2)
		}
	})
}

func FuzzMessages(f *testing.F) {
	tpl, err := Compile(messagesTemplate)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`[{"role":"user","content":"Hi"}]`))
	f.Add([]byte(`[{"role":"assistant","content":[{"type":"text","text":"a"}],"tool_calls":[{"function":{"name":"f","arguments":{"a":1.0}}}]}]`))
	f.Add([]byte(`[{"role":1e400,"content":"\ud800"},null,[[]]]`))
	f.Fuzz(func(t *testing.T, messages []byte) {
		v, err := ParseJSON(messages)
		if err != nil {
			return
		}
		vars := NewDict(1)
		vars.Set("messages", v)
		if out, err := tpl.Render(vars, RenderOptions{Limits: Limits{Steps: 1_000_000}}); err == nil {
			back, err := ParseJSON([]byte(out))
			if err != nil && !strings.Contains(out, "Infinity") {
				t.Fatalf("tojson wrote %q: %v", out, err)
			}
			if err == nil {
				if same, err := equal(&render{limits: DefaultLimits()}, v, back); err == nil && !same {
					t.Errorf("%s came back as %s", messages, out)
				}
			}
		}
	})
}

// messagesTemplate touches messages in the ways that templates do, and prints them as JSON.
const messagesTemplate = `{%- for m in messages if m is mapping -%}
{%- set c = (m.content or "")|string -%}
{%- set x = c[:3] ~ c[-2:] ~ c|trim|upper ~ c.split("\n")|join|title ~ (m|tojson(indent=2))|length ~ m|items|list -%}
{%- if m.tool_calls is iterable -%}{%- for t in m.tool_calls -%}{%- set x = t ~ loop.index ~ loop.last -%}{%- endfor -%}{%- endif -%}
{%- endfor -%}
{{ messages|tojson }}`
