package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

type table struct {
	Name   string        `toml:"name" flag:"name,alias"`
	Count  int           `toml:"count" flag:"count"`
	Share  float64       `toml:"share" flag:"share"`
	On     bool          `toml:"on" flag:"on"`
	List   []string      `toml:"list" flag:"list"`
	Key    string        `toml:"key" flag:"key" secret:"true"`
	Keys   []string      `toml:"keys" secret:"true"`
	Length time.Duration `toml:"-" flag:"length"`
}

func (t table) Validate() error {
	var errs []error
	if t.Count < 0 {
		errs = append(errs, fmt.Errorf("count: %d is negative", t.Count))
	}
	if t.Share > 1 {
		errs = append(errs, fmt.Errorf("share: %v is more than 1", t.Share))
	}
	return errors.Join(errs...)
}

type all struct {
	First table  `toml:"first"`
	Other other  `toml:"other"`
	File  string `toml:"-" flag:"config" help:"the file"`
}

type other struct {
	Count int `toml:"count" flag:"other-count"`
}

func loaded(args ...string) (all, error) {
	s, _, err := Load(args, all{First: table{Name: "default", Count: 1, List: []string{"d"}}}, func(s all) string { return s.File })
	return s, err
}

func file(t *testing.T, text string) string {
	name := filepath.Join(t.TempDir(), "s.toml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFlagsStandAboveTheFileAndTheFileAboveDefaults(t *testing.T) {
	name := file(t, "[first]\ncount = 2\nlist = ['f', 'g']\nshare = 0.5\n[other]\ncount = 9\n")
	s, err := loaded("--count=3", "--config", name)
	if err != nil {
		t.Fatal(err)
	}
	want := all{First: table{Name: "default", Count: 3, Share: .5, List: []string{"f", "g"}}, Other: other{9}, File: name}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %+v, want %+v", s, want)
	}
}

func TestFlagsAreWrittenInEveryWay(t *testing.T) {
	for _, c := range []struct {
		args string
		want table
	}{
		{"--name x --count 5 --on", table{Name: "x", Count: 5, On: true, List: []string{"d"}}},
		{"-name=x --on=false --length 20ms", table{Name: "x", Count: 1, List: []string{"d"}, Length: 20 * time.Millisecond}},
		{"--alias x", table{Name: "x", Count: 1, List: []string{"d"}}},
		{"--list a b --count 2", table{Name: "default", Count: 2, List: []string{"a", "b"}}},
		{"--list a b --on --list=c --list d", table{Name: "default", Count: 1, On: true, List: []string{"a", "b", "c", "d"}}},
		{"--name=--on", table{Name: "--on", Count: 1, List: []string{"d"}}},
		{"--name -on --list a -count 2", table{Name: "-on", Count: 2, List: []string{"a"}}},
		{"--share -0.5", table{Name: "default", Count: 1, Share: -.5, List: []string{"d"}}},
	} {
		s, err := loaded(strings.Fields(c.args)...)
		if err != nil || !reflect.DeepEqual(s.First, c.want) {
			t.Errorf("%s: got %+v, %v", c.args, s.First, err)
		}
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for _, c := range []struct{ text, args, want string }{
		{"", "--nome x", "--nome is no flag; did you mean --name?"},
		{"", "--other_count 3", "--other_count is no flag; did you mean --other-count?"},
		{"", "--unheard-of", "--unheard-of is no flag ("},
		{"", "--count many", "--count"},
		{"", "--share NaN", "--share"},
		{"", "--count", "--count"},
		{"", "--name --on", `--name needs a value; if it is "--on", write --name=--on (`},
		{"", "--count --name x", "--count needs a value"},
		{"", "--on yes", `"yes" is neither`},
		{"", "--count -4", "--count: [first] count: -4 is negative"},
		{"[first]\ncount = 2\n", "--count=-4", "--count: [first] count: -4 is negative"},
		{"[first]\nnome = 1\n", "", "s.toml:2: first.nome: no such key; config.toml shows all there are; did you mean name?"},
		{"[other]\nshare = 0.5\n", "", "s.toml:2: other.share: no such key; config.toml shows all there are; it belongs to [first]"},
		{"[first]\nlits = ['x']\n", "", "s.toml:2: first.lits: no such key; config.toml shows all there are; did you mean list?"},
		{"[first]\nunheard_of = 1\n", "", "no such key; config.toml shows all there are"},
		{"share = 0.5\n", "", "s.toml:1: share: no such key; config.toml shows all there are; it belongs to [first]"},
		{"[fist]\nname = 'x'\n", "", "s.toml:1: fist: no such key; config.toml shows all there are; did you mean first?"},
		{"[first]\n\ncount = 'x'\n", "", "s.toml:3: first.count"},
		{"[first]\ncount = 1.5\n", "", "s.toml:2: first.count"},
		{"[first]\ncount = 'x'\n", "", "s.toml:2: first.count: it is of kind string, but int is wanted"},
		{"x\n", "", "s.toml:1"},
		{"[other]\ncount = 1\n[first]\nname = 'x'\ncount = -4\nshare = 2.0\n", "", "s.toml:5: [first] count: -4 is negative\n"},
		{"[first]\ncount = -4\nshare = 2.0\n", "", "s.toml:3: [first] share"},
	} {
		args := strings.Fields(c.args)
		if c.text != "" {
			args = append(args, "--config", file(t, c.text))
		}
		if _, err := loaded(args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v; want it to say %q", c.text, c.args, err, c.want)
		}
	}
	if _, err := loaded("--config", "/nowhere/s.toml"); err == nil || !strings.Contains(err.Error(), "/nowhere/s.toml") {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := loaded("--help"); !errors.Is(err, ErrHelp) {
		t.Errorf("--help: %v", err)
	}
}

func TestPrintHidesSecretsAndNothingElse(t *testing.T) {
	s := all{First: table{Name: "n", Key: "hush", Keys: []string{"hush"}, List: []string{"a"}}}
	var out strings.Builder
	if err := Print(&out, s); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "hush") || !strings.Contains(text, "***") || !strings.Contains(text, "name = 'n'") {
		t.Errorf("printed %s", text)
	}
	if s.First.Key != "hush" || s.First.Keys[0] != "hush" {
		t.Error("the settings themselves were masked")
	}
}

func TestHelpSaysWhatTheAnnotatedFileSays(t *testing.T) {
	var out strings.Builder
	Help(&out, &all{}, "# About tables.\n\n[first]\n# How many,\n# in pieces.\ncount = 1\n[other]\n# Another count.\ncount = 2\n")
	for _, want := range []string{"--count\n        How many,\n        in pieces. (default 1)", "--other-count\n        Another count. (default 2)", "--config\n        the file", "--alias\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in %s", want, out.String())
		}
	}
}

func FuzzLoadNeverPanics(f *testing.F) {
	f.Add("[first]\ncount = 2\n")
	f.Add("[[first]]\nlist = [1]\n[first.count]\n")
	f.Fuzz(func(t *testing.T, text string) {
		loaded("--config", file(t, text))
	})
}
