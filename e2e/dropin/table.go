package main

import (
	"fmt"
	"os"
	"strings"
)

const (
	tableBegins = "<!-- made by go run ./e2e/dropin --table -->\n"
	tableEnds   = "<!-- end -->\n"
)

// writeTable puts the known differences between the two marks in the README.
func writeTable(readme string) error {
	text, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	known, err := readLines[known]("differences.jsonl")
	if err != nil {
		return err
	}
	written, err := withTable(string(text), table(known))
	if err != nil {
		return fmt.Errorf("%s: %w", readme, err)
	}
	return os.WriteFile(readme, []byte(written), 0o644)
}

func withTable(text, table string) (string, error) {
	before, rest, begins := strings.Cut(text, tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return "", fmt.Errorf("the marks %q and %q are missing", tableBegins, tableEnds)
	}
	return before + tableBegins + table + tableEnds + after, nil
}

// table has one row for each reason, and names an area once.
func table(all []known) string {
	var b strings.Builder
	b.WriteString("| | what leeway does, and why |\n|---|---|\n")
	area := ""
	for _, k := range all {
		name := k.Area
		if name == area {
			name = ""
		}
		area = k.Area
		reason := k.Reason
		if k.Dialect != "" {
			reason += " (" + k.Dialect + ")"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", name, reason)
	}
	return b.String()
}
