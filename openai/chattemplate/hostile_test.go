package chattemplate

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// Each template of the file repeats work that is linear or worse in the size of a value, or holds ever more of it.
func TestWorkOnLongValuesEndsInALimitError(t *testing.T) {
	file, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		name, source, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		t.Run(name, func(t *testing.T) {
			tpl, err := Compile(source)
			if err != nil {
				t.Fatal(err)
			}
			_, err = tpl.Render(NewDict(0), RenderOptions{Limits: Limits{Steps: 2_000_000}})
			if !isType(err, "LimitError") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestCostlyWorkOnLongValuesThatEndsByItself(t *testing.T) {
	for source, want := range map[string]string{
		`{% for i in range(99) %}{{ "a" in range(100000) or "" }}{% endfor %}`:                              "",
		`{{ ("a" * 4000000).strip("b" * 4000000 ~ "a")|length }}`:                                           "0",
		`{{ ("a" * 99999)|trim("é" * 99999 ~ "a")|length }}`:                                                "0",
		`{{ ("http://a.b" ~ "(" * 500000 ~ ")" * 500000)|urlize|length }}`:                                  "1000010",
		`{% set l = [1] * 1000000 %}{% for i in range(9999) %}{% set x = l|last %}{% endfor %}{{ l|last }}`: "1",
	} {
		tpl, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tpl.Render(NewDict(0), RenderOptions{}); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", source, got, err, want)
		}
	}
}

func TestMessagesOfErrorsAreClipped(t *testing.T) {
	deep := `{% set ns = namespace(t=(1,)) %}{% for i in range(60) %}{% set ns.t = (ns.t, ns.t) %}{% endfor %}`
	for _, source := range []string{
		`{{ raise_exception("é" * 5000000) }}`,
		`{{ {}["x" * 10000000].a }}`,
		`{{ ("9" * 10000000) + 1 }}`,
		`{{ "` + strings.Repeat("x", 1000000) + `"|` + strings.Repeat("x", 1000000) + ` }}`,
		deep + `{{ [][ns.t].a }}`,
		deep + `{{ dict[ns.t] }}`,
	} {
		tpl, err := Compile(source)
		if err == nil {
			_, err = tpl.Render(NewDict(0), RenderOptions{})
		}
		var e *Error
		if !errors.As(err, &e) || len(e.Message) > maxMessage+len("…") {
			t.Errorf("%.60s: %.100v", source, err)
		}
	}
}
