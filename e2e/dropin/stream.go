package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sequences compares streams: the order of the kinds of frames, the shape of each kind, and what they say in all.
func sequences(ours, theirs []any) (found []difference) {
	if a, b := outline(ours), outline(theirs); a != b {
		found = append(found, difference{"events", a, b})
	}
	a, b := shapes(ours), shapes(theirs)
	for _, kind := range slices.Sorted(maps.Keys(a)) {
		if theirs, ok := b[kind]; ok {
			found = append(found, fields("frame "+kind, a[kind], theirs)...)
		}
	}
	return append(found, fields("stream", gather(ours), gather(theirs))...)
}

// outline is the order of the kinds of frames, with repetitions once; of each choice by itself, since choices come as
// the worker mixes them.
func outline(events []any) string {
	kinds := map[string][]string{}
	for _, event := range events {
		of := "end"
		object, _ := event.(map[string]any)
		if choice := first(object["choices"]); choice != nil {
			of = fmt.Sprint(choice["index"])
		}
		if kind := kindOf(event); len(kinds[of]) == 0 || last(kinds[of]) != kind {
			kinds[of] = append(kinds[of], kind)
		}
	}
	var parts []string
	for _, of := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, of+": "+strings.Join(kinds[of], " "))
	}
	return strings.Join(parts, "; ")
}

func last(kinds []string) string { return kinds[len(kinds)-1] }

// shapes has the keys and types of the first frame of each kind.
func shapes(events []any) map[string]any {
	first := map[string]any{}
	for _, event := range events {
		if kind := kindOf(event); first[kind] == nil {
			first[kind] = shape(event)
		}
	}
	return first
}

func shape(value any) any {
	switch v := value.(type) {
	case map[string]any:
		keys := map[string]any{}
		for key, inner := range v {
			keys[key] = shape(inner)
		}
		return keys
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		return []any{shape(v[0])}
	}
	return fmt.Sprintf("%T", value)
}

func kindOf(event any) string {
	object, ok := event.(map[string]any)
	if !ok {
		return fmt.Sprint(event)
	}
	choice := first(object["choices"])
	delta, _ := choice["delta"].(map[string]any)
	function, _ := first(delta["tool_calls"])["function"].(map[string]any)
	switch {
	case object["error"] != nil:
		return "error"
	case choice == nil:
		return "usage"
	case choice["finish_reason"] != nil:
		return "finish"
	case function["name"] != nil:
		return "call"
	case function != nil:
		return "arguments"
	case delta["role"] != nil:
		return "role"
	case delta == nil:
		return "text"
	}
	return strings.Join(slices.Sorted(maps.Keys(delta)), "+")
}

// first is the first object of a list, nil if there is none.
func first(list any) map[string]any {
	items, _ := list.([]any)
	if len(items) == 0 {
		return nil
	}
	object, _ := items[0].(map[string]any)
	return object
}

// says is what an answer tells its reader, in the same words for a stream and for a whole answer.
func says(a answer) map[string]any {
	events := a.events
	if body, ok := a.body.(map[string]any); ok {
		events = []any{asFrame(body)}
	}
	told := gather(events)
	maps.DeleteFunc(told, func(key string, value any) bool {
		list, isList := value.([]any)
		empty := value == "" || isList && len(list) == 0
		return empty || !strings.HasPrefix(key, "choice ") || strings.HasSuffix(key, ".role")
	})
	return told
}

// asFrame is a whole answer as if it had come in one frame.
func asFrame(body map[string]any) map[string]any {
	frame := maps.Clone(body)
	var choices []any
	list, _ := body["choices"].([]any)
	for _, item := range list {
		choice, _ := item.(map[string]any)
		choice = maps.Clone(choice)
		if message, ok := choice["message"].(map[string]any); ok {
			message = maps.Clone(message)
			calls, _ := message["tool_calls"].([]any)
			for i, call := range calls {
				if call, ok := call.(map[string]any); ok {
					calls[i] = maps.Clone(call)
					calls[i].(map[string]any)["index"] = i
				}
			}
			choice["delta"] = message
			delete(choice, "message")
		}
		choices = append(choices, choice)
	}
	frame["choices"] = choices
	return frame
}

// gather puts a stream together: the text of each choice, and the last value of everything else.
func gather(events []any) map[string]any {
	all := map[string]any{}
	for _, event := range events {
		object, _ := event.(map[string]any)
		for key, value := range object {
			if key != "choices" {
				all[key] = value
				continue
			}
			list, _ := value.([]any)
			for _, item := range list {
				choice, _ := item.(map[string]any)
				gatherChoice(all, choice)
			}
		}
	}
	return all
}

func gatherChoice(all, choice map[string]any) {
	into := fmt.Sprint("choice ", choice["index"], " ")
	for key, value := range choice {
		switch inner := value.(type) {
		case map[string]any:
			gatherDelta(all, into+key+".", inner)
		case string:
			if before, ok := all[into+key].(string); ok && key == "text" {
				inner = before + inner
			}
			all[into+key] = inner
		case nil:
		default:
			all[into+key] = value
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
			all[into+key] = append(slices.Clip(before), inner...)
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
		for key, value := range call {
			function, ok := value.(map[string]any)
			switch {
			case ok:
				gatherDelta(all, at, function)
			case key != "index" && value != nil:
				all[at+key] = value
			}
		}
	}
}
