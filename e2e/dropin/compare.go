package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// response is what a gateway answered, with everything that is different each time masked.
type response struct {
	status  int
	headers map[string]string
	body    any   // decoded JSON, or text
	events  []any // of a stream, decoded; "[DONE]" as text
}

type difference struct{ at, ours, theirs string }

// compared are the headers that clients act on.
var compared = []string{"Content-Type", "X-Smg-Error-Code", "Www-Authenticate", "Retry-After", "Cache-Control", "Allow"}

// masks hide ids and times; the kind of id stays.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`(chatcmpl|cmpl|gnt|req|call)[-_][0-9A-Za-z-]{12,}`), "$1-ID"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "WORKER"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z?`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
}

func mask(text string) string {
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	return text
}

func decode(text string) any {
	var value any
	if json.Unmarshal([]byte(mask(text)), &value) != nil {
		return mask(text)
	}
	return timeless(value)
}

// timeless drops the time from every object that has one.
func timeless(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if _, ok := v["created"].(float64); ok {
			v["created"] = "TIME"
		}
		if _, ok := v["cached_tokens"].(float64); ok {
			v["cached_tokens"] = "CACHED" // the second to ask finds more
		}
		for key, inner := range v {
			v[key] = timeless(inner)
		}
	case []any:
		for i := range v {
			v[i] = timeless(v[i])
		}
	}
	return value
}

func decodeEvents(text string) (events []any) {
	for frame := range strings.SplitSeq(text, "\n\n") {
		if data, ok := strings.CutPrefix(frame, "data: "); ok {
			events = append(events, decode(data))
		} else if frame != "" {
			events = append(events, "NOT AN EVENT: "+frame)
		}
	}
	return events
}

func differences(ours, theirs response) (found []difference) {
	if ours.status != theirs.status {
		found = append(found, difference{"status", fmt.Sprint(ours.status), fmt.Sprint(theirs.status)})
	}
	for _, name := range compared {
		if ours.headers[name] != theirs.headers[name] {
			found = append(found, difference{"header " + name, ours.headers[name], theirs.headers[name]})
		}
	}
	if ours.events != nil || theirs.events != nil {
		return append(found, sequences(ours.events, theirs.events)...)
	}
	return append(found, fields("body", ours.body, theirs.body)...)
}

// sequences compares streams: what the choices say in all, then the frames by what kind they are, then each kind's shape.
func sequences(ours, theirs []any) (found []difference) {
	a, b := outline(ours), outline(theirs)
	if a != b {
		found = append(found, difference{"events", a, b})
	}
	found = append(found, fields("stream", gather(ours), gather(theirs))...)
	return found
}

// outline is the order of the kinds of frames, with repetitions once.
func outline(events []any) string {
	var kinds []string
	for _, event := range events {
		if kind := kindOf(event); len(kinds) == 0 || kinds[len(kinds)-1] != kind {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, " ")
}

func kindOf(event any) string {
	object, ok := event.(map[string]any)
	if !ok {
		return fmt.Sprint(event)
	}
	choices, _ := object["choices"].([]any)
	if object["error"] != nil {
		return "error"
	}
	if len(choices) == 0 {
		return "usage"
	}
	choice, _ := choices[0].(map[string]any)
	if choice["finish_reason"] != nil {
		return "finish"
	}
	delta, _ := choice["delta"].(map[string]any)
	return strings.Join(slices.Sorted(maps.Keys(delta)), "+")
}

// gather puts a stream together: text of each choice, and the last value of everything else.
func gather(events []any) any {
	all := map[string]any{}
	for _, event := range events {
		object, _ := event.(map[string]any)
		for key, value := range object {
			if key == "choices" {
				gatherChoices(all, value)
			} else {
				all[key] = value
			}
		}
	}
	return all
}

func gatherChoices(all map[string]any, choices any) {
	list, _ := choices.([]any)
	for _, item := range list {
		choice, _ := item.(map[string]any)
		into := fmt.Sprint("choice ", choice["index"], " ")
		for key, value := range choice {
			switch inner := value.(type) {
			case map[string]any:
				gatherDelta(all, into+key+".", inner)
			case string:
				if key == "text" {
					inner = fmt.Sprint(all[into+key]) + inner
				}
				all[into+key] = inner
			case nil:
			default:
				all[into+key] = value
			}
		}
	}
}

func gatherDelta(all map[string]any, into string, delta map[string]any) {
	for key, value := range delta {
		switch inner := value.(type) {
		case string:
			before, _ := all[into+key].(string)
			all[into+key] = before + inner
		case []any:
			if key == "tool_calls" {
				gatherCalls(all, into, inner)
				continue
			}
			before, _ := all[into+key].([]any)
			all[into+key] = append(before, inner...)
		case nil:
		default:
			all[into+key] = value
		}
	}
}

func gatherCalls(all map[string]any, into string, calls []any) {
	for _, item := range calls {
		call, _ := item.(map[string]any)
		at := fmt.Sprint(into, "call ", call["index"], " ")
		if function, ok := call["function"].(map[string]any); ok {
			gatherDelta(all, at, function)
			delete(call, "function")
		}
		maps.DeleteFunc(call, func(key string, value any) bool { return key == "index" || value == nil })
		for key, value := range call {
			all[at+key] = value
		}
	}
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
	if a, b := shown(ours, true), shown(theirs, true); a != b {
		return []difference{{at, a, b}}
	}
	return nil
}

func shown(value any, there bool) string {
	if !there {
		return "(absent)"
	}
	text, _ := json.Marshal(value)
	return string(text)
}
