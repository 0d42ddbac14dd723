package settings

import (
	"slices"
	"strings"
	"testing"
)

func TestACommandLineBeginsWithACommandOrWithFlags(t *testing.T) {
	for line, want := range map[string]string{
		"":                      "serve",
		"--port 1":              "serve --port 1",
		"sim --port 1":          "sim --port 1",
		"help":                  "serve --help",
		"--help":                "serve --help",
		"help sim":              "sim --help",
		"version":               "version",
		"--version":             "version",
		"tokenize --version":    "tokenize --version",
		"serve --host h --help": "serve --host h --help",
	} {
		name, args := Command(strings.Fields(line), "serve")
		if got := append([]string{name}, args...); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestAnUnknownNameIsAnsweredWithTheNearest(t *testing.T) {
	for name, want := range map[string]string{
		"sym": `"sym" is no command; did you mean sim?`, "tokenise": "tokenize?", "serv": "serve?", "xyzzy": `"xyzzy" is no command (`,
	} {
		if err := UnknownCommand(name); !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {strings.Repeat("x", 101), "x", 100}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%s to %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if Version() == "" {
		t.Error("no version")
	}
}
