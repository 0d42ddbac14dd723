package proxy

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// run feeds text cut at the given points and returns what came out and the stop that was reached.
func runStops(words []string, pieces []string) (string, string) {
	s := stops{words: words}
	var out []byte
	for _, p := range pieces {
		var match string
		var found bool
		if out, match, found = s.add(out, []byte(p)); found {
			return string(out), match
		}
	}
	return string(s.flush(out)), ""
}

func TestStopsEndTheTextWhereTheFirstOfThemIsComplete(t *testing.T) {
	for _, tc := range []struct {
		name  string
		words []string
		text  string
		out   string
		match string
	}{
		{"none configured", nil, "anything", "anything", ""},
		{"never said", []string{"wtf", "wtfx", "0123456789"}, "say wt", "say wt", ""}, // case A4
		{"in the middle", []string{"END"}, "one END two", "one ", "END"},
		{"at once", []string{"END"}, "END", "", "END"},
		{"a false start before it", []string{"aab"}, "aaab", "a", "aab"},
		{"complete first beats begun first", []string{"xabc", "ab"}, "xabc", "x", "ab"},
		{"of those that end together the longest", []string{"c", "abc"}, "abc", "", "abc"},
		{"characters of several bytes", []string{"好"}, "你好", "你", "好"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, match := runStops(tc.words, []string{tc.text})
			if out != tc.out || match != tc.match {
				t.Errorf("whole: got %q, stop %q; want %q, %q", out, match, tc.out, tc.match)
			}
			out, match = runStops(tc.words, strings.Split(tc.text, ""))
			if out != tc.out || match != tc.match {
				t.Errorf("a character at a time: got %q, stop %q; want %q, %q", out, match, tc.out, tc.match)
			}
		})
	}
}

// case A6
func TestStopsHoldOnlyWhatMayStillBecomeOne(t *testing.T) {
	s := stops{words: []string{"Hello world"}}
	out, _, _ := s.add(nil, []byte("Hello"))
	if len(out) != 0 {
		t.Errorf("let go of %q, which begins a stop", out)
	}
	out, _, found := s.add(nil, []byte(" test"))
	if string(out) != "Hello test" || found {
		t.Errorf("got %q, want the whole text at once", out)
	}
}

func FuzzStopsDoNotDependOnTheCuts(f *testing.F) {
	f.Add("one END two", "END", "E", uint64(1))
	f.Add("aaaaab", "aab", "ab", uint64(7))
	f.Fuzz(func(t *testing.T, text, a, b string, seed uint64) {
		if a == "" || b == "" {
			return
		}
		words := []string{a, b}
		whole, match := runStops(words, []string{text})
		r := rand.New(rand.NewPCG(seed, 1))
		var pieces []string
		for rest := text; rest != ""; {
			n := 1 + r.IntN(len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		out, m := runStops(words, pieces)
		if out != whole || m != match {
			t.Errorf("cut into %q: %q, %q; whole: %q, %q", pieces, out, m, whole, match)
		}
		if match == "" && whole != text {
			t.Errorf("no stop, but %q became %q", text, whole)
		}
	})
}
