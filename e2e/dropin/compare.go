package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

type difference struct{ at, ours, theirs string }

// differences are everything in which two answers to one request differ. Where one is refused and the other is not,
// that is the one difference.
func differences(ours, theirs answer) (found []difference) {
	if ours.status != theirs.status {
		return []difference{{"status", ours.outcome(), theirs.outcome()}}
	}
	names := maps.Clone(ours.headers)
	maps.Copy(names, theirs.headers)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if ours.headers[name] != theirs.headers[name] {
			found = append(found, difference{"header " + name, ours.headers[name], theirs.headers[name]})
		}
	}
	if ours.events != nil || theirs.events != nil {
		return append(found, sequences(ours.events, theirs.events)...)
	}
	return append(found, fields("body", ours.body, theirs.body)...)
}

// outcome is an answer's status, with its text where it is an error.
func (a answer) outcome() string {
	if a.status < 400 {
		return fmt.Sprint(a.status)
	}
	return fmt.Sprint(a.status, " ", shown(a.body, true))
}

// fields compares two JSON values and names where they differ.
func fields(at string, ours, theirs any) (found []difference) {
	switch a := ours.(type) {
	case map[string]any:
		b, ok := theirs.(map[string]any)
		if !ok {
			break
		}
		keys := maps.Clone(a)
		maps.Copy(keys, b)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			va, inA := a[key]
			vb, inB := b[key]
			if !inA || !inB {
				found = append(found, difference{at + "." + key, shown(va, inA), shown(vb, inB)})
				continue
			}
			found = append(found, fields(at+"."+key, va, vb)...)
		}
		return found
	case []any:
		b, ok := theirs.([]any)
		if !ok || len(a) != len(b) {
			break
		}
		for i := range a {
			found = append(found, fields(fmt.Sprintf("%s.%d", at, i), a[i], b[i])...)
		}
		return found
	}
	a, b := shown(ours, true), shown(theirs, true)
	if a != b && sameJSON(ours, theirs) {
		at += " (spelling)"
	}
	if a != b {
		return []difference{{at, a, b}}
	}
	return nil
}

// sameJSON reports whether two texts, as the arguments of calls are, hold the same JSON.
func sameJSON(ours, theirs any) bool {
	a, _ := ours.(string)
	b, _ := theirs.(string)
	var va, vb any
	return json.Unmarshal([]byte(a), &va) == nil && json.Unmarshal([]byte(b), &vb) == nil && shown(va, true) == shown(vb, true)
}

func shown(value any, there bool) string {
	if !there {
		return "(absent)"
	}
	text, _ := json.Marshal(value)
	return string(text)
}
