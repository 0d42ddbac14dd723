package toolcall

import "testing"

func TestTheLexerFindsTheEndOfAValue(t *testing.T) {
	for text, want := range map[string]string{
		`{}x`:                            `{}`,
		`{"a": [1, {"b": "]}\""}]} tail`: `{"a": [1, {"b": "]}\""}]}`,
		`[1,2] ,`:                        `[1,2]`,
		`"a\\" rest`:                     `"a\\"`,
		`12, 3`:                          `12`,
		`true}`:                          `true`,
		`null ]`:                         `null`,
		`{"a": bad}!`:                    `{"a": bad}`, // words are not judged
		`{"a" 1}`:                        ``,
		`{a: 1}`:                         ``,
		`{"a": 1]`:                       ``,
		`{"a": 1,}`:                      ``,
		`[1 2]`:                          ``,
		`{"a": }`:                        ``,
		`{"a"`:                           ``,
		`,`:                              ``,
		`[1"x"]`:                         ``,
	} {
		c := &cursor{text: text, eof: true}
		got, ok := c.value()
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", text, got, ok, want)
		}
	}
}

func TestCompactKeepsStrings(t *testing.T) {
	for text, want := range map[string]string{
		"{ \"a b\" : [ 1 ,\n\t\"c  \\\" d\" ] }": `{"a b":[1,"c  \" d"]}`,
		"no json":                                "no json",
		`{"a" b}`:                                `{"a" b}`,
		`1 `:                                     `1 `,
	} {
		if got := compact(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A match that runs out of text must not decide, whatever it says.
func TestAMatchThatRunsOutOfTextIsShort(t *testing.T) {
	matches := map[string]func(*cursor) bool{
		"lit":   func(c *cursor) bool { return c.lit("<tool>") },
		"until": func(c *cursor) bool { _, ok := c.until("<tool>"); return ok },
		"word":  func(c *cursor) bool { return c.word() != "" && c.lit("(") },
		"str":   func(c *cursor) bool { s, ok := c.str(); return ok && s == "a\nb" },
		"value": func(c *cursor) bool { v, ok := c.value(); return ok && v == `{"a":[1]}` },
		"peek":  func(c *cursor) bool { return c.peek() == 'x' },
		"opens": func(c *cursor) bool { return c.opensObject() },
	}
	for name, text := range map[string]string{
		"lit": "<tool>", "until": "name<tool>", "word": "get_weather(", "str": `"a\nb"`, "value": `{"a":[1]}`, "peek": "x", "opens": `{ "`,
	} {
		for n := range len(text) {
			if c := (&cursor{text: text[:n]}); matches[name](c) || !c.short {
				t.Errorf("%s decides on %q", name, text[:n])
			}
			if c := (&cursor{text: text[:n], eof: true}); matches[name](c) || c.short {
				t.Errorf("%s waits for more than %q", name, text[:n])
			}
		}
		if c := (&cursor{text: text}); !matches[name](c) || c.short {
			t.Errorf("%s does not match %q", name, text)
		}
	}
}

func TestANameHasABound(t *testing.T) {
	long := make([]byte, 2*maxName)
	for i := range long {
		long[i] = 'a'
	}
	c := &cursor{text: string(long)}
	if _, ok := c.until("<"); ok || c.short {
		t.Error("waits for the end of an endless name")
	}
}
