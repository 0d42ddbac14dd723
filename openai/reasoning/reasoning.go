// Package reasoning parts generated text, while it comes, into what the model thinks and what it says.
//
// A parser stands in front of the tool parser: the content it gives is what that one reads. Its markers vanish; all other
// text comes out on one side or the other, to the last byte, however it is cut.
package reasoning

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Parser takes one answer apart. It belongs to one goroutine.
type Parser struct{ reader }

// reader reads the answers of one kind of families. The pieces it returns hold until the next call.
type reader interface {
	read(text string, eof bool) []Piece
}

// Piece is a part of an answer, in its order.
type Piece struct {
	Kind Kind
	Text string
}

// Kind is what a piece is.
type Kind uint8

const (
	Content Kind = iota
	Thought
	Marker // around a thought
)

// Add takes the next piece of the answer and returns what it settles.
func (p *Parser) Add(text string) (reasoning, content string) { return join(p.read(text, false)) }

// Flush ends the answer and returns what was held back.
func (p *Parser) Flush() (reasoning, content string) { return join(p.read("", true)) }

// Pieces is Add, or at the answer's end Flush, for one who wants to keep thoughts in their place.
func (p *Parser) Pieces(text string, eof bool) []Piece { return p.read(text, eof) }

// Calls reads along the content, and knows what of it belongs to a call.
type Calls interface {
	// Settle reads more content and reports whether a text that comes next would be part of a call.
	Settle(content, next string) bool
}

// Heed makes content of markers that are part of a call.
func (p *Parser) Heed(calls Calls) {
	if f, ok := p.reader.(*fence); ok {
		f.calls = calls
	}
}

func join(pieces []Piece) (reasoning, content string) {
	if len(pieces) == 1 && pieces[0].Kind == Content {
		return "", pieces[0].Text
	}
	var thought, said strings.Builder
	for _, p := range pieces {
		switch p.Kind {
		case Thought:
			thought.WriteString(p.Text)
		case Content:
			said.WriteString(p.Text)
		}
	}
	return thought.String(), said.String()
}

// pieces gathers what one look at the text settles.
type pieces []Piece

func (p *pieces) put(kind Kind, text string) {
	if text != "" {
		*p = append(*p, Piece{kind, text})
	}
}

// markers are how a family of models fences its thoughts.
type markers struct {
	open, close []string // a fence may have several forms, and closes as it was opened
	suffixed    bool     // the fence's name may end in a colon and a word, such as <think:opensource>
	inside      bool     // the prompt has opened the fence, or the model never does
	special     bool     // the fence is made of special tokens, which decoding must keep
	drop        []string // markers around content, which are none
	again       bool     // the fence may open more than once
	spares      bool     // an answer without a thought may begin with the closing marker
}

// between is a fence of one form.
func between(open, close string) markers {
	return markers{open: []string{open}, close: []string{close}}
}

// begun is a family that starts to think unasked.
func (m markers) begun() markers {
	m.inside = true
	return m
}

// tokens is a family whose fence is made of special tokens, and that puts more of them around content.
func (m markers) tokens(drop ...string) markers {
	m.special, m.drop = true, drop
	return m
}

// often is a family that thinks more than once.
func (m markers) often() markers {
	m.again = true
	return m
}

// sparing is a family that says by the closing marker alone that it does not think.
func (m markers) sparing() markers {
	m.spares = true
	return m
}

var (
	none    = markers{}
	think   = between("<think>", "</think>")
	hunyuan = markers{open: []string{"<think>"}, close: []string{"</think>"}, suffixed: true, special: true}
	horizon = markers{
		open:  []string{"<ifm|think>", "<ifm|think_fast>", "<ifm|think_faster>"},
		close: []string{"</ifm|think>", "</ifm|think_fast>", "</ifm|think_faster>"},
	}
)

var families = map[string]markers{
	"base":                think,
	"passthrough":         none,
	"plain":               none,
	"json":                none,
	"xlam":                none,
	"olmo3":               none,
	"function_gemma":      none,
	"qwen2.5":             none,
	"harmony":             none.tokens(),
	"inkling":             none.tokens(),
	"deepseek_r1":         think.begun(),
	"deepseek_v31":        think,
	"deepseek_v4":         think,
	"deepseek_v41":        think,
	"deepseek_v4.1":       think,
	"qwen3":               think,
	"qwen3_tagged":        think,
	"qwen3_tagged_direct": think,
	"qwen3_thinking":      think.begun(),
	"glm45":               think,
	"glm4":                think,
	"glm":                 think,
	"ling":                think,
	"iquest":              think,
	"dots3":               think,
	"minicpm5":            think,
	"lfm2.5":              think,
	"llama_nemotron":      think,
	"nano_v3":             think,
	"kimi":                between("◁think▷", "◁/think▷"),
	"kimi_k25":            think,
	"kimi_thinking":       think.begun(),
	"step3":               think.begun(),
	"minimax":             think.begun(),
	"minimax_m2":          think.begun(),
	"minimax_m3":          between("<mm:think>", "</mm:think>").sparing(),
	"seed_oss":            between("<seed:think>", "</seed:think>"),
	"mistral_v13":         between("[THINK]", "[/THINK]").tokens(),
	"cohere_cmd": between("<|START_THINKING|>", "<|END_THINKING|>").
		tokens("<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_TEXT|>", "<|END_TEXT|>"),
	"kimi_k3": between("<|open|>think<|sep|>", "<|close|>think<|sep|>").
		tokens("<|close|>think<|sep|>", "<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|close|>message<|sep|>", "<|end_of_msg|>"),
	"hy_v4":      hunyuan,
	"hy4":        hunyuan,
	"k2_horizon": horizon,
	"gemma4":     between("<|channel>thought\n", "<channel|>").tokens("<channel|>").often(),
}

// paired are the names that say how a model calls tools, too.
var paired = []string{
	"deepseek_v4.1", "dots3", "function_gemma", "glm", "glm4", "hy4", "iquest", "json", "k2_horizon", "lfm2.5", "ling",
	"llama_nemotron", "minicpm5", "minimax_m2", "mistral_v13", "olmo3", "plain", "qwen2.5", "qwen3_tagged",
	"qwen3_tagged_direct", "seed_oss", "xlam",
}

// Paired reports whether a name that stands alone names the parser of tool calls as well.
func Paired(name string) bool { return slices.Contains(paired, name) }

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

// Opened looks at the end of a prompt: has it opened the family's fence, or closed it? Most prompts do not tell.
func Opened(name, prompt string) (open, told bool) {
	m, end := families[name], strings.TrimRight(prompt, " \n")
	for i := range m.open {
		switch {
		case m.endsIn(end, m.open[i]):
			return true, true
		case m.endsIn(end, m.close[i]):
			return false, true
		}
	}
	return false, false
}

// endsIn reports whether a text ends with a marker.
func (m markers) endsIn(text, marker string) bool {
	if !m.suffixed {
		return strings.HasSuffix(text, strings.TrimRight(marker, " \n"))
	}
	at := strings.LastIndexByte(text, '<')
	if at < 0 {
		return false
	}
	_, end, _ := m.find(text[at:], marker)
	return end == len(text)-at
}

// Hidden reports whether a family's markers are lost when special tokens are skipped in decoding, by what the tokenizer
// holds for special.
func Hidden(name string, special func(marker string) bool) bool {
	m := families[name]
	return m.special || slices.ContainsFunc(m.open, special) || slices.ContainsFunc(m.close, special)
}

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
func NewLast(name string, startsInside bool) (*Parser, error) {
	p, err := New(name, startsInside)
	if err != nil {
		return nil, err
	}
	switch r := p.reader.(type) {
	case *harmony:
		r.last = true
	case *blocks:
		r.last = true
	}
	return p, nil
}

// New is a parser of one answer of the named family. startsInside says whether the answer begins inside the fence, as
// the prompt decides.
func New(name string, startsInside bool) (*Parser, error) {
	m, ok := families[name]
	switch {
	case name == "hf":
		return nil, errors.New(`reasoning_parser: "hf" reads by a response template in the tokenizer's files, which is not supported; ` +
			"name the model's own parser, or none to choose it by the model's name")
	case !ok:
		return nil, fmt.Errorf("reasoning_parser: %q is unknown; use one of %s", name, strings.Join(Names(), ", "))
	case name == "harmony":
		return &Parser{&harmony{}}, nil
	case name == "inkling":
		return &Parser{&blocks{header: true}}, nil
	case m.open == nil:
		return &Parser{&fence{state: outside}}, nil
	case startsInside:
		return &Parser{&fence{markers: m, state: entering}}, nil
	}
	return &Parser{&fence{markers: m}}, nil
}
