package toolcall

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPythonLiteralsBecomeJSON(t *testing.T) {
	for text, want := range map[string]string{
		`"a"`:                             `"a"`,
		`'it\'s "x"'`:                     `"it's \"x\""`,
		`'\n\t\\\x41\u00e9\U0001F642\0'`:  `"\n\t\\Aé🙂\u0000"`,
		`'\q\'`:                           ``,
		`"\q"`:                            `"\\q"`,
		`"\xzz"`:                          `"\\xzz"`,
		"'a\\\nb'":                        `"ab"`,
		`True`:                            `true`,
		`False`:                           `false`,
		`None`:                            `null`,
		`null`:                            `null`,
		`-1.5e3`:                          `-1.5e3`,
		`1e+5`:                            `1e+5`,
		`"\101\x4\U12\N{DOT}\8"`:          `"A\\x4\\U12\\N{DOT}\\8"`,
		`"\ud83d\ude42 \ud83d"`:           `"🙂 �"`,
		`'''it's'''`:                      `"it's"`,
		"\"\"\"a\n\\\"\"\"\"\"\"":         `"a\n\""`,
		`""`:                              `""`,
		`""""`:                            ``,
		`r"a\d\""`:                        `"a\\d\\\""`,
		`b'q' u"é" Rb"\n"`:                `"qé\\n"`,
		`f"x"`:                            ``,
		`1_000`:                           `1000`,
		`1__0`:                            ``,
		`1_`:                              ``,
		`+1`:                              `1`,
		`--1`:                             ``,
		`007`:                             ``,
		`0x10`:                            `16`,
		`-0XfF`:                           `-255`,
		`0o17`:                            `15`,
		`0b1_01`:                          `5`,
		`0xffffffffffffffffffff`:          `1208925819614629174706175`,
		`0x`:                              ``,
		`.5`:                              `0.5`,
		`-.5`:                             `-0.5`,
		`1.`:                              `1.0`,
		`1.e3`:                            `1.0e3`,
		`1E-5`:                            `1E-5`,
		`.`:                               ``,
		`1j`:                              ``,
		`1+2`:                             ``,
		`Paris`:                           ``,
		`[1, 'a', [], ()]`:                `[1,"a",[],[]]`,
		`(1, 2,)`:                         `[1,2]`,
		`{'a': {"b": None}, 'c': 1}`:      `{"a":{"b":null},"c":1}`,
		`{1: 2, None: 0x1, "a" 'b': .5,}`: `{"1":2,"null":1,"ab":0.5}`,
		`{x: 1}`:                          ``,
		`{1, 2}`:                          ``,
		`("a" "b")`:                       `"ab"`,
		`((1)), 2`:                        `1`,
		`(1, )`:                           `[1]`,
		"[1, # one\n 2 \\\n]":             `[1,2]`,
		`{'a' 1}`:                         ``,
		`[1 2]`:                           ``,
		`[1`:                              ``,
		`'open`:                           ``,
	} {
		c := &cursor{text: text, eof: true}
		got, ok := pythonValue(c, nil, 0)
		if ok != (want != "") || ok && (string(got) != want || !json.Valid(got)) {
			t.Errorf("%s: %s %v, want %s", text, got, ok, want)
		}
	}
	if _, ok := pythonValue(&cursor{text: strings.Repeat("[", 1000), eof: true}, nil, 0); ok {
		t.Error("nests without bound")
	}
}

func TestParametersAreTypedByTheirSchema(t *testing.T) {
	tools := newTools(declared(t))
	for _, x := range []struct{ parameter, text, want string }{
		{"city", "12", `"12"`},
		{"city", "null", `"null"`},
		{"days", "2", `2`},
		{"days", " 2 ", `2`},
		{"days", "two", `"two"`},
		{"days", "007", `7`},
		{"days", "+5", `5`},
		{"days", ".5", `0.5`},
		{"days", "-0.50", `-0.50`},
		{"days", "000", `0`},
		{"days", "1e999", `"1e999"`},
		{"days", "+-5", `"+-5"`},
		{"days", "1 2", `"1 2"`},
		{"days", "None", `null`},
		{"metric", "True", `true`},
		{"metric", "False", `false`},
		{"metric", "true", `true`},
		{"opts", `{ "a" : [ 1 ] }`, `{"a":[1]}`},
		{"opts", `{a`, `"{a"`},
		{"note", "null", `null`},
		{"note", "12", `"12"`},
		{"unit", "1", `"1"`},
		{"undeclared", "1", `1`},
		{"undeclared", "x", `"x"`},
	} {
		if got := string(appendTyped(nil, x.text, tools.of("get_weather").kind(x.parameter))); got != x.want {
			t.Errorf("%s=%s: %s, want %s", x.parameter, x.text, got, x.want)
		}
	}
}

func BenchmarkPlainText(b *testing.B) {
	for _, format := range []string{"json", "qwen", "deepseek32"} {
		b.Run(format, func(b *testing.B) {
			p, _ := New(format, nil)
			b.ReportAllocs()
			for b.Loop() {
				p.Add(" token")
			}
		})
	}
}
