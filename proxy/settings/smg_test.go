package settings

import (
	"slices"
	"strings"
	"testing"
)

func TestACommandLineOfSMGsLosesWhatHasNoEffect(t *testing.T) {
	for _, c := range []struct{ args, own, taken string }{
		{"--port 1 --cache-threshold 0.3 --on", "--port 1 --on", "--cache-threshold"},
		{"--cache-threshold=0.3 --port 1", "--port 1", "--cache-threshold"},
		{"--enable-igw --port 1", "--port 1", "--enable-igw"},
		{"--max-tree-size 5 --enable-igw", "", "--max-tree-size --enable-igw"},
		{"--port 1 --max-tree-size", "--port 1", "--max-tree-size"},
		{"--name --x cache-threshold", "--name --x cache-threshold", ""},
	} {
		own, notices, err := fromSMG(strings.Fields(c.args))
		var taken []string
		for _, n := range notices {
			if taken = append(taken, n.Flag); n.Why == "" {
				t.Errorf("%s: no reason", n.Flag)
			}
		}
		if err != nil || !slices.Equal(own, strings.Fields(c.own)) || !slices.Equal(taken, strings.Fields(c.taken)) {
			t.Errorf("%s: own %q, taken %q, %v", c.args, own, taken, err)
		}
	}
}

func TestWhatCannotBeDoneIsRefusedWithTheWayOut(t *testing.T) {
	for _, args := range [][]string{{"--service-discovery"}, {"--port", "1", "--prefill=http://a"}, {"--log-dir", "/tmp"}} {
		_, _, err := fromSMG(args)
		if err == nil || !strings.Contains(err.Error(), "--") || len(err.Error()) < 60 {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestEveryLineOfTheTableCanBeRead(t *testing.T) {
	seen := map[string]bool{}
	for line := range strings.SplitSeq(smgFlags, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		words := strings.Fields(line)
		if len(words) < 4 || !slices.Contains([]string{"value", "values", "switch"}, words[0]) || !slices.Contains([]string{"taken", "refused"}, words[1]) {
			t.Errorf("%q", line)
			continue
		}
		for name := range strings.SplitSeq(words[2], ",") {
			if seen[name] {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
		}
		if words[0] == "values" && words[1] == "taken" {
			t.Errorf("%q: how many values to take is not known", line)
		}
	}
}
