package settings

import (
	_ "embed"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// Commands says what the program can do, a line each.
//
//go:embed commands.txt
var Commands string

// Command splits a command line into the command, or the usual one where none stands, and its flags. "help sim" is
// "sim --help".
func Command(line []string, usual string) (name string, args []string) {
	if len(line) > 0 && line[0] == "help" {
		line = append(slices.Clone(line[1:]), "--help")
	}
	switch {
	case len(line) == 0:
		return usual, nil
	case line[0] == "--version":
		return "version", line[1:]
	case strings.HasPrefix(line[0], "-"):
		return usual, line
	}
	return line[0], line[1:]
}

// UnknownCommand is the error for a command that is not among them.
func UnknownCommand(name string) error {
	var names []string
	for _, line := range regexp.MustCompile(`(?m)^  (\w+)`).FindAllStringSubmatch(Commands, -1) {
		names = append(names, line[1])
	}
	return fmt.Errorf("%q is no command%s (leeway help lists them)", name, Meant(name, names))
}

// Version says which build of the program this is, as far as the toolchain has noted it.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of unknown origin"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && version == "(devel)" {
			version = s.Value
		}
	}
	return fmt.Sprintf("%s %s", version, info.GoVersion)
}
