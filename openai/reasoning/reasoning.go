// Package reasoning parts generated text, while it comes, into what the model thinks and what it says.
//
// A parser stands in front of the tool parser: the content it gives is what that one reads. Its markers vanish; all other
// text comes out on one side or the other, to the last byte, however it is cut.
package reasoning

import (
	"fmt"
	"sort"
	"strings"
)

// Parser takes one answer apart. It belongs to one goroutine.
type Parser interface {
	// Add takes the next piece of the answer and returns what it settles.
	Add(text string) (reasoning, content string)
	// Flush ends the answer and returns what was held back.
	Flush() (reasoning, content string)
}

// markers are how a family of models fences its thoughts.
type markers struct {
	open, close string
	inside      bool     // the prompt has opened the fence, or the model never does
	special     bool     // the fence is made of special tokens, which decoding must keep
	drop        []string // markers around content, which are none
}

var (
	think   = markers{open: "<think>", close: "</think>"}
	thought = markers{open: "<think>", close: "</think>", inside: true}
)

var families = map[string]markers{
	"base":           think,
	"passthrough":    {},
	"harmony":        {special: true},
	"inkling":        {special: true},
	"deepseek_r1":    thought,
	"deepseek_v31":   think,
	"deepseek_v4":    think,
	"deepseek_v41":   think,
	"qwen3":          think,
	"qwen3_thinking": thought,
	"glm45":          think,
	"kimi":           {open: "◁think▷", close: "◁/think▷"},
	"kimi_k25":       think,
	"kimi_thinking":  thought,
	"step3":          thought,
	"minimax":        thought,
	"minimax_m3":     {open: "<mm:think>", close: "</mm:think>"},
	"cohere_cmd": {
		open: "<|START_THINKING|>", close: "<|END_THINKING|>", special: true,
		drop: []string{"<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"},
	},
	"kimi_k3": {
		open: "<|open|>think<|sep|>", close: "<|close|>think<|sep|>", inside: true, special: true,
		drop: []string{"<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>", "<|end_of_msg|>"},
	},
	"nano_v3": think,
	"hy_v4":   think,
	"gemma4":  {open: "<|channel>thought\n", close: "<channel|>", special: true},
}

// models says which family a model belongs to; the first part found in its name decides.
var models = []struct{ part, family string }{
	{"gpt-oss", "harmony"}, {"gpt_oss", "harmony"},
	{"gemma-4", "gemma4"}, {"gemma4", "gemma4"}, {"hy4", "hy_v4"}, {"hy_v4", "hy_v4"},
	{"deepseek-r1", "deepseek_r1"},
	{"deepseek-v4.1", "deepseek_v41"}, {"_v41", "deepseek_v41"}, {"-v41", "deepseek_v41"},
	{"deepseek-v4", "deepseek_v4"}, {"_v4", "deepseek_v4"},
	{"deepseek-v3.1", "deepseek_v31"}, {"-v3-1", "deepseek_v31"},
	{"qwen3-thinking", "qwen3_thinking"}, {"qwen-thinking", "qwen3_thinking"}, {"qwen3", "qwen3"}, {"qwen", "qwen3"},
	{"glm45", "glm45"}, {"glm47", "glm45"}, {"glm-5", "glm45"}, {"glm-4.5", "glm45"}, {"glm-4.6", "glm45"}, {"glm-4.7", "glm45"},
	{"kimi-k2-thinking", "kimi_thinking"}, {"kimi-k2.5", "kimi_k25"}, {"kimi-k3", "kimi_k3"}, {"kimi_k3", "kimi_k3"}, {"kimi", "kimi"},
	{"step3", "step3"}, {"step-3", "step3"},
	{"minimax-m3", "minimax_m3"}, {"mm-m3", "minimax_m3"}, {"minimax", "minimax"}, {"mm-m2", "minimax"},
	{"command-r", "cohere_cmd"}, {"command-a", "cohere_cmd"}, {"c4ai-command", "cohere_cmd"}, {"cohere", "cohere_cmd"},
	{"inkling", "inkling"},
	{"nemotron-nano", "nano_v3"}, {"nemotron-super", "nano_v3"}, {"nano-v3", "nano_v3"}, {"nemotron-3", "nano_v3"},
}

// ForModel names the family of a model, "" if its answers are not to be parted.
func ForModel(model string) string {
	model = strings.ToLower(model)
	for _, m := range models {
		if strings.Contains(model, m.part) {
			return m.family
		}
	}
	return ""
}

// StartsInside reports whether a family's answers begin with thoughts that nothing opens, unless the prompt says
// otherwise.
func StartsInside(name string) bool { return families[name].inside }

// NeedsSpecialTokens reports whether a family's markers are lost when special tokens are skipped in decoding.
func NeedsSpecialTokens(name string) bool { return families[name].special }

// Names lists the families that New knows.
func Names() []string {
	names := make([]string, 0, len(families))
	for name := range families {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// NewLast is New for an answer that no tool parser reads afterwards: no marker is left for one.
func NewLast(name string, startsInside bool) (Parser, error) {
	p, err := New(name, startsInside)
	switch p := p.(type) {
	case *harmony:
		p.last = true
	case *blocks:
		p.last = true
	}
	return p, err
}

// New is a parser of one answer of the named family. startsInside says whether the answer begins inside the fence, as
// the prompt decides.
func New(name string, startsInside bool) (Parser, error) {
	m, ok := families[name]
	switch {
	case !ok:
		return nil, fmt.Errorf("reasoning_parser: %q is unknown; use one of %s", name, strings.Join(Names(), ", "))
	case name == "harmony":
		return &harmony{}, nil
	case name == "inkling":
		return &blocks{}, nil
	case m.open == "":
		return &fence{state: outside}, nil
	case startsInside:
		return &fence{markers: m, state: entering}, nil
	}
	return &fence{markers: m}, nil
}
