package settings

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed smg.txt
var smgFlags string

// Notice is what to know of a flag that was taken without effect.
type Notice struct{ Flag, Why string }

// fromSMG takes the flags out of a command line that SMG has and leeway does not: those that tune what leeway does
// otherwise are returned as notices, those that ask for what it cannot do are an error. It knows flags by their own
// names, so that a command line of SMG's works or says why not.
func fromSMG(args []string) (own []string, taken []Notice, err error) {
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		f, known := smgFlag(name)
		if !known || !strings.HasPrefix(args[i], "--") {
			own = append(own, args[i])
			continue
		}
		if f.refused {
			return nil, nil, fmt.Errorf("--%s: leeway has no such flag: %s", name, f.why)
		}
		taken = append(taken, Notice{"--" + name, f.why})
		if f.value && !joined {
			i++
		}
	}
	return own, taken, nil
}

type foreign struct {
	value   bool // one follows
	refused bool
	why     string
}

func smgFlag(name string) (foreign, bool) {
	for line := range strings.SplitSeq(smgFlags, "\n") {
		words := strings.Fields(line)
		if len(words) > 3 && words[0] != "#" && slices.Contains(strings.Split(words[2], ","), name) {
			return foreign{words[0] == "value", words[1] == "refused", strings.Join(words[3:], " ")}, true
		}
	}
	return foreign{}, false
}
