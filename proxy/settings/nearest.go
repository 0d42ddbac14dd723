package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Meant is a question to append to a message about a name that is not known: whether the nearest known one was meant. It
// is empty where none is near.
func Meant(name string, known []string) string {
	best, least := "", len(name)/3+1
	for _, k := range known {
		if d := distance(strings.ReplaceAll(name, "_", "-"), strings.ReplaceAll(k, "_", "-")); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// distance counts the letters to insert, remove or replace, and the neighbours to swap, to make b of a. Names are short;
// those that are not are far.
func distance(a, b string) int {
	const longest = 100
	if len(a) > longest || len(b) > longest {
		return longest
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}

// misplaced says of an unknown key, or table, where it belongs or what may have been meant.
func misplaced(known map[string][]string, path []string) string {
	name := path[len(path)-1]
	for table, keys := range known {
		if table != "" && slices.Contains(keys, name) {
			return fmt.Sprintf("; it belongs to [%s]", table)
		}
	}
	if len(path) != 2 {
		return Meant(strings.Join(path, "."), known[""])
	}
	return Meant(name, known[path[0]])
}

// keyNames lists the keys of each table, and the tables themselves under "".
func keyNames(tables reflect.Value) map[string][]string {
	names := map[string][]string{}
	for field, table := range tables.Fields() {
		if field.Type.Kind() != reflect.Struct {
			continue
		}
		name := field.Tag.Get("toml")
		names[""] = append(names[""], name)
		for key := range table.Fields() {
			names[name] = append(names[name], key.Tag.Get("toml"))
		}
	}
	return names
}
